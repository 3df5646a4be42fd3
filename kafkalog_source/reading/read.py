"""The Arrow batches of a split."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source.arrow.batches import ArrowBatches
from kafkalog_source.batch import DecodeSettings, make_decoder
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import DataLossError
from kafkalog_source.reading.report import Report
from kafkalog_source.segment.damage import Damage, Kind
from kafkalog_source.segment.rows import SpanReader
from kafkalog_source.segment.source import LocalFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from kafkalog_source.reading.options import ReadOptions
    from kafkalog_source.reading.splits import Split, SplitRange


class SplitReader:
    """Reads one split after another with memory that is used again; each thread has its own.

    Parameters
    ----------
    options : ReadOptions
    columns : sequence of str
        The columns of the batches, in their order.
    """

    def __init__(self, options: ReadOptions, columns: Sequence[str]) -> None:
        self._largest_batch = options.max_decompressed_batch_bytes
        self._settings = DecodeSettings(options.verify_checksums, options.include_control_records, self._largest_batch)
        self._batches = ArrowBatches(columns, BlockPool())
        self._decompressor = Decompressor(self._largest_batch)
        self._window = Scratch()
        self.report = Report()

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The Arrow batches of `split`, of about 1 MiB each; every batch is of one topic, partition and file.

        Raises
        ------
        CorruptBatchError, LimitError, UnsupportedFormatError
            What is on disk is damaged or no segment.
        DataLossError
            A file was replaced or cut since the read was planned.
        """
        for each in split.ranges:
            before = self._batches.set_place(each.topic, each.partition, each.path)
            if before is not None:
                yield self._counted(before)
            with LocalFile(each.path) as source:
                _check_same_file(source, each)
                yield from self._read_range(source, each)
        last = self._batches.finish()
        if last is not None:
            yield self._counted(last)
        self.report.times_out_of_range = self._batches.columns.times_out_of_range

    def _read_range(self, source: LocalFile, each: SplitRange) -> Iterator[pa.RecordBatch]:
        columns = self._batches.columns
        decoder = make_decoder(columns, self._decompressor, self._settings, each.low, each.high)
        reader = SpanReader(source, each.span, decoder, self._window, self._largest_batch, self._damaged)
        try:
            for _ in reader:
                full = self._batches.finish()
                if full is not None:
                    yield self._counted(full)
        finally:
            self.report.bytes_read += source.bytes_read
            self.report.batches += reader.batches

    def _damaged(self, damage: Damage) -> None:
        self.report.damage.append(damage)
        if damage.kind is not Kind.TORN:
            raise damage.to_error()

    def _counted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        self.report.records += batch.num_rows
        return batch


def read_split(split: Split, options: ReadOptions, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The Arrow batches of one split; see `SplitReader.read`."""
    return SplitReader(options, columns).read(split)


def _check_same_file(source: LocalFile, each: SplitRange) -> None:
    if source.inode == each.inode and source.size >= each.file_size:
        return
    raise DataLossError(
        "the file is not the one that was planned to be read",
        file=each.path,
        found=f"{source.size} bytes" if source.inode == each.inode else "another file of this name",
        expected=f"at least {each.file_size} bytes" if source.inode == each.inode else None,
        remedy="Something cut or replaced it meanwhile: read again, or read a snapshot of the directory",
    )
