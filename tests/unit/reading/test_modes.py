"""What each mode does about damage, and what the view of damage shows without building records."""

from __future__ import annotations

import json
import logging
import os
import struct
import warnings
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.errors import (
    CorruptBatchError,
    DamageWarning,
    DataLossError,
    LimitError,
    OptionError,
    UnsupportedFormatError,
)
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.planning.plan import plan_read
from kafkalog_source.reading.read import read_split
from tests.builders import Batch, Message, Record, Wrapper, encode, end_marker, partition_dir, write_segment
from tests.builders.v07 import Message07, encode_07, write_segment_07
from tests.reference.checksums import crc32c

SECRET = b"a value that nobody is to see"
SMALL = [Batch([Record(value=SECRET)], base_offset=i) for i in range(20)]
SIZE = len(encode(SMALL[:1]))
WHOLE = encode(SMALL)
CORRUPT = "_corrupt_record"

pytestmark = pytest.mark.filterwarnings("ignore::kafkalog_source.errors.DamageWarning")


def flipped(at: int, data: bytes = WHOLE, bit: int = 0) -> bytes:
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


BAD_FIFTH = flipped(5 * SIZE + 70)
BAD_FIFTH_FOUND = "stored CRC 0x{:08x}, computed 0x{:08x}".format(
    *(crc32c(data[5 * SIZE + 21 : 6 * SIZE]) for data in (WHOLE, BAD_FIFTH))
)


def log_of(root: Path, *contents: bytes) -> Path:
    """A partition of segments of twenty offsets each."""
    directory = partition_dir(root)
    for number, content in enumerate(contents):
        write_segment(directory, content, base_offset=20 * number)
    return directory


def rows(path: Path, columns: list[str] | None = None, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = kafkalog_source.scan(path, columns=columns, **options).to_table().to_pylist()
    return found


def offsets(path: Path, **options: Any) -> list[int]:
    return [row["offset"] for row in rows(path, ["offset"], **options)]


def view(path: Path, *columns: str, **options: Any) -> list[tuple[Any, ...]]:
    chosen = list(columns) or None
    return [tuple(row.values()) for row in rows(path, chosen, view="damage", **options)]


def test_dropmalformed_reads_all_but_the_damaged_batch_and_warns_of_it(tmp_path: Path) -> None:
    directory = log_of(tmp_path, BAD_FIFTH)
    with pytest.warns(
        DamageWarning, match=rf"position {5 * SIZE}: {SIZE} bytes damaged, offset 5: the batch's checksum"
    ):
        found = offsets(directory, mode="DROPMALFORMED")
    assert found == [0, 1, 2, 3, 4, *range(6, 20)]


def test_dropmalformed_counts_what_it_does_not_warn_of_one_by_one(tmp_path: Path) -> None:
    data = bytearray(encode([Batch(base_offset=i) for i in range(200)]))
    for number in range(0, 200, 2):
        data[number * 76 + 70] ^= 1
    directory = log_of(tmp_path, bytes(data))
    with pytest.warns(DamageWarning) as caught:
        assert offsets(directory, mode="DROPMALFORMED") == list(range(1, 200, 2))
    assert str(caught[-1].message) == "50 more damaged regions: view=damage lists all"
    assert len(caught) == 51


def test_permissive_has_a_row_for_damage_where_the_records_were(tmp_path: Path) -> None:
    directory = log_of(tmp_path, BAD_FIFTH)
    found = rows(directory, mode="PERMISSIVE")
    assert [row["offset"] for row in found] == list(range(20))
    assert list(found[0])[-1] == CORRUPT
    assert [row["offset"] for row in found if row[CORRUPT] is not None] == [5]
    assert {name for name, value in found[5].items() if value is not None} == {"topic", "partition", "offset", CORRUPT}
    assert json.loads(found[5][CORRUPT]) == {
        "file": str(directory / f"{0:020d}.log"),
        "position": 5 * SIZE,
        "size": SIZE,
        "kind": "damaged",
        "reason": "the batch's checksum is wrong",
        "found": BAD_FIFTH_FOUND,
        "first_offset": 5,
        "last_offset": 5,
    }


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", [1, 100, 10**6])
def test_rows_of_damage_keep_their_places_among_many(tmp_path: Path, threads: int, size: int) -> None:
    data = bytearray(WHOLE)
    for number in (0, 3, 4, 5, 11, 19):
        data[number * SIZE + 70] ^= 1
    directory = log_of(tmp_path, bytes(data), encode([Batch(base_offset=20)]))
    found = rows(directory, ["offset", CORRUPT], mode="PERMISSIVE", maxPartitionBytes=size, threads=threads)
    assert [row["offset"] for row in found] == list(range(21))
    assert [row["offset"] for row in found if row[CORRUPT]] == [0, 3, 4, 5, 11, 19]


def damaged_and_then_gapped(root: Path) -> Path:
    """Damage in the second of five segments, and no fourth one."""
    directory = log_of(root, WHOLE, *(encode([Batch(base_offset=at)]) for at in (20, 40, 60, 80)))
    for number, content in enumerate((WHOLE, BAD_SECOND, whole_from(40), None, whole_from(80))):
        segment = directory / f"{20 * number:020d}.log"
        segment.unlink() if content is None else segment.write_bytes(content)
    return directory


def whole_from(offset: int) -> bytes:
    return encode([Batch([Record(value=SECRET)], base_offset=i) for i in range(offset, offset + 20)])


BAD_SECOND = flipped(3 * SIZE + 70, whole_from(20))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", [100, 10**6])
@pytest.mark.parametrize("mode", ["DROPMALFORMED", "PERMISSIVE"])
def test_what_was_left_out_is_warned_of_before_an_error(tmp_path: Path, threads: int, size: int, mode: str) -> None:
    directory = damaged_and_then_gapped(tmp_path)
    scan = kafkalog_source.scan(
        directory, columns=["offset", CORRUPT], mode=mode, maxPartitionBytes=size, threads=threads
    )
    with (
        pytest.warns(DamageWarning, match=rf"{20:020d}\.log, position {3 * SIZE}: .*offset 23"),
        pytest.raises(DataLossError, match="offsets 60 to 79 are not on disk"),
    ):
        scan.to_table()
    assert [each["first_offset"] for each in scan.report()["damage"]] == [23]


@pytest.mark.parametrize("mode", ["DROPMALFORMED", "PERMISSIVE"])
def test_a_task_logs_what_was_left_out_before_an_error(
    tmp_path: Path, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    options = parse_options({"mode": mode}, [str(damaged_and_then_gapped(tmp_path))])
    (split,) = plan_read(options).splits
    with pytest.raises(DataLossError):
        list(read_split(split, options, ["offset", CORRUPT]))
    assert any(f"{20:020d}.log, position {3 * SIZE}" in text for text in caplog.messages)


def test_damage_that_ends_a_read_is_its_error_and_not_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = log_of(tmp_path, BAD_FIFTH)
    scan = kafkalog_source.scan(path, columns=["offset"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", DamageWarning)
        with pytest.raises(CorruptBatchError):
            scan.to_table()
    assert len(scan.report()["damage"]) == 1
    options = parse_options({}, [str(path)])
    with pytest.raises(CorruptBatchError):
        list(read_split(plan_read(options).splits[0], options, ["offset"]))
    assert caplog.messages == []


def test_permissive_wants_its_column(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="_corrupt_record, which is not selected"):
        kafkalog_source.scan(tmp_path, columns=["offset"], mode="PERMISSIVE")


def test_in_other_modes_the_column_is_there_when_asked_for_and_null(tmp_path: Path) -> None:
    directory = log_of(tmp_path, WHOLE)
    assert {row[CORRUPT] for row in rows(directory, ["offset", CORRUPT])} == {None}
    assert CORRUPT not in rows(directory)[0]


@pytest.mark.parametrize("mode", ["FAILFAST", "DROPMALFORMED", "PERMISSIVE", "RECOVER"])
def test_a_torn_end_is_told_and_is_no_row_in_any_mode(tmp_path: Path, mode: str) -> None:
    directory = log_of(tmp_path, WHOLE[:-5])
    columns = ["offset", CORRUPT]
    scan = kafkalog_source.scan(directory, columns=columns, mode=mode)
    assert scan.to_table()["offset"].to_pylist() == list(range(19))
    (torn,) = scan.report()["damage"]
    assert (torn["kind"], torn["position"], torn["size"], torn["first_offset"]) == ("torn", 19 * SIZE, SIZE - 5, 19)
    assert view(directory, "kind", "position", "size", mode=mode) == [("torn", 19 * SIZE, SIZE - 5)]


@pytest.mark.parametrize("mode", ["FAILFAST", "DROPMALFORMED", "PERMISSIVE", "RECOVER"])
def test_zeros_to_the_end_are_no_damage_in_any_mode(tmp_path: Path, mode: str) -> None:
    directory = log_of(tmp_path, WHOLE + bytes(5000))
    assert [row["offset"] for row in rows(directory, ["offset", CORRUPT], mode=mode)] == list(range(20))
    assert view(directory, mode=mode) == []


def test_the_view_tells_where_what_and_which_offsets(tmp_path: Path) -> None:
    directory = log_of(tmp_path, BAD_FIFTH, encode([Batch(base_offset=20)])[:-1])
    file = directory / f"{0:020d}.log"
    reason, found = "the batch's checksum is wrong", BAD_FIFTH_FOUND
    assert view(directory)[0] == ("topic", 0, str(file), 5 * SIZE, SIZE, "damaged", reason, None, found, 5, 5)
    assert view(directory, "kind", "first_offset", "last_offset")[1] == ("torn", 20, None)


def test_the_view_says_what_a_codec_or_a_limit_found(tmp_path: Path) -> None:
    large = Batch([Record(value=bytes(5000))], base_offset=1, codec="gzip")
    directory = log_of(tmp_path, encode([Batch(), large, Batch(base_offset=2)]))
    ((reason, found, expected),) = view(directory, "reason", "found", "expected", maxDecompressedBatchBytes=1000)
    assert "decompresses to more than is allowed" in reason
    assert (found, expected) == (None, "at most 1000 bytes") or expected is not None


def test_the_view_of_a_range_shows_what_a_read_of_it_would_miss(tmp_path: Path) -> None:
    data = bytearray(WHOLE)
    for number in (3, 9, 15):
        data[number * SIZE + 70] ^= 1
    directory = log_of(tmp_path, bytes(data))
    for start, end, lost in ((0, 20, [3, 9, 15]), (4, 15, [9]), (10, 15, []), (9, 10, [9])):
        limits = {"startingOffsets": {"topic": {0: start}}, "endingOffsets": {"topic": {0: end}}}
        assert view(directory, "first_offset", **limits) == [(offset,) for offset in lost]
        assert offsets(directory, mode="DROPMALFORMED", **limits) == [i for i in range(start, end) if i not in lost]


def test_the_view_takes_its_own_columns_alone(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="'offset' does not exist"):
        kafkalog_source.scan(tmp_path, columns=["offset"], view="damage")


def test_a_batch_that_is_too_large_is_passed_over_too(tmp_path: Path) -> None:
    large = Batch([Record(value=bytes(70_000))], base_offset=1)
    for neighbours in ([Batch(base_offset=2)], []):
        directory = log_of(tmp_path, encode([Batch(), large, *neighbours]))
        limit = {"maxDecompressedBatchBytes": 5000}
        with pytest.raises(LimitError):
            offsets(directory, **limit)
        assert offsets(directory, mode="DROPMALFORMED", **limit) == [0, 2][: 1 + len(neighbours)]
        (damage,) = view(directory, "position", "size", "reason", "found", **limit)
        assert damage == (76, len(large.encode()), "the batch is larger than allowed", f"{len(large.encode())} bytes")


@pytest.mark.parametrize("mode", ["DROPMALFORMED", "PERMISSIVE"])
def test_a_file_of_another_kind_costs_its_offsets_alone(tmp_path: Path, mode: str) -> None:
    directory = log_of(tmp_path, b"not a segment at all, but a text. " * 30, encode([Batch(base_offset=20)]))
    with pytest.raises(UnsupportedFormatError):
        offsets(directory)
    found = rows(directory, ["offset", CORRUPT], mode=mode)
    assert [row["offset"] for row in found if row[CORRUPT] is None] == [20]
    assert view(directory, "size", "first_offset", "last_offset") == [(34 * 30, 0, 19)]


def test_a_segment_of_redpanda_is_refused_in_every_mode(tmp_path: Path) -> None:
    header = struct.pack("<IIq", 0x12345678, 500, 3) + bytes([1])
    directory = log_of(tmp_path, header + bytes(range(1, 200)) * 3)
    for options in ({"mode": "DROPMALFORMED"}, {"view": "damage"}):
        with pytest.raises(UnsupportedFormatError, match="Redpanda"):
            kafkalog_source.scan(directory, **options).to_table()


@pytest.mark.parametrize("most", [1, 2, 7])
def test_the_splits_of_maxrecordsperpartition_tell_damage_once(tmp_path: Path, most: int) -> None:
    lying = Batch([Record(key_length=10**6 if i == 3 else None) for i in range(9)], base_offset=2)
    for content in ([Batch(), lying, Batch(base_offset=11)], [Batch(), Batch([Record()] * 9, base_offset=2, crc=1)]):
        directory = log_of(tmp_path, encode(content))
        options = {"maxRecordsPerPartition": most, "threads": 1}
        whole = rows(directory, ["offset", CORRUPT], mode="PERMISSIVE")
        assert rows(directory, ["offset", CORRUPT], mode="PERMISSIVE", **options) == whole
        assert view(directory, **options) == view(directory)
        assert len(view(directory)) == 1


def test_no_record_is_in_what_is_said_of_damage(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    data = encode([Batch([Record(SECRET, SECRET, key_length=99)], i, codec=codec) for i, codec in enumerate(CODECS)])
    directory = log_of(tmp_path, data + SECRET)
    found = rows(directory, mode="PERMISSIVE")
    assert len(found) == len(CODECS) + 1
    texts = [json.dumps(view(directory)), *(row[CORRUPT] for row in found)]
    options = parse_options({"mode": "DROPMALFORMED"}, str(directory))
    with caplog.at_level(logging.WARNING, "kafkalog"):
        for split in plan_read(options).splits:
            assert list(read_split(split, options, ["offset"])) == []
    assert len(caplog.messages) == len(CODECS) + 1
    assert not any(SECRET.decode() in text for text in [*texts, *caplog.messages])


CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def test_names_of_files_are_whole_in_json_and_escaped_where_they_are_printed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = os.fsencode(tmp_path) + b"/line\nbreak\xff"
    os.mkdir(folder)
    directory = log_of(Path(os.fsdecode(folder)), BAD_FIFTH)
    (text,) = [row[CORRUPT] for row in rows(directory, ["offset", CORRUPT], mode="PERMISSIVE") if row[CORRUPT]]
    assert text.isascii()
    assert json.loads(text)["file"] == str(directory / f"{0:020d}.log")
    assert "line\nbreak\ufffd" in view(directory, "file")[0][0]
    options = parse_options({"mode": "DROPMALFORMED"}, str(directory))
    (split,) = plan_read(options).splits
    list(read_split(split, options, ["offset"]))
    assert "line\\nbreak\\udcff" in caplog.messages[0]


def aborted(base: int) -> list[Batch]:
    marker = Batch([end_marker(commit=False)], base + 1, transactional=True, control=True, producer_id=1)
    return [Batch([Record()], base, transactional=True, producer_id=1), marker]


@pytest.mark.parametrize("options", [{}, {"maxPartitionBytes": 1}])
def test_a_damaged_end_of_a_transaction_is_warned_of(tmp_path: Path, options: dict[str, Any]) -> None:
    entries = [*aborted(0), *aborted(2), Batch(base_offset=4)]
    data = bytearray(encode(entries))
    data[len(encode(entries[:2])) - 1] ^= 1
    directory = log_of(tmp_path, bytes(data))
    with pytest.raises(CorruptBatchError):
        offsets(directory, isolationLevel="read_committed")
    scan = kafkalog_source.scan(
        directory, columns=["offset"], isolationLevel="read_committed", mode="DROPMALFORMED", **options
    )
    scan.to_table()
    assert any("open transactions that may have ended there: 1" in warning for warning in scan.report()["warnings"])


@pytest.mark.parametrize("bad", [70, 8, 7])
def test_a_time_is_looked_for_behind_damage_and_that_is_warned_of(tmp_path: Path, bad: int) -> None:
    entries = [Batch([Record()], i, base_timestamp=1000 * i) for i in range(10)]
    directory = log_of(tmp_path, flipped(3 * 76 + bad, encode(entries), 4))
    with pytest.raises(CorruptBatchError):
        offsets(directory, startingTimestamp=2500)
    scan = kafkalog_source.scan(directory, columns=["offset"], startingTimestamp=2500, mode="DROPMALFORMED")
    assert scan.to_table()["offset"].to_pylist() == list(range(4, 10))
    assert any("records at or after the wanted timestamp" in warning for warning in scan.report()["warnings"])


@pytest.mark.parametrize("end", [6, 10, 20])
def test_a_message_whose_offset_is_too_high_hides_none_behind_it(tmp_path: Path, end: int) -> None:
    messages = encode([Message(offset=i) for i in range(20)])
    directory = log_of(tmp_path, flipped(5 * (len(messages) // 20) + 1, messages))
    limit = {"endingOffsets": {"topic": {0: end}}}
    with pytest.raises(CorruptBatchError):
        offsets(directory, **limit)
    assert offsets(directory, mode="DROPMALFORMED", **limit) == [i for i in range(end) if i != 5]


@pytest.mark.parametrize("codec", ["none", "gzip", "zstd"])
@pytest.mark.parametrize("wrong", [1, 2, 3, 64, 1 << 40])
def test_an_offset_that_is_too_high_costs_its_own_batch(tmp_path: Path, codec: str, wrong: int) -> None:
    content = [Batch([Record()] * 4, base_offset=4 * i + (wrong if i == 2 else 0), codec=codec) for i in range(5)]
    directory = log_of(tmp_path, encode(content))
    assert offsets(directory, mode="DROPMALFORMED") == [*range(8), *range(12, 20)]
    assert view(directory, "first_offset", "last_offset") == [(8, 11)]


@pytest.mark.parametrize("windows", [1, 61, 90, 150, 10**6])
def test_it_does_so_wherever_a_window_ends(tmp_path: Path, windows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from kafkalog_source.segment import reader as module

    monkeypatch.setattr(module, "FIRST_WINDOW_SIZE", windows)
    monkeypatch.setattr(module, "WINDOW_SIZE", windows)
    for data in (flipped(5 * SIZE + 3), flipped(5 * SIZE + 10), flipped(5 * SIZE + 11, bit=7), BAD_FIFTH):
        directory = log_of(tmp_path, data)
        assert offsets(directory, mode="DROPMALFORMED") == [i for i in range(20) if i != 5]
        assert view(directory, "position", "size", "last_offset") == [(5 * SIZE, SIZE, 5)]


def test_a_segment_inside_a_value_is_not_taken_for_the_log_s_own(tmp_path: Path) -> None:
    """The length is damaged and the value holds whole batches of fitting offsets: its own checksum tells the end."""
    inner = encode([Batch(base_offset=i) for i in range(5, 9)])
    outer = Batch([Record(value=inner)], base_offset=1)
    good = encode([Batch(), outer, Batch(base_offset=20), Wrapper([Message(offset=21)])])
    for bit in range(8):
        for byte in range(8, 12):
            directory = log_of(tmp_path, flipped(76 + byte, good, bit))
            assert offsets(directory, mode="DROPMALFORMED") == [0, 20, 21]


def test_the_largest_offset_of_all_is_damage(tmp_path: Path) -> None:
    directory = log_of(tmp_path, encode([Batch(), Batch(base_offset=2**63 - 1), Batch(base_offset=1)]))
    assert offsets(directory, mode="DROPMALFORMED") == [0, 1]
    assert view(directory, "position", "size") == [(76, 76)]


def test_kafka_0_7_has_the_modes_too(tmp_path: Path) -> None:
    messages = [Message07(b"message %d" % i) for i in range(6)]
    size = len(messages[0].encode())
    data = flipped(2 * size + 12, encode_07(messages))
    directory = partition_dir(tmp_path)
    write_segment_07(directory, data)
    assert offsets(directory, mode="DROPMALFORMED") == [size * i for i in range(6) if i != 2]
    assert [row["offset"] for row in rows(directory, mode="PERMISSIVE")] == [size * i for i in range(6)]
    assert view(directory, "position", "size") == [(2 * size, size)]
    assert offsets(directory, mode="RECOVER") == [0, size]
    write_segment_07(directory, b"a text. " * 50)
    assert offsets(directory, mode="DROPMALFORMED") == []
    assert len(view(directory)) == 1
