"""One flipped bit where an offset or a time is looked up: no intact record is lost without a word."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.errors import DataLossError, KafkaLogError, OptionError
from tests.builders import (
    Batch,
    Message,
    Record,
    Wrapper,
    offset_index,
    partition_dir,
    time_index,
    write_segment,
)
from tests.unit.streaming.streaming import Query

pytestmark = pytest.mark.filterwarnings("ignore::kafkalog_source.errors.DamageWarning")

T = 1_700_000_000_000
COUNT = 7
BATCH_SIZE = 128
LENGTH_AT, LENGTH_BITS = 8, 32
TIME_BITS = 64
TIME_AT = {2: 35, 1: 18}
MODES = ("FAILFAST", "DROPMALFORMED")
Make = Callable[[int, int], Any]


def of_size(make: Callable[[int], Any], size: int = BATCH_SIZE) -> bytes:
    """An entry of `size` bytes: a length that is wrong by a power of two then ends where another entry begins."""
    return next(data for fill in range(size) if len(data := make(fill).encode()) == size)


def v2(number: int) -> bytes:
    return of_size(lambda fill: Batch([Record(value=b"v" * fill)], number, base_timestamp=T + 1000 * number))


def v1(number: int) -> bytes:
    return of_size(lambda fill: Message(value=b"v" * fill, offset=number, timestamp=T + 1000 * number))


def v1_gzip(number: int) -> bytes:
    def make(fill: int) -> Wrapper:
        value = bytes(37 * number + 7 * each * each & 255 for each in range(fill))
        return Wrapper([Message(value=value, offset=number, timestamp=T + 1000 * number)], "gzip")

    return of_size(make)


FORMATS = {"v2": (v2, 2), "v1": (v1, 1), "v1 gzip": (v1_gzip, 1)}


@dataclasses.dataclass(frozen=True)
class Log:
    path: Path
    parts: list[bytes]
    magic: int

    def flipped(self, number: int, at: int, bit: int, tail: bytes = b"") -> None:
        """Write the log with one bit of entry `number` changed, in the big-endian field at `at`."""
        data = bytearray(self.parts[number])
        bits = TIME_BITS if at != LENGTH_AT else LENGTH_BITS
        data[at + bits // 8 - 1 - bit // 8] ^= 1 << bit % 8
        parts = [*self.parts[:number], bytes(data), *self.parts[number + 1 :], tail]
        self.path.write_bytes(b"".join(parts))

    def flips(self) -> Iterator[tuple[int, int, int]]:
        for number in range(len(self.parts)):
            for at, bits in ((LENGTH_AT, LENGTH_BITS), (TIME_AT[self.magic], TIME_BITS)):
                yield from ((number, at, bit) for bit in range(bits))


@pytest.fixture(params=FORMATS)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Log:
    make, magic = FORMATS[request.param]
    parts = [make(number) for number in range(COUNT)]
    return Log(write_segment(partition_dir(tmp_path), b"".join(parts)), parts, magic)


def with_indexes(log: Log) -> None:
    log.path.with_suffix(".index").write_bytes(offset_index([(each, each * BATCH_SIZE) for each in range(1, COUNT)]))
    times = time_index([(T + 1000 * each, each) for each in range(0, COUNT, 2)])
    log.path.with_suffix(".timeindex").write_bytes(times)


def scan(path: Path, **options: Any) -> tuple[list[int], bool]:
    """The offsets, and whether damage was told of."""
    read = kafkalog_source.scan(path.parent, columns=["offset"], threads=1, **options)
    rows: list[int] = read.to_table()["offset"].to_pylist()
    report = read.report()
    return rows, bool(report["damage"] or report["warnings"])


@pytest.mark.parametrize("indexed", [False, True], ids=["no index", "indexed"])
@pytest.mark.parametrize("mode", MODES)
def test_a_starting_time_leaves_out_no_intact_record(log: Log, mode: str, indexed: bool) -> None:
    if indexed:
        with_indexes(log)
    for number, at, bit in log.flips():
        log.flipped(number, at, bit)
        for wanted in (max(0, number - 1), number, min(number + 1, COUNT - 1)):
            where = f"entry {number}, field {at}, bit {bit}, from {wanted}"
            try:
                rows, told = scan(log.path, startingTimestamp=T + 1000 * wanted, mode=mode)
            except OptionError:
                assert number == wanted == COUNT - 1, where
                continue
            except KafkaLogError:
                assert mode == "FAILFAST", where
                continue
            intact = [each for each in range(wanted, COUNT) if each != number]
            assert rows == intact, where
            assert told or number < wanted, where
            assert mode != "FAILFAST" or number < wanted, where


@pytest.mark.parametrize("mode", MODES)
def test_an_ending_time_is_where_the_next_intact_record_begins(log: Log, mode: str) -> None:
    for number, at, bit in log.flips():
        log.flipped(number, at, bit)
        for wanted in (number, min(number + 1, COUNT - 1)):
            where = f"entry {number}, field {at}, bit {bit}, up to {wanted}"
            try:
                rows, told = scan(log.path, endingTimestamp=T + 1000 * wanted, mode=mode)
            except KafkaLogError:
                assert mode == "FAILFAST", where
                continue
            assert mode != "FAILFAST", where
            assert rows == [each for each in range(wanted) if each != number], where
            assert told, where


@pytest.mark.parametrize("mode", MODES)
def test_damage_behind_the_record_that_is_looked_for_does_not_matter(log: Log, mode: str) -> None:
    for at in (LENGTH_AT, TIME_AT[log.magic]):
        log.flipped(5, at, 7)
        rows = scan(log.path, startingTimestamp=T + 1000, endingTimestamp=T + 3000, mode=mode)
        assert rows == ([1, 2], False)


@pytest.mark.parametrize("mode", MODES)
def test_damage_below_what_the_time_index_proves_to_be_older_does_not_matter(log: Log, mode: str) -> None:
    with_indexes(log)
    for at in (LENGTH_AT, TIME_AT[log.magic]):
        log.flipped(1, at, 8)
        assert scan(log.path, startingTimestamp=T + 5000, mode=mode) == ([5, 6], False)


def test_the_place_is_named_where_the_record_that_is_looked_for_may_be_lost(log: Log) -> None:
    log.flipped(2, LENGTH_AT, 8)
    read = kafkalog_source.scan(log.path.parent, columns=["offset"], startingTimestamp=T + 2000, mode="DROPMALFORMED")
    assert read.to_table()["offset"].to_pylist() == [3, 4, 5, 6]
    (warning,) = read.report()["warnings"]
    assert f"position {2 * BATCH_SIZE}: {BATCH_SIZE} bytes damaged, offset 2: " in warning
    assert "records at or after the wanted timestamp may be lost there" in warning
    with pytest.raises(KafkaLogError) as caught:
        scan(log.path, startingTimestamp=T + 2000)
    assert caught.value.position == 2 * BATCH_SIZE


def test_without_verification_headers_are_believed(log: Log) -> None:
    """The time index and a wrong checksum are then as good as right ones."""
    data = bytearray(log.parts[3])
    data[-1] ^= 1
    log.path.write_bytes(b"".join([*log.parts[:3], bytes(data), *log.parts[4:]]))
    if log.magic == 1 and log.parts[3][17] & 7:
        return
    assert scan(log.path, startingTimestamp=T + 4000, verifyChecksums=False) == ([4, 5, 6], False)


@pytest.mark.parametrize("indexed", [False, True], ids=["no index", "indexed"])
def test_a_sound_log_is_read_once_to_find_a_time(log: Log, indexed: bool) -> None:
    size = log.path.stat().st_size
    if indexed:
        with_indexes(log)
    read = kafkalog_source.scan(log.path.parent, startingTimestamp=T + 6000, threads=1)
    read.splits()
    # What may hold the time is read once more to be decoded, and what an index names to be proved.
    assert read.report()["bytes_read"] <= 3 * size


TAILS = {
    "no tail": lambda: b"",
    "zeros": lambda: bytes(5000),
    "few zeros": lambda: bytes(100),
    "cut": lambda: v2(COUNT)[: BATCH_SIZE // 2],
}


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("loss", [True, False], ids=["failOnDataLoss", "without"])
@pytest.mark.parametrize("base", [0, 1_000_000])
def test_every_intact_offset_can_be_asked_for(tmp_path: Path, tail: str, loss: bool, base: int) -> None:
    parts = [
        of_size(lambda fill, first=base + 3 * each: Batch([Record(value=b"v" * fill), Record(), Record()], first))  # type: ignore[misc]
        for each in range(5)
    ]
    log = Log(write_segment(partition_dir(tmp_path), b"".join(parts), base_offset=base), parts, 2)
    for number in range(5):
        intact = [base + each for each in range(15) if each // 3 != number]
        for bit in range(LENGTH_BITS):
            log.flipped(number, LENGTH_AT, bit, TAILS[tail]())
            for wanted in intact[::2] + intact[-1:]:
                limit = {"startingOffsets": {"topic": {0: wanted}}}
                rows, _ = scan(log.path, mode="DROPMALFORMED", failOnDataLoss=loss, **limit)
                assert rows == [each for each in intact if each >= wanted], (number, bit, wanted)


def test_offsets_beside_several_wrong_lengths_can_be_asked_for(tmp_path: Path) -> None:
    parts = [v2(each) for each in range(8)]
    path = write_segment(partition_dir(tmp_path), b"".join(parts))
    for damaged in ((1, 3), (2, 5), (4, 6), (0, 1, 2)):
        for lie in (2 * BATCH_SIZE, 2 * BATCH_SIZE + 7, 3 * BATCH_SIZE, 4 * BATCH_SIZE, 777):
            data = list(parts)
            for number in damaged:
                length = min(lie, (len(parts) - number) * BATCH_SIZE) - LENGTH_AT - 4
                data[number] = data[number][:LENGTH_AT] + length.to_bytes(4, "big") + data[number][LENGTH_AT + 4 :]
            path.write_bytes(b"".join(data))
            there, _ = scan(path, mode="DROPMALFORMED")
            for wanted in range(8):
                if wanted in damaged:
                    continue
                rows, told = scan(path, mode="DROPMALFORMED", startingOffsets={"topic": {0: wanted}})
                assert rows == [each for each in there if each >= wanted], (damaged, lie, wanted)
                assert told or rows[0] == wanted


def test_a_start_that_is_not_there_is_not_lowered(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, b"".join(v2(each) for each in range(4)))
    for wanted in (5, 100, 2**62):
        limit = {"startingOffsets": {"topic": {0: wanted}}}
        with pytest.raises(DataLossError, match="0 to 4"):
            scan(directory / "x", **limit)
        assert scan(directory / "x", failOnDataLoss=False, **limit) == ([], True)


@pytest.mark.parametrize("tail", TAILS)
def test_a_stream_gives_every_intact_record(tmp_path: Path, tail: str) -> None:
    parts = [v2(each) for each in range(5)]
    log = Log(write_segment(partition_dir(tmp_path), b"".join(parts)), parts, 2)
    for number in range(5):
        for bit in range(LENGTH_BITS):
            log.flipped(number, LENGTH_AT, bit, TAILS[tail]())
            query = Query(log.path.parent, {"mode": "DROPMALFORMED", "startingOffsets": "earliest"})
            rows = [offset for batch in query.to_end() for *_, offset in batch]
            assert rows == [each for each in range(5) if each != number], (number, bit)
