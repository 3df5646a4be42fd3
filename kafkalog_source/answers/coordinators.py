"""What the transaction coordinators know, by the records of ``__transaction_state`` in some paths."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kafkalog_source.answers.metadata_copies import find_copies
from kafkalog_source.answers.metadata_log import read_cluster
from kafkalog_source.answers.metadata_start import Point
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.reading.scan import scan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["TOPIC", "CoordinatorState", "Coordinators", "partition_count", "read_coordinators"]

TOPIC = "__transaction_state"
_COLUMNS = (
    *("timestamp", "isTombstone", "transactionalId", "producerId", "producerEpoch", "transactionTimeoutMs"),
    *("state", "partitions"),
)


@dataclass(frozen=True, slots=True)
class CoordinatorState:
    """The last record of a transactional id.

    Attributes
    ----------
    transactional_id : str
    producer_id, producer_epoch : int or None
    state : str or None
        As in the view ``transaction_state``.
    timeout_ms : int or None
    partitions : frozenset of (str, int)
        The topics and partitions of the transaction, if one is under way.
    """

    transactional_id: str
    producer_id: int | None
    producer_epoch: int | None
    state: str | None
    timeout_ms: int | None
    partitions: frozenset[tuple[str, int]]


@dataclass(slots=True)
class Coordinators:
    """The coordinators whose partitions of the topic are in the paths.

    Attributes
    ----------
    present : int
        How many partitions of the topic are in the paths.
    count : int or None
        How many the topic has; None if that is not known, because no metadata log is in the paths.
    newest_us : int or None
        The time of the newest record, in microseconds.
    warnings : list of str
    """

    present: int = 0
    count: int | None = None
    newest_us: int | None = None
    warnings: list[str] = field(default_factory=list)
    _states: dict[str, CoordinatorState] = field(default_factory=dict)
    _ids: dict[int, str] = field(default_factory=dict)

    @property
    def are_complete(self) -> bool:
        """Whether all partitions of the topic are in the paths, so that what is not there does not exist."""
        return self.count is not None and self.present >= self.count

    def of_producer(self, producer_id: int) -> CoordinatorState | None:
        """The last record of the transactional id that a producer id belongs or belonged to."""
        return self._states.get(self._ids.get(producer_id, ""))

    def add(self, row: Mapping[str, Any]) -> None:
        """Take a record, which replaces the one before it of the same transactional id."""
        name = row["transactionalId"]
        if row["timestamp"] is not None:
            self.newest_us = max(row["timestamp"], self.newest_us or 0)
        if name is None:
            return
        if row["isTombstone"]:
            self._states.pop(name, None)
        elif row["producerId"] is not None:
            self._ids[row["producerId"]] = name
            self._states[name] = CoordinatorState(
                name,
                row["producerId"],
                row["producerEpoch"],
                row["state"],
                row["transactionTimeoutMs"],
                frozenset((each["topic"], part) for each in row["partitions"] or () for part in each["partitions"]),
            )


def read_coordinators(paths: Sequence[str], given: Mapping[str, Any]) -> Coordinators:
    """Read the records of all transactional ids.

    Parameters
    ----------
    paths : sequence of str
    given : mapping
        Options of a read that choose no topics.

    Raises
    ------
    KafkaLogError
        For damage, by the option ``mode``.
    """
    found = Coordinators()
    scanned = scan(paths, view="transaction_state", columns=_COLUMNS, threads=1, **given)
    for batch in scanned.to_reader():
        times = batch.column("timestamp").cast("int64")
        for row in batch.set_column(batch.schema.get_field_index("timestamp"), "timestamp", times).to_pylist():
            found.add(row)
    report = scanned.report()
    found.present, found.warnings = report["partitions"], report["warnings"]
    return found


def partition_count(paths: Sequence[str], given: Mapping[str, Any]) -> int | None:
    """How many partitions the topic has, by the metadata log in the same paths; None if there is none."""
    options = {name: value for name, value in given.items() if name == "followSymlinks"}
    if not find_copies(parse_options({**options, "view": "cluster_metadata"}, paths)):
        return None
    return read_cluster(paths, options, Point()).image.topics.partition_count(TOPIC) or 0
