"""Whatever can be built is read as the reference reads it; a projection only drops columns."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import encode, partition_dir, write_segment
from tests.builders.disk import Entry
from tests.comparing import COLUMNS, assert_same_rows, reference_rows, scan_rows
from tests.property.strategies import segments
from tests.reference import decode_segment


@given(segments())
def test_the_reference_reads_every_built_record(content: list[Entry]) -> None:
    records = decode_segment(encode(content))
    offsets = [record.offset for record in records]
    assert offsets == sorted(set(offsets))
    assert not offsets or offsets[-1] <= content[-1].last_offset


@given(segments())
def test_scan_equals_the_reference(content: list[Entry]) -> None:
    with tempfile.TemporaryDirectory() as root:
        log = write_segment(partition_dir(Path(root)), content)
        records = decode_segment(log.read_bytes())
        wanted = reference_rows(records, log, topic="topic", partition=0)
        assert_same_rows(scan_rows(log), wanted)


@given(segments(), st.permutations(COLUMNS), st.integers(1, len(COLUMNS)))
def test_a_projection_only_drops_and_orders_columns(content: list[Entry], shuffled: list[str], kept: int) -> None:
    columns = shuffled[:kept]
    with tempfile.TemporaryDirectory() as root:
        log = write_segment(partition_dir(Path(root)), content)
        records = decode_segment(log.read_bytes())
        wanted = reference_rows(records, log, topic="topic", partition=0, columns=columns)
        assert_same_rows(scan_rows(log, columns), wanted, columns)
