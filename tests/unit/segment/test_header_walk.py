"""The walk from header to header: which windows it reads, and where it stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.memory import Scratch
from kafkalog_source._core.walk import Entries
from kafkalog_source.segment.header_walk import Headers, HeaderStop, header_windows
from kafkalog_source.segment.source import FileChangedError, LocalFile
from tests.builders import Batch, Message, Record, encode
from tests.builders.disk import Entry

HEADER_SIZE = 61


def batch(offset: int, size: int) -> Batch:
    return Batch([Record(value=bytes(size))], offset)


class Walked:
    """All events of a walk over a file, and what was read for them."""

    def __init__(self, root: Path, data: bytes, *, end: int | None = None, peeks: int = 0) -> None:
        path = root / "f"
        path.write_bytes(data)
        self.offsets: list[int] = []
        self.windows: list[Headers] = []
        self.stop: HeaderStop | None = None
        entries = Entries()
        with LocalFile(str(path)) as source:
            whole = source.size if end is None else end
            for event in header_windows(source, Scratch(), entries, 0, whole, peeks=peeks):
                if isinstance(event, HeaderStop):
                    self.stop = event
                else:
                    self.windows.append(event)
                    self.offsets += [entries.entry(index)[4] for index in range(entries.count)]
            self.bytes_read = source.bytes_read


def test_small_batches_are_read_in_windows_that_grow(tmp_path: Path) -> None:
    """Also where every window ends inside of a header."""
    data = encode([batch(i, 30) for i in range(20_000)])
    walked = Walked(tmp_path, data)
    assert walked.offsets == list(range(20_000))
    assert walked.stop is None
    assert len(walked.windows) < 4 + len(data) // 200_000
    assert walked.bytes_read < len(data) + HEADER_SIZE * len(walked.windows)


def test_payloads_of_large_batches_are_passed_over(tmp_path: Path) -> None:
    data = encode([batch(i, 50_000) for i in range(50)])
    walked = Walked(tmp_path, data)
    assert walked.offsets == list(range(50))
    assert walked.windows[-1].end == len(data)
    assert walked.bytes_read < 20_000


def test_sizes_may_change_from_batch_to_batch(tmp_path: Path) -> None:
    sizes = [5] * 300 + [60_000] * 5 + [5, 60_000] * 20 + [17_000, 3_000_000, 5] + [5_000] * 100
    walked = Walked(tmp_path, encode([batch(i, size) for i, size in enumerate(sizes)]))
    assert walked.offsets == list(range(len(sizes)))
    assert walked.stop is None


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_without_a_batch_are_passed_over_too(tmp_path: Path, magic: int) -> None:
    entries: list[Entry] = [Message(offset=i, magic=magic, value=bytes(40_000)) for i in range(20)]
    walked = Walked(tmp_path, encode(entries))
    assert walked.offsets == list(range(20))
    assert walked.bytes_read < 12_000


def test_peeks_pass_large_batches_between_two_events(tmp_path: Path) -> None:
    data = encode([batch(i, 50_000) for i in range(50)])
    walked = Walked(tmp_path, data, peeks=20)
    assert walked.windows[-1].end == len(data)
    assert len(walked.windows) < 5


def test_the_walk_stops_where_no_batch_can_be(tmp_path: Path) -> None:
    good = encode([batch(0, 10), batch(1, 50_000)])
    stop = Walked(tmp_path, good + bytes(100)).stop
    assert stop == HeaderStop(len(good), CODE["bad_length"], 0)
    stop = Walked(tmp_path, good + encode([batch(1, 10)])).stop
    assert stop is not None
    assert (stop.position, stop.code) == (len(good), CODE["offset_not_rising"])


@pytest.mark.parametrize("cut", [1, 40_000, 50_050])
def test_a_batch_that_passes_the_end_stops_the_walk(tmp_path: Path, cut: int) -> None:
    good, last = encode([batch(0, 10)]), encode([batch(1, 50_000)])
    walked = Walked(tmp_path, good + last[:-cut])
    assert walked.offsets == [0]
    stop = walked.stop
    assert stop is not None
    assert (stop.position, stop.code) == (len(good), CODE["incomplete"])
    # All of it, or the header if not even that is there.
    assert stop.next_size > len(last) - cut


@pytest.mark.parametrize("peeks", [0, 20])
def test_a_file_that_became_shorter_is_an_error(tmp_path: Path, peeks: int) -> None:
    data = encode([batch(0, 10), batch(1, 50_000), batch(2, 50_000), batch(3, 10)])
    for cut in (0, 10, 60_000):
        with pytest.raises(FileChangedError):
            Walked(tmp_path, data[: len(data) - cut], end=len(data) + 1000, peeks=peeks)
