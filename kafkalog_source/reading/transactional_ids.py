"""Which transactional id a producer id belongs to, by the records of ``__transaction_state`` in the same paths."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_source.arrow.schema import view_schema
from kafkalog_source.columns import VIEWS
from kafkalog_source.errors import KafkaLogError
from kafkalog_source.options.read_options import ReadOptions
from kafkalog_source.planning.plan import plan_read
from kafkalog_source.reading.topic_reader import TopicReader

if TYPE_CHECKING:
    from kafkalog_source.partition.splits import Split
    from kafkalog_source.reporting.report import Report

__all__ = ["read_transactional_ids"]

_VIEW = "transaction_state"


def read_transactional_ids(options: ReadOptions, report: Report) -> dict[int, str]:
    """The transactional id of each producer id that the topic has a record of.

    Parameters
    ----------
    options : ReadOptions
        Of the read that wants to know.
    report : Report
        Takes the bytes read, and a warning for what cannot be read: some ids may be missing then.
    """
    of_topic = ReadOptions(
        paths=options.paths,
        follow_symlinks=options.follow_symlinks,
        verify_checksums=options.verify_checksums,
        max_decompressed_batch_bytes=options.max_decompressed_batch_bytes,
        include_deleted=True,
        fail_on_data_loss=False,
        mode="DROPMALFORMED",
        view=_VIEW,
    )
    reader = TopicReader(of_topic, view_schema(("producerId", "transactionalId"), _VIEW))
    found: dict[int, str] = {}
    problems: list[str] = []
    try:
        for split in plan_read(of_topic).splits:
            for rows in reader.read(_own(split)):
                found.update(zip(rows["producerId"].to_pylist(), rows["transactionalId"].to_pylist(), strict=True))
    except KafkaLogError as error:
        problems.append(str(error))
    report.bytes_read += reader.report.bytes_read
    problems += [*reader.report.warnings, *reader.report.left_out_texts(of_topic.mode)]
    report.warnings += [f"some transactional ids may be missing: {problem}" for problem in problems]
    return found


def _own(split: Split) -> Split:
    """Without segments that were given by their own paths, whose topic nobody knows."""
    return replace(split, ranges=tuple(each for each in split.ranges if each.topic == VIEWS[_VIEW].topic))
