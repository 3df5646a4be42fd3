"""``.txnindex``: the aborted transactions whose markers are in a segment (``TransactionIndex``, ``AbortedTxn``)."""

from __future__ import annotations

from typing import NamedTuple

from kafkalog_source.errors import printable
from kafkalog_source.format import TXN_INDEX_ENTRY, TXN_INDEX_VERSION
from kafkalog_source.segment.side_files.side_file import SideFileError, read_side_file

_MOST_IN_SEGMENT = 1 << 31
"""Offsets of a segment lie closer together than this, as its indexes hold them with 31 bits."""


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
        When the marker was written: the first offset of the oldest transaction of another producer that was open, or
        else the offset after the marker. A follower writes what it fetched all at once, with several batches behind
        the marker, and counts what begins in them as open too, so that this may lie beyond the marker. The next
        transaction of the same producer does not count then, wherever it begins.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int

    def ends_all_below(self, offset: int) -> bool:
        """Whether the entry alone tells that every transaction that begins below `offset` ends at its marker or before.

        One that names a batch beyond its marker tells nothing: it is true of all up to the marker, but so large a
        number may as well be damaged, and entries that follow tell the same.
        """
        return offset <= self.last_stable_offset <= self.last_offset + 1


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
    if len(data) % TXN_INDEX_ENTRY.size:
        raise SideFileError(f"its {len(data)} bytes are not a whole number of entries")
    found = []
    last = least - 1
    for number, (version, *fields) in enumerate(TXN_INDEX_ENTRY.iter_unpack(data)):
        entry = AbortedTransaction(*fields)
        if version != TXN_INDEX_VERSION:
            raise SideFileError(f"entry {number} is of version {version}")
        # The marker comes after the batches, and markers come in order.
        if not 0 <= entry.first_offset < entry.last_offset or not last < entry.last_offset < bound:
            raise SideFileError(f"the offsets of entry {number} cannot be true")
        # What was written together with the marker went into the same segment, though it may have been truncated since.
        if entry.producer_id < 0 or not 0 <= entry.last_stable_offset < entry.last_offset + _MOST_IN_SEGMENT:
            raise SideFileError(f"entry {number} contradicts itself")
        found.append(entry)
        last = entry.last_offset
    return tuple(found)
