"""Options that do not go together with a view."""

from __future__ import annotations

from kafkalog_source.errors import OptionError

__all__ = ["check_view"]


def check_view(view: str, isolation_level: str, max_records_per_partition: int | None) -> None:
    """Refuse what ``view=batches`` cannot do.

    Raises
    ------
    OptionError
        Committed records are asked for, or a bound of records for each task: the view has batches for rows, all of
        them, and gives each one once.
    """
    if view != "batches":
        return
    if isolation_level != "read_uncommitted":
        raise OptionError(
            "view=batches shows every batch that lies on disk, whatever became of its transaction",
            found=f"isolationLevel={isolation_level}",
            remedy="Leave isolationLevel out; isTransactional and isControl tell the batches of transactions",
        )
    if max_records_per_partition is not None:
        raise OptionError(
            "maxRecordsPerPartition does not go together with view=batches, whose rows are whole batches",
            remedy="Use maxPartitionBytes or minPartitions",
        )
