"""Brokers and controllers as they registered (``ClusterDelta``, 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkalog_source.answers.cluster_parts.model import Handler, NotAppliedError, Value, named

__all__ = ["Nodes"]

_SECURITY_PROTOCOLS = {0: "PLAINTEXT", 1: "SSL", 2: "SASL_PLAINTEXT", 3: "SASL_SSL"}
_FLAGS = {1: True, -1: False}
"""What the numbers of a BrokerRegistrationChangeRecord make of a flag; 0 leaves it."""


class Nodes:
    """The registered brokers and controllers, by id."""

    def __init__(self) -> None:
        self._brokers: dict[int, dict[str, Any]] = {}
        self._controllers: dict[int, dict[str, Any]] = {}

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """How each record type changes them."""
        return {
            "REGISTER_BROKER_RECORD": self._register_broker,
            "UNREGISTER_BROKER_RECORD": self._unregister_broker,
            "FENCE_BROKER_RECORD": lambda value: self._fence(value, fenced=True),
            "UNFENCE_BROKER_RECORD": lambda value: self._fence(value, fenced=False),
            "BROKER_REGISTRATION_CHANGE_RECORD": self._change_broker,
            "REGISTER_CONTROLLER_RECORD": self._register_controller,
            "UNREGISTER_CONTROLLER_RECORD": self._unregister_controller,
        }

    def to_json(self) -> dict[str, Any]:
        """Both by id."""
        return {
            "brokers": [self._brokers[number] for number in sorted(self._brokers)],
            "controllers": [self._controllers[number] for number in sorted(self._controllers)],
        }

    def _register_broker(self, value: Value) -> None:
        self._brokers[value["brokerId"]] = {
            "id": value["brokerId"],
            "epoch": value["brokerEpoch"],
            "incarnationId": value["incarnationId"],
            "rack": value["rack"],
            "fenced": value["fenced"],
            "inControlledShutdown": value.get("inControlledShutdown", False),
            "isMigratingZkBroker": value.get("isMigratingZkBroker", False),
            "endpoints": _endpoints(value),
            "features": _features(value),
            "logDirs": sorted(value.get("logDirs") or []),
            "cordonedLogDirs": sorted(value.get("cordonedLogDirs") or []),
        }

    def _unregister_broker(self, value: Value) -> None:
        self._broker(value["brokerId"], value["brokerEpoch"])
        del self._brokers[value["brokerId"]]

    def _fence(self, value: Value, *, fenced: bool) -> None:
        self._broker(value["id"], value["epoch"])["fenced"] = fenced

    def _change_broker(self, value: Value) -> None:
        found = self._broker(value["brokerId"], value["brokerEpoch"])
        for name in ("fenced", "inControlledShutdown"):
            found[name] = _FLAGS.get(value.get(name, 0), found[name])
        if value.get("logDirs"):
            found["logDirs"] = sorted(value["logDirs"])
        if value.get("cordonedLogDirs") is not None:
            found["cordonedLogDirs"] = sorted(value["cordonedLogDirs"])

    def _broker(self, number: int, epoch: int) -> dict[str, Any]:
        found = self._brokers.get(number)
        if found is None:
            raise NotAppliedError(f"broker {number} is not registered")
        if found["epoch"] != epoch:
            raise NotAppliedError(f"broker {number} is registered with epoch {found['epoch']}, not {epoch}")
        return found

    def _register_controller(self, value: Value) -> None:
        self._controllers[value["controllerId"]] = {
            "id": value["controllerId"],
            "incarnationId": value["incarnationId"],
            "zkMigrationReady": value["zkMigrationReady"],
            "endpoints": _endpoints(value),
            "features": _features(value),
        }

    def _unregister_controller(self, value: Value) -> None:
        if self._controllers.pop(value["controllerId"], None) is None:
            raise NotAppliedError(f"controller {value['controllerId']} is not registered")


def _endpoints(value: Value) -> list[dict[str, Any]]:
    found = [
        {**endpoint, "securityProtocol": named(_SECURITY_PROTOCOLS, endpoint["securityProtocol"])}
        for endpoint in value["endPoints"]
    ]
    return sorted(found, key=lambda endpoint: str(endpoint["name"]))


def _features(value: Value) -> dict[str, list[int]]:
    """The least and the greatest level of each feature that the node supports."""
    found = {each["name"]: [each["minSupportedVersion"], each["maxSupportedVersion"]] for each in value["features"]}
    return dict(sorted(found.items()))
