"""Checks options that cannot be combined with a view."""

from __future__ import annotations

from kafkalog_source.errors import OptionError

__all__ = ["check_view"]


def check_view(view: str, isolation_level: str, max_records_per_partition: int | None) -> None:
    """Refuse options that ``view=batches`` does not support.

    Raises
    ------
    OptionError
        For read_committed and for a bound of records per task: a row of the view is a whole batch, and every batch
        is returned exactly once.
    """
    if view != "batches":
        return
    if isolation_level != "read_uncommitted":
        raise OptionError(
            "view=batches shows every batch on disk, committed or not",
            found=f"isolationLevel={isolation_level}",
            remedy="Leave isolationLevel out; the columns isTransactional and isControl mark batches of transactions",
        )
    if max_records_per_partition is not None:
        raise OptionError(
            "maxRecordsPerPartition cannot be combined with view=batches, whose rows are whole batches",
            remedy="Use maxPartitionBytes or minPartitions",
        )
