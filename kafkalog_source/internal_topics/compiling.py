"""From the table of schemas to the flat program that the core goes by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from kafkalog_source._core.program import Program
from kafkalog_source.internal_topics.table import Field, Message, RecordType

Described = tuple[int, int, int, int]
"""(number, struct of the key or -1, struct of version 0 of the value, number of versions)."""


@dataclass(frozen=True)
class Marks:
    """What a topic adds to its schemas; fields are named ``RECORD.part.path``.

    Attributes
    ----------
    slots : mapping
        Where the values of fields are kept for columns. The elements of an array are named with ``[]`` at the end.
    secret : collection of str
        Fields that can be hidden.
    embedded : mapping
        Fields of bytes that hold messages of another kind.
    marker : tuple of (str, str) or None
        A field and what it has to be, for its message's embedded fields to be decoded.
    """

    slots: Mapping[str, int] = field(default_factory=dict)
    secret: frozenset[str] = frozenset()
    embedded: Mapping[str, Message] = field(default_factory=dict)
    marker: tuple[str, str] | None = None


class Compiler:
    """Gathers messages into one program.

    Parameters
    ----------
    marks : Marks

    Attributes
    ----------
    paths : list of str
        What each field of the program is called, for messages.
    """

    def __init__(self, marks: Marks) -> None:
        self.paths: list[str] = []
        self._marks = marks
        self._fields: list[tuple[object, ...]] = []
        self._structs: list[tuple[int, int, int, bool]] = []
        self._text = bytearray()

    def program(self) -> Program:
        """All that was added."""
        return Program(self._fields, self._structs, bytes(self._text))

    def add(self, record: RecordType) -> Described:
        """Add the key and every version of the value."""
        key = -1 if record.key is None else self._add_message(f"{record.name}.key", record.key)
        if record.value.versions.low != 0:
            raise ValueError(f"the versions of {record.name} do not begin with 0")
        value = self._add_message(f"{record.name}.value", record.value)
        return record.number, key, value, record.value.versions.high + 1

    def _add_message(self, place: str, message: Message) -> int:
        """The struct of version 0, which those of the other versions follow."""
        versions = range(message.versions.high + 1)
        first = len(self._structs)
        self._structs += [(0, 0, 0, False)] * len(versions)
        for version in versions:
            self._structs[first + version] = self._struct(place, message, version, "")
        return first

    def _struct(self, place: str, message: Message, version: int, parent: str) -> tuple[int, int, int, bool]:
        flexible = message.is_flexible(version)
        mine = [each for each in message.fields if each.parent == parent]
        there = [each for each in mine if version in each.versions or (flexible and each.tag is not None)]
        described = [self._described(place, each, message, version) for each in there]
        first = len(self._fields)
        self._fields += described
        self.paths += [each.path for each in there]
        tags = sum(each.tag is not None and flexible for each in there)
        return first, len(there), tags, flexible

    def _described(self, place: str, each: Field, message: Message, version: int) -> tuple[object, ...]:
        at = f"{place}.{each.path}"
        flexible = message.is_flexible(version)
        tag = -1 if each.tag is None or not flexible else each.tag
        if version not in each.versions:
            return self._field("not_in_version", tag=tag)
        inner, count, kind = self._inner(at, place, each, message, version)
        compact = flexible and (each.is_array or kind in ("string", "bytes", "embedded"))
        marker = self._marks.marker is not None and self._marks.marker[0] == at
        standard = self._default(place, each, message, version)
        name = self._put(json.dumps(each.name) + ":")
        return self._field(
            "array" if each.is_array else kind,
            tag=tag,
            inner=inner,
            versions=count,
            slot=self._marks.slots.get(at, -1),
            name=name,
            standard=self._put(self._marks.marker[1] if self._marks.marker and marker else standard),
            compact=compact,
            nullable=version in each.nullable,
            secret=at in self._marks.secret,
            marker=marker,
        )

    def _inner(self, at: str, place: str, each: Field, message: Message, version: int) -> tuple[int, int, str]:
        """What the field is made of: (its inner number, versions of an embedded message, its kind)."""
        if at in self._marks.embedded:
            embedded = self._marks.embedded[at]
            return self._add_message(at, embedded), embedded.versions.high + 1, "embedded"
        inner = 0
        if each.kind == "struct":
            inner = len(self._structs)
            self._structs.append((0, 0, 0, False))
            self._structs[inner] = self._struct(place, message, version, each.path)
        if not each.is_array:
            return inner, 0, each.kind
        compact = message.is_flexible(version) and each.kind in ("string", "bytes")
        element = self._field(each.kind, inner=inner, compact=compact, slot=self._marks.slots.get(at + "[]", -1))
        self._fields.append(element)
        self.paths.append(each.path)
        return len(self._fields) - 1, 0, each.kind

    def _default(self, place: str, each: Field, message: Message, version: int) -> str:
        """JSON of a field's default."""
        if each.kind != "struct" or each.is_array or each.default == "null":
            return each.default
        inside = [one for one in message.fields if one.parent == each.path and version in one.versions]
        mine = [one for one in inside if one.tag is None]
        return "{" + ",".join(f'"{one.name}":{self._default(place, one, message, version)}' for one in mine) + "}"

    def _put(self, text: str) -> tuple[int, int]:
        content = text.encode()
        self._text += content
        return len(self._text) - len(content), len(content)

    def _field(
        self,
        kind: str,
        *,
        tag: int = -1,
        inner: int = 0,
        versions: int = 0,
        slot: int = -1,
        name: tuple[int, int] = (0, 0),
        standard: tuple[int, int] = (0, 0),
        compact: bool = False,
        nullable: bool = False,
        secret: bool = False,
        marker: bool = False,
    ) -> tuple[object, ...]:
        return (kind, tag, inner, versions, slot, *name, *standard, compact, nullable, secret, marker)
