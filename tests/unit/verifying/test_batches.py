"""Batches, ends and gaps, as verify tells them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafkalog_source.verifying import Severity
from kafkalog_source.verifying import segment as segment_module
from tests.builders import Batch, Message, Record, Wrapper, partition_dir, write_segment
from tests.builders.index_files import positions, write_indexed, write_partition
from tests.builders.v07 import Message07, Set07, write_segment_07
from tests.unit.verifying.conftest import TIME, batches, check, only, times


def test_a_sound_log_dir(logs: Path) -> None:
    found = check(logs)
    assert found.all_findings == []
    assert found.is_sound
    (partition,) = found.partitions
    assert (partition.batches, partition.records, partition.end_offset) == (20, 60, 60)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_record_that_lies_inside_a_batch_with_a_right_checksum(tmp_path: Path, codec: str) -> None:
    directory = partition_dir(tmp_path)
    bad = Batch([Record(), Record(key_length=99)], base_offset=2, codec=codec)
    segment = write_segment(directory, [Batch(base_offset=0), bad, Batch(base_offset=9)], index=b"", timeindex=b"")
    finding = only(check(tmp_path), Severity.DAMAGE)
    assert finding.file == str(segment)
    assert finding.position == len(Batch().encode())
    assert "key" in finding.problem
    assert (finding.first_offset, finding.last_offset) == (2, 3)


def test_a_wrong_checksum_costs_one_batch(logs: Path) -> None:
    segment = logs / "orders-0" / "00000000000000000000.log"
    content = bytearray(segment.read_bytes())
    where = positions(batches(0, 10))[4]
    content[where + 100] ^= 1
    segment.write_bytes(content)
    found = check(logs)
    finding = only(found, Severity.DAMAGE)
    assert (finding.position, finding.first_offset, finding.last_offset) == (where, 12, 14)
    assert found.partitions[0].records == 57
    assert not found.is_sound


def test_a_torn_end_is_a_note_in_the_last_segment_alone(logs: Path) -> None:
    last = logs / "orders-0" / "00000000000000000030.log"
    torn = last.read_bytes() + batches(60, 1)[0].encode()[:-9]
    last.write_bytes(torn)
    finding = only(check(logs), Severity.NOTE)
    assert "ends inside a batch" in finding.problem
    assert check(logs).is_sound
    write_indexed(logs / "orders-0", batches(90, 1), base_offset=90, times=[TIME + 90_000])
    assert Severity.DAMAGE in [finding.severity for finding in check(logs).all_findings]


def test_zeros_behind_the_last_batch_are_nothing(logs: Path) -> None:
    last = logs / "orders-0" / "00000000000000000030.log"
    os.truncate(last, last.stat().st_size + 100_000)
    for index in (logs / "orders-0").glob("*30.*index"):
        os.truncate(index, 12 * 8 * 1000)
    assert check(logs).all_findings == []


def test_a_segment_that_is_missing(logs: Path) -> None:
    write_indexed(logs / "orders-0", batches(90, 1), base_offset=90, times=[TIME + 90_000])
    finding = only(check(logs), Severity.DAMAGE)
    assert "a segment is missing" in finding.problem
    assert (finding.first_offset, finding.last_offset) == (60, 89)


def test_a_gap_in_a_compacted_log_is_a_note(logs: Path) -> None:
    compacted = Batch([Record(offset_delta=1)], base_offset=90, last_offset_delta=5, base_timestamp=TIME + 90_000)
    write_indexed(logs / "orders-0", [compacted], base_offset=90, times=[TIME + 90_000])
    assert "compaction" in only(check(logs), Severity.NOTE).problem


def test_offsets_in_the_next_segments_range(logs: Path) -> None:
    directory = logs / "orders-0"
    entries = batches(0, 11)
    write_indexed(directory, entries, base_offset=0, times=times(entries))
    finding = only(check(logs), Severity.DAMAGE)
    assert "next segment" in finding.problem
    assert finding.position == positions(entries)[10]


@pytest.mark.parametrize("magic", [0, 1])
def test_v0_and_v1(tmp_path: Path, magic: int) -> None:
    directory = write_partition(tmp_path)
    entries = [Message(offset=at, magic=magic, timestamp=TIME + at) for at in range(5)]
    wrapper = Wrapper([Message(offset=at, magic=magic, timestamp=TIME + at) for at in (5, 6)], magic=magic)
    stamps = [TIME + at for at in (0, 1, 2, 3, 4, 6)] if magic else []
    write_indexed(directory, [*entries, wrapper], times=stamps, interval=60)
    found = check(tmp_path)
    assert found.all_findings == []
    assert found.partitions[0].records == 7


def test_kafka_0_7(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    first = write_segment_07(directory, [Message07(), Set07()])
    size = first.stat().st_size
    write_segment_07(directory, [Message07(), Message07(crc=5), Message07()], base_offset=size)
    found = check(tmp_path)
    finding = only(found, Severity.DAMAGE)
    assert "checksum" in finding.problem
    assert found.partitions[0].records == 4
    (directory / first.name).write_bytes(Message07().encode())
    problems = [finding.problem for finding in check(tmp_path).all_findings]
    assert "offsets are missing before the next segment: a segment is missing" in problems


def test_a_lone_segment_is_judged_by_itself(logs: Path) -> None:
    directory = logs / "orders-0"
    (directory / "leader-epoch-checkpoint").write_text("nonsense")
    assert check(directory / "00000000000000000030.log").all_findings == []


def test_a_file_of_noise(tmp_path: Path) -> None:
    write_segment(write_partition(tmp_path), b"\xa5" * 5000, index=b"", timeindex=b"")
    finding = only(check(tmp_path), Severity.DAMAGE)
    assert "not a Kafka segment" in finding.problem


def test_a_batch_beyond_the_limit(tmp_path: Path) -> None:
    bomb = Batch([Record(value=bytes(100_000))], codec="gzip")
    write_segment(write_partition(tmp_path), [bomb], index=b"", timeindex=b"")
    assert "more than" in only(check(tmp_path, largest_batch=50_000), Severity.DAMAGE).problem
    assert check(tmp_path).is_sound


def test_pieces_of_a_segment_find_what_the_whole_finds(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = logs / "orders-0"
    segment = directory / "00000000000000000000.log"
    content = bytearray(segment.read_bytes())
    content[positions(batches(0, 10))[4] + 100] ^= 1
    segment.write_bytes(content)
    index = directory / "00000000000000000030.index"
    index.write_bytes(index.read_bytes()[:-8] + (29).to_bytes(4, "big") + (5).to_bytes(4, "big"))
    whole = check(logs)
    monkeypatch.setattr(segment_module, "PIECE_SIZE", 700)
    pieces = check(logs)
    assert [str(finding) for finding in pieces.all_findings] == [str(finding) for finding in whole.all_findings]
    assert len(whole.all_findings) == 2
    assert pieces.partitions[0].records == whole.partitions[0].records
    assert pieces.partitions[0].batches == whole.partitions[0].batches


def test_no_content_of_a_record_in_any_finding(tmp_path: Path) -> None:
    secret = b"a-secret-that-nobody-may-see"
    directory = write_partition(tmp_path)
    good = Batch([Record(secret, secret)] * 3)
    bad = bytearray(Batch([Record(secret, secret)] * 3, base_offset=3).encode())
    bad[80] ^= 1
    write_segment(directory, good.encode() + bytes(bad) + secret * 20, index=secret[:24], timeindex=secret[:24])
    (directory / "00000000000000000003.snapshot").write_bytes(secret * 3)
    text = "\n".join(str(finding) for finding in check(tmp_path).all_findings)
    assert len(text) > 200
    assert "secret" not in text
    assert "secret" not in str(check(tmp_path).to_dict())
