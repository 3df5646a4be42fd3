"""Writes one partition: copies its valid batches, and rebuilds indexes and producer state from them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kafkalog_source._core.indexes import IndexBuilder
from kafkalog_source._core.producers import LeaderEpochs, ProducerTable
from kafkalog_source.errors import KafkaLogError, LogDirError, counted, printable
from kafkalog_source.format import MAX_OFFSET, OFFSET_INDEX_ENTRY, TIME_INDEX_ENTRY
from kafkalog_source.logdir.checkpoints import read_leader_epochs
from kafkalog_source.logdir.names import LEADER_EPOCH_CHECKPOINT
from kafkalog_source.salvage.producers import encode_snapshot, noted_snapshot
from kafkalog_source.salvage.refusing import cannot_read
from kafkalog_source.salvage.report import LeftOut, PartitionReport
from kafkalog_source.salvage.transactions import aborted_transactions, encode, transactions_in_doubt
from kafkalog_source.salvage.writing import make_directory, new_file, sync_directory, write_file, write_text
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kafkalog_source._core.memory import Scratch
    from kafkalog_source._core.walk import Entries
    from kafkalog_source.logdir import PartitionLog, SegmentFile
    from kafkalog_source.segment.checks.span_checker import SpanChecker, Taker


@dataclass(slots=True)
class Runs:
    """The valid parts of a segment as (start, end) positions; adjacent ones are merged."""

    parts: list[tuple[int, int]] = field(default_factory=list)

    def take(self, window: Scratch, window_position: int, entries: Entries, start: int, stop: int) -> None:
        """Add the entries [start, stop) of a window."""
        begin = window_position + entries.entry(start)[0]
        last_start, last_size, *_ = entries.entry(stop - 1)
        end = window_position + last_start + last_size
        if self.parts and self.parts[-1][1] == begin:
            self.parts[-1] = (self.parts[-1][0], end)
        else:
            self.parts.append((begin, end))


class PartitionSalvage:
    """Writes one partition.

    Parameters
    ----------
    log : PartitionLog
        Its topic is not None.
    path : str
        The directory to create.
    checker : SpanChecker
    progressed : callable
        Called with numbers of bytes that have been processed.
    skip_unreadable : bool
        Whether to continue without segments that cannot be opened.
    """

    def __init__(
        self,
        log: PartitionLog,
        path: str,
        checker: SpanChecker,
        progressed: Callable[[int], None],
        skip_unreadable: bool,
    ) -> None:
        assert log.topic is not None
        assert log.partition is not None
        self._log = log
        self._path = path
        self._checker = checker
        self._progressed = progressed
        self._skip_unreadable = skip_unreadable
        self._producers = ProducerTable(checker.decompressor)
        self._epochs = LeaderEpochs()
        self.report = PartitionReport(log.topic, log.partition, path)

    def run(self, *, keep_epochs: bool = True) -> PartitionReport:
        """Write the partition.

        Parameters
        ----------
        keep_epochs : bool
            Whether to keep the leader epochs, which are valid only in the cluster that the partition comes from.
        """
        make_directory(self._path)
        segments = self._log.segments
        self.report.start_offset = self.report.end_offset = segments[0].base_offset if segments else 0
        for segment, bound in zip(segments, [each.base_offset for each in segments[1:]] + [MAX_OFFSET], strict=False):
            last_offset = self._write_segment(segment, bound)
            self.report.end_offset = max(segment.base_offset, last_offset + 1)
            self._progressed(segment.size)
        self._write_producers()
        self._warn_of_transactions_in_doubt()
        self._write_epochs(keep_epochs)
        sync_directory(self._path)
        return self.report

    def _write_segment(self, segment: SegmentFile, bound: int) -> int:
        """Copy the valid parts of a segment; returns their last offset, or the base offset minus 1 if there are none.

        A segment without valid parts is written as an empty segment with empty indexes, which brokers have as well.
        Without the first segment the log would begin later than before, and a group with a committed offset in between
        would continue where `auto.offset.reset` puts it; without the last one the log's end would go back.
        """
        runs = Runs()
        builder = IndexBuilder(segment.base_offset)
        try:
            with LocalFile(segment.path) as source:
                self._check_segment(source, segment, bound, runs, builder)
                self._copy(source, segment, runs.parts)
        except KafkaLogError as error:
            if builder.size or not _is_of(error, segment):
                raise
            self._leave_out(error, segment)
            self._copy(None, segment, ())
        self.report.segments += 1
        self.report.size += builder.size
        self._write_indexes(segment, bound, builder)
        return builder.last_offset

    def _check_segment(
        self, source: LocalFile, segment: SegmentFile, bound: int, runs: Runs, builder: IndexBuilder
    ) -> None:
        """Find the valid parts of a segment."""
        left_out, before = self.report.left_out, len(self.report.left_out)
        is_last = segment is self._log.segments[-1]
        span = Span(0, source.size, segment.base_offset, bound, MAX_OFFSET, True, is_last)
        takers: list[Taker] = [runs, builder, self._producers, self._epochs]
        checked = self._checker.check(source, span, takers, lambda damage: left_out.append(LeftOut.of(damage)))
        self.report.batches += checked.batches
        self.report.records += checked.records
        if segment.size and not runs.parts and len(left_out) == before:
            left_out.append(LeftOut(segment.path, "the segment holds no batch", False))

    def _leave_out(self, error: KafkaLogError, segment: SegmentFile) -> None:
        """Leave out a file that is not a segment or, with `skip_unreadable`, one that cannot be read."""
        unreadable = isinstance(error, LogDirError)
        if unreadable and not self._skip_unreadable:
            raise cannot_read([error])
        self.report.left_out.append(LeftOut(segment.path, error.problem, True, is_unreadable=unreadable))

    def _copy(self, source: LocalFile | None, segment: SegmentFile, parts: Sequence[tuple[int, int]]) -> None:
        path = self._name(segment.base_offset, "log")
        with new_file(path) as descriptor:
            for start, end in parts:
                assert source is not None
                source.copy_to(descriptor, start, end - start)
            # Retention uses the file's modification time if batches have no timestamps.
            os.utime(descriptor, ns=(segment.mtime_ns, segment.mtime_ns))

    def _write_indexes(self, segment: SegmentFile, bound: int, builder: IndexBuilder) -> None:
        offsets, times = builder.finish()
        base = segment.base_offset
        write_file(self._name(base, "index"), b"".join(OFFSET_INDEX_ENTRY.pack(*entry) for entry in offsets))
        write_file(self._name(base, "timeindex"), b"".join(TIME_INDEX_ENTRY.pack(*entry) for entry in times))
        aborted = aborted_transactions(segment, bound, self._producers, self.report.left_out)
        if aborted:
            write_file(self._name(base, "txnindex"), encode(aborted))

    def _write_producers(self) -> None:
        """Write the snapshot that a clean shutdown leaves, without which a broker would lose its producer state."""
        end = self.report.end_offset
        noted = noted_snapshot(self._log.path, end)
        if noted is not None:
            content, self.report.open_transactions = noted
        else:
            content = encode_snapshot(self._producers.producers)
            self.report.open_transactions = len(self._producers.open)
        if noted is not None or self._producers.producers:
            write_file(self._name(end, "snapshot"), content)
        if self.report.open_transactions and self.report.left_out:
            still_open = counted(self.report.open_transactions, "open transaction")
            self.report.warnings.append(
                f"{printable(self._log.path)}: {still_open} at the end of the log, perhaps because their markers are "
                "left out: their records and all records after them are hidden from committed reads until "
                "`kafka-transactions abort` ends them"
            )

    def _warn_of_transactions_in_doubt(self) -> None:
        """Warn of records that a broker may serve as committed though they were aborted, since markers are left out."""
        if not self._producers.producers or not any(each.is_loss for each in self.report.left_out):
            return
        in_doubt = transactions_in_doubt(self._log, self._checker.decompressor.limit)
        if in_doubt:
            first, last = min(each[1] for each in in_doubt), max(each[2] for each in in_doubt)
            self.report.warnings.append(
                f"{printable(self._log.path)}: the markers of {counted(len(in_doubt), 'transaction')}, with records at "
                f"offsets {first} to {last}, may have been left out: it is unknown whether they were aborted, and a "
                "broker takes them for part of their producers' next transactions"
            )

    def _write_epochs(self, keep: bool) -> None:
        """Write the leader epochs from the checkpoint or, if that is lost, from the batches."""
        entries: Sequence[tuple[int, int]] = self._noted_epochs() if keep else ()
        entries = [entry for entry in entries if entry[1] <= self.report.end_offset]
        lines = [f"{epoch} {offset}\n" for epoch, offset in entries]
        write_text(os.path.join(self._path, LEADER_EPOCH_CHECKPOINT), f"0\n{len(lines)}\n{''.join(lines)}")

    def _noted_epochs(self) -> Sequence[tuple[int, int]]:
        path = os.path.join(self._log.path, LEADER_EPOCH_CHECKPOINT)
        if not os.path.lexists(path):
            return self._epochs.entries
        try:
            return read_leader_epochs(path)
        except KafkaLogError as error:
            self.report.warnings.append(f"{error}. The leader epochs are rebuilt from the batches instead")
            return self._epochs.entries

    def _name(self, offset: int, kind: str) -> str:
        return os.path.join(self._path, f"{offset:020d}.{kind}")


def _is_of(error: KafkaLogError, segment: SegmentFile) -> bool:
    """Whether an error concerns the segment that is read, and not the files that are written."""
    return not isinstance(error, LogDirError) or error.file == segment.path
