"""``.snapshot``: the producers at an offset, and with them the open transactions (``ProducerStateManager``)."""

from __future__ import annotations

import struct

from crc32c import crc32c

from kafkalog_source.errors import printable
from kafkalog_source.segment.side_file import SideFileError, read_side_file

_HEADER = struct.Struct(">hIi")
_CRC_START = 6
# Producer id, epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch, open transaction's start.
_ENTRY = struct.Struct(">qhiqiqiq")
_VERSION = 1

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
    if len(data) < _HEADER.size:
        raise SideFileError(f"its {len(data)} bytes are too few")
    version, crc, count = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise SideFileError(f"it is of version {version}")
    if crc32c(data[_CRC_START:]) != crc:
        raise SideFileError("its checksum is wrong")
    if len(data) != _HEADER.size + count * _ENTRY.size:
        raise SideFileError(f"its {len(data)} bytes are not those of {count} producers")
    found = {}
    for producer_id, *_, first in _ENTRY.iter_unpack(data[_HEADER.size :]):
        if first >= offset or producer_id in found:
            raise SideFileError(f"what it says of producer {producer_id} cannot be true")
        if first >= 0:
            found[producer_id] = first
    return tuple(sorted(found.items()))
