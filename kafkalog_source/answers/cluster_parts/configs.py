"""Dynamic configs of topics, brokers, groups and client metrics (``ConfigurationsDelta``, 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkalog_source.answers.cluster_parts.model import Handler, Value, named
from kafkalog_source.internal_topics.columns import RESOURCE_TYPES

__all__ = ["Configs"]

_TOPIC = "TOPIC"


class Configs:
    """The values that were set, by resource and name."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], dict[str, str]] = {}

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """How each record type changes them."""
        return {"CONFIG_RECORD": self._set}

    def to_json(self) -> dict[str, Any]:
        """The resources with at least one value; the name of the default of all brokers is empty."""
        return {
            "configs": [
                {"resourceType": kind, "resourceName": name, "values": dict(sorted(self._values[kind, name].items()))}
                for kind, name in sorted(self._values)
            ]
        }

    def remove_topic(self, name: str) -> None:
        """Remove those of a topic that is removed."""
        self._values.pop((_TOPIC, name), None)

    def _set(self, value: Value) -> None:
        resource = (named(RESOURCE_TYPES, value["resourceType"]), value["resourceName"])
        values = self._values.setdefault(resource, {})
        if value["value"] is None:
            values.pop(value["name"], None)
        else:
            values[value["name"]] = value["value"]
        if not values:
            del self._values[resource]
