"""``view=batches`` says of each batch what Kafka's own classes read from its header."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kafkalog_source import KafkaLogError, scan
from kafkalog_source.arrow.batch_headers import BATCH_TYPES
from kafkalog_source.arrow.damage import CORRUPT_RECORD
from tests.comparing import Row, assert_same_rows, table_rows
from tests.data.cases import CASES
from tests.vectors.oracle import OracleBatch, OracleSegment, json_lines, oracle_segments
from tests.vectors.test_scan_equals_kafka import INTERNAL, PARTITION, SET_ASIDE, log_start, none_if_minus_one

FixtureCase = Callable[[str], Path]

READABLE = [name for name in CASES if name not in ("corrupt", "log-0.7")]
COLUMNS = tuple(name for name in BATCH_TYPES if name != CORRUPT_RECORD)
LOG_APPEND_TIME = 1


def microseconds(timestamp_ms: int | None) -> int | None:
    return None if timestamp_ms is None or timestamp_ms == -1 else timestamp_ms * 1000


def first_timestamp(batch: OracleBatch) -> int | None:
    if batch.timestamp_type == LOG_APPEND_TIME:
        return microseconds(batch.max_timestamp)
    if batch.magic == 2:
        return None if batch.delete_horizon is not None else microseconds(batch.base_timestamp)
    return microseconds(batch.max_timestamp) if batch.codec == "none" else None


def last_sequence(batch: OracleBatch) -> int | None:
    if batch.base_sequence == -1:
        return None
    return (batch.base_sequence + batch.last_offset - batch.base_offset) % 2**31


def oracle_row(log: Path, batch: OracleBatch) -> Row:
    place = SET_ASIDE.fullmatch(log.parent.name) or PARTITION.fullmatch(log.parent.name)
    is_wrapper = batch.magic < 2 and batch.codec != "none"
    count = batch.count if batch.magic == 2 else 1
    return (
        place[1] if place else None,
        int(place[2]) if place else None,
        str(log),
        int(log.stem),
        batch.position,
        batch.size,
        None if is_wrapper else batch.base_offset,
        batch.last_offset,
        None if is_wrapper else count,
        batch.magic,
        batch.codec,
        batch.timestamp_type,
        first_timestamp(batch),
        microseconds(batch.max_timestamp),
        microseconds(batch.delete_horizon),
        none_if_minus_one(batch.leader_epoch),
        none_if_minus_one(batch.producer_id),
        none_if_minus_one(batch.producer_epoch),
        none_if_minus_one(batch.base_sequence),
        last_sequence(batch),
        batch.is_transactional,
        batch.is_control,
        batch.crc,
    )


def batch_rows(path: Path | list[Path], **options: object) -> list[Row]:
    paths = [str(each) for each in path] if isinstance(path, list) else str(path)
    return table_rows(scan(paths, view="batches", **options).to_table())


def test_the_default_columns_are_all_but_that_of_damage() -> None:
    assert tuple(scan("nowhere", view="batches").schema.names) == COLUMNS


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("case", READABLE)
def test_every_segment_equals_kafka(case: str, verify: bool, fixture_case: FixtureCase) -> None:
    for segment in oracle_segments(fixture_case(case)):
        wrong = next((batch for batch in segment.batches if not batch.crc_ok), None)
        if verify and wrong is not None:
            with pytest.raises(KafkaLogError) as raised:
                batch_rows(segment.log)
            assert raised.value.position == wrong.position
        elif segment.stopped is None:
            wanted = [oracle_row(segment.log, batch) for batch in segment.batches]
            assert_same_rows(batch_rows(segment.log, verifyChecksums=verify), wanted, COLUMNS)


@pytest.mark.parametrize("case", [name for name in READABLE if name not in ("codec-variants", "side-files")])
def test_a_log_directory_has_every_batch_that_may_hold_a_visible_record(case: str, fixture_case: FixtureCase) -> None:
    root = fixture_case(case)
    wanted = []
    for segment in oracle_segments(root):
        place = PARTITION.fullmatch(segment.log.parent.name)
        if place and place[1] not in INTERNAL:
            start = log_start(segment.log.parent)
            wanted += [(*place.groups(), batch.position) for batch in segment.batches if batch.last_offset >= start]
    log_dirs = sorted((root / "log").glob("disk*")) or [root / "log"]
    found = scan([str(each) for each in log_dirs], view="batches", columns=["topic", "partition", "batchPosition"])
    assert sorted((t, str(p), at) for t, p, at in table_rows(found.to_table())) == sorted(wanted)


@pytest.mark.parametrize("case", ["v2-4.4", "mixed-magic-2.8"])
def test_any_cut_gives_the_same_batches(case: str, fixture_case: FixtureCase) -> None:
    log = fixture_case(case) / "log"
    whole = batch_rows(log)
    assert len(scan(str(log), view="batches", maxPartitionBytes=5000, openCostInBytes=0).splits()) > 20
    for verify in (True, False):
        assert batch_rows(log, maxPartitionBytes=5000, openCostInBytes=0, verifyChecksums=verify) == whole


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("case", ["v2-4.4", "v1-2.8", "compact-4.4"])
def test_a_range_has_the_batches_that_may_hold_its_offsets(case: str, verify: bool, fixture_case: FixtureCase) -> None:
    """A wrapper of v0 or v1 may hold all offsets behind the batch before it."""
    directories: dict[Path, list[OracleSegment]] = {}
    for segment in oracle_segments(fixture_case(case)):
        if len(segment.batches) > 3 and PARTITION.fullmatch(segment.log.parent.name):
            directories.setdefault(segment.log.parent, []).append(segment)
    for directory, segments in sorted(directories.items())[:8]:
        batches = [(each.log, batch) for each in segments for batch in each.batches]
        place = PARTITION.fullmatch(directory.name)
        assert place is not None
        low, high = batches[1][1].last_offset, batches[-2][1].base_offset + 1
        above, wanted = -1, []
        for log, batch in batches:
            least = above + 1 if batch.magic < 2 and batch.codec != "none" else batch.base_offset
            if least < high and batch.last_offset >= low:
                wanted.append(oracle_row(log, batch))
            above = batch.last_offset
        found = batch_rows(
            directory,
            startingOffsets={place[1]: {int(place[2]): low}},
            endingOffsets={place[1]: {int(place[2]): high}},
            verifyChecksums=verify,
        )
        assert_same_rows(found, wanted, COLUMNS)


def test_messages_of_kafka_0_7_are_batches_of_their_own(fixture_case: FixtureCase) -> None:
    case = fixture_case("log-0.7")
    columns = ["batchPosition", "batchBaseOffset", "batchLastOffset", "recordCount", "compression", "maxTimestamp"]
    count = 0
    for log in sorted((case / "log").glob("*/*.kafka")):
        lines = json_lines(case / "oracle" / log.parent.name / f"{log.name}.messages.jsonl")
        wanted = [
            (
                line["position"],
                line["offset"],
                line["offset"],
                None if line["codec"] else 1,
                ("none", "gzip", "snappy")[line["codec"]],
                None,
            )
            for line in lines
        ]
        for verify in (True, False):
            found = scan(str(log), view="batches", columns=columns, verifyChecksums=verify)
            assert_same_rows(table_rows(found.to_table()), wanted, columns)
        count += len(wanted)
    assert count > 100
