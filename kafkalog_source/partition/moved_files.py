"""Planning while a broker renames and removes the files that were listed: the listing is made again."""

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
    """Refuse a file that is not the one that was listed: positions in it are none in that one.

    Raises
    ------
    FileChangedError
    """
    if source.inode != inode:
        raise FileChangedError(
            "the file was replaced while the read was being planned",
            file=source.path,
            remedy="Compaction did that, or a copy was not finished: read again, or read a snapshot of the directory",
        )


def until_files_stay(plan: Callable[[], T], given: Collection[str]) -> T:
    """The result of `plan`, which is tried again while listed files vanish under it; not the paths `given`."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return plan()
        except KafkaLogError as error:
            if not (has_changed(error) and error.file not in given):
                raise
    return plan()


def has_changed(error: KafkaLogError) -> bool:
    """Whether an error means that a file is not what was listed, so that listing it again may help."""
    return isinstance(error, FileChangedError) or is_gone(error)
