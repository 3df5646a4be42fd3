"""The stream of the data source: offsets on the driver, rows in the tasks.

Spark 4.2 and newer say where a micro-batch starts and may bound it; 4.0 and 4.1 only ask how far the data goes. The
class that fits is chosen here, because Spark looks at the signature of ``latestOffset``.
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
    """Give the reader that this version of Spark can make full use of.

    Raises
    ------
    OptionError
        The options bound micro-batches, and this version of Spark has no means for that.
    """
    if HAS_READ_LIMITS:
        return LimitedStreamReader(options, rows)
    if options.trigger_bounds:
        raise OptionError(
            "this version of Spark cannot bound the micro-batches of a Python source",
            found=", ".join(options.trigger_bounds),
            remedy="Leave the option out, or use pyspark 4.2 or newer",
        )
    return StreamReader(options, rows)


class RefusedStream(DataSourceStreamReader):
    """Raises an error when it is first asked anything.

    If ``streamReader`` itself raises, Spark's runner adds an error of its own, which would be the last that one reads.
    """

    def __init__(self, error: KafkaLogError) -> None:
        self._error = error

    def _refuse(self, *_: object) -> NoReturn:
        with OwnErrorsOnly():
            raise self._error

    initialOffset = latestOffset = partitions = read = _refuse  # type: ignore[assignment]


class _Reader(DataSourceStreamReader):
    """What all versions of Spark ask for. On its way to a task it is plain data.

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
        """Where a query without a checkpoint starts."""
        with OwnErrorsOnly():
            return to_json(self._stream.initial())

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Plan a micro-batch: one partition of Spark's for each split."""
        with OwnErrorsOnly():
            plan = self._stream.plan(from_json(start), from_json(end))
        return [InputPartition(split) for split in plan.splits]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Decode one split."""
        return self.rows.read(partition)


class StreamReader(_Reader):
    """For Spark 4.0 and 4.1, which do not say where a micro-batch starts: what was planned last is remembered."""

    def __init__(self, options: ReadOptions, rows: KafkaLogReader) -> None:
        super().__init__(options, rows)
        self._reached: Positions = {}

    def initialOffset(self) -> dict[str, Any]:
        """Where a query without a checkpoint starts."""
        initial = super().initialOffset()
        self._reached = from_json(initial)
        return initial

    def latestOffset(self) -> dict[str, Any]:  # type: ignore[override]
        """How far the data goes now."""
        with OwnErrorsOnly():
            return to_json(self._stream.latest(self._reached))

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Plan a micro-batch: one partition of Spark's for each split."""
        planned = super().partitions(start, end)
        self._reached = from_json(end)
        return planned


if HAS_READ_LIMITS:

    class LimitedStreamReader(_Reader, SupportsTriggerAvailableNow):
        """For Spark 4.2 and newer."""

        def prepareForTriggerAvailableNow(self) -> None:
            """Take what is there now for the end of the stream."""
            with OwnErrorsOnly():
                self._stream.fix_target()

        def getDefaultReadLimit(self) -> ReadLimit:
            """Say that micro-batches are bounded. Spark knows one bound; the options may hold several."""
            options = self.options
            if options.max_offsets_per_trigger is not None:
                return ReadMaxRows(options.max_offsets_per_trigger)
            if options.max_bytes_per_trigger is not None:
                return ReadMaxBytes(options.max_bytes_per_trigger)
            if options.min_offsets_per_trigger is not None:
                return ReadMinRows(options.min_offsets_per_trigger)
            return ReadAllAvailable()

        def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
            """How far the micro-batch that begins at `start` goes; Spark lifts the bounds for Trigger.Once."""
            is_limited = not isinstance(limit, ReadAllAvailable)
            with OwnErrorsOnly():
                return to_json(self._stream.latest(from_json(start), is_limited=is_limited))

        def reportLatestOffset(self) -> dict[str, Any] | None:
            """How far the data went at the last look: a query's progress shows it beside what was read."""
            return to_json(self._stream.newest()) or None


def _warn(text: str) -> None:
    _log.warning("kafkalog: %s", text)
