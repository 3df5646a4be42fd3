"""The members and the state of a group, from the values of its records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafkalog_source.answers.group_state import Group

__all__ = ["Member", "epoch_of", "members_of", "named_topics", "state_of"]

Json = dict[str, Any]
_STABLE = {"consumer": 0, "share": 0, "streams": 1}
"""The number that stands for a stable member, by group type."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group.

    Attributes
    ----------
    member_id : str
    instance_id, client_id, client_host : str or None
    epoch : int or None
        The member's; a classic group has only its generation.
    subscribed : list of str or None
        Topics; None if they are not recorded, as of a streams group, whose topology has them.
    assigned : dict
        Partitions by topic. A topic whose name is not known is named by its id.
    """

    member_id: str
    instance_id: str | None
    client_id: str | None
    client_host: str | None
    epoch: int | None = None
    subscribed: list[str] | None = None
    assigned: dict[str, list[int]] = field(default_factory=dict)


def epoch_of(group: Group) -> int | None:
    """The generation of a classic group, the epoch of any other."""
    metadata = group.parts.get((_kind(group), "METADATA"), {})
    return metadata.get("generation", metadata.get("epoch"))


def state_of(group: Group) -> str:
    """The state that a coordinator gives the group when it has read these records.

    States in which a group is only while its members join are not recorded.
    """
    kind = _kind(group)
    if not list(_raw_members(group)):
        return "Empty"
    if kind in ("classic", "share"):
        return "Stable"
    if kind == "streams" and (kind, "TOPOLOGY") not in group.parts:
        return "NotReady"
    target = group.parts.get((kind, "TARGET_ASSIGNMENT_METADATA"), {}).get("assignmentEpoch", 0)
    if (epoch_of(group) or 0) > target:
        return "Assigning"
    assignments = [parts.get("assignment", {}) for parts in group.members.get(kind, {}).values()]
    is_reconciled = all(
        each.get("memberEpoch") == target and each.get("state") == _STABLE[kind] for each in assignments
    )
    return "Stable" if is_reconciled else "Reconciling"


def members_of(group: Group, names: Mapping[str, str]) -> list[Member]:
    """The members, by client id.

    Parameters
    ----------
    group : Group
    names : mapping
        Topic names by id.
    """
    return sorted(_members(group, names), key=lambda each: (each.client_id or "", each.member_id))


def named_topics(group: Group) -> dict[str, str]:
    """The names of topics, by id, that a group's own records have."""
    names = {each.topic_id: each.topic for each in group.commits.values() if each.topic_id is not None}
    for topics in group.parts.get(("share", "STATE_PARTITION_METADATA"), {}).values():
        names |= {each["topicId"]: each["topicName"] for each in topics if "topicName" in each}
    return names


def _kind(group: Group) -> str:
    return "classic" if group.type == "simple" else group.type


def _raw_members(group: Group) -> Iterator[tuple[str, Json]]:
    if _kind(group) == "classic":
        for each in group.parts.get(("classic", "METADATA"), {}).get("members", ()):
            yield each["memberId"], each
        return
    for member_id, parts in group.members.get(group.type, {}).items():
        # A member that left for good has a tombstone of its metadata.
        if "metadata" in parts:
            yield member_id, parts


def _members(group: Group, names: Mapping[str, str]) -> Iterator[Member]:
    for member_id, value in _raw_members(group):
        if _kind(group) == "classic":
            yield _classic(member_id, value)
            continue
        metadata, assignment = value["metadata"], value.get("assignment", {})
        yield Member(
            member_id,
            metadata.get("instanceId"),
            metadata["clientId"],
            metadata["clientHost"],
            assignment.get("memberEpoch"),
            metadata.get("subscribedTopicNames"),
            _tasks(group, assignment) if group.type == "streams" else _partitions(assignment, names),
        )


def _classic(member_id: str, value: Json) -> Member:
    # Of other protocols than consumer's, subscription and assignment are bytes in base64.
    subscription, assignment = value.get("subscription"), value.get("assignment")
    subscribed = subscription.get("topics") if isinstance(subscription, dict) else None
    parts = assignment.get("assignedPartitions", ()) if isinstance(assignment, dict) else ()
    assigned = {each["topic"]: list(each["partitions"]) for each in parts}
    return Member(
        member_id,
        value.get("groupInstanceId"),
        value["clientId"],
        value["clientHost"],
        None,
        subscribed,
        assigned,
    )


def _partitions(assignment: Json, names: Mapping[str, str]) -> dict[str, list[int]]:
    return {
        names.get(each["topicId"], each["topicId"]): list(each["partitions"])
        for each in assignment.get("assignedPartitions", ())
    }


def _tasks(group: Group, assignment: Json) -> dict[str, list[int]]:
    """The partitions that the active tasks of a streams member read: those of the topics of their subtopologies."""
    subtopologies = group.parts.get(("streams", "TOPOLOGY"), {}).get("subtopologies", ())
    sources = {
        each["subtopologyId"]: [*each["sourceTopics"], *(topic["name"] for topic in each["repartitionSourceTopics"])]
        for each in subtopologies
    }
    found: dict[str, list[int]] = {}
    for task in assignment.get("activeTasks", ()):
        for topic in sources.get(task["subtopologyId"], ()):
            found.setdefault(topic, []).extend(task["partitions"])
    return found
