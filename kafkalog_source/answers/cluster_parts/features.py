"""Feature levels, the voters of the metadata log, and the next producer id.

``FeaturesDelta`` and ``ProducerIdsDelta`` of 4.4; the control records of KRaft (``VoterSet``) are no
part of Kafka's image.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkalog_source.answers.cluster_parts.model import Handler, Value, named

__all__ = ["Features"]

METADATA_VERSION = "metadata.version"
_VERSIONS = (
    *("3.0-IV1", "3.1-IV0", "3.2-IV0", "3.3-IV0", "3.3-IV1", "3.3-IV2", "3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1"),
    *("3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2", "3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0"),
    *("3.9-IV0", "4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1", "4.3-IV0"),
    *("4.4-IV0", "4.4-IV1", "4.4-IV2", "4.5-IV0"),
)
"""The names of the levels of ``metadata.version`` from 1 on (``MetadataVersion``)."""


class Features:
    """What the cluster as a whole has agreed on."""

    def __init__(self) -> None:
        self._levels: dict[str, int] = {}
        self._kraft_version: int | None = None
        self._voters: list[dict[str, Any]] = []
        self._next_producer_id: int | None = None
        self.leader: int | None = None
        """The active controller; None if no LeaderChangeMessage was applied."""

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """How each record type changes them."""
        return {
            "FEATURE_LEVEL_RECORD": self._set_level,
            "PRODUCER_IDS_RECORD": self._set_producer_id,
            "KRAFT_VERSION": self._set_kraft_version,
            "KRAFT_VOTERS": self._set_voters,
            "LEADER_CHANGE": self._set_leader,
        }

    def to_json(self) -> dict[str, Any]:
        """Levels by name; voters by id."""
        return {
            "metadataVersion": self._metadata_version(),
            "kraftVersion": self._kraft_version,
            "features": dict(sorted(self._levels.items())),
            "voters": sorted(self._voters, key=lambda voter: int(voter["id"])),
            "nextProducerId": self._next_producer_id,
        }

    def _metadata_version(self) -> str | None:
        level = self._levels.get(METADATA_VERSION)
        names = dict(enumerate(_VERSIONS, start=1))
        return None if level is None else named(names, level)

    def _set_level(self, value: Value) -> None:
        # The level 0 of a feature is that of a cluster that does not have it.
        if value["featureLevel"] == 0 and value["name"] != METADATA_VERSION:
            self._levels.pop(value["name"], None)
        else:
            self._levels[value["name"]] = value["featureLevel"]

    def _set_producer_id(self, value: Value) -> None:
        self._next_producer_id = value["nextProducerId"]

    def _set_kraft_version(self, value: Value) -> None:
        self._kraft_version = value["kRaftVersion"]

    def _set_voters(self, value: Value) -> None:
        self._voters = [
            {"id": each["voterId"], "directoryId": each["voterDirectoryId"], "endpoints": each["endpoints"]}
            for each in value["voters"]
        ]

    def _set_leader(self, value: Value) -> None:
        self.leader = value["leaderId"]
        if not self._kraft_version:
            # With kraft.version 0 the voters are a setting of each node, and no record but this one has them.
            self._voters = [{"id": each["voterId"], "directoryId": None, "endpoints": []} for each in value["voters"]]
