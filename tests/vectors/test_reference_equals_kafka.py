"""The reference decoder reads every packed segment as Kafka's own classes did."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data.cases import CASES
from tests.reference import RefBatch, RefCorrupt, RefRecord, TailKind, decode_file
from tests.vectors.oracle import OracleBatch, OracleRecord, OracleSegment, oracle_segments

FixtureCase = Callable[[str], Path]

EXPECTED_OTHERWISE = {"key-length-minus-2-v1-0/00000000000000000315.log": "damage"}
"""CORRUPTION.json expects rows here, but the bytes of the key are still there, so that the value's length is
read from them; Kafka's reader throws at it too."""


def or_minus_one(number: int | None) -> int:
    return -1 if number is None else number


def reference_view(record: RefRecord) -> tuple[object, ...]:
    return (
        record.offset,
        or_minus_one(record.timestamp_ms),
        record.timestamp_type,
        record.key,
        record.value,
        record.headers or (),
        or_minus_one(record.sequence),
        or_minus_one(record.leader_epoch),
        or_minus_one(record.producer_id),
        or_minus_one(record.producer_epoch),
        record.is_transactional,
        record.is_control,
        record.magic,
        record.compression,
        record.batch_position,
        record.batch_base_offset,
    )


def oracle_view(batch: OracleBatch, record: OracleRecord) -> tuple[object, ...]:
    return (
        record.offset,
        record.timestamp_ms,
        record.timestamp_type,
        record.key,
        record.value,
        record.headers,
        record.sequence,
        batch.leader_epoch,
        batch.producer_id,
        batch.producer_epoch,
        batch.is_transactional,
        batch.is_control,
        batch.magic,
        batch.codec,
        batch.position,
        batch.base_offset,
    )


def assert_equal(found: tuple[RefBatch, ...], wanted: tuple[OracleBatch, ...]) -> None:
    assert [(b.position, b.size, b.last_offset) for b in found] == [(b.position, b.size, b.last_offset) for b in wanted]
    assert [reference_view(r) for b in found for r in b.records] == [
        oracle_view(b, r) for b in wanted for r in b.records
    ]


def check_segment(segment: OracleSegment) -> None:
    """Equal rows; where Kafka refuses a batch, so does the reference, at the same position."""
    data = segment.log.read_bytes()
    refused = [batch for batch in segment.batches if batch.refused]
    if refused:
        place = refused[0].position
        with pytest.raises(RefCorrupt) as raised:
            decode_file(data)
        assert raised.value.position == place
        before = tuple(batch for batch in segment.batches if batch.position < place)
        assert_equal(decode_file(data[:place]).batches, before)
        return
    found = decode_file(data)
    assert_equal(found.batches, segment.batches)
    assert found.tail is (TailKind.CLEAN if segment.stopped is None else TailKind.ZEROED)


@pytest.mark.parametrize("case", [name for name in CASES if name not in ("corrupt", "log-0.7")])
def test_reference_equals_kafka(case: str, fixture_case: FixtureCase) -> None:
    root = fixture_case(case)
    segments = [*oracle_segments(root), *oracle_segments(root, suffix=".checkpoint")]
    assert segments
    for segment in segments:
        check_segment(segment)


def verdict(data: bytes, base_offset: int) -> str:
    try:
        found = decode_file(data, base_offset=base_offset)
    except RefCorrupt:
        return "damage"
    return "torn" if found.tail is TailKind.TORN else "rows"


def test_reference_judges_damage_as_described(fixture_case: FixtureCase) -> None:
    log = fixture_case("corrupt") / "log"
    wrong = {}
    for case in json.loads((log / "CORRUPTION.json").read_text(encoding="utf-8"))["cases"]:
        name = case["file"]
        expected = EXPECTED_OTHERWISE.get(name, case["expect"])
        found = verdict((log / name).read_bytes(), int(Path(name).stem))
        if expected != "any" and found not in expected:
            wrong[name] = (found, expected)
    assert wrong == {}
