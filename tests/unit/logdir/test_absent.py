"""Offsets that a partition directory lacks: what tells a tiered partition from one that lost segments or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_source.logdir.absent import RemotePart, absent_segments, remote_part
from tests.builders.index_files import write_checkpoint
from tests.unit.logdir.conftest import Write, listed, log

STARTS = "log-start-offset-checkpoint"


def tiered(
    write: Write,
    root: Path,
    *,
    start: int | None,
    epoch: int | None,
    checkpoint: bool = True,
    sign: str | None = None,
) -> RemotePart | None:
    """A partition whose first segment begins at 100, with what the files beside it say."""
    write(f"t-0/{log(100)}", f"t-0/{log(200)}")
    if epoch is not None:
        write("t-0/leader-epoch-checkpoint", content=f"0\n1\n4 {epoch}\n".encode())
    if checkpoint:
        write_checkpoint(root / STARTS, {} if start is None else {("t", 0): start})
    if sign is not None:
        (root / sign).mkdir()
    return remote_part(listed(root).partitions[-1])


@pytest.mark.parametrize(
    ("start", "epoch", "sign", "expected"),
    [
        # Without tiered storage a broker notes no log start of 0.
        (0, 0, None, (0, 99, True)),
        (0, None, None, (0, 99, True)),
        (40, 40, "__remote_log_metadata-7", (40, 99, True)),
        (40, 40, "remote-log-index-cache", (40, 99, True)),
        (40, 40, None, (40, 99, False)),
        # The checkpoint is older than the epochs, which remote retention has cut since.
        (10, 60, None, (60, 99, False)),
        (None, 0, "__remote_log_metadata-0", (0, 99, False)),
    ],
)
def test_offsets_below_the_first_segment(
    write: Write,
    tmp_path: Path,
    start: int | None,
    epoch: int | None,
    sign: str | None,
    expected: tuple[int, int, bool],
) -> None:
    found = tiered(write, tmp_path, start=start, epoch=epoch, sign=sign)
    assert found is not None
    assert (found.first_offset, found.last_offset, found.is_remote) == expected
    assert found.is_expected
    assert found.text.startswith(f"offsets {expected[0]} to {expected[1]} are in remote storage")
    assert ("missing" in found.text) is not expected[2]


@pytest.mark.parametrize(
    ("start", "epoch", "sign"),
    [
        (100, 100, "remote-log-index-cache"),
        (150, 150, "remote-log-index-cache"),
        (150, 0, None),
        # Retention has removed segments since the checkpoint was written; the epochs are cut at once.
        (40, 100, None),
        (40, 100, "remote-log-index-cache"),
        (None, 100, "remote-log-index-cache"),
        # A broker lists what is tiered, so that the first segments of this one are lost or were left out of a copy.
        (None, 0, None),
        (None, None, None),
    ],
)
def test_nothing_is_remote(
    write: Write, tmp_path: Path, start: int | None, epoch: int | None, sign: str | None
) -> None:
    assert tiered(write, tmp_path, start=start, epoch=epoch, sign=sign) is None


@pytest.mark.parametrize(("epoch", "expected"), [(0, RemotePart(0, 99, False, False)), (100, None), (None, None)])
def test_a_partition_directory_alone(
    write: Write, tmp_path: Path, epoch: int | None, expected: RemotePart | None
) -> None:
    assert tiered(write, tmp_path, start=None, epoch=epoch, checkpoint=False) == expected


def test_a_damaged_checkpoint_says_nothing(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(100)}")
    write(STARTS, content=b"nonsense")
    write("t-0/leader-epoch-checkpoint", content=b"0\n1\n4 0\n")
    assert remote_part(listed(tmp_path).partitions[0]) == RemotePart(0, 99, False, False)
    write("t-0/leader-epoch-checkpoint", content=b"nonsense")
    assert remote_part(listed(tmp_path).partitions[0]) is None


def test_a_lone_segment_and_a_link_tell_nothing(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(100)}", "elsewhere")
    write("elsewhere", content=b"0\n1\n4 0\n")
    (tmp_path / "t-0" / "leader-epoch-checkpoint").symlink_to(tmp_path / "elsewhere")
    assert remote_part(listed(tmp_path).partitions[0]) is None
    write_checkpoint(tmp_path / STARTS, {("t", 0): 0})
    assert remote_part(listed(tmp_path / "t-0" / log(100)).partitions[0]) is None


def test_a_partition_without_a_segment(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", f"u-0/{log(0)}.gz", f"u-0/{log(9)}.gz", "v-0/partition.metadata")
    texts = [absent_segments(log) for log in listed(tmp_path).partitions]
    assert texts == [
        None,
        f"{tmp_path}/u-0: holds no segment that can be read: 2 compressed segments, of which the first is "
        f"{log(0)}.gz, are not read: unpack them first (gzip -d)",
        f"{tmp_path}/v-0: holds no segment; nothing of this partition is read",
    ]
