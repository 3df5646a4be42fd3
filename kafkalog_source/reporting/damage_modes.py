"""What a read does about damage: the one place where ``mode`` and ``view=damage`` decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.arrow.batch_headers import corrupt_batches
from kafkalog_source.arrow.damage import corrupt_rows, damage_rows
from kafkalog_source.reporting.report import ends_read
from kafkalog_source.segment.damage.description import READ_AROUND, Damage, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.splits import SplitRange

_MOST_AT_ONCE = 1000
"""Rows about damage that are put into one Arrow batch."""
_NOBODY_CAN = "A broker's recovery keeps this batch, and no reader can decode it: use another mode to read the others"


class DamagePolicy:
    """Decides for each region whether it ends the read, and whether it becomes a row.

    Parameters
    ----------
    options : ReadOptions
    """

    def __init__(self, options: ReadOptions) -> None:
        self._mode = options.mode
        self._is_view = options.view == "damage"

    def check(self, damage: Damage) -> None:
        """Raise if the read is to end here.

        Raises
        ------
        CorruptBatchError, LimitError, UnsupportedFormatError
        """
        if not self._is_view and ends_read(damage, self._mode):
            raise damage.to_error(READ_AROUND if self._mode == "FAILFAST" else _NOBODY_CAN)

    def gives_row(self, damage: Damage) -> bool:
        """Whether a row tells of it. In PERMISSIVE a torn end is none: nothing is lost there."""
        return self._is_view or (self._mode == "PERMISSIVE" and damage.kind is Kind.DAMAGED)


def goes_on_behind_damage(options: ReadOptions) -> bool:
    """Whether what lies behind damage is read too."""
    return options.view == "damage" or options.mode in ("DROPMALFORMED", "PERMISSIVE")


def is_wanted(damage: Damage, each: SplitRange) -> bool:
    """Whether offsets that were asked for may be lost, so that damage can be read around by offsets.

    What an earlier range of the same batches tells is not told twice.
    """
    if damage.position < each.told_before:
        return False
    first, last = damage.first_offset, damage.last_offset
    if first is None or first < each.low:
        return last is None or last >= each.low
    return first < each.high


class Rows:
    """Rows of records or batches and of damage in the order in which they lie in the file.

    Parameters
    ----------
    schema : pyarrow.Schema
    view : str
        Among the rows of ``view=damage`` there are none of records.
    """

    def __init__(self, schema: pa.Schema, view: str) -> None:
        self._schema = schema
        self._is_view = view == "damage"
        self._corrupt = corrupt_batches if view == "batches" else corrupt_rows
        self._ready: list[pa.RecordBatch] = []
        self._regions: list[Damage] = []

    @property
    def is_view(self) -> bool:
        """Whether there are no rows of records among them."""
        return self._is_view

    def add(self, damage: Damage, each: SplitRange, before: pa.RecordBatch | None) -> None:
        """Put a row about damage behind the rows of records so far, if there are any that were not given before."""
        if before is not None and not self._is_view:
            self._close(each)
            self._ready.append(before)
        self._regions.append(damage)
        if len(self._regions) == _MOST_AT_ONCE:
            self._close(each)

    def take(self) -> Iterator[pa.RecordBatch]:
        """The Arrow batches that are finished without the rows so far."""
        ready, self._ready = self._ready, []
        yield from ready

    def take_full(self, each: SplitRange, full: pa.RecordBatch | None) -> Iterator[pa.RecordBatch]:
        """The Arrow batches up to the rows so far, which fill the columns."""
        if full is not None and not self._is_view:
            self._close(each)
            self._ready.append(full)
        yield from self.take()

    def end(self, each: SplitRange) -> Iterator[pa.RecordBatch]:
        """What there is about the damage of a range; rows of records behind it may go on in the next one."""
        self._close(each)
        yield from self.take()

    def _close(self, each: SplitRange) -> None:
        regions, self._regions = self._regions, []
        if not regions:
            return
        if self._is_view:
            self._ready.append(damage_rows(self._schema, each.topic, each.partition, regions))
        else:
            self._ready.append(self._corrupt(self._schema, each.topic, each.partition, each.low, regions))
