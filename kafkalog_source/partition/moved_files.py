"""Planning while a broker renames and removes listed files: the listing is repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from kafkalog_source.errors import KafkaLogError
from kafkalog_source.segment.source import FileChangedError, is_gone

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from kafkalog_source.segment.source import LocalFile

_ATTEMPTS = 5

T = TypeVar("T")


def check_inode(source: LocalFile, inode: int) -> None:
    """Raise if a file is not the one that was listed, whose positions would be meaningless in it.

    Raises
    ------
    FileChangedError
    """
    if source.inode != inode:
        raise FileChangedError(
            "the file was replaced while the read was being planned",
            file=source.path,
            found=f"inode {source.inode}",
            expected=f"inode {inode}",
            remedy="Compaction replaced it, or a copy is in progress: read again, or read a snapshot of the directory",
        )


def until_files_stay(plan: Callable[[], T], given: Collection[str]) -> T:
    """Call `plan`, again if a listed file vanished or was replaced meanwhile, and return its result.

    It is not called again if one of the paths `given` by the user vanished.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return plan()
        except KafkaLogError as error:
            if not (has_changed(error) and error.file not in given):
                raise
    return plan()


def has_changed(error: KafkaLogError) -> bool:
    """Whether an error means that a listed file was replaced or removed, so that listing again may help."""
    return isinstance(error, FileChangedError) or is_gone(error)
