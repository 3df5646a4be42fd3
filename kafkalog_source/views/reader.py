"""The Arrow batches of a split of files."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING

from kafkalog_source._core.memory import Scratch
from kafkalog_source.columns import CORRUPT_RECORD, VIEWS
from kafkalog_source.errors import KafkaLogError
from kafkalog_source.logdir import list_partition_again
from kafkalog_source.partition.file_parts import CheckpointFile, LogPart, SegmentPart, SideFile
from kafkalog_source.reporting.report import Report
from kafkalog_source.segment.batch_headers import BatchHeaders
from kafkalog_source.segment.damage.description import Kind
from kafkalog_source.segment.source import is_gone
from kafkalog_source.views.checkpoints import checkpoint_rows
from kafkalog_source.views.indexes import index_rows
from kafkalog_source.views.producer_state import producer_rows
from kafkalog_source.views.row_buffer import RowBuffer
from kafkalog_source.views.segments import segment_rows
from kafkalog_source.views.transactions import transaction_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pyarrow as pa

    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.file_parts import Part
    from kafkalog_source.partition.splits import Split
    from kafkalog_source.segment.damage.description import Damage
    from kafkalog_source.views.rows import Rows

__all__ = ["FileReader"]

_MOST_LOOKUPS = 5
"""How often a partition is listed again while a broker removes segments, before that is raised as an error."""


class FileReader:
    """Reads one split after another; each thread has its own.

    Parameters
    ----------
    options : ReadOptions
        With a view of files.
    schema : pyarrow.Schema
        The columns wanted.
    transactional_ids : callable
        Reads the transactional ids by producer id, with the options and a report that takes what it read.

    Attributes
    ----------
    report : Report
    """

    def __init__(
        self,
        options: ReadOptions,
        schema: pa.Schema,
        transactional_ids: Callable[[ReadOptions, Report], Mapping[int, str]],
    ) -> None:
        self._options = options
        self._schema = schema
        self._headers = BatchHeaders(options.verify_checksums, options.max_decompressed_batch_bytes, Scratch())
        # Checksums are compared of all batches, whatever the columns are.
        self._segment_columns = frozenset(VIEWS["segments"].columns if options.verify_checksums else schema.names)
        self._waiting = RowBuffer(schema)
        self._read_ids = transactional_ids
        self._ids: Mapping[int, str] | None = None
        self.report = Report()

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The Arrow batches of a split, in the order of its files.

        Raises
        ------
        KafkaLogError
            In mode FAILFAST: a file cannot be read, or is damaged.
        """
        for part in split.files:
            yield from self._read(part)
        yield from self._taken()

    def _read(self, part: Part, lookups: int = 0) -> Iterator[pa.RecordBatch]:
        found: list[Damage] = []
        try:
            for rows in self._rows(part, found):
                yield from self._add(part, rows)
        except KafkaLogError as error:
            if is_gone(error):
                yield from self._read_again(part, error, lookups)
                return
            if self._options.mode == "FAILFAST":
                # What was read before it comes first.
                yield from self._taken()
                raise
            yield from self._damaged(part, error)
        if isinstance(part, SideFile | CheckpointFile):
            # Read as a whole.
            self.report.bytes_read += part.size
        self.report.damage += found
        if self._options.mode == "PERMISSIVE":
            for damage in found:
                yield from self._add(part, {CORRUPT_RECORD: [damage.to_json()]})

    def _add(self, part: Part, rows: Rows) -> Iterator[pa.RecordBatch]:
        """Add rows to those that wait; gives all of them when they are enough for an Arrow batch."""
        self._waiting.add(part, rows)
        if self._waiting.is_full:
            yield from self._taken()

    def _taken(self) -> Iterator[pa.RecordBatch]:
        if self._waiting.count:
            self.report.records += self._waiting.count
            yield self._waiting.take()

    def _read_again(self, part: Part, error: KafkaLogError, lookups: int) -> Iterator[pa.RecordBatch]:
        """Read a part after a broker removed a file: a file has no rows, a partition those of its other segments."""
        if not isinstance(part, LogPart) or part.log.is_single_file or not os.path.lexists(part.log.path):
            return
        if lookups == _MOST_LOOKUPS:
            raise error
        # Its rows are given at its end, so that there were none yet.
        yield from self._read(LogPart(list_partition_again(part.log.path)), lookups + 1)

    def _rows(self, part: Part, found: list[Damage]) -> Iterator[Rows]:
        on_damage = partial(self._on_damage, found)
        match part:
            case SegmentPart():
                return segment_rows(part, self._segment_columns, self._headers, on_damage, self.report)
            case LogPart():
                return transaction_rows(part, self._headers, on_damage, self._transactional_ids, self.report)
            case CheckpointFile():
                return checkpoint_rows(part, self._options.wants)
            case SideFile(kind="snapshot"):
                return producer_rows(part)
            case SideFile():
                return index_rows(part)

    def _transactional_ids(self) -> Mapping[int, str]:
        """The transactional ids by producer id; none if the column is not wanted."""
        if "transactionalId" not in self._schema.names:
            return {}
        if self._ids is None:
            self._ids = self._read_ids(self._options, self.report)
        return self._ids

    def _on_damage(self, found: list[Damage], damage: Damage) -> None:
        if damage.kind is Kind.TORN:
            return
        if self._options.mode == "FAILFAST":
            raise damage.to_error()
        found.append(damage)

    def _damaged(self, part: Part, error: KafkaLogError) -> Iterator[pa.RecordBatch]:
        """A row for a file that cannot be read, or a warning, depending on the mode."""
        described = {"file": part.path, "reason": error.problem, "expected": error.expected, "found": error.found}
        if self._options.mode == "PERMISSIVE":
            said = {name: str(value) for name, value in described.items() if value is not None}
            yield from self._add(part, {CORRUPT_RECORD: [json.dumps(said)]})
        else:
            self.report.warnings.append(str(error))
