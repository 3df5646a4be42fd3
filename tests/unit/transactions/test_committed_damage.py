"""One flipped bit in a log with transactions: right rows, or an error, or told; no aborted record is ever served."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.errors import CorruptBatchError, KafkaLogError
from kafkalog_source.transactions import header_pass
from tests.builders import Batch, Record, encode, end_marker, partition_dir, write_segment
from tests.builders.transactions import producer_snapshot

pytestmark = pytest.mark.filterwarnings("ignore::kafkalog_source.errors.DamageWarning")

ABORT, COMMIT = False, True
LENGTH, MAGIC_AND_CRC, COVERED = range(8, 12), range(16, 21), range(21, 61)
READ_AROUND = {"failOnDataLoss": False}


def data(base_offset: int, producer_id: int, count: int = 1) -> Batch:
    records = [Record(offset_delta=delta) for delta in range(count)]
    return Batch(records, base_offset, transactional=True, producer_id=producer_id)


def marker(base_offset: int, producer_id: int, commit: bool) -> Batch:
    return Batch([end_marker(commit=commit)], base_offset, transactional=True, control=True, producer_id=producer_id)


def plain(base_offset: int, value: bytes = b"") -> Batch:
    return Batch([Record(value=value)], base_offset)


BATCHES = [
    data(0, 1),
    plain(1),
    data(2, 2, 2),
    marker(4, 1, ABORT),
    data(5, 1),
    marker(6, 2, COMMIT),
    marker(7, 1, COMMIT),
    data(8, 2),
    plain(9),
    marker(10, 2, ABORT),
    plain(11),
]
COMMITTED = [1, 2, 3, 5, 9, 11]
STATES = {
    0: "aborted",
    1: None,
    2: "committed",
    3: "committed",
    5: "committed",
    8: "aborted",
    9: None,
    11: None,
}
LOG_END = 12


def flipped(number: int, byte: int, bit: int) -> bytes:
    content = [bytearray(each.encode()) for each in BATCHES]
    content[number][byte] ^= 1 << bit
    return b"".join(content)


def read(path: Path, **options: Any) -> tuple[dict[int, str | None], bool]:
    """The states by offset, and whether something was told."""
    scan = kafkalog_source.scan(path, columns=["offset", "transactionState"], threads=1, **options)
    rows = {row["offset"]: row["transactionState"] for row in scan.to_table().to_pylist()}
    report = scan.report()
    return rows, bool(report["damage"] or report["warnings"])


def outcomes(path: Path, mode: str, start: int, end: int) -> Iterator[tuple[str, Mapping[int, str | None], bool]]:
    """What is read at either isolation level and whether that was told; an error is as good."""
    bounds = {"startingOffsets": {"topic": {0: start}}} if start else {}
    bounds |= {"endingOffsets": {"topic": {0: end}}} if end < LOG_END else {}
    for level in ("read_committed", "read_uncommitted"):
        try:
            yield level, *read(path, mode=mode, isolationLevel=level, **bounds, **READ_AROUND)
        except KafkaLogError:
            continue


def check(path: Path, mode: str, start: int, end: int, where: object) -> None:
    for level, found, is_told in outcomes(path, mode, start, end):
        wanted = {
            offset: state
            for offset, state in STATES.items()
            if start <= offset < end and not (level == "read_committed" and state == "aborted")
        }
        assert is_told or found == wanted, (where, mode, level, found)
        assert not is_told or mode != "FAILFAST", (where, level, found)
        served = {offset for offset, state in found.items() if state != "open"}
        wrong = [offset for offset in served if STATES[offset] == "aborted" and found[offset] != "aborted"]
        assert not wrong, (where, mode, level, found)


MODES = ["FAILFAST", "DROPMALFORMED"]
RANGES = [(0, LOG_END), (0, 1), (0, 4), (5, 9), (9, LOG_END)]


@pytest.fixture(params=[0, header_pass._WORTH_BELIEVING], ids=["believed at first", "checked at once"])
def least_believed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let headers be believed at first as those of large segments are, or not."""
    monkeypatch.setattr(header_pass, "_WORTH_BELIEVING", request.param)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("start", "end"), RANGES)
def test_what_is_read_of_the_whole_log(tmp_path: Path, mode: str, start: int, end: int) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, BATCHES)
    assert len(list(outcomes(directory, mode, start, end))) == 2
    check(directory, mode, start, end, "nothing flipped")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", range(len(BATCHES)))
def test_every_bit_of_a_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, mode: str) -> None:
    monkeypatch.setattr(header_pass, "_WORTH_BELIEVING", 0)
    directory = partition_dir(tmp_path)
    for byte in (*LENGTH, *COVERED):
        for bit in range(8):
            write_segment(directory, flipped(number, byte, bit))
            check(directory, mode, 0, LOG_END, (number, byte, bit))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("start", "end"), RANGES[1:])
@pytest.mark.parametrize("number", range(len(BATCHES)))
def test_every_field_of_a_header(tmp_path: Path, number: int, mode: str, start: int, end: int) -> None:
    """All bits of the length, which may lie behind the range; of the other fields one of each byte."""
    directory = partition_dir(tmp_path)
    for at, byte in enumerate((*LENGTH, *MAGIC_AND_CRC, *COVERED)):
        for bit in range(8) if byte in LENGTH else [at % 8]:
            write_segment(directory, flipped(number, byte, bit))
            check(directory, mode, start, end, (number, byte, bit))


@pytest.mark.usefixtures("least_believed")
def test_another_producer_that_never_ends(tmp_path: Path) -> None:
    """The last stable offset would be that of the damaged batch, at which nobody would look."""
    content = bytearray(encode([data(0, 7), marker(1, 7, COMMIT)]))
    content[45] ^= 32
    directory = partition_dir(tmp_path)
    write_segment(directory, bytes(content) + encode([plain(offset) for offset in range(2, 22)]))
    with pytest.raises(CorruptBatchError, match="position 0"):
        kafkalog_source.scan(directory, isolationLevel="read_committed").to_table()
    committed, is_told = read(directory, isolationLevel="read_committed", mode="DROPMALFORMED")
    assert list(committed) == list(range(2, 22))
    assert is_told


def swallowing_a_marker(directory: Path) -> None:
    """A length behind offset 1 that leads over the abort of what is before it to a batch of the same producer."""
    swallowed = [marker(2, 7, ABORT), plain(3, b"x" * 106)]
    lying = bytearray(plain(1, b"x" * 56).encode())
    size = len(lying) + len(encode(swallowed))
    lying[8:12] = (size - 12).to_bytes(4, "big")
    log = [bytes(lying), encode(swallowed), encode([data(4, 7), marker(5, 7, COMMIT), plain(6)])]
    write_segment(directory, encode([data(0, 7)]) + b"".join(log))


@pytest.mark.usefixtures("least_believed")
@pytest.mark.parametrize("asks", [{"isolationLevel": "read_committed"}, {"columns": ["offset", "transactionState"]}])
def test_a_marker_behind_the_range_that_a_length_hides(tmp_path: Path, asks: dict[str, Any]) -> None:
    directory = partition_dir(tmp_path)
    swallowing_a_marker(directory)
    for ends in ({}, {"endingOffsets": {"topic": {0: 1}}}):
        with pytest.raises(CorruptBatchError):
            kafkalog_source.scan(directory, **asks, **ends).to_table()


@pytest.mark.usefixtures("least_believed")
def test_the_same_in_a_later_segment(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, [plain(0), data(1, 7)])
    content = bytearray(encode([plain(2), marker(3, 7, ABORT), data(4, 7), marker(5, 7, COMMIT)]))
    content[8:12] = (len(encode([plain(2), marker(3, 7, ABORT)])) - 12).to_bytes(4, "big")
    write_segment(directory, bytes(content), base_offset=2)
    ends = {"endingOffsets": {"topic": {0: 2}}}
    with pytest.raises(CorruptBatchError):
        kafkalog_source.scan(directory, isolationLevel="read_committed", **ends).to_table()
    with pytest.raises(CorruptBatchError):
        kafkalog_source.scan(directory, columns=["transactionState"], **ends).to_table()


@pytest.mark.usefixtures("least_believed")
def test_a_last_stable_offset_before_segments_that_were_believed(tmp_path: Path) -> None:
    """The lie is in the first of three segments, and all behind it is hidden by what it says."""
    directory = partition_dir(tmp_path)
    first = bytearray(encode([plain(0), data(1, 7), marker(2, 7, COMMIT)]))
    first[len(encode([plain(0)])) + 45] ^= 1
    write_segment(directory, bytes(first))
    write_segment(directory, [plain(3)], base_offset=3)
    write_segment(directory, [plain(4)], base_offset=4)
    with pytest.raises(CorruptBatchError):
        kafkalog_source.scan(directory, isolationLevel="read_committed").to_table()


def damaged_in_value(*batches: Batch, at: int) -> bytes:
    content = [bytearray(each.encode()) for each in batches]
    content[at][-2] ^= 1
    return b"".join(content)


@pytest.mark.usefixtures("least_believed")
def test_damage_that_can_be_read_around_by_offsets(tmp_path: Path) -> None:
    """Before the range or behind it, where nothing that is wanted is in doubt, it is nobody's business."""
    directory = partition_dir(tmp_path)
    log = [plain(0), plain(1), data(2, 1), marker(3, 1, COMMIT), plain(4), plain(5)]
    for at, start, end in ((1, 2, 6), (4, 0, 4), (5, 0, 4)):
        write_segment(directory, damaged_in_value(*log, at=at))
        bounds = {"startingOffsets": {"topic": {0: start}}, "endingOffsets": {"topic": {0: end}}}
        committed, _ = read(directory, isolationLevel="read_committed", **bounds)
        assert list(committed) == [offset for offset in range(start, end) if offset != 3]


@pytest.mark.usefixtures("least_believed")
def test_damage_before_the_range_where_a_transaction_was_open(tmp_path: Path) -> None:
    """If it is met again, its end is known; if not, the last stable offset is not."""
    directory = partition_dir(tmp_path)
    bounds = {"startingOffsets": {"topic": {0: 3}}}
    write_segment(directory, damaged_in_value(data(0, 1), plain(1), plain(2), data(3, 1), marker(4, 1, COMMIT), at=1))
    assert list(read(directory, isolationLevel="read_committed", **bounds)[0]) == [3]
    write_segment(directory, damaged_in_value(data(0, 1), plain(1), plain(2), plain(3), at=1))
    with pytest.raises(CorruptBatchError, match="checksum"):
        read(directory, isolationLevel="read_committed", **bounds)


@pytest.mark.usefixtures("least_believed")
def test_a_torn_end_of_a_live_log_is_no_damage(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    content = encode([data(0, 1), marker(1, 1, COMMIT), plain(2), data(3, 2), plain(4), plain(5)])
    write_segment(directory, content[:-5])
    for end in (2, LOG_END):
        bounds = {"endingOffsets": {"topic": {0: end}}} if end < LOG_END else {}
        committed, _ = read(directory, isolationLevel="read_committed", **bounds)
        assert list(committed) == [offset for offset in (0, 2) if offset < end]


def test_a_snapshot_saves_looking_at_what_is_before_it(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, damaged_in_value(data(0, 1), marker(1, 1, COMMIT), plain(2), at=2))
    write_segment(directory, [plain(3), data(4, 2), marker(5, 2, ABORT)], base_offset=3)
    (directory / f"{3:020d}.snapshot").write_bytes(producer_snapshot({}))
    bounds = {"startingOffsets": {"topic": {0: 3}}}
    assert list(read(directory, isolationLevel="read_committed", **bounds)[0]) == [3]


def test_checksums_that_are_not_wanted_are_not_compared(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, damaged_in_value(data(0, 1), plain(1), marker(2, 1, COMMIT), at=1))
    bounds = {"endingOffsets": {"topic": {0: 1}}}
    committed, _ = read(directory, isolationLevel="read_committed", verifyChecksums=False, **bounds)
    assert committed == {0: "committed"}
