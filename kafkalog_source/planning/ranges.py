"""Who decides which offsets of a partition a plan is to cover: options, a stream's micro-batch, or a single place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkalog_source.partition.offsets import PartitionOffsets
    from kafkalog_source.transactions.history import KnownTransactions

__all__ = ["Ranges"]


class Ranges:
    """Decides by `range_of` alone, unless more is overridden."""

    @property
    def warnings(self) -> list[str]:
        """What was noticed."""
        return []

    def check_named(self, partitions: set[tuple[str, int]]) -> None:
        """Compare the partitions that options name with those that there are."""

    def range_of(self, offsets: PartitionOffsets) -> tuple[int, int]:
        """The offsets [low, high) wanted."""
        raise NotImplementedError

    def up_to_stable(self, offsets: PartitionOffsets, low: int, high: int, stable: int) -> tuple[int, int]:
        """The range [low, high) as far as it lies below the last stable offset."""
        return low, high

    def known_transactions(self, offsets: PartitionOffsets, low: int) -> KnownTransactions | None:
        """What is remembered of transactions at an offset not above `low`."""
        return None
