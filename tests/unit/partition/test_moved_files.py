"""A listed file that was replaced before it was opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_source.partition.moved_files import check_inode
from kafkalog_source.segment.source import FileChangedError, LocalFile


def test_a_replaced_file_is_reported_with_both_inodes(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(b"")
    listed = path.stat().st_ino
    (tmp_path / "other").write_bytes(b"")
    (tmp_path / "other").replace(path)
    with LocalFile(str(path)) as source:
        check_inode(source, path.stat().st_ino)
        with pytest.raises(FileChangedError) as caught:
            check_inode(source, listed)
    assert f"(found inode {path.stat().st_ino}, expected inode {listed})" in str(caught.value)
