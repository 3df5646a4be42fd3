"""`salvage`: writes a new log dir from a damaged one."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from kafkalog_source.codecs import DEFAULT_LIMIT
from kafkalog_source.errors import OptionError, counted, did_you_mean, printable
from kafkalog_source.format import METADATA_BOOTSTRAP
from kafkalog_source.logdir import list_logs
from kafkalog_source.logdir.checkpoints import encoded_topic_id
from kafkalog_source.logdir.names import PARTITION_METADATA
from kafkalog_source.salvage.log_dir import write_checkpoints, write_clean_shutdown, write_properties
from kafkalog_source.salvage.metadata import METADATA_TOPIC, copy_metadata_files, copy_snapshot
from kafkalog_source.salvage.partition import PartitionSalvage
from kafkalog_source.salvage.places import check_source, check_target, is_of_broker, unfinished
from kafkalog_source.salvage.refusing import left_out_of_listing
from kafkalog_source.salvage.report import LeftOut, PartitionReport, SalvageReport
from kafkalog_source.salvage.topic_ids import KnownIds
from kafkalog_source.salvage.writing import write_text
from kafkalog_source.segment.checks.span_checker import ThreadChecker

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kafkalog_source.errors import KafkaLogError
    from kafkalog_source.logdir import Listing, PartitionLog
    from kafkalog_source.segment.checks.span_checker import SpanChecker


def salvage(
    source: str,
    target: str,
    *,
    topic_ids: Mapping[str, uuid.UUID] | None = None,
    wanted: Callable[[str, int], bool] = lambda topic, partition: True,
    follow_symlinks: bool = False,
    largest_batch: int = DEFAULT_LIMIT,
    threads: int | None = None,
    skip_unreadable: bool = False,
    expect: Callable[[int], None] = lambda size: None,
    progressed: Callable[[int], None] = lambda size: None,
) -> SalvageReport:
    """Write a log dir with every valid batch of another one.

    A broker can start with it if topic ids are known. If none is, it is a plain directory to read from.

    Parameters
    ----------
    source : str
        A log dir, or one partition directory. Nothing is ever written to it.
    target : str
        A directory that does not exist or is empty. It appears, or is filled, only at the end.
    topic_ids : mapping of str to UUID, optional
        The ids of the topics in another cluster; only these topics are salvaged then. By default all topics keep
        their ids, and the cluster metadata is salvaged as well.
    wanted : callable, optional
        Called with topic and partition; returns whether to salvage it.
    follow_symlinks : bool, optional
    largest_batch : int, optional
        Maximum size of a batch in bytes, both on disk and decompressed; a larger one is left out.
    threads : int, optional
        By default the number of cores; each partition is written by one thread.
    skip_unreadable : bool, optional
        Continue without segments and partition directories that cannot be read at all, as for lack of permission;
        the report then names them. By default they are an error.
    expect, progressed : callable, optional
        Called with the total number of bytes, and with numbers of bytes that have been processed.

    Returns
    -------
    SalvageReport

    Raises
    ------
    LogDirError
        If the source is neither, a part of it cannot be read, or the target cannot be written. Nothing is left on
        disk then.
    OptionError
        If there is nothing to salvage, or a topic in `topic_ids` does not exist.
    """
    source, chosen_path = check_source(source)
    given, target = target, check_target(target, source if is_of_broker(source) else chosen_path)
    report = SalvageReport(os.path.abspath(given))
    bad: list[KafkaLogError] = []
    listing = list_logs([chosen_path], wanted=wanted, follow_symlinks=follow_symlinks, on_bad=bad.append)
    report.left_out += left_out_of_listing(bad, source, skip_unreadable)
    report.left_out += [LeftOut(each.path, each.reason, False) for each in listing.skipped]
    report.warnings += listing.warnings
    ids = KnownIds(listing.partitions, topic_ids)
    report.warnings += ids.warnings
    chosen = _choose(listing, topic_ids, report)
    # One partition alone, or without any topic id, is salvaged to be read.
    has_ids = chosen_path == source and any(ids.of(log.topic) for log in chosen if log.topic is not None)
    for_broker = has_ids or topic_ids is not None
    if for_broker:
        report.warnings += _missing_for_broker(chosen, ids, same_cluster=topic_ids is None)
    expect(sum(segment.size for log in chosen for segment in log.segments))
    with unfinished(target) as path:
        pool = _WritePool(path, ids, topic_ids is None, largest_batch, progressed, skip_unreadable)
        report.partitions = pool.run(chosen, threads or os.cpu_count() or 1)
        write_checkpoints(source, path, report)
        if for_broker and topic_ids is None:
            _copy_cluster_files(source, path, report, pool.checker)
        if for_broker:
            write_clean_shutdown(source, path)
    for partition in report.partitions:
        partition.path = os.path.join(report.path, os.path.basename(partition.path))
    return report


def _choose(listing: Listing, given: Mapping[str, uuid.UUID] | None, report: SalvageReport) -> list[PartitionLog]:
    """The partitions to write; the report names the others and the reasons."""
    chosen = []
    for log in listing.partitions:
        assert log.topic is not None
        reason = None
        if any(segment.is_07 for segment in log.segments):
            reason = "is of Kafka 0.7, which no later broker reads: read it with kafkalog and produce its records again"
        elif given is not None and log.topic not in given:
            reason = "its topic is not among the given topic ids"
        if reason is None:
            chosen.append(log)
        else:
            report.left_out.append(LeftOut(log.path, reason, given is None))
    topics = {log.topic for log in listing.partitions if log.topic is not None}
    missing = sorted(set(given or ()) - topics)
    if missing:
        question = did_you_mean(missing[0], topics)
        raise OptionError(
            f"not found: {', '.join(map(printable, missing))}",
            remedy=" ".join(filter(None, (question, "`kafkalog ls` lists the partitions on disk"))),
        )
    if not chosen:
        raise OptionError(
            "nothing to salvage: no partition is chosen that can be written",
            found=counted(len(listing.partitions), "partition"),
            remedy="`kafkalog ls` lists the partitions on disk",
        )
    return chosen


def _missing_for_broker(chosen: Sequence[PartitionLog], ids: KnownIds, *, same_cluster: bool) -> Iterator[str]:
    """What a broker that is to start on the new log dir would lack."""
    unknown = sorted({log.topic for log in chosen if log.topic is not None and ids.of(log.topic) is None})
    if unknown:
        yield (
            f"the topic id of {', '.join(map(printable, unknown))} is unknown, without which no broker loads it: to "
            "start a broker, create the topic, and give its id by --topic-ids"
        )
    if same_cluster and all(log.topic != METADATA_TOPIC for log in chosen):
        yield f"{METADATA_TOPIC} is not salvaged: a broker sets aside all partitions that are not in its own metadata"


def _copy_cluster_files(source: str, target: str, report: SalvageReport, checker: SpanChecker) -> None:
    bootstrap = os.path.join(source, METADATA_BOOTSTRAP)
    if os.path.isfile(bootstrap):
        left_out = copy_snapshot(bootstrap, os.path.join(target, METADATA_BOOTSTRAP), checker)
        report.left_out += [] if left_out is None else [left_out]
    write_properties(source, target, report)


class _WritePool:
    """A pool of threads that write partitions, each with its own buffers."""

    def __init__(
        self,
        path: str,
        ids: KnownIds,
        same_cluster: bool,
        largest_batch: int,
        progressed: Callable[[int], None],
        skip_unreadable: bool,
    ) -> None:
        self._path = path
        self._ids = ids
        self._same_cluster = same_cluster
        self._progressed = progressed
        self._skip_unreadable = skip_unreadable
        self._own = ThreadChecker(largest_batch)

    @property
    def checker(self) -> SpanChecker:
        """The checker of the calling thread."""
        return self._own.checker

    def run(self, logs: Sequence[PartitionLog], threads: int) -> list[PartitionReport]:
        """Write partitions; the reports are in the same order."""
        with ThreadPoolExecutor(threads) as pool:
            futures: list[Future[PartitionReport]] = []
            try:
                futures += [pool.submit(self._write, log) for log in logs]
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                pool.shutdown(cancel_futures=True)
        for future in futures:
            # The first failure cancels the partitions that have not been started, and is raised here.
            if not future.cancelled() and future.exception() is not None:
                future.result()
        return [future.result() for future in futures]

    def _write(self, log: PartitionLog) -> PartitionReport:
        path = os.path.join(self._path, f"{log.topic}-{log.partition}")
        partition = PartitionSalvage(log, path, self.checker, self._progressed, self._skip_unreadable)
        report = partition.run(keep_epochs=self._same_cluster)
        if log.topic == METADATA_TOPIC:
            copy_metadata_files(log.path, report, self.checker)
        topic_id = self._ids.of(report.topic)
        if topic_id is not None:
            write_text(os.path.join(path, PARTITION_METADATA), f"version: 0\ntopic_id: {encoded_topic_id(topic_id)}")
        return report
