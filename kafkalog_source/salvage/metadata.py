"""Copies the files of the cluster metadata log other than segments: snapshots and the quorum state."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kafkalog_source.errors import KafkaLogError
from kafkalog_source.format import MAX_OFFSET, METADATA_SNAPSHOT
from kafkalog_source.logdir.access import entries
from kafkalog_source.logdir.names import QUORUM_STATE
from kafkalog_source.salvage.report import LeftOut
from kafkalog_source.salvage.writing import new_file, write_file
from kafkalog_source.segment.side_files.side_file import SideFileError, read_side_file
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.span import Span

if TYPE_CHECKING:
    from kafkalog_source.salvage.report import PartitionReport
    from kafkalog_source.segment.checks.span_checker import SpanChecker
    from kafkalog_source.segment.damage.description import Damage

METADATA_TOPIC = "__cluster_metadata"


def copy_metadata_files(source: str, report: PartitionReport, checker: SpanChecker) -> None:
    """Copy the valid snapshots, and the quorum state."""
    for name in sorted(entry.name for entry in entries(source)):
        path, target = os.path.join(source, name), os.path.join(report.path, name)
        if METADATA_SNAPSHOT.fullmatch(name) is not None:
            left_out = copy_snapshot(path, target, checker)
            report.left_out += [] if left_out is None else [left_out]
        elif name == QUORUM_STATE:
            try:
                write_file(target, read_side_file(path))
            except SideFileError as error:
                report.left_out.append(LeftOut(path, str(error), True))
    if any(each.is_loss for each in report.left_out):
        report.warnings.append(
            "batches or snapshots of the cluster metadata are left out: a broker may not start, or may lack topics or "
            "settings. If so, create the topics in a new cluster and give their ids (--topic-ids)"
        )


def copy_snapshot(path: str, target: str, checker: SpanChecker) -> LeftOut | None:
    """Copy a snapshot of the metadata log unless it is damaged, since one with a gap would be wrong metadata."""
    damage: list[Damage] = []
    try:
        with LocalFile(path) as source:
            span = Span(0, source.size, 0, MAX_OFFSET, MAX_OFFSET, to_file_end=True, torn_is_benign=False)
            checker.check(source, span, [], damage.append)
            if damage:
                return LeftOut(path, f"the snapshot is damaged: {damage[0].reason}", True, damage[0].position)
            with new_file(target) as descriptor:
                source.copy_to(descriptor, 0, source.size)
    except KafkaLogError as error:
        if error.file == target:
            raise
        return LeftOut(path, error.problem, True)
    return None
