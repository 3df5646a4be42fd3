"""``.txnindex``: the aborted transactions whose markers are in a segment (``TransactionIndex``, ``AbortedTxn``)."""

from __future__ import annotations

from typing import NamedTuple

from kafkalog_source.errors import printable
from kafkalog_source.format import TXN_INDEX_ENTRY, TXN_INDEX_VERSION
from kafkalog_source.segment.side_files.side_file import SideFileError, read_side_file

_MOST_IN_SEGMENT = 1 << 31
"""The offsets of a segment span less than this, because its indexes store them in 31 bits."""


class AbortedTransaction(NamedTuple):
    """An entry of the index.

    Attributes
    ----------
    producer_id : int
    first_offset : int
        The offset of the transaction's first batch, which may be in an earlier segment.
    last_offset : int
        The offset of its marker.
    last_stable_offset : int
        The last stable offset when the marker was written: the first offset of the oldest open transaction of another
        producer, or the offset after the marker if there is none. A follower appends all that it fetched at once, also
        batches after the marker, and counts transactions that begin in them as open, so this may be past the marker.
        The next transaction of the same producer is not counted then, wherever it begins.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int

    def ends_all_below(self, offset: int) -> bool:
        """Whether this entry proves that all transactions that begin below `offset` end at or before its marker.

        An entry whose last stable offset is past its marker proves nothing: so large a number may be damaged, and later
        entries give the same information.
        """
        return offset <= self.last_stable_offset <= self.last_offset + 1


def read_txn_index(path: str, least: int, bound: int) -> tuple[tuple[AbortedTransaction, ...] | None, str | None]:
    """Return the entries of a transaction index, or None and a warning if one of them is invalid.

    Parameters
    ----------
    path : str
    least, bound : int
        The segment's offsets are in [least, bound).
    """
    try:
        return parse_txn_index(read_side_file(path), least, bound), None
    except SideFileError as error:
        return None, f"{printable(path)}: not used, {error}; the segment's batch headers are read instead"


def parse_txn_index(data: bytes, least: int, bound: int) -> tuple[AbortedTransaction, ...]:
    """Return the entries of a transaction index.

    Raises
    ------
    SideFileError
        The content is not what a broker writes for a segment with offsets in [least, bound).
    """
    if len(data) % TXN_INDEX_ENTRY.size:
        raise SideFileError(f"its {len(data)} bytes are not a whole number of entries of {TXN_INDEX_ENTRY.size} bytes")
    found = []
    last = least - 1
    for number, (version, *fields) in enumerate(TXN_INDEX_ENTRY.iter_unpack(data)):
        entry = AbortedTransaction(*fields)
        if version != TXN_INDEX_VERSION:
            raise SideFileError(f"entry {number} has version {version}, expected {TXN_INDEX_VERSION}")
        # A marker follows its transaction's batches, and entries are in the order of their markers.
        if not 0 <= entry.first_offset < entry.last_offset or not last < entry.last_offset < bound:
            raise SideFileError(
                f"entry {number} has invalid offsets {entry.first_offset} to {entry.last_offset}, "
                f"expected an end from {last + 1} to {bound - 1}, above the start"
            )
        # What was appended together with the marker went into the same segment, but may have been truncated since.
        if entry.producer_id < 0 or not 0 <= entry.last_stable_offset < entry.last_offset + _MOST_IN_SEGMENT:
            raise SideFileError(
                f"entry {number} is inconsistent: producer id {entry.producer_id}, last offset {entry.last_offset}, "
                f"last stable offset {entry.last_stable_offset}"
            )
        found.append(entry)
        last = entry.last_offset
    return tuple(found)
