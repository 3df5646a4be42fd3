"""``.snapshot``: the state of the producers at an offset, with their open transactions (``ProducerStateManager``)."""

from __future__ import annotations

from crc32c import crc32c

from kafkalog_source.batch.checksum import checksums_text
from kafkalog_source.errors import printable
from kafkalog_source.format import SNAPSHOT_CHECKED_FROM, SNAPSHOT_ENTRY, SNAPSHOT_HEADER, SNAPSHOT_VERSION
from kafkalog_source.segment.side_files.side_file import SideFileError, read_side_file

OpenTransactions = tuple[tuple[int, int], ...]
"""The producer id and first offset of each."""


def read_producer_snapshot(path: str, offset: int) -> tuple[OpenTransactions | None, str | None]:
    """Return the transactions open at `offset`, or None and a warning if the file is damaged or of another version.

    Parameters
    ----------
    path : str
    offset : int
        The offset in the file's name. The state is that before the record at this offset.
    """
    try:
        return parse_producer_snapshot(read_side_file(path), offset), None
    except SideFileError as error:
        return None, f"{printable(path)}: not used, {error}; batch headers are read instead"


def parse_producer_snapshot(data: bytes, offset: int) -> OpenTransactions:
    """Return the transactions open at `offset`.

    Raises
    ------
    SideFileError
        The content is damaged, of another version, or inconsistent.
    """
    _, _, entries = snapshot_entries(data)
    found = {}
    for producer_id, *_, first in entries:
        if first >= offset or producer_id in found:
            raise SideFileError(
                f"the transaction of producer {producer_id} from offset {first} on is invalid, "
                f"expected at most one for each producer, from below {offset} on"
            )
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
        raise SideFileError(f"its size of {len(data)} bytes is below the header's {SNAPSHOT_HEADER.size}")
    version, crc, count = SNAPSHOT_HEADER.unpack_from(data)
    if version != SNAPSHOT_VERSION:
        raise SideFileError(f"it has version {version}, expected {SNAPSHOT_VERSION}")
    computed = crc32c(data[SNAPSHOT_CHECKED_FROM:])
    if computed != crc:
        raise SideFileError(f"its checksum is wrong: {checksums_text(crc, computed)}")
    expected = SNAPSHOT_HEADER.size + count * SNAPSHOT_ENTRY.size
    if len(data) != expected:
        raise SideFileError(f"its size is {len(data)} bytes, expected {expected} for {count} producers")
    return version, crc, list(SNAPSHOT_ENTRY.iter_unpack(data[SNAPSHOT_HEADER.size :]))
