"""Which records of the metadata log hold secrets, which are hidden unless they are asked for."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

import pyarrow as pa

from kafkalog_source._core.memory import BlockPool
from kafkalog_source.internal_topics.decoder import Decoding
from kafkalog_source.internal_topics.problems import fault_name
from kafkalog_source.internal_topics.table import record_types

REDACTED_COLUMNS = frozenset({"valueJson", "configValue", "value"})
"""The columns that would show a secret."""
_OPEN_RESOURCES = ("TOPIC", "GROUP", "CLIENT_METRICS")
_SHORTEST_SECRET = 17
"""Bytes; the shortest name of a password has 16 characters, and a SCRAM key has more bytes."""
_NEEDED = ("resourceType", "configName", "configValue")


@dataclass(frozen=True)
class Secrets:
    """What is to be hidden of some rows.

    Attributes
    ----------
    redacted : bytes
        A byte for each row: whether the secret fields in it are shown as ``(redacted)``.
    hidden : Array of bool
        Whether the row's value, as it lies, is left out.
    """

    redacted: bytes
    hidden: pa.Array


@cache
def _config_names() -> tuple[frozenset[str], frozenset[str]]:
    """The names of a broker's passwords and of its other settings."""
    table = resources.files("kafkalog_source.internal_topics").joinpath("schemas", "broker_configs.toml")
    read = tomllib.loads(table.read_text("utf-8"))
    return frozenset(read["passwords"]), frozenset(read["others"])


def is_secret(resource: str | None, name: str) -> bool:
    """Whether the value of a setting is hidden: a password, or what a broker may hold and Kafka does not know.

    Parameters
    ----------
    resource : str or None
        The type of resource that it is set for; None for one that is not known.
    name : str
    """
    passwords, others = _config_names()
    if name in passwords or ("sasl.oauthbearer." in name and "secret" in name):
        return True
    if name.startswith("listener.name.") and name.endswith(tuple(f".{each}" for each in passwords)):
        return True
    return resource not in _OPEN_RESOURCES and name not in others


class SecretFinder:
    """Looks for the secrets among the records of the metadata log.

    Parameters
    ----------
    pool : BlockPool
    """

    def __init__(self, pool: BlockPool) -> None:
        numbers = {each.name: each.number for each in record_types("cluster_metadata")}
        self._config = numbers["CONFIG_RECORD"]
        self._scram = numbers["USER_SCRAM_CREDENTIAL_RECORD"]
        self._decoding = Decoding("cluster_metadata", _NEEDED, pool)

    def find(self, keys: pa.Array, values: pa.Array, control: bytes) -> Secrets:
        """What is to be hidden of these rows."""
        redacted, hidden = bytearray(len(values)), bytearray(len(values))
        for start, piece in self._decoding.decode(keys, values, control, bytes(len(values))):
            faults = piece.faults.to_pylist()
            shown = [piece.typed[name] for name in _NEEDED]
            for row, number in enumerate(piece.types.to_pylist()):
                at = start + row
                if control[at] or number not in (self._config, self._scram):
                    continue
                if faults[row] is not None:
                    hidden[at] = _may_hold_secret(faults[row], len(values[at].as_buffer()))
                elif number == self._scram or _is_secret_config(*(each[row].as_py() for each in shown)):
                    redacted[at] = hidden[at] = True
        return Secrets(bytes(redacted), pa.array(map(bool, hidden), pa.bool_()))


def _may_hold_secret(fault: int, size: int) -> bool:
    """Whether a value of these types that cannot be decoded is hidden: all but a short one of an unknown version."""
    return fault_name(fault) != "unknown_version" or size >= _SHORTEST_SECRET


def _is_secret_config(resource: str | None, name: str, value: str | None) -> bool:
    """Nothing is hidden of a setting that is empty or taken away."""
    return bool(value) and is_secret(resource, name)
