"""A log dir with the metadata of its cluster, as a broker leaves it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_source.salvage import SalvageReport, salvage
from tests.builders import Batch, control_record
from tests.builders.index_files import write_checkpoint, write_indexed, write_partition
from tests.unit.verifying.conftest import batches, times

METADATA_ID = "AAAAAAAAAAAAAAAAAAAAAQ"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """orders-0 with offsets 0 to 59 in two segments, orders-1 that is empty, and the metadata log."""
    root = tmp_path / "logs"
    directory = write_partition(root, "orders")
    for start in (0, 30):
        entries = batches(start, 10)
        write_indexed(directory, entries, base_offset=start, times=times(entries))
    write_indexed(write_partition(root, "orders", 1), [])
    metadata = write_partition(root, "__cluster_metadata", topic_id=METADATA_ID)
    write_indexed(metadata, [Batch(base_offset=0), Batch(base_offset=1)])
    (metadata / "quorum-state").write_text('{"leaderId":1,"leaderEpoch":1,"votedId":-1,"data_version":0}')
    snapshot = [Batch([control_record(3)], control=True), Batch([control_record(4)], base_offset=1, control=True)]
    (metadata / "00000000000000000000-0000000000.checkpoint").write_bytes(b"".join(b.encode() for b in snapshot))
    (root / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=abc\n")
    write_checkpoint(root / "log-start-offset-checkpoint", {("orders", 0): 2})
    write_checkpoint(root / "replication-offset-checkpoint", {("orders", 0): 60, ("gone", 0): 5})
    write_checkpoint(root / "recovery-point-offset-checkpoint", {("orders", 0): 30})
    write_checkpoint(root / "cleaner-offset-checkpoint", {})
    return root


def salvaged(logs: Path, **options: object) -> tuple[Path, SalvageReport]:
    """Salvage it, next to itself."""
    target = logs.parent / "new"
    return target, salvage(str(logs), str(target), threads=2, **options)  # type: ignore[arg-type]


def flip(path: Path, position: int) -> None:
    """Damage a byte."""
    content = bytearray(path.read_bytes())
    content[position] ^= 0x55
    path.write_bytes(content)


def tree(path: Path) -> dict[str, tuple[bytes, int]]:
    """Content and time of every file."""
    return {
        str(each.relative_to(path)): (each.read_bytes(), each.stat().st_mtime_ns)
        for each in path.rglob("*")
        if each.is_file() and not each.is_symlink()
    }
