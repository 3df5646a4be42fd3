"""Topics and their partitions (``TopicsDelta``, ``TopicDelta``, ``PartitionRegistration``, 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkalog_source.answers.cluster_parts.model import Handler, NotAppliedError, Value, named

__all__ = ["Topics"]

NO_LEADER = -1
_LEADER_UNCHANGED = -2
_RECOVERY_UNCHANGED = -1
_RECOVERY_STATES = {0: "RECOVERED", 1: "RECOVERING"}
_MIGRATING = "AAAAAAAAAAAAAAAAAAAAAA"
"""The id of a directory that is not known: records before version 1 have none."""
_LISTS = ("replicas", "isr", "removingReplicas", "addingReplicas", "directories")
_ELR = ("eligibleLeaderReplicas", "lastKnownElr")

Partition = dict[str, Any]


class Topics:
    """The topics, by id; a name may have had several."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._partitions: dict[str, dict[int, Partition]] = {}

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """How each record type changes them."""
        return {
            "TOPIC_RECORD": self._add,
            "PARTITION_RECORD": self._set_partition,
            "PARTITION_CHANGE_RECORD": self._change_partition,
            "CLEAR_ELR_RECORD": self._clear_elr,
        }

    def to_json(self) -> dict[str, Any]:
        """The topics by name, each with its partitions by number."""
        ordered = sorted(self._names.items(), key=lambda each: (each[1], each[0]))
        return {
            "topics": [
                {
                    "name": name,
                    "topicId": topic_id,
                    "partitions": [self._partitions[topic_id][number] for number in sorted(self._partitions[topic_id])],
                }
                for topic_id, name in ordered
            ]
        }

    def partition_count(self, name: str) -> int | None:
        """How many partitions a topic has; None if there is no such topic."""
        return next((len(self._partitions[key]) for key, each in self._names.items() if each == name), None)

    def remove(self, value: Value) -> str:
        """Take a RemoveTopicRecord, and give the topic's name."""
        name = self._name(value["topicId"])
        del self._names[value["topicId"]], self._partitions[value["topicId"]]
        return name

    def _add(self, value: Value) -> None:
        self._names[value["topicId"]] = value["name"]
        self._partitions[value["topicId"]] = {}

    def _set_partition(self, value: Value) -> None:
        self._name(value["topicId"])
        self._partitions[value["topicId"]][value["partitionId"]] = {
            "partition": value["partitionId"],
            "leader": value["leader"],
            "leaderEpoch": value["leaderEpoch"],
            "partitionEpoch": value["partitionEpoch"],
            "leaderRecoveryState": named(_RECOVERY_STATES, value.get("leaderRecoveryState", 0)),
            **{name: value.get(name) or [] for name in (*_LISTS, *_ELR)},
            "directories": value.get("directories") or [_MIGRATING] * len(value["replicas"]),
        }

    def _change_partition(self, value: Value) -> None:
        """Change the fields that the record has; the epochs are not among them."""
        self._name(value["topicId"])
        found = self._partitions[value["topicId"]].get(value["partitionId"])
        if found is None:
            raise NotAppliedError(f"there is no partition {value['partitionId']} of topic {value['topicId']}")
        found.update({name: value[name] for name in (*_LISTS, *_ELR) if value.get(name) is not None})
        if len(found["directories"]) != len(found["replicas"]):
            # A record before version 1 changes replicas, and has no directories.
            found["directories"] = [_MIGRATING] * len(found["replicas"])
        if value.get("leader", _LEADER_UNCHANGED) != _LEADER_UNCHANGED:
            # Also if it stays the same: each such record begins an epoch.
            found["leader"] = value["leader"]
            found["leaderEpoch"] += 1
        if value.get("leaderRecoveryState", _RECOVERY_UNCHANGED) != _RECOVERY_UNCHANGED:
            found["leaderRecoveryState"] = named(_RECOVERY_STATES, value["leaderRecoveryState"])
        found["partitionEpoch"] += 1

    def _clear_elr(self, value: Value) -> None:
        """Clear the eligible leader replicas of a topic, or of all where none is named."""
        wanted = value["topicName"]
        ids = [key for key, name in self._names.items() if wanted in ("", name)]
        if not ids and wanted:
            raise NotAppliedError(f"there is no topic {wanted}")
        for topic_id in ids:
            for found in self._partitions[topic_id].values():
                if any(found[name] for name in _ELR):
                    found.update({name: [] for name in _ELR})
                    found["partitionEpoch"] += 1

    def _name(self, topic_id: str) -> str:
        name = self._names.get(topic_id)
        if name is None:
            raise NotAppliedError(f"there is no topic with id {topic_id}")
        return name
