"""The Arrow batches of a view that decodes one of Kafka's own topics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_source.internal_topics.view import TopicView
from kafkalog_source.reading.read import SplitReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

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
        self._view = TopicView(options.view, schema.names, include_secrets=options.include_secrets)
        # The metadata log has no other control records than those that belong to its history.
        controls = options.include_control_records or options.view == "cluster_metadata"
        as_records = replace(options, view="records", include_control_records=controls)
        self._records = SplitReader(as_records, self._view.record_columns)

    @property
    def report(self) -> Report:
        """What was read so far; `records` counts rows."""
        return self._records.report

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """Yield the Arrow batches of a split; see `SplitReader.read`."""
        for records in self._records.read(split):
            yield from self._view.decode(records)
