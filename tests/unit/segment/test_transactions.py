"""Transactions by a pass over headers: what it reads, what it finds, and what it says of damage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.transaction_headers import HeaderPass, make_tracker
from tests.builders import Batch, Message, Record, control_record, encode, end_marker
from tests.builders.disk import Entry


def data(base_offset: int, producer_id: int = 1, size: int = 5, **fields: Any) -> Batch:
    return Batch([Record(value=b"v" * size)], base_offset, transactional=True, producer_id=producer_id, **fields)


def marker(base_offset: int, producer_id: int = 1, *, commit: bool = False, **fields: Any) -> Batch:
    return Batch(
        [end_marker(commit=commit)], base_offset, transactional=True, control=True, producer_id=producer_id, **fields
    )


class Passed:
    """A pass over one file."""

    def __init__(self, path: Path, entries: Sequence[Entry] | bytes, *, is_last: bool = True, **settings: Any) -> None:
        content = entries if isinstance(entries, bytes) else encode(entries)
        path.write_bytes(content)
        self.damage: list[Damage] = []
        self.tracker = make_tracker(**settings)
        with LocalFile(str(path)) as source:
            HeaderPass(
                source,
                self.tracker,
                least=0,
                bound=2**63 - 1,
                end=len(content),
                is_last=is_last,
                on_damage=self.damage.append,
            ).run()
            self.bytes_read = source.bytes_read

    @property
    def found(self) -> tuple[Any, Any]:
        return self.tracker.aborted, self.tracker.open


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "00000000000000000000.log"


def test_aborted_and_open_transactions_are_found_by_their_producers(log: Path) -> None:
    entries = [data(0, 1), data(1, 2), marker(2, 1), data(3, 1), marker(4, 2, commit=True), data(5, 3), marker(6, 1)]
    assert Passed(log, entries).found == (((1, 0, 2), (1, 3, 6)), ((3, 5),))


def test_epochs_do_not_matter(log: Path) -> None:
    entries = [data(0, producer_epoch=3), data(1, producer_epoch=4), marker(2, producer_epoch=9)]
    assert Passed(log, entries).found == (((1, 0, 2),), ())


def test_a_marker_without_a_transaction_says_nothing(log: Path) -> None:
    assert Passed(log, [marker(0), data(1), marker(2, commit=True)]).found == ((), ())


def test_a_batch_without_a_producer_is_in_no_transaction(log: Path) -> None:
    assert Passed(log, [data(0, -1), marker(1, -1)]).found == ((), ())


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_a_compressed_marker_counts(log: Path, codec: str) -> None:
    assert Passed(log, [data(0), marker(1, codec=codec)]).found == (((1, 0, 1),), ())


def test_an_emptied_control_batch_and_other_kinds_say_nothing(log: Path) -> None:
    emptied = Batch([], 1, transactional=True, control=True, producer_id=1, last_offset_delta=0)
    unknown = Batch([control_record(9)], 2, transactional=True, control=True, producer_id=1)
    assert Passed(log, [data(0), emptied, unknown, data(3), marker(4)]).found == (((1, 0, 4),), ())


def test_what_was_open_before_goes_on(log: Path) -> None:
    passed = Passed(log, [data(10), marker(11), marker(12, 2)], begun=[(1, 3), (2, 4), (5, 6)])
    assert passed.found == (((1, 3, 11), (2, 4, 12)), ((5, 6),))


def test_an_end_hides_the_markers_behind_it(log: Path) -> None:
    entries = [data(0), data(1, 2), marker(2), marker(3, 2)]
    assert Passed(log, entries, stop=3).found == (((1, 0, 2),), ((2, 1),))
    assert Passed(log, entries, stop=2).found == ((), ((1, 0), (2, 1)))


def test_the_pass_ends_when_all_that_is_of_interest_has_ended(log: Path) -> None:
    many = [data(3 + i, 9) for i in range(20000)]
    passed = Passed(log, [data(0), data(1, 2), marker(2), *many, marker(30000, 9)], below=1)
    assert passed.found == (((1, 0, 2),), ())
    assert passed.bytes_read < log.stat().st_size // 10


def test_bodies_of_large_batches_are_not_read(log: Path) -> None:
    entries: list[Entry] = []
    for i in range(200):
        entries += [data(2 * i, i, size=50_000), marker(2 * i + 1, i, commit=i % 2 == 0)]
    passed = Passed(log, entries)
    assert len(passed.tracker.aborted) == 100
    assert passed.tracker.open == ()
    assert passed.bytes_read < log.stat().st_size // 50


def test_sizes_may_change_from_batch_to_batch(log: Path) -> None:
    sizes = [5] * 300 + [60_000] * 5 + [5, 60_000] * 20 + [5] * 300 + [17_000, 3_000_000, 5]
    entries: list[Entry] = []
    for i, size in enumerate(sizes):
        entries += [data(2 * i, i, size=size), marker(2 * i + 1, i)]
    passed = Passed(log, entries)
    assert passed.tracker.aborted == tuple((i, 2 * i, 2 * i + 1) for i in range(len(sizes)))
    assert passed.damage == []


def test_a_marker_with_a_wrong_checksum_is_damage_and_the_pass_goes_on(log: Path) -> None:
    entries = [data(0), marker(1, crc=5), data(2, 2), marker(3, 2)]
    passed = Passed(log, entries)
    assert passed.found == (((2, 2, 3),), ((1, 0),))
    assert [(each.kind, each.position) for each in passed.damage] == [(Kind.DAMAGED, len(entries[0].encode()))]
    assert Passed(log, entries, verify_checksums=False).damage == []


def test_a_marker_whose_key_is_no_key_is_damage(log: Path) -> None:
    bad = Batch([Record(key=b"\0\0")], 1, transactional=True, control=True, producer_id=1)
    assert [each.kind for each in Passed(log, [data(0), bad, data(2)]).damage] == [Kind.DAMAGED]


def test_a_marker_that_does_not_decompress_is_damage(log: Path) -> None:
    bad = marker(1, codec="gzip", compress=lambda plain: b"no gzip at all")
    assert [each.kind for each in Passed(log, [data(0), bad, data(2)]).damage] == [Kind.DAMAGED]


@pytest.mark.parametrize("left", [5, 40, 100])
def test_a_cut_end_is_torn_in_the_last_segment_and_damage_elsewhere(log: Path, left: int) -> None:
    content = encode([data(0, size=30_000)]) + encode([data(2**40, 2, size=30_000)])[:left]
    for is_last, kind in ((True, Kind.TORN), (False, Kind.DAMAGED)):
        passed = Passed(log, content, is_last=is_last)
        assert passed.tracker.open == ((1, 0),)
        assert [each.kind for each in passed.damage] == [kind]


def test_a_window_that_ends_with_a_marker_is_no_damage(log: Path) -> None:
    """Less than the marker's size follows it, and that is a message of its own."""
    first = next(each for each in (data(0, size=size) for size in range(3800, 4096)) if len(each.encode()) == 4096 - 78)
    content = encode([first, marker(1), Message(offset=2)])
    assert len(content) - 4096 < 78
    for is_last in (True, False):
        passed = Passed(log, content, is_last=is_last)
        assert passed.damage == []
        assert passed.found == (((1, 0, 1),), ())
        assert passed.tracker.last_offset == 2


def test_the_space_that_a_preallocated_segment_did_not_use_is_no_damage(log: Path) -> None:
    passed = Passed(log, encode([data(0)]) + bytes(100_000))
    assert (passed.damage, passed.tracker.open) == ([], ((1, 0),))


def test_a_lying_length_is_damage_and_the_pass_goes_on(log: Path) -> None:
    passed = Passed(log, [data(0), data(1, 2, length=20_000), data(2, 3), marker(3, 3)])
    assert passed.found == (((3, 2, 3),), ((1, 0),))
    assert [each.kind for each in passed.damage] == [Kind.DAMAGED]


@pytest.mark.parametrize("checked", [False, True])
def test_damage_is_told_as_it_is_where_rows_are_read(log: Path, checked: bool) -> None:
    """Bad markers in a row are regions of their own, whether the pass believes headers or compares checksums."""
    entries = [data(0), marker(1, crc=5), marker(2, 2, crc=5), data(3, 3), marker(4, 3)]
    size = len(entries[0].encode())
    content = encode(entries)
    log.write_bytes(content)
    damage: list[Damage] = []
    with LocalFile(str(log)) as source:
        HeaderPass(
            source,
            make_tracker(),
            least=0,
            bound=2**63 - 1,
            end=len(content),
            is_last=True,
            on_damage=damage.append,
            largest_batch=1 << 20 if checked else None,
        ).run()
    found = [(each.position - size, each.size, each.last_offset, each.reason) for each in damage]
    assert found == [(0, 78, 1, "the batch's checksum is wrong"), (78, 78, 2, "the batch's checksum is wrong")]
