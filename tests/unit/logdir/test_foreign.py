"""Files that no broker wrote: named, bounded in number, and with how to unpack what is compressed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafkalog_source.errors import LogDirError, UnsupportedFormatError
from kafkalog_source.logdir import PartitionLog
from tests.unit.logdir.conftest import Write, listed, log


def named(path: Path) -> dict[str, str]:
    """The reasons for foreign files by name."""
    return {os.path.basename(each.path): each.reason for each in listed(path).skipped if each.is_foreign}


def partition(path: Path) -> PartitionLog:
    (found,) = listed(path).partitions
    return found


@pytest.mark.parametrize(
    ("suffix", "unpacker"),
    [
        (".gz", "gzip -d"),
        (".GZ", "gzip -d"),
        (".zst", "zstd -d"),
        (".lz4", "lz4 -d"),
        (".xz", "xz -d"),
        (".bz2", "bzip2 -d"),
        (".zip", "unzip"),
        (".tar", "tar -xf"),
        (".tgz", "tar -xf"),
        (".tar.gz", "tar -xf"),
        (".tar.zst", "tar -xf"),
    ],
)
def test_a_segment_that_is_only_there_compressed(write: Write, tmp_path: Path, suffix: str, unpacker: str) -> None:
    write(f"t-0/{log(0)}{suffix}", f"t-0/{log(50)}")
    assert list(named(tmp_path)) == [log(0) + suffix]
    assert f"({unpacker})" in named(tmp_path)[log(0) + suffix]
    packed = partition(tmp_path).packed
    assert packed is not None
    assert (packed.first, packed.count, packed.unpacker) == (f"{tmp_path}/t-0/{log(0)}{suffix}", 1, unpacker)


def test_a_segment_that_is_there_unpacked_too_is_not_missed(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}.gz", f"t-0/{log(0)}", f"t-0/{log(5)}.deleted.gz", "t-0/all.tar", "t-0/notes.gz")
    assert partition(tmp_path).packed is None
    assert len(named(tmp_path)) == 4


def test_an_archive_is_all_of_a_partition_that_has_no_segment(write: Write, tmp_path: Path) -> None:
    write("t-0/b.tar.gz", "t-0/a.zip")
    packed = partition(tmp_path).packed
    assert packed is not None
    assert (packed.first, packed.unpacker) == (f"{tmp_path}/t-0/a.zip", "unzip")


def test_what_a_broker_writes_is_not_named(write: Write, tmp_path: Path) -> None:
    write(
        f"t-0/{log(0)}",
        *(f"t-0/00000000000000000000.{kind}" for kind in ("index", "timeindex", "txnindex", "snapshot")),
        *(f"t-0/00000000000000000000.{kind}.deleted" for kind in ("index", "snapshot")),
        *("t-0/leader-epoch-checkpoint", "t-0/leader-epoch-checkpoint.tmp", "t-0/partition.metadata.tmp"),
        *("t-0/quorum-state", "t-0/00000000000000000080-0000000001.checkpoint.part"),
        *("t-0/00000000000000000080-0000000001-773.checkpoint.part", "t-0/remote_log_snapshot"),
    )
    assert named(tmp_path) == {}


def test_many_foreign_files_are_counted_and_a_few_named(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(100)}", *(f"t-0/note{number:03d}" for number in range(70)))
    write(*(f"t-0/{log(number)}.gz" for number in range(50)))
    found = [each for each in listed(tmp_path).skipped if each.is_foreign]
    assert [os.path.basename(each.path) for each in found] == [
        *(f"{log(number)}.gz" for number in range(20)),
        "t-0",
        *(f"note{number:03d}" for number in range(20)),
        "t-0",
    ]
    assert [each.reason for each in found if each.path.endswith("t-0")] == [
        "30 more compressed files and archives",
        "50 more files that are not Kafka's",
    ]
    packed = partition(tmp_path).packed
    assert packed is not None
    assert packed.count == 50


def test_archives_beside_partitions_are_named(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", "u-0.tar.gz", "meta.properties", "notes.txt")
    assert list(named(tmp_path)) == ["u-0.tar.gz"]


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ("logs", LogDirError, r"no partition that can be read.*u-0\.tar\.gz.*tar -xf"),
        ("t-0", LogDirError, r"no segment that can be read.*\.log\.gz and 1 more.*gzip -d"),
        (f"t-0/{log(0)}.gz", UnsupportedFormatError, r"Unpack it first.*gzip -d"),
        ("v-0", LogDirError, "holds no segment .*at least one"),
    ],
)
def test_a_path_that_holds_nothing_but_packed_files(
    write: Write, tmp_path: Path, given: str, kind: type[Exception], said: str
) -> None:
    write("logs/u-0.tar.gz", f"t-0/{log(0)}.gz", f"t-0/{log(9)}.gz", "v-0/partition.metadata")
    with pytest.raises(kind, match=said):
        listed(tmp_path / given)
