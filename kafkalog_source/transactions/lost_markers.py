"""Transactions whose markers may be lost: in damage, or with a missing segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.errors import DataLossError, printable
from kafkalog_source.partition.gaps import GapChecks
from kafkalog_source.reporting.damage_modes import goes_on_behind_damage
from kafkalog_source.segment.damage.description import Kind, raise_damage

if TYPE_CHECKING:
    from kafkalog_source._core.transactions import TransactionTracker
    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.segment.damage.description import Damage

_DOUBT = "open transactions that may have ended there: {}; their records at offsets {} to {} count as open"


def largest_checked(options: ReadOptions, *, is_read: bool) -> int | None:
    """The largest batch of a pass that has to compare checksums, or None if headers are trusted.

    Where all that is passed over `is_read` as well and damage ends the read, checksums are compared when the rows are
    read, and a wrong header makes that fail.
    """
    is_checked = options.verify_checksums and (goes_on_behind_damage(options) or not is_read)
    return options.max_decompressed_batch_bytes if is_checked else None


class PassedDamage:
    """What header passes do about damage: raise it, or warn where the mode goes on and outcomes are in doubt.

    Parameters
    ----------
    options : ReadOptions
    tracker : TransactionTracker
        The tracker of these passes.
    warnings : list of str
    low, high : int
        Rows with offsets in [low, high) are wanted. Damage that touches neither them nor their outcomes is no error.
    """

    def __init__(
        self, options: ReadOptions, tracker: TransactionTracker, warnings: list[str], low: int, high: int
    ) -> None:
        self._goes_on = goes_on_behind_damage(options)
        self._tracker = tracker
        self._warnings = warnings
        self._low = low
        self._high = high
        self._first: Damage | None = None

    def found(self, damage: Damage) -> None:
        """Take damage from a pass that compares checksums, after the tracker has counted it as lost."""
        in_doubt = self._tracker.in_doubt
        if self._goes_on:
            if in_doubt:
                self._warnings.append(f"{damage.to_text()}; {_describe_in_doubt(self._tracker)}")
            return
        if damage.kind is Kind.TORN:
            return
        self._first = self._first or damage
        is_in_doubt = any(first < self._high and last >= self._low for _, first, last in in_doubt)
        if is_in_doubt or self._is_wanted(damage):
            raise_damage(damage)

    def found_by_headers(self, damage: Damage) -> None:
        """Take damage from a pass that trusts headers, whose offsets do not tell what is damaged."""
        if self._goes_on:
            self.found(damage)
        else:
            raise_damage(damage)

    def check_last_stable_offset(self) -> None:
        """Raise if the last stable offset may be too low because a marker is lost."""
        doubted = not self._goes_on and any(first < self._high for _, first, _ in self._tracker.in_doubt)
        if doubted and self._first is not None:
            raise_damage(self._first)

    def _is_wanted(self, damage: Damage) -> bool:
        first, last = damage.first_offset, damage.last_offset
        return (first is None or first < self._high) and (last is None or last >= self._low)


def notice_gap(
    log: PartitionLog, least: int, tracker: TransactionTracker, options: ReadOptions, warnings: list[str]
) -> int:
    """Count markers as lost where offsets are missing before a segment that begins at offset `least`.

    In a compacted log nothing is lost: compaction removes no marker before the records of its transaction.

    Returns
    -------
    int
        Bytes read to find out whether the log is compacted.

    Raises
    ------
    DataLossError
        A segment is missing while transactions are open, with failOnDataLoss=true.
    """
    first = tracker.last_offset + 1
    if first >= least or log.cleaned or not tracker.open:
        return 0
    gaps = GapChecks(options)
    if gaps.is_compacted(log.path):
        return gaps.bytes_read
    tracker.lose(least - 1)
    error = DataLossError(
        f"offsets {first} to {least - 1} are not on disk, and with them the ends of transactions may be missing",
        file=log.path,
        remedy="Restore the missing segment, or set failOnDataLoss=false to read what is there",
    )
    if options.fail_on_data_loss:
        raise error
    warnings.append(f"{printable(log.path)}: {error.problem}; {_describe_in_doubt(tracker)}")
    return gaps.bytes_read


def _describe_in_doubt(tracker: TransactionTracker) -> str:
    in_doubt = tracker.in_doubt
    return _DOUBT.format(len(in_doubt), min(each[1] for each in in_doubt), max(each[2] for each in in_doubt))
