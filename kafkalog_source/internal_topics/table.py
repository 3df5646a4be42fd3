"""The schemas of Kafka's own records, read from the tables in ``schemas``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

KINDS = ("bool", "int8", "int16", "uint16", "int32", "int64", "float64", "string", "bytes", "uuid", "struct")
_ZEROS = {"bool": "false", "float64": "0.0", "string": '""', "bytes": '""', "uuid": '"AAAAAAAAAAAAAAAAAAAAAA"'}


@dataclass(frozen=True)
class Versions:
    """A range of versions, both ends included."""

    low: int
    high: int

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high


NEVER = Versions(0, -1)


@dataclass(frozen=True)
class Field:
    """A field over all versions of its message.

    Attributes
    ----------
    path : str
        The names of the structs that it lies in and its own, with dots between.
    kind : str
        One of `KINDS`.
    is_array : bool
        Whether it is an array of that kind.
    tag : int or None
    default : str
        JSON of the value that a tagged field has when it is not there.
    """

    path: str
    kind: str
    is_array: bool
    versions: Versions
    nullable: Versions
    tag: int | None
    default: str

    @property
    def name(self) -> str:
        """The field's own name."""
        return self.path.rpartition(".")[2]

    @property
    def parent(self) -> str:
        """The path of the struct that it lies in, empty for the message itself."""
        return self.path.rpartition(".")[0]


@dataclass(frozen=True)
class Message:
    """A key or a value: its versions, from which of them on it is flexible, and its fields in the order of JSON."""

    versions: Versions
    flexible: int | None
    fields: tuple[Field, ...]

    def is_flexible(self, version: int) -> bool:
        """Whether lengths are varints and structs have tags."""
        return self.flexible is not None and version >= self.flexible


@dataclass(frozen=True)
class RecordType:
    """A type of record; only coordinators' records have a key."""

    name: str
    number: int
    key: Message | None
    value: Message


@cache
def record_types(topic: str) -> tuple[RecordType, ...]:
    """The record types in the table of that name."""
    text = resources.files("kafkalog_source.internal_topics").joinpath("schemas", f"{topic}.toml").read_text("utf-8")
    return tuple(_record_type(name, described) for name, described in tomllib.loads(text).items())


def _record_type(name: str, described: dict[str, Any]) -> RecordType:
    key = _message(described["key"]) if "key" in described else None
    return RecordType(name, described["id"], key, _message(described["value"]))


def _message(described: dict[str, Any]) -> Message:
    versions = Versions(*described["versions"])
    fields = tuple(_field(row, versions) for row in described["fields"])
    return Message(versions, described.get("flexible"), fields)


def _field(row: str, versions: Versions) -> Field:
    path, kind, own_versions, *rest = row.split(" ")
    more = dict(zip(rest[::2], rest[1::2], strict=True))
    is_array = kind.startswith("[]")
    plain = kind.removeprefix("[]")
    if plain not in KINDS or not set(more) <= {"nullable", "tag", "default"}:
        raise ValueError(f"no row of a schema: {row!r}")
    zero = "[]" if is_array else _ZEROS.get(plain, "0")
    return Field(
        path,
        plain,
        is_array,
        _versions(own_versions, versions),
        _versions(more["nullable"], versions) if "nullable" in more else NEVER,
        int(more["tag"]) if "tag" in more else None,
        more.get("default", zero),
    )


def _versions(text: str, all_versions: Versions) -> Versions:
    if text.endswith("+"):
        return Versions(int(text[:-1]), all_versions.high)
    low, _, high = text.partition("-")
    return Versions(int(low), int(high or low))
