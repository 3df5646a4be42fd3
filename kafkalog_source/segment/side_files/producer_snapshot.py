"""``.snapshot``: the producers at an offset, and with them the open transactions (``ProducerStateManager``)."""

from __future__ import annotations

from crc32c import crc32c

from kafkalog_source.errors import printable
from kafkalog_source.format import SNAPSHOT_CHECKED_FROM, SNAPSHOT_ENTRY, SNAPSHOT_HEADER, SNAPSHOT_VERSION
from kafkalog_source.segment.side_files.side_file import SideFileError, read_side_file

OpenTransactions = tuple[tuple[int, int], ...]
"""Producer id and first offset of each."""


def read_producer_snapshot(path: str, offset: int) -> tuple[OpenTransactions | None, str | None]:
    """The transactions open at `offset`, or None and a warning if the file is damaged or of another version.

    Parameters
    ----------
    path : str
    offset : int
        The offset in the file's name: the state is that before the record there.
    """
    try:
        return parse_producer_snapshot(read_side_file(path), offset), None
    except SideFileError as error:
        return None, f"{printable(path)}: not used, {error}; batch headers are read instead"


def parse_producer_snapshot(data: bytes, offset: int) -> OpenTransactions:
    """The transactions open at `offset`.

    Raises
    ------
    SideFileError
        The content is damaged, of another version, or cannot be true.
    """
    _, _, entries = snapshot_entries(data)
    found = {}
    for producer_id, *_, first in entries:
        if first >= offset or producer_id in found:
            raise SideFileError(f"what it says of producer {producer_id} cannot be true")
        if first >= 0:
            found[producer_id] = first
    return tuple(sorted(found.items()))


def snapshot_entries(data: bytes) -> tuple[int, int, list[tuple[int, ...]]]:
    """The version, the checksum and the entries of a producer snapshot.

    Returns
    -------
    tuple of (int, int, list)
        Each entry is producer id, epoch, last sequence, last offset, offset delta, last timestamp in milliseconds,
        coordinator epoch and the first offset of the open transaction; -1 where there is none.

    Raises
    ------
    SideFileError
        The content is damaged or of another version.
    """
    if len(data) < SNAPSHOT_HEADER.size:
        raise SideFileError(f"its {len(data)} bytes are too few")
    version, crc, count = SNAPSHOT_HEADER.unpack_from(data)
    if version != SNAPSHOT_VERSION:
        raise SideFileError(f"it is of version {version}")
    if crc32c(data[SNAPSHOT_CHECKED_FROM:]) != crc:
        raise SideFileError("its checksum is wrong")
    if len(data) != SNAPSHOT_HEADER.size + count * SNAPSHOT_ENTRY.size:
        raise SideFileError(f"its {len(data)} bytes are not those of {count} producers")
    return version, crc, list(SNAPSHOT_ENTRY.iter_unpack(data[SNAPSHOT_HEADER.size :]))
