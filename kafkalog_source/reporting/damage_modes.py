"""How a read treats damage: the only place where ``mode`` and ``view=damage`` decide."""

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
"""Most rows about damage in one Arrow batch."""
_KEPT_BY_RECOVERY = "A broker's recovery keeps this batch, but it cannot be decoded: use another mode to read on"


class DamagePolicy:
    """Decides for each damaged region whether it ends the read, and whether it becomes a row.

    Parameters
    ----------
    options : ReadOptions
    """

    def __init__(self, options: ReadOptions) -> None:
        self._mode = options.mode
        self._is_view = options.view == "damage"

    def check(self, damage: Damage) -> None:
        """Raise if the damage ends the read.

        Raises
        ------
        CorruptBatchError, LimitError, UnsupportedFormatError
        """
        if not self._is_view and ends_read(damage, self._mode):
            raise damage.to_error(READ_AROUND if self._mode == "FAILFAST" else _KEPT_BY_RECOVERY)

    def gives_row(self, damage: Damage) -> bool:
        """Whether it becomes a row. In PERMISSIVE a torn end does not, since nothing is lost there."""
        return self._is_view or (self._mode == "PERMISSIVE" and damage.kind is Kind.DAMAGED)


def goes_on_behind_damage(options: ReadOptions) -> bool:
    """Whether a read continues after damage."""
    return options.view == "damage" or options.mode in ("DROPMALFORMED", "PERMISSIVE")


def is_wanted(damage: Damage, each: SplitRange) -> bool:
    """Whether wanted offsets of the range may be lost, so that choosing other offsets avoids the damage.

    False for damage that an earlier range of the same batches reports.
    """
    if damage.position < each.reported_before:
        return False
    first, last = damage.first_offset, damage.last_offset
    if first is None or first < each.low:
        return last is None or last >= each.low
    return first < each.high


class Rows:
    """Rows of records or batches, and rows about damage, in file order.

    Parameters
    ----------
    schema : pyarrow.Schema
    view : str
        ``view=damage`` has only rows about damage.
    """

    def __init__(self, schema: pa.Schema, view: str) -> None:
        self._schema = schema
        self._is_view = view == "damage"
        self._corrupt = corrupt_batches if view == "batches" else corrupt_rows
        self._ready: list[pa.RecordBatch] = []
        self._regions: list[Damage] = []

    @property
    def is_view(self) -> bool:
        """Whether only rows about damage are returned."""
        return self._is_view

    def add(self, damage: Damage, each: SplitRange, before: pa.RecordBatch | None) -> None:
        """Add a row about damage, after `before`, the rows of records up to it."""
        if before is not None and not self._is_view:
            self._close(each)
            self._ready.append(before)
        self._regions.append(damage)
        if len(self._regions) == _MOST_AT_ONCE:
            self._close(each)

    def take(self) -> Iterator[pa.RecordBatch]:
        """Yield and clear the finished Arrow batches."""
        ready, self._ready = self._ready, []
        yield from ready

    def take_full(self, each: SplitRange, full: pa.RecordBatch | None) -> Iterator[pa.RecordBatch]:
        """Yield the finished Arrow batches up to `full`, the rows that filled the columns."""
        if full is not None and not self._is_view:
            self._close(each)
            self._ready.append(full)
        yield from self.take()

    def end(self, each: SplitRange) -> Iterator[pa.RecordBatch]:
        """Yield all rows about the damage of a range; rows of records after it may continue in the next range."""
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
