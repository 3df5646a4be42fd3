"""The records of a compacted topic of Kafka's own, most of those that later ones replace left out before decoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source.reading.scan import scan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["CountedRecords", "last_of_each_key"]

_WINDOW_BYTES = 32 << 20
"""How much is read before replaced records are left out. A larger window leaves out more, and takes more memory."""
_ROW = "row"
_TIMESTAMP = pa.timestamp("us", tz="UTC")
_COUNTED = pa.array([None, "committed"])
"""The states of records that count; null is outside of a transaction."""


class CountedRecords:
    """Reads the records that count, in windows, in order within each partition.

    A coordinator uses an offset that is committed outside of a transaction at once, also while transactions of others
    are open. Therefore reading does not stop at the last stable offset, as ``read_committed`` does; only the records
    of aborted and of open transactions are left out.

    Parameters
    ----------
    paths : sequence of str
        Partitions of one topic.
    columns : sequence of str
        Of records.
    options : mapping
        Further options of the read.
    at_ms : int or None
        Records with a later timestamp are left out. Those without a timestamp (format 0) are kept.

    Attributes
    ----------
    open : int
        The records read so far that are in open transactions, and so left out.
    """

    def __init__(
        self, paths: Sequence[str], columns: Sequence[str], options: Mapping[str, Any], at_ms: int | None
    ) -> None:
        wanted = tuple(dict.fromkeys((*columns, "partition", "timestamp", "transactionState")))
        self._scan = scan(paths, columns=wanted, **options)
        self._last = None if at_ms is None else pa.scalar(at_ms * 1000, pa.int64()).cast(_TIMESTAMP)
        self.open = 0

    @property
    def warnings(self) -> list[str]:
        """The warnings of the read."""
        found: list[str] = self._scan.report()["warnings"]
        return found

    def windows(self) -> Iterator[pa.Table]:
        """Read the records once."""
        kept: list[pa.RecordBatch] = []
        size = 0
        for batch in self._scan.to_reader():
            kept.append(self._counted(batch))
            size += batch.nbytes
            if size >= _WINDOW_BYTES:
                yield pa.Table.from_batches(kept)
                kept, size = [], 0
        if kept:
            yield pa.Table.from_batches(kept)

    def _counted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self._last is not None:
            is_in = pc.fill_null(pc.less_equal(batch.column("timestamp"), self._last), True)
            batch = batch.filter(is_in)
        states = batch.column("transactionState")
        if states.null_count == len(states):
            return batch
        self.open += pc.sum(pc.equal(states, "open")).as_py() or 0
        return batch.filter(pc.is_in(states, _COUNTED))


def last_of_each_key(records: pa.Table) -> pa.Table:
    """Keep the last record of each key in each partition, in the order in which they are."""
    numbered = records.select(["partition", "key"]).append_column(_ROW, pa.array(range(len(records)), pa.int64()))
    last = numbered.group_by(["partition", "key"], use_threads=False).aggregate([(_ROW, "max")])
    return records.take(last.column(f"{_ROW}_max").sort())
