"""Reads ``__consumer_offsets`` once, and replays it into the groups of each partition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source.answers.group_state import Groups
from kafkalog_source.answers.latest_records import CountedRecords, last_of_each_key
from kafkalog_source.internal_topics.view import TopicView

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["TOPIC", "GroupRecords", "read_groups", "rows_of"]

TOPIC = "__consumer_offsets"
_VIEW = "consumer_offsets"
_COMMON = ("partition", "timestamp", "recordType", "isTombstone", "decodeError", "group")
_OF_COMMIT = (
    *_COMMON,
    "committedTopic",
    "committedPartition",
    "committedOffset",
    "committedLeaderEpoch",
    "metadata",
    "commitTimestamp",
    "expireTimestamp",
    "committedTopicId",
)
_OF_GROUP = (*_COMMON, "memberId", "valueJson")
_COMMITS = ("OFFSET_COMMIT", "LEGACY_OFFSET_COMMIT")
# The first two bytes of a key are the record type: LEGACY_OFFSET_COMMIT or OFFSET_COMMIT.
_COMMIT_KEYS = pa.array([b"\0\0", b"\0\1"], pa.binary())


@dataclass(slots=True)
class GroupRecords:
    """What was read of ``__consumer_offsets``.

    Attributes
    ----------
    partitions : dict
        The groups of each partition.
    last_us : dict
        The latest time of a record in each partition, in microseconds.
    unknown : int
        Records of types that are not known, left out.
    undecoded : int
        Records of known types that could not be decoded, left out.
    open : int
        Records in open transactions, left out.
    warnings : list of str
        Of the read.
    """

    partitions: dict[int, Groups] = field(default_factory=dict)
    last_us: dict[int, int] = field(default_factory=dict)
    unknown: int = 0
    undecoded: int = 0
    open: int = 0
    warnings: list[str] = field(default_factory=list)


def read_groups(paths: Sequence[str], options: Mapping[str, Any], at_ms: int | None) -> GroupRecords:
    """Read the groups as of the end of the log, or as of a time.

    Parameters
    ----------
    paths : sequence of str
        Partitions of ``__consumer_offsets``.
    options : mapping
        Further options of the read.
    at_ms : int or None
        Only records up to this time count. A record without a timestamp (format 0) has that of its commit, or that of
        the record before it.
    """
    replay = _Replay(at_ms)
    found = CountedRecords(paths, replay.record_columns, options, at_ms)
    for window in found.windows():
        replay.add(window)
    replay.records.open, replay.records.warnings = found.open, found.warnings
    return replay.records


def rows_of(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of a batch, with times as integers in microseconds."""
    columns = [c.cast(pa.int64()) if pa.types.is_timestamp(c.type) else c for c in batch.columns]
    for values in zip(*(column.to_pylist() for column in columns), strict=True):
        yield dict(zip(batch.schema.names, values, strict=True))


class _Replay:
    """Replays windows of records."""

    def __init__(self, at_ms: int | None) -> None:
        self.records = GroupRecords()
        self._at_us = None if at_ms is None else at_ms * 1000
        # JSON is made only of the records that are no commits, and these are few.
        self._commits = TopicView(_VIEW, _OF_COMMIT)
        self._others = TopicView(_VIEW, _OF_GROUP)
        self._all = TopicView(_VIEW, tuple(dict.fromkeys((*_OF_COMMIT, *_OF_GROUP))))
        self.record_columns = self._all.record_columns

    def add(self, window: pa.Table) -> None:
        """Replay a window of records that follow those before."""
        for partition in pc.unique(window.column("partition")).to_pylist():
            self.records.partitions.setdefault(partition, Groups())
        if self._at_us is not None and window.column("timestamp").null_count:
            # Without a timestamp, only the decoded value says whether a record counts.
            self._replay(self._all, window)
            return
        last = last_of_each_key(window)
        is_commit = pc.fill_null(pc.is_in(pc.binary_slice(last.column("key"), 0, 2), _COMMIT_KEYS), False)
        self._replay(self._commits, last.filter(is_commit))
        self._replay(self._others, last.filter(pc.invert(is_commit)))

    def _replay(self, view: TopicView, records: pa.Table) -> None:
        for batch in records.combine_chunks().to_batches():
            for decoded in view.decode(batch):
                for row in rows_of(decoded):
                    self._take(row)

    def _take(self, row: dict[str, Any]) -> None:
        if row["decodeError"] is not None:
            if row["recordType"] is None:
                self.records.unknown += 1
            else:
                self.records.undecoded += 1
            return
        if not self._counts(row):
            return
        groups = self.records.partitions[row["partition"]]
        if row["recordType"] in _COMMITS:
            groups.commit(row)
        else:
            groups.change(row)

    def _counts(self, row: dict[str, Any]) -> bool:
        """Whether a record is not later than the time asked for; gives it a time if it has none."""
        partition = row["partition"]
        before = self.records.last_us.get(partition)
        if row["timestamp"] is None:
            row["timestamp"] = row.get("commitTimestamp") or before
        time_us = row["timestamp"]
        if time_us is None:
            return True
        if self._at_us is not None and time_us > self._at_us:
            return False
        self.records.last_us[partition] = time_us if before is None else max(before, time_us)
        return True
