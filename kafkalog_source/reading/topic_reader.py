"""The Arrow batches of a view that decodes one of Kafka's own topics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from kafkalog_source.columns import CORRUPT_RECORD
from kafkalog_source.internal_topics.view import TopicView
from kafkalog_source.reading.read import SplitReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.splits import Split
    from kafkalog_source.reporting.report import Report

__all__ = ["TopicReader"]


class TopicReader:
    """Reads one split after another as records, and decodes them; each thread has its own.

    Parameters
    ----------
    options : ReadOptions
        With a view that decodes a topic.
    schema : pyarrow.Schema
        The columns wanted.
    """

    def __init__(self, options: ReadOptions, schema: pa.Schema) -> None:
        self._schema = schema
        decoded = [name for name in schema.names if name != CORRUPT_RECORD]
        self._view = TopicView(options.view, decoded, include_secrets=options.include_secrets)
        columns = dict.fromkeys((*self._view.record_columns, "topic", "partition", "offset"))
        if options.mode == "PERMISSIVE":
            columns[CORRUPT_RECORD] = None
        # The metadata log has no other control records than those that belong to its history.
        controls = options.include_control_records or options.view == "cluster_metadata"
        self._records = SplitReader(replace(options, view="records", include_control_records=controls), tuple(columns))

    @property
    def report(self) -> Report:
        """What was read so far; `records` counts rows."""
        return self._records.report

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """Yield the Arrow batches of a split; see `SplitReader.read`."""
        for records in self._records.read(split):
            if CORRUPT_RECORD in records.schema.names and not records.column(CORRUPT_RECORD).null_count:
                yield self._completed(records)
            else:
                for batch in self._view.decode(records):
                    yield self._completed(batch)

    def _completed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The columns wanted; those that the batch lacks are null."""
        arrays = [
            batch.column(field.name) if field.name in batch.schema.names else pa.nulls(len(batch), field.type)
            for field in self._schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)
