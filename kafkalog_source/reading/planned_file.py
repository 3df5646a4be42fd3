"""Opening the very file that was planned to be read, whatever a broker has called it since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.errors import DataLossError, LogDirError
from kafkalog_source.segment.source import LocalFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.reading.splits import SplitRange

_REPLACED = "Something cut or replaced it meanwhile: read again, or read a snapshot of the directory"
_GONE = "Retention or compaction removed it meanwhile: read again, or read a snapshot of the directory"


def open_planned(each: SplitRange) -> LocalFile | None:
    """Open the file of a range; None if it is gone.

    A broker that is about to delete a segment renames it first, and one that puts a compacted segment in place gives
    it its final name last. The inode stays the same.

    Raises
    ------
    DataLossError
        Another file has taken its place, or it was cut.
    """
    found: list[LocalFile] = []
    for path in _names(each.path):
        source = _open(path)
        if source is None:
            continue
        if source.inode == each.inode and _has_planned_size(source, each):
            return source
        source.close()
        found.append(source)
    if found:
        raise _replaced(found[0], each)
    return None


def gone(each: SplitRange) -> DataLossError:
    """The error for a file that `open_planned` did not find."""
    return DataLossError("the file is gone since the read was planned", file=each.path, remedy=_GONE)


def _names(path: str) -> Iterator[str]:
    """The names that a file takes on, in that order, so that one that is renamed meanwhile is not missed."""
    yield path
    if path.endswith(".swap"):
        path = path.removesuffix(".swap")
        yield path
    if not path.endswith(".deleted"):
        yield f"{path}.deleted"


def _open(path: str) -> LocalFile | None:
    try:
        return LocalFile(path)
    except LogDirError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


def _has_planned_size(source: LocalFile, each: SplitRange) -> bool:
    # Only the last segment grows. An inode can be given to another file.
    if each.continuation is not None:
        return source.size == each.file_size
    return source.size >= each.file_size


def _replaced(source: LocalFile, each: SplitRange) -> DataLossError:
    same = source.inode == each.inode
    at_least = "at least " if each.continuation is None else ""
    return DataLossError(
        "the file is not the one that was planned to be read",
        file=each.path,
        found=f"{source.size} bytes" if same else "another file of this name",
        expected=f"{at_least}{each.file_size} bytes" if same else None,
        remedy=_REPLACED,
    )
