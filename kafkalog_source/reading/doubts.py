"""What becomes of transactions where their markers may be lost: in damage, or with a segment that is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.errors import DataLossError, printable
from kafkalog_source.reading.damage_modes import goes_on_behind_damage
from kafkalog_source.reading.gaps import GapChecks
from kafkalog_source.segment.damage import raise_damage

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_source._core.transactions import TransactionTracker
    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.reading.options import ReadOptions
    from kafkalog_source.segment.damage import Damage

_DOUBT = "open transactions that may have ended there: {}; their records at offsets {} to {} count as open"


def largest_checked(options: ReadOptions) -> int | None:
    """The largest batch of a pass that has to compare checksums, since the read goes on behind damage; or None."""
    is_checked = goes_on_behind_damage(options) and options.verify_checksums
    return options.max_decompressed_batch_bytes if is_checked else None


def passes_over_damage(
    options: ReadOptions, tracker: TransactionTracker, warnings: list[str]
) -> Callable[[Damage], None]:
    """What a header pass does about damage: an error, or a warning where the mode lets it pass and it matters."""

    def on_damage(damage: Damage) -> None:
        if not goes_on_behind_damage(options):
            raise_damage(damage)
            return
        if tracker.in_doubt:
            warnings.append(f"{damage.to_text()}; {_doubts(tracker)}")

    return on_damage


def notice_gap(
    log: PartitionLog, least: int, tracker: TransactionTracker, options: ReadOptions, warnings: list[str]
) -> int:
    """Take into account that offsets before a segment's, from `least` on, are on no disk, and markers among them.

    Compaction removes no marker before the records that it is about.

    Returns
    -------
    int
        The bytes that were read to find out.

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
    warnings.append(f"{printable(log.path)}: {error.problem}; {_doubts(tracker)}")
    return gaps.bytes_read


def _doubts(tracker: TransactionTracker) -> str:
    doubts = tracker.in_doubt
    return _DOUBT.format(len(doubts), min(each[1] for each in doubts), max(each[2] for each in doubts))
