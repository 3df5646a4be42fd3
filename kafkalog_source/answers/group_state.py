"""The state of the groups of one partition of ``__consumer_offsets``, replayed as a group coordinator does.

Memory is bounded by the number of keys, not of records: of each key, the last value is kept.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Commit", "Group", "Groups"]

Json = dict[str, Any]

_CLASSIC = "GROUP_METADATA"
_TYPES = {"CONSUMER_GROUP": "consumer", "SHARE_GROUP": "share", "STREAMS_GROUP": "streams"}
"""The prefixes of the names of record types, and the group type that each belongs to."""
_MEMBER_PARTS = {
    "MEMBER_METADATA": "metadata",
    "CURRENT_MEMBER_ASSIGNMENT": "assignment",
}
"""The record types of a member that are used, without their prefix."""
_OF_GROUP = ("METADATA", "TARGET_ASSIGNMENT_METADATA", "TOPOLOGY", "STATE_PARTITION_METADATA")
"""The record types of a whole group that are used, without their prefix."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A committed offset.

    Attributes
    ----------
    topic : str
    partition : int
    offset : int
    leader_epoch : int or None
        Of the last record that was consumed.
    metadata : str
    committed_us, expires_us : int or None
        Times in microseconds; older formats have an expiry.
    topic_id : str or None
    written_us : int or None
        When the record was written, by its timestamp.
    """

    topic: str
    partition: int
    offset: int
    leader_epoch: int | None
    metadata: str | None
    committed_us: int | None
    expires_us: int | None
    topic_id: str | None
    written_us: int | None


@dataclass(slots=True)
class Group:
    """What the records of one group say.

    Attributes
    ----------
    name : str
    commits : dict
        By topic and partition.
    parts : dict
        The values of its other records, by type and by name of the part: ``("consumer", "METADATA")``.
    members : dict
        The values of the records of members, by group type, then by member id, then by name of the part.
    last_us : int
        The time of its latest record in microseconds; -1 if no record has one.
    """

    name: str
    commits: dict[tuple[str, int], Commit] = field(default_factory=dict)
    parts: dict[tuple[str, str], Json] = field(default_factory=dict)
    members: dict[str, dict[str, dict[str, Json]]] = field(default_factory=dict)
    last_us: int = -1

    @property
    def exists(self) -> bool:
        """Whether any record of it has not been deleted."""
        return bool(self.commits or self.parts or any(self.members.values()))

    @property
    def type(self) -> str:
        """The type: classic, consumer, share, streams, or simple, of a group that only commits."""
        for kind in _TYPES.values():
            if (kind, "METADATA") in self.parts or self.members.get(kind):
                return kind
        classic = self.parts.get(("classic", "METADATA"))
        has_protocol = classic is not None and bool(classic.get("protocolType") or classic.get("members"))
        return "classic" if has_protocol else "simple"


class Groups:
    """The groups of one partition of ``__consumer_offsets``.

    Attributes
    ----------
    by_name : dict
        All groups that have a record, those without any value left among them.
    """

    def __init__(self) -> None:
        self.by_name: dict[str, Group] = {}

    def commit(self, row: Mapping[str, Any]) -> None:
        """Replay a row of an offset commit; a tombstone deletes."""
        group = self._group(row)
        place = (row["committedTopic"], row["committedPartition"])
        if row["isTombstone"]:
            group.commits.pop(place, None)
            return
        group.commits[place] = Commit(
            *place,
            row["committedOffset"],
            row["committedLeaderEpoch"],
            row["metadata"],
            row["commitTimestamp"],
            row["expireTimestamp"],
            row["committedTopicId"],
            row["timestamp"],
        )

    def change(self, row: Mapping[str, Any]) -> None:
        """Replay a row of another record type, of those that are known."""
        value = None if row["isTombstone"] else json.loads(row["valueJson"])
        if row["recordType"] == _CLASSIC:
            _put(self._group(row).parts, ("classic", "METADATA"), value)
            return
        kind, part = _split(row["recordType"])
        if part in _OF_GROUP:
            _put(self._group(row).parts, (kind, part), value)
        elif part in _MEMBER_PARTS:
            members = self._group(row).members.setdefault(kind, {})
            parts = members.setdefault(row["memberId"], {})
            _put(parts, _MEMBER_PARTS[part], value)
            if not parts:
                del members[row["memberId"]]

    def _group(self, row: Mapping[str, Any]) -> Group:
        group = self.by_name.setdefault(row["group"], Group(row["group"]))
        group.last_us = max(group.last_us, row["timestamp"] or -1)
        return group


def _put(parts: dict[Any, Json], name: Any, value: Json | None) -> None:
    if value is None:
        parts.pop(name, None)
    else:
        parts[name] = value


def _split(record_type: str) -> tuple[str, str]:
    """The group type and the rest of a record type's name; empty for a name of another form."""
    for prefix, kind in _TYPES.items():
        if record_type.startswith(f"{prefix}_"):
            return kind, record_type[len(prefix) + 1 :]
    return "", ""
