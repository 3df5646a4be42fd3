"""A cluster's metadata as its records left it (``MetadataDelta``, ``MetadataBatchLoader``, 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafkalog_source.answers.cluster_parts.configs import Configs
from kafkalog_source.answers.cluster_parts.features import Features
from kafkalog_source.answers.cluster_parts.model import Handler, NotAppliedError, Part, Value
from kafkalog_source.answers.cluster_parts.nodes import Nodes
from kafkalog_source.answers.cluster_parts.quotas import Quotas
from kafkalog_source.answers.cluster_parts.security import Security
from kafkalog_source.answers.cluster_parts.topics import Topics

__all__ = ["ClusterImage", "MetadataRecord"]

_WITHOUT_EFFECT = (
    "NO_OP_RECORD",
    "ZK_MIGRATION_STATE_RECORD",
    "SNAPSHOT_HEADER",
    "SNAPSHOT_FOOTER",
)

_CONTROL_RECORDS = ("LEADER_CHANGE", "KRAFT_VERSION", "KRAFT_VOTERS")
"""Those of KRaft itself, which belong to no metadata transaction."""


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """A record of the metadata log or of a snapshot.

    Attributes
    ----------
    offset : int
        In the log, or in the snapshot.
    type : str or None
        Kafka's name; None for one that Kafka 4.4 does not have.
    value : mapping or None
        Its fields; None if it cannot be decoded.
    problem : str or None
        Why it cannot be decoded.
    """

    offset: int
    type: str | None
    value: Value | None
    problem: str | None = None


class ClusterImage:
    """The state of a cluster, which records change one after another.

    Attributes
    ----------
    problems : list of str
        A sentence for each record that could not be applied: what it changed is missing in the image.
    topics : Topics
    """

    def __init__(self) -> None:
        self.topics = Topics()
        self.problems: list[str] = []
        self._configs = Configs()
        self._features = Features()
        self._parts: tuple[Part, ...] = (
            self._features,
            Nodes(),
            self.topics,
            self._configs,
            Security(),
            Quotas(),
        )
        self._handlers: dict[str, Handler] = {
            name: handler for part in self._parts for name, handler in part.handlers.items()
        }
        self._handlers["REMOVE_TOPIC_RECORD"] = self._remove_topic
        self._handlers.update(dict.fromkeys(_WITHOUT_EFFECT, lambda _: None))
        self._pending: list[MetadataRecord] | None = None

    @property
    def leader(self) -> int | None:
        """The active controller by the last leader change among the records; None if there was none."""
        return self._features.leader

    @property
    def is_in_transaction(self) -> bool:
        """Whether the last records belong to a metadata transaction that has not ended, and so do not count yet."""
        return self._pending is not None

    def apply(self, record: MetadataRecord) -> None:
        """Apply a record, or hold it back until its metadata transaction ends."""
        if record.type == "BEGIN_TRANSACTION_RECORD":
            self._pending = []
        elif record.type == "ABORT_TRANSACTION_RECORD":
            self._pending = None
        elif record.type == "END_TRANSACTION_RECORD":
            pending, self._pending = self._pending or [], None
            for each in pending:
                self._replay(each)
        elif self._pending is not None and record.type not in _CONTROL_RECORDS:
            self._pending.append(record)
        else:
            self._replay(record)

    def to_json(self) -> dict[str, Any]:
        """The image as one object, in an order that does not depend on that of the records."""
        return {name: value for part in self._parts for name, value in part.to_json().items()}

    def _replay(self, record: MetadataRecord) -> None:
        handler = self._handlers.get(record.type or "")
        if record.value is None or handler is None:
            missing = "it has no value" if handler else "a record of this type is not expected in the metadata log"
            reason = record.problem or missing
            self._complain(record, reason)
            return
        try:
            handler(record.value)
        except NotAppliedError as error:
            self._complain(record, str(error))

    def _complain(self, record: MetadataRecord, reason: str) -> None:
        self.problems.append(f"the {record.type or 'record'} at offset {record.offset} was not applied: {reason}")

    def _remove_topic(self, value: Mapping[str, Any]) -> None:
        self._configs.remove_topic(self.topics.remove(value))
