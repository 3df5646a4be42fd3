"""Client quotas (``ClientQuotasDelta``, 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkalog_source.answers.cluster_parts.model import Handler, Value

__all__ = ["Quotas"]

_Entity = tuple[tuple[str, str | None], ...]


class Quotas:
    """The limits by entity: the types and names of who is limited, a name of None being the default."""

    def __init__(self) -> None:
        self._limits: dict[_Entity, dict[str, float]] = {}

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """How each record type changes them."""
        return {"CLIENT_QUOTA_RECORD": self._set}

    def to_json(self) -> dict[str, Any]:
        """The entities with at least one limit."""
        entities = sorted(self._limits, key=_order)
        return {
            "quotas": [
                {"entity": dict(entity), "limits": dict(sorted(self._limits[entity].items()))} for entity in entities
            ]
        }

    def _set(self, value: Value) -> None:
        entity = tuple(sorted((each["entityType"], each["entityName"]) for each in value["entity"]))
        limits = self._limits.setdefault(entity, {})
        if value["remove"]:
            limits.pop(value["key"], None)
        else:
            limits[value["key"]] = value["value"]
        if not limits:
            del self._limits[entity]


def _order(entity: _Entity) -> list[tuple[str, bool, str]]:
    """The default first."""
    return [(kind, name is not None, name or "") for kind, name in entity]
