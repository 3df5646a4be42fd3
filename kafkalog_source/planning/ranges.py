"""The interface that gives a plan its range of each partition: from options, a micro-batch or a single offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkalog_source.partition.offsets import PartitionOffsets
    from kafkalog_source.transactions.history import KnownTransactions

__all__ = ["Ranges"]


class Ranges:
    """The ranges of a plan. A subclass has to override only `range_of`."""

    @property
    def warnings(self) -> list[str]:
        """The warnings so far."""
        return []

    def check_named(self, partitions: set[tuple[str, int]]) -> None:
        """Raise if the partitions that options name are not those that exist."""

    def range_of(self, offsets: PartitionOffsets) -> tuple[int, int]:
        """The wanted offsets [low, high)."""
        raise NotImplementedError

    def up_to_stable(self, offsets: PartitionOffsets, low: int, high: int, stable: int) -> tuple[int, int]:
        """The range [low, high) limited to offsets below the last stable offset."""
        return low, high

    def known_transactions(self, offsets: PartitionOffsets, low: int) -> KnownTransactions | None:
        """The transactions known from an earlier pass at an offset of at most `low`; None if there was none."""
        return None
