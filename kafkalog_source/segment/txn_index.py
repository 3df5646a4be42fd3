"""``.txnindex``: the aborted transactions whose markers are in a segment (``TransactionIndex``, ``AbortedTxn``)."""

from __future__ import annotations

import struct
from typing import NamedTuple

from kafkalog_source.errors import printable
from kafkalog_source.segment.side_file import SideFileError, read_side_file

_ENTRY = struct.Struct(">hqqqq")
_VERSION = 0


class AbortedTransaction(NamedTuple):
    """One entry.

    Attributes
    ----------
    producer_id : int
    first_offset : int
        Of its first batch, which may be in an earlier segment.
    last_offset : int
        Of its marker.
    last_stable_offset : int
        When the marker was written: every transaction that had begun below it had ended.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def read_txn_index(path: str, least: int, bound: int) -> tuple[tuple[AbortedTransaction, ...] | None, str | None]:
    """The entries of a transaction index, or None and a warning if one of them cannot be true.

    Parameters
    ----------
    path : str
    least, bound : int
        The segment's offsets lie in [least, bound).
    """
    try:
        return parse_txn_index(read_side_file(path), least, bound), None
    except SideFileError as error:
        return None, f"{printable(path)}: not used, {error}; the segment's batch headers are read instead"


def parse_txn_index(data: bytes, least: int, bound: int) -> tuple[AbortedTransaction, ...]:
    """The entries of a transaction index.

    Raises
    ------
    SideFileError
        The content is not what a broker writes for a segment with offsets in [least, bound).
    """
    if len(data) % _ENTRY.size:
        raise SideFileError(f"its {len(data)} bytes are not a whole number of entries")
    found = []
    last = least - 1
    for number, (version, *fields) in enumerate(_ENTRY.iter_unpack(data)):
        entry = AbortedTransaction(*fields)
        if version != _VERSION:
            raise SideFileError(f"entry {number} is of version {version}")
        # The marker comes after the batches, markers come in order, and a transaction cannot hold up what follows it.
        if not 0 <= entry.first_offset < entry.last_offset or not last < entry.last_offset < bound:
            raise SideFileError(f"the offsets of entry {number} cannot be true")
        if entry.producer_id < 0 or entry.last_stable_offset > entry.last_offset + 1:
            raise SideFileError(f"entry {number} contradicts itself")
        found.append(entry)
        last = entry.last_offset
    return tuple(found)
