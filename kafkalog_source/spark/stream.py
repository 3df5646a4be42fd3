"""Streaming queries of the data source: offsets on the driver, rows in the tasks.

Spark 4.2 and newer pass the start of a micro-batch and a limit; 4.0 and 4.1 only ask for the latest offset. The class
is chosen here, because Spark inspects the signature of ``latestOffset``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from kafkalog_source.errors import OptionError
from kafkalog_source.spark.own_errors import OwnErrorsOnly
from kafkalog_source.streaming.positions import from_json, to_json

if TYPE_CHECKING:
    import pyarrow as pa

    from kafkalog_source.errors import KafkaLogError
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.spark.reader import KafkaLogReader
    from kafkalog_source.streaming.positions import Positions
    from kafkalog_source.streaming.stream import Stream

try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxBytes,
        ReadMaxRows,
        ReadMinRows,
        SupportsTriggerAvailableNow,
    )
except ImportError:
    HAS_READ_LIMITS = False
else:
    HAS_READ_LIMITS = True

__all__ = ["RefusedStream", "stream_reader"]

_log = logging.getLogger("kafkalog")


def stream_reader(options: ReadOptions, rows: KafkaLogReader) -> DataSourceStreamReader:
    """Return the reader for this version of Spark.

    Raises
    ------
    OptionError
        If the options limit micro-batches and this version of Spark cannot.
    """
    if HAS_READ_LIMITS:
        return LimitedStreamReader(options, rows)
    if options.trigger_bounds:
        raise OptionError(
            "this version of Spark cannot limit the micro-batches of a Python data source",
            found=", ".join(options.trigger_bounds),
            remedy="Remove the option, or use pyspark 4.2 or newer",
        )
    return StreamReader(options, rows)


class RefusedStream(DataSourceStreamReader):
    """Raises an error at the first call of any method.

    If ``streamReader`` itself raised it, Spark's runner would add an error of its own, which would be shown last.
    """

    def __init__(self, error: KafkaLogError) -> None:
        self._error = error

    def _refuse(self, *_: object) -> NoReturn:
        with OwnErrorsOnly():
            raise self._error

    initialOffset = latestOffset = partitions = read = _refuse  # type: ignore[assignment]


class _Reader(DataSourceStreamReader):
    """What all versions of Spark call. It is plain data when Spark sends it to a task.

    Parameters
    ----------
    options : ReadOptions
    rows : KafkaLogReader
        Reads a split, as in a batch query.
    """

    def __init__(self, options: ReadOptions, rows: KafkaLogReader) -> None:
        self.options = options
        self.rows = rows
        self._planner: Stream | None = None

    @property
    def _stream(self) -> Stream:
        from kafkalog_source.streaming.stream import Stream

        if self._planner is None:
            self._planner = Stream(self.options, _warn)
        return self._planner

    def initialOffset(self) -> dict[str, Any]:
        """Return where a query without a checkpoint starts."""
        with OwnErrorsOnly():
            return to_json(self._stream.initial())

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Plan a micro-batch: one Spark partition for each split."""
        with OwnErrorsOnly():
            plan = self._stream.plan(from_json(start), from_json(end))
        return [InputPartition(split) for split in plan.splits]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Decode one split."""
        return self.rows.read(partition)


class StreamReader(_Reader):
    """For Spark 4.0 and 4.1, which do not pass the start of a micro-batch: the end of the last one is remembered."""

    def __init__(self, options: ReadOptions, rows: KafkaLogReader) -> None:
        super().__init__(options, rows)
        self._reached: Positions = {}

    def initialOffset(self) -> dict[str, Any]:
        """Return where a query without a checkpoint starts."""
        initial = super().initialOffset()
        self._reached = from_json(initial)
        return initial

    def latestOffset(self) -> dict[str, Any]:  # type: ignore[override]
        """Return the latest offsets."""
        with OwnErrorsOnly():
            return to_json(self._stream.latest(self._reached))

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Plan a micro-batch: one Spark partition for each split."""
        planned = super().partitions(start, end)
        self._reached = from_json(end)
        return planned


if HAS_READ_LIMITS:

    class LimitedStreamReader(_Reader, SupportsTriggerAvailableNow):
        """For Spark 4.2 and newer."""

        def prepareForTriggerAvailableNow(self) -> None:
            """Fix the current end of the log as the end of the query."""
            with OwnErrorsOnly():
                self._stream.fix_target()

        def getDefaultReadLimit(self) -> ReadLimit:
            """Return the limit of a micro-batch. Spark takes only one; the options may hold several."""
            options = self.options
            if options.max_offsets_per_trigger is not None:
                return ReadMaxRows(options.max_offsets_per_trigger)
            if options.max_bytes_per_trigger is not None:
                return ReadMaxBytes(options.max_bytes_per_trigger)
            if options.min_offsets_per_trigger is not None:
                return ReadMinRows(options.min_offsets_per_trigger)
            return ReadAllAvailable()

        def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
            """Return the end of the micro-batch that starts at `start`; with Trigger.Once Spark lifts the limits."""
            is_limited = not isinstance(limit, ReadAllAvailable)
            with OwnErrorsOnly():
                return to_json(self._stream.latest(from_json(start), is_limited=is_limited))

        def reportLatestOffset(self) -> dict[str, Any] | None:
            """Return the latest offsets that were seen; the query's progress shows them beside the offsets read."""
            return to_json(self._stream.newest()) or None


def _warn(text: str) -> None:
    _log.warning("kafkalog: %s", text)
