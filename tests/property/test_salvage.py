"""Damage some batches, salvage: exactly the rows of the others are there, and everything about them is sound."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from unittest import mock

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from kafkalog_source import scan
from kafkalog_source.salvage import salvage
from kafkalog_source.verifying import verify
from tests.builders.disk import Entry, write_segment
from tests.builders.index_files import positions, write_partition
from tests.property.strategies import partitions

Partition = list[tuple[int, list[Entry]]]
Damaged = set[tuple[str, int]]

COLUMNS = ["offset", "timestamp", "timestampType", "key", "value", "headers", "isControl"]
PLACE = ["file", "batchPosition"]
COVERED = 17
"""From here on every byte of an entry is covered by its checksum, in all formats."""


def rows_of(path: Path, without: Damaged) -> pa.Table:
    """The rows of a log dir but those of some batches, control records among them."""
    read = scan(path, columns=[*COLUMNS, *PLACE], includeControlRecords=True, failOnDataLoss=False, threads=1)
    table = read.to_table()
    places = table.select(PLACE).to_pylist()
    kept = [(Path(place["file"]).name, place["batchPosition"]) not in without for place in places]
    return table.select(COLUMNS).filter(pa.array(kept, pa.bool_())).combine_chunks()


def write(root: Path, partition: Partition) -> Path:
    directory = write_partition(root)
    for base_offset, content in partition:
        write_segment(directory, content, base_offset=base_offset)
    return directory


def damage(directory: Path, partition: Partition, choose: st.DataObject) -> Damaged:
    """Flip a bit of some batches."""
    damaged: Damaged = set()
    for base_offset, content in partition:
        path = directory / f"{base_offset:020d}.log"
        data = bytearray(path.read_bytes())
        for position, entry in zip(positions(content), content, strict=True):
            if choose.draw(st.integers(0, 3)) == 0:
                at = position + choose.draw(st.integers(COVERED, len(entry.encode()) - 1))
                data[at] ^= 1 << choose.draw(st.integers(0, 7))
                damaged.add((path.name, position))
        path.write_bytes(data)
    return damaged


@given(partitions(), st.data())
def test_the_rows_of_undamaged_batches_and_no_others(partition: Partition, choose: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        source, target = Path(scratch, "old"), Path(scratch, "new")
        directory = write(source, partition)
        whole = Path(scratch, "whole")
        shutil.copytree(source, whole)
        damaged = damage(directory, partition, choose)
        for path in directory.glob("*.log"):
            path.with_suffix(".index").write_bytes(path.read_bytes()[:16])
        # To wait for the disk is not what is tested here.
        with mock.patch("os.fsync"):
            report = salvage(str(source), str(target), threads=1)
        assert rows_of(target, set()).equals(rows_of(whole, damaged))
        assert report.is_complete == (not damaged)
        # Offsets that were the last of their segment are missing still, which a lost batch alone tells.
        findings = [each for each in verify([str(target)], threads=1).all_findings if "missing" not in each.problem]
        assert findings == []
