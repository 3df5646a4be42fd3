"""Opens the file that a range was planned from, even if a broker has renamed it since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.errors import DataLossError, counted, offsets_text, printable
from kafkalog_source.segment.source import FileChangedError, LocalFile, open_if_there

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.partition.splits import SplitRange

_REPLACED = "It was truncated or replaced meanwhile: read again, or read a snapshot of the directory"
_GONE = "Retention or compaction removed it meanwhile: read again, or read a snapshot of the directory"


def open_planned(each: SplitRange) -> LocalFile:
    """Open the file of a range.

    A broker renames a segment before it deletes it, and gives a compacted segment its final name last. The inode stays
    the same.

    Raises
    ------
    FileChangedError
        If the file is gone or was replaced, or if it was truncated while it was the last segment.
    DataLossError
        If a segment other than the last has another size, which no broker causes.
    """
    found: list[LocalFile] = []
    for path in _names(each.path):
        source = open_if_there(path)
        if source is None:
            continue
        if source.inode == each.inode and _has_planned_size(source, each):
            return source
        source.close()
        found.append(source)
    if found:
        raise _replaced(found[0], each)
    raise FileChangedError("the file was removed after the read was planned", file=each.path, remedy=_GONE)


def gone(each: SplitRange, low: int, high: int) -> DataLossError:
    """The error for a file that was removed or replaced, and with it the offsets [low, high)."""
    return DataLossError(
        "the file was removed or replaced after the read was planned, and records are missing",
        file=each.path,
        found=f"{offsets_text(low, high - 1)} in no segment of the directory",
        remedy=_GONE,
    )


def another_log(each: SplitRange, directory: str, low: int, high: int) -> DataLossError:
    """The error for a directory that was replaced by another one of the same name."""
    return DataLossError(
        "the partition's directory was replaced after the read was planned; its records may be those of another log",
        file=each.path,
        found=f"another directory at {printable(directory)}; {offsets_text(low, high - 1)} were not read",
        remedy="The topic was deleted and created again, or a copy was put in its place: read again",
    )


def _names(path: str) -> Iterator[str]:
    """The names of a file in the order in which a broker renames it, so that a rename meanwhile is not missed."""
    yield path
    if path.endswith(".swap"):
        path = path.removesuffix(".swap")
        yield path
    if not path.endswith(".deleted"):
        yield f"{path}.deleted"


def _has_planned_size(source: LocalFile, each: SplitRange) -> bool:
    # Only the last segment grows. The size is checked as well because an inode may be reused.
    if each.continuation is not None:
        return source.size == each.file_size
    return source.size >= each.file_size


def _replaced(source: LocalFile, each: SplitRange) -> DataLossError:
    same = source.inode == each.inode
    at_least = "at least " if each.continuation is None else ""
    kind = DataLossError if same and each.continuation is not None else FileChangedError
    return kind(
        "the file is not the one that the read was planned for",
        file=each.path,
        found=counted(source.size, "byte") if same else "another file of this name",
        expected=f"{at_least}{counted(each.file_size, 'byte')}" if same else None,
        remedy=_REPLACED,
    )
