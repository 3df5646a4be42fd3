"""What the core notes of indexes and producers, and how it refuses what is not a window's."""

from __future__ import annotations

import pytest

from kafkalog_source._core.indexes import IndexBuilder, IndexCheck
from kafkalog_source._core.memory import Scratch
from kafkalog_source._core.producers import LeaderEpochs, ProducerTable
from kafkalog_source._core.walk import Entries
from kafkalog_source.codecs import Decompressor
from tests.builders import Batch, Message, Record, encode, end_marker
from tests.builders.disk import Entry
from tests.builders.index_files import positions


def window_of(content: list[Entry]) -> tuple[Scratch, Entries]:
    data = encode(content)
    window = Scratch()
    window.reserve(len(data))
    with window.view(0, len(data)) as room:
        room[:] = data
    entries = Entries()
    entries.walk(window, len(data))
    assert entries.count == len(content)
    return window, entries


CONTENT: list[Entry] = [Message(offset=0, timestamp=5), Message(offset=3, timestamp=9), Batch(base_offset=7)]
TIME = Batch().base_timestamp


@pytest.mark.parametrize("taker", [IndexCheck(), IndexBuilder(0), ProducerTable(Decompressor()), LeaderEpochs()])
@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (2, 1), (0, 4)])
def test_ranges_outside_of_a_window_are_refused(
    taker: IndexCheck | IndexBuilder | ProducerTable | LeaderEpochs, start: int, stop: int
) -> None:
    window, entries = window_of(CONTENT)
    with pytest.raises(ValueError, match=rf"entries \[{start}, {stop}\) of 3"):
        taker.take(window, 0, entries, start, stop)
    with pytest.raises(ValueError, match="exceed this window"):
        taker.take(Scratch(), 0, entries, 0, 3)


def test_an_index_check_needs_pairs() -> None:
    with pytest.raises(ValueError, match="as many offsets as positions"):
        IndexCheck([1, 2], [3])


def test_what_entries_point_at() -> None:
    window, entries = window_of(CONTENT)
    at = [1000 + position for position in positions(CONTENT)]
    check = IndexCheck([0, 1, 3, 2], [at[0], at[1] - 1, at[1], at[2]], [0, 2, 3, 7, 8])
    check.take(window, 1000, entries, 0, 3)
    assert check.astray == [1]
    assert check.too_low == [3]
    assert check.times == [(5, 5), (5, 9), (9, 9), (TIME, TIME)]
    assert check.max_timestamp == TIME
    assert check.has_gaps
    assert not check.untimed
    assert not check.transactional


def test_the_interval_of_a_built_index() -> None:
    content: list[Entry] = [Batch(base_offset=10 + at, base_timestamp=TIME - at % 3) for at in range(9)]
    window, entries = window_of(content)
    builder = IndexBuilder(10, interval=140)
    builder.take(window, 0, entries, 0, 4)
    builder.take(window, 0, entries, 6, 9)
    size = len(content[0].encode())
    offsets, times = builder.finish()
    assert (builder.size, builder.last_offset) == (7 * size, 18)
    assert [position % size for _, position in offsets] == [0] * len(offsets)
    assert offsets == [(2, 2 * size), (6, 4 * size), (8, 6 * size)]
    assert times == [(TIME, 0)]


def test_offsets_that_no_index_can_hold() -> None:
    content: list[Entry] = [Message(offset=0), Message(offset=2**31, timestamp=TIME + 1), Message(offset=2**31 + 1)]
    window, entries = window_of(content)
    builder = IndexBuilder(0, interval=1)
    builder.take(window, 0, entries, 0, 3)
    assert builder.finish() == ([], [])


def test_sequences_wrap_and_epochs_reset() -> None:
    last = 2**31 - 1
    content: list[Entry] = [
        Batch([Record()] * 3, producer_id=5, producer_epoch=1, base_sequence=last),
        Batch([end_marker(commit=True)], base_offset=3, producer_id=5, producer_epoch=2, control=True),
        Batch(base_offset=4, producer_id=-1),
    ]
    window, entries = window_of(content)
    table = ProducerTable(Decompressor())
    table.take(window, 0, entries, 0, 1)
    (producer,) = table.producers
    assert (producer.last_sequence, producer.last_offset, producer.offset_delta) == (1, 2, 2)
    table.take(window, 0, entries, 1, 3)
    assert (producer.epoch, producer.last_sequence, producer.last_offset) == (2, -1, -1)
    assert producer.coordinator_epoch == 0
    assert len(table.producers) == 1


def test_leader_epochs_only_rise() -> None:
    content: list[Entry] = [Batch(base_offset=at, leader_epoch=epoch) for at, epoch in enumerate((-1, 3, 3, 2, 5))]
    window, entries = window_of(content)
    epochs = LeaderEpochs()
    epochs.take(window, 0, entries, 0, 5)
    assert epochs.entries == [(3, 1), (5, 4)]
