"""Writes the files that a broker keeps in the log dir itself: checkpoints, ``meta.properties``, clean shutdown."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from kafkalog_source.errors import KafkaLogError
from kafkalog_source.logdir.checkpoints import read_offset_checkpoint
from kafkalog_source.logdir.names import (
    CLEAN_SHUTDOWN,
    CLEANER_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LOG_START_CHECKPOINT,
    META_PROPERTIES,
)
from kafkalog_source.salvage.report import LeftOut
from kafkalog_source.salvage.writing import write_file, write_text
from kafkalog_source.segment.side_files.side_file import SideFileError, read_side_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_source.logdir.names import TopicPartition
    from kafkalog_source.salvage.report import PartitionReport, SalvageReport

RECOVERY_CHECKPOINT = "recovery-point-offset-checkpoint"
_NO_EPOCH = '{"version":0,"brokerEpoch":-1}'


def write_checkpoints(source: str, target: str, report: SalvageReport) -> None:
    """Write the offset checkpoints, with the entries of the source as far as they are still valid."""
    partitions = report.partitions
    starts = _noted(source, LOG_START_CHECKPOINT, report)
    ends = {(each.topic, each.partition): each.end_offset for each in partitions}
    # A log start offset after the log's end would make a broker delete the whole log.
    _write(target, LOG_START_CHECKPOINT, _still_valid(starts, ends))
    marks = _still_valid(_noted(source, HIGH_WATERMARK_CHECKPOINT, report), ends)
    _write(target, HIGH_WATERMARK_CHECKPOINT, {place: marks.get(place, end) for place, end in ends.items()})
    _write(target, CLEANER_CHECKPOINT, _still_valid(_noted(source, CLEANER_CHECKPOINT, report), ends))
    # All files are synced to disk, so that nothing has to be recovered.
    _write(target, RECOVERY_CHECKPOINT, ends)
    _warn_of_deleted(starts, partitions, report)


def _warn_of_deleted(
    starts: Mapping[TopicPartition, int], partitions: Sequence[PartitionReport], report: SalvageReport
) -> None:
    for each in partitions:
        start = starts.get((each.topic, each.partition), 0)
        if start > each.end_offset:
            report.warnings.append(
                f"{each.topic}-{each.partition}: the log start offset was {start}, but the salvaged log ends at "
                f"{each.end_offset}: it is empty for consumers"
            )


def write_properties(source: str, target: str, report: SalvageReport) -> None:
    """Copy ``meta.properties``, which identifies the broker and its cluster."""
    path = os.path.join(source, META_PROPERTIES)
    if not os.path.lexists(path):
        report.warnings.append(
            f"{META_PROPERTIES} is missing: format the new log dir before you start a broker with it"
        )
        return
    try:
        write_file(os.path.join(target, META_PROPERTIES), read_side_file(path))
    except SideFileError as error:
        report.left_out.append(LeftOut(path, str(error), True))


def write_clean_shutdown(source: str, target: str) -> None:
    """Mark a clean shutdown: nothing has to be recovered, since indexes are complete and all is on disk."""
    content = _NO_EPOCH
    try:
        noted = read_side_file(os.path.join(source, CLEAN_SHUTDOWN)).decode("utf-8")
        if isinstance(json.loads(noted), dict):
            content = noted
    except (SideFileError, ValueError, RecursionError):
        pass
    write_text(os.path.join(target, CLEAN_SHUTDOWN), content)


def _noted(source: str, name: str, report: SalvageReport) -> dict[TopicPartition, int]:
    path = os.path.join(source, name)
    if not os.path.lexists(path):
        return {}
    try:
        return read_offset_checkpoint(path)
    except KafkaLogError as error:
        report.warnings.append(f"{error}. It is rebuilt without its entries")
        return {}


def _still_valid(noted: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    return {place: min(noted[place], end) for place, end in ends.items() if place in noted}


def _write(target: str, name: str, offsets: Mapping[TopicPartition, int]) -> None:
    lines = [f"{topic} {partition} {offset}\n" for (topic, partition), offset in sorted(offsets.items())]
    write_text(os.path.join(target, name), f"0\n{len(lines)}\n{''.join(lines)}")
