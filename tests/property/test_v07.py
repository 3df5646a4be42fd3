"""Kafka 0.7: whatever can be built is read as the reference reads it, however it is cut."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kafkalog_source import KafkaLogError
from tests.builders import partition_dir
from tests.builders.compress import gzip_members, snappy_raw, snappy_xerial
from tests.builders.v07 import Encoded07, Message07, Set07, encode_07, write_segment_07
from tests.comparing import Row, assert_same_rows, reference_rows, scan_rows
from tests.property.test_splits import SPLIT_OPTIONS
from tests.reference import RefCorrupt
from tests.reference.v07 import decode_segment_07

COLUMNS = ("offset", "value", "magic", "compression", "batchPosition", "file")
PAYLOADS = st.one_of(st.binary(max_size=30), st.builds(bytes.__mul__, st.binary(max_size=3), st.integers(0, 2000)))
PLAIN = st.builds(Message07, PAYLOADS, st.integers(0, 1), st.sampled_from([0, 0, 4, 0xF8]))


def sets(inner: st.SearchStrategy[Encoded07]) -> st.SearchStrategy[Encoded07]:
    codecs = st.sampled_from([("gzip", gzip_members), ("snappy", snappy_raw), ("snappy", snappy_xerial)])
    return st.builds(lambda found, codec: Set07(found, *codec), st.lists(inner, max_size=4), codecs)


MESSAGES: st.SearchStrategy[Encoded07] = st.one_of(PLAIN, PLAIN, st.recursive(PLAIN, sets, max_leaves=8))
SEGMENTS = st.lists(MESSAGES, max_size=8)
BASES = st.sampled_from([0, 7, 2**40])


@given(SEGMENTS, BASES)
def test_scan_equals_the_reference(content: list[Encoded07], base_offset: int) -> None:
    with tempfile.TemporaryDirectory() as root:
        log = write_segment_07(partition_dir(Path(root)), content, base_offset=base_offset)
        records = decode_segment_07(log.read_bytes(), base_offset=base_offset)
        assert_same_rows(scan_rows(log), reference_rows(records, log, topic="topic", partition=0))


def write_partition(directory: Path, contents: list[list[Encoded07]], base_offset: int) -> tuple[list[Row], int]:
    """Segments that abut; their rows, and the offset behind the last."""
    rows: list[Row] = []
    for content in contents:
        log = write_segment_07(directory, content, base_offset=base_offset)
        data = log.read_bytes()
        records = decode_segment_07(data, base_offset=base_offset)
        rows += reference_rows(records, log, topic="topic", partition=0, columns=COLUMNS)
        base_offset += len(data)
    return rows, base_offset


@given(st.lists(st.lists(MESSAGES, min_size=1, max_size=6), min_size=1, max_size=4), BASES, SPLIT_OPTIONS, st.data())
def test_any_range_and_split_plan_gives_each_row_once(
    contents: list[list[Encoded07]], base_offset: int, options: dict[str, Any], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as root:
        directory = partition_dir(Path(root))
        rows, past = write_partition(directory, contents, base_offset)
        assert_same_rows(scan_rows(directory, COLUMNS, **options), rows, COLUMNS)
        start = data.draw(st.integers(base_offset, past))
        end = data.draw(st.integers(start, past))
        bounds = {
            "startingOffsets": json.dumps({"topic": {"0": start}}),
            "endingOffsets": json.dumps({"topic": {"0": end}}),
        }
        wanted = [row for row in rows if start <= row[0] < end]
        assert_same_rows(scan_rows(directory, COLUMNS, assign='{"topic":[0]}', **bounds, **options), wanted, COLUMNS)


@given(SEGMENTS, st.data())
def test_damage_is_seen_where_the_reference_sees_it(content: list[Encoded07], data: st.DataObject) -> None:
    """Cut anywhere, or with any byte changed, both read the same rows or refuse at the same position."""
    whole = encode_07(content)
    damaged = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    if damaged and data.draw(st.booleans()):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= data.draw(st.integers(1, 255))
    with tempfile.TemporaryDirectory() as root:
        log = write_segment_07(partition_dir(Path(root)), bytes(damaged))
        try:
            records = decode_segment_07(bytes(damaged))
        except RefCorrupt as expected:
            try:
                scan_rows(log)
            except KafkaLogError as error:
                assert error.position == expected.position
                return
            raise AssertionError(f"nothing was refused where the reference says {expected}") from expected
        assert_same_rows(scan_rows(log), reference_rows(records, log, topic="topic", partition=0))
