"""Reads a split into Arrow batches."""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Protocol

from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source.arrow.batch_headers import BatchRows
from kafkalog_source.arrow.batches import ArrowBatches
from kafkalog_source.arrow.schema import view_schema
from kafkalog_source.batch import DecodeSettings, make_decoder, make_decoder_07
from kafkalog_source.codecs import Decompressor
from kafkalog_source.columns import FILE_VIEWS, VIEWS
from kafkalog_source.errors import KafkaLogError
from kafkalog_source.partition.gaps import GapChecks
from kafkalog_source.partition.moved_files import has_changed
from kafkalog_source.partition.splits import TransactionHistory
from kafkalog_source.reading.changed_files import look_up_again
from kafkalog_source.reading.planned_file import open_planned
from kafkalog_source.reporting.damage_modes import DamagePolicy, Rows, is_wanted
from kafkalog_source.reporting.report import Report
from kafkalog_source.segment.batch_headers import BatchHeaders, Collected
from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.reader import End, Run, SpanReader
from kafkalog_source.segment.source import FileChangedError
from kafkalog_source.transactions.lookahead import Lookahead, TransactionFinder, states_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from kafkalog_source._core.decode import Decoder
    from kafkalog_source._core.decode07 import Decoder07
    from kafkalog_source._core.outcomes import TransactionStates
    from kafkalog_source.errors import DataLossError
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.splits import Split, SplitRange
    from kafkalog_source.segment.batch_headers import HeaderReader
    from kafkalog_source.segment.reader import Event
    from kafkalog_source.segment.source import LocalFile

_log = logging.getLogger("kafkalog")
_MOST_LOOKUPS = 5
"""How often the offsets of a range are looked up again while files change, before the change is raised as an error."""


class Reader(Protocol):
    """Reads the splits of a view, one after another; each thread has its own."""

    @property
    def report(self) -> Report:
        """What was read so far."""
        ...

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """Yield the Arrow batches of a split."""
        ...


class SplitReader:
    """Reads one split after another, reusing its memory; each thread has its own.

    Parameters
    ----------
    options : ReadOptions
    columns : sequence of str
        The columns of the batches, in their order.
    """

    def __init__(self, options: ReadOptions, columns: Sequence[str]) -> None:
        self._largest_batch = options.max_decompressed_batch_bytes
        committed_only = options.isolation_level == "read_committed"
        self._settings = DecodeSettings(
            options.verify_checksums, options.include_control_records, self._largest_batch, committed_only
        )
        self._needs_transactions = committed_only or "transactionState" in columns
        self._finder = TransactionFinder(options)
        self._gaps = GapChecks(options)
        self._options = options
        self._reached: int | None = None
        self._window = Scratch()
        self._headers = BatchHeaders(options.verify_checksums, self._largest_batch, self._window)
        self._records = ArrowBatches(columns if options.view == "records" else (), BlockPool())
        self._batches = BatchRows(columns, self._headers.table) if options.view == "batches" else self._records
        self._rows = Rows(view_schema(columns, options.view), options.view)
        self._policy = DamagePolicy(options)
        self._decompressor = Decompressor(self._largest_batch)
        self.report = Report()

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """Yield the Arrow batches of `split`, of about 1 MiB each, each from a single file.

        Raises
        ------
        CorruptBatchError, LimitError, UnsupportedFormatError
            If a file is damaged or not a segment.
        DataLossError
            If planned offsets are no longer on disk, or a segment is missing.
        """
        for each, damage in split.known:
            self._damaged(damage, each)
            yield from self._rows.end(each)
        for each in split.ranges:
            yield from self._read_as_files_change(each)
        last = self._finished()
        if last is not None and not self._rows.is_view:
            yield last
        self.report.times_out_of_range = self._batches.times_out_of_range

    def _read_as_files_change(self, planned: SplitRange) -> Iterator[pa.RecordBatch]:
        """Read a range; if a broker changed its file since it was planned, read the rest from other files."""
        waiting, lookups = deque([planned]), 0
        while waiting:
            each = waiting.popleft()
            self._reached = each.low
            before = self._batches.set_place(each.topic, each.partition, each.path)
            if before is not None:
                yield self._counted(before)
            try:
                with open_planned(each) as source:
                    yield from self._read_range(source, each)
            except KafkaLogError as error:
                lookups += 1
                if not has_changed(error) or lookups > _MOST_LOOKUPS:
                    raise
                found = look_up_again(each, self._reached, error, self._options)
                self.report.bytes_read += found.bytes_read
                for loss in found.losses:
                    self._lost(loss)
                waiting.extendleft(reversed(found.ranges))

    def _read_range(self, source: LocalFile, each: SplitRange) -> Iterator[pa.RecordBatch]:
        # Rows must not be read twice: until the reader reports its position, it is unknown which have been read.
        self._reached = None
        transactions = self._transactions(source, each)
        reader: HeaderReader | SpanReader
        if isinstance(self._batches, BatchRows):
            reader = self._headers.reader(source, each.span, each.low, each.high)
        else:
            decoder = self._decoder(each, transactions)
            reader = SpanReader(source, each.span, decoder, self._window, self._largest_batch)
        next_offset: int | None = None
        try:
            for event in reader:
                if isinstance(event, End):
                    next_offset = event.next_offset
                else:
                    yield from self._batches_at(event, each)
            yield from self._rows.end(each)
            if each.span.to_file_end and next_offset is not None:
                self._check_gap(each, next_offset)
                yield from self._rows.end(each)
        except FileChangedError:
            if isinstance(reader, SpanReader):
                self._reached = reader.reached
            raise
        finally:
            if isinstance(transactions, Lookahead):
                transactions.close()
            self.report.bytes_read += source.bytes_read + self._finder.bytes_read + self._gaps.bytes_read
            self._finder.bytes_read = self._gaps.bytes_read = 0
            for warning in self._finder.warnings:
                self._warn(warning)
            self._finder.warnings.clear()
            self.report.batches += reader.batches

    def _batches_at(self, event: Event | Collected, each: SplitRange) -> Iterator[pa.RecordBatch]:
        """The Arrow batches that an event completes."""
        if isinstance(event, Damage):
            self._damaged(event, each)
            yield from self._rows.take()
        elif isinstance(event, Run | Collected) and event.is_full:
            yield from self._rows.take_full(each, self._finished())

    def _transactions(self, source: LocalFile, each: SplitRange) -> TransactionStates | Lookahead | None:
        if not self._needs_transactions or each.transactions is None:
            return None
        if isinstance(each.transactions, TransactionHistory):
            return states_of(each.transactions)
        return Lookahead(self._finder, source, each)

    def _decoder(self, each: SplitRange, transactions: TransactionStates | Lookahead | None) -> Decoder | Decoder07:
        columns = self._records.columns
        if each.span.base_07 is not None:
            return make_decoder_07(columns, self._decompressor, self._settings, each.low, each.high)
        found = transactions.find if isinstance(transactions, Lookahead) else transactions
        return make_decoder(columns, self._decompressor, self._settings, each.low, each.high, found)

    def _damaged(self, damage: Damage, each: SplitRange) -> None:
        if not is_wanted(damage, each):
            return
        (self.report.missing if damage.kind is Kind.MISSING else self.report.damage).append(damage)
        self._policy.check(damage)
        if self._policy.gives_row(damage):
            self._rows.add(damage, each, self._finished())

    def _check_gap(self, each: SplitRange, next_offset: int) -> None:
        """Handle offsets that are missing before the next segment, as the options say."""
        gap = self._gaps.find(each, next_offset)
        if gap is None:
            return
        if gap.error is None:
            self._warn(gap.warning)
        elif self.report.missing[-1:] != [gap.region]:
            self.report.missing.append(gap.region)
            if self._rows.is_view:
                self._rows.add(gap.region, each, None)
            else:
                self._lost(gap.error)

    def _finished(self) -> pa.RecordBatch | None:
        rows = self._batches.finish()
        return None if rows is None or self._rows.is_view else self._counted(rows)

    def _lost(self, error: DataLossError) -> None:
        if self._options.fail_on_data_loss:
            raise error
        self._warn(error.without_remedy())

    def _warn(self, warning: str | None) -> None:
        # Several consecutive ranges may report the same gap.
        if warning is not None and self.report.warnings[-1:] != [warning]:
            self.report.warnings.append(warning)

    def _counted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        self.report.records += batch.num_rows
        return batch


def make_reader(options: ReadOptions, columns: Sequence[str]) -> Reader:
    """Make the reader of a view's splits."""
    if options.view in FILE_VIEWS:
        from kafkalog_source.reading.transactional_ids import read_transactional_ids
        from kafkalog_source.views.reader import FileReader

        return FileReader(options, view_schema(columns, options.view), read_transactional_ids)
    if VIEWS[options.view].topic is not None:
        from kafkalog_source.reading.topic_reader import TopicReader

        return TopicReader(options, view_schema(columns, options.view))
    return SplitReader(options, columns)


def read_split(split: Split, options: ReadOptions, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield the Arrow batches of one split and log its warnings; see `SplitReader.read`."""
    reader = make_reader(options, columns)
    has_failed = True
    try:
        yield from reader.read(split)
        has_failed = False
    finally:
        # Also before an error, which may have held back rows about damage, so that only the log shows it.
        _log_left_out(reader.report, options, rows_show_damage=options.mode == "PERMISSIVE" and not has_failed)


def _log_left_out(report: Report, options: ReadOptions, *, rows_show_damage: bool) -> None:
    for warning in report.warnings:
        _log.warning("kafkalog: %s", warning)
    if options.view != "damage" and not rows_show_damage:
        for text in report.left_out_texts(options.mode):
            _log.warning("kafkalog: %s", text)
