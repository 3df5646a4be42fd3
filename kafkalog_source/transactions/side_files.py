"""A broker's own record of the transactions of a partition: transaction indexes and producer snapshots.

They are trusted only as far as a broker would trust them: a ``.snapshot`` only at
an offset where a segment begins or the log ends, and the ``.txnindex`` of the last
segment only if a snapshot proves that the log was closed there, because in a copy
of a live log the index may be older than the segment.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source.segment.side_files.producer_snapshot import read_producer_snapshot
from kafkalog_source.segment.side_files.txn_index import read_txn_index

if TYPE_CHECKING:
    from kafkalog_source.partition.offsets import PartitionOffsets
    from kafkalog_source.segment.side_files.producer_snapshot import OpenTransactions
    from kafkalog_source.segment.side_files.txn_index import AbortedTransaction

__all__ = ["SideFiles", "Start"]


@dataclass(frozen=True, slots=True)
class Start:
    """An offset at which the open transactions are known.

    Attributes
    ----------
    number : int
        Number of the segment; the number of segments for the end of the log.
    offset : int
    begun : tuple of (int, int)
        Producer id and first offset of the transactions that are open there.
    """

    number: int
    offset: int
    begun: OpenTransactions


class SideFiles:
    """The transaction indexes and producer snapshots of one partition, each read on first access.

    Parameters
    ----------
    offsets : PartitionOffsets
        If it is a segment given by its own path, no side file is consulted.

    Attributes
    ----------
    warnings : list of str
        Files that could not be used.
    """

    def __init__(self, offsets: PartitionOffsets) -> None:
        self._offsets = offsets
        self._log = offsets.log
        self._places = offsets.places()
        self._indexes: dict[int, tuple[AbortedTransaction, ...] | None] = {}
        self._snapshots: dict[int, OpenTransactions | None] = {}
        self.warnings: list[str] = []

    def index(self, number: int) -> tuple[AbortedTransaction, ...] | None:
        """The entries of a segment's transaction index; None if there is none that can be trusted."""
        if number not in self._indexes:
            self._indexes[number] = self._read_index(number)
        return self._indexes[number]

    def open_before(self, number: int) -> OpenTransactions | None:
        """The open transactions at the start of a segment; None if there is no valid snapshot of that offset."""
        return self._snapshot(self._log.segments[number].snapshot, self._places[number].least)

    def open_at_end(self) -> OpenTransactions | None:
        """The open transactions at the end of the log, from the snapshot that a clean shutdown leaves; None without."""
        if self._log.segments[-1].offset_index is None:
            # Without an index the end is found by walking all headers, the cost that a snapshot is meant to save.
            return None
        end = self._offsets.latest
        path = os.path.join(os.path.dirname(self._log.segments[-1].path), f"{end:020d}.snapshot")
        return self._snapshot(path if _is_regular(path) else None, end)

    def newest_start(self, end: int) -> Start:
        """The last offset of at most `end` at which the open transactions are known; by default the log's start.

        A snapshot of an earlier segment is used only if nothing was open there: the cleaner may since have removed the
        markers of open transactions.
        """
        first = Start(0, self._places[0].least, ())
        if self._log.is_single_file:
            return first
        begun = self.open_at_end()
        if begun is not None and self._offsets.latest <= end:
            return Start(len(self._places), self._offsets.latest, begun)
        for number in reversed(range(len(self._places))):
            least = self._places[number].least
            begun = self.open_before(number) if least <= end else None
            if begun is not None and (not begun or number == len(self._places) - 1):
                return Start(number, least, begun)
        return first

    def _read_index(self, number: int) -> tuple[AbortedTransaction, ...] | None:
        path, place = self._log.segments[number].txn_index, self._places[number]
        if path is None or self._log.is_single_file:
            return None
        bound = place.bound
        if number == len(self._places) - 1:
            if self.open_at_end() is None:
                return None
            bound = self._offsets.latest
        entries, warning = read_txn_index(path, place.least, bound)
        self._note(warning)
        return entries

    def _snapshot(self, path: str | None, offset: int) -> OpenTransactions | None:
        if offset not in self._snapshots:
            begun, warning = (None, None) if path is None else read_producer_snapshot(path, offset)
            self._snapshots[offset] = begun
            self._note(warning)
        return self._snapshots[offset]

    def _note(self, warning: str | None) -> None:
        if warning is not None:
            self.warnings.append(warning)


def _is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
