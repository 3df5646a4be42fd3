"""JSON values as Arrow columns: their common type, and their conversion to a type."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["JsonColumn", "type_of"]

_LARGEST, _SMALLEST = 2**63 - 1, -(2**63)
_VALUE = "v"


class JsonColumn:
    """Converts the values of a column, batch by batch.

    Parameters
    ----------
    kind : pyarrow.DataType

    Attributes
    ----------
    left_out : int
        Values so far that are not JSON of this type, and so became null.
    has_more_fields : bool
        Whether values had fields that the type lacks.
    """

    def __init__(self, kind: pa.DataType) -> None:
        self._schema = pa.schema([pa.field(_VALUE, kind)])
        self.left_out = 0
        self.has_more_fields = False

    def convert(self, values: pa.Array) -> pa.Array:
        """Convert some values; nulls stay null."""
        if not len(values):
            return pa.nulls(0, self._schema.field(0).type)
        # Most batches hold nothing that does not fit. If one does, halves of it are tried until single values are left.
        found = self._parse(values)
        if found is not None:
            return found
        if len(values) == 1:
            self.left_out += 1
            return pa.nulls(1, self._schema.field(0).type)
        middle = len(values) // 2
        return pa.concat_arrays([self.convert(values[:middle]), self.convert(values[middle:])])

    def _parse(self, values: pa.Array) -> pa.Array | None:
        """Convert values if all of them fit, else None."""
        try:
            texts = values.cast(pa.string()).fill_null("null")
            lines = pc.binary_join_element_wise(f'{{"{_VALUE}":', texts, "}\n", "")
            document = "".join(lines.to_pylist()).encode()
        except pa.ArrowInvalid:
            return None
        if not self.has_more_fields:
            found = self._read(document, len(values), "error")
            if found is not None:
                return found
        found = self._read(document, len(values), "ignore")
        self.has_more_fields |= found is not None
        return found

    def _read(self, document: bytes, count: int, unexpected: str) -> pa.Array | None:
        from pyarrow.json import ParseOptions, ReadOptions, read_json

        parsing = ParseOptions(
            explicit_schema=self._schema, newlines_in_values=True, unexpected_field_behavior=unexpected
        )
        try:
            reading = ReadOptions(use_threads=False, block_size=len(document) + 1)
            table = read_json(pa.BufferReader(document), reading, parsing)
        except pa.ArrowInvalid:
            return None
        # A value such as `1} {"v":2` looks like two.
        return table.column(0).combine_chunks() if table.num_rows == count else None


def type_of(values: Iterable[bytes | None], column: str) -> pa.DataType:
    """Derive the Arrow type that all of some JSON values have; those that are no JSON are ignored.

    Integers are int64, and other numbers, and both together, float64. A field that is always null is text.

    Raises
    ------
    OptionError
        If the values have no common type, or none of them is JSON.
    """
    parsed = [value for value in map(_parsed, values) if value is not _NO_JSON]
    if not parsed:
        raise OptionError(
            f"no value of the column {column} among the first ones is JSON",
            remedy=f'Decode it as "text", or give a type: decode={{"{column}": pa.struct([...])}}',
        )
    return _common(parsed, column)


_NO_JSON = object()


def _parsed(value: bytes | None) -> object:
    if value is None:
        return _NO_JSON
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return _NO_JSON


def _common(values: list[object], column: str) -> pa.DataType:
    present = [value for value in values if value is not None]
    kinds = {_kind(value) for value in present}
    if len(kinds) > 1 and kinds != {"integer", "number"}:
        # The name of the field is content of a record, which no error contains.
        raise OptionError(
            f"the first JSON values of the column {column}, or a field in them, have no common type",
            found=" and ".join(sorted(kinds)),
            remedy=f'Decode {column} as "text", or give a type: decode={{"{column}": pa.struct([...])}}',
        )
    if kinds == {"object"}:
        names = dict.fromkeys(name for value in present for name in value)  # type: ignore[attr-defined]
        fields = {name: [value.get(name) for value in present] for name in names}  # type: ignore[attr-defined]
        return pa.struct([(name, _common(parts, column)) for name, parts in fields.items()])
    if kinds == {"array"}:
        return pa.list_(_common([part for value in present for part in value], column))  # type: ignore[attr-defined]
    simple = {"integer": pa.int64(), "boolean": pa.bool_(), "text": pa.string()}
    return simple[min(kinds)] if len(kinds) == 1 and min(kinds) in simple else pa.float64() if kinds else pa.string()


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer" if _SMALLEST <= value <= _LARGEST else "number"
    names: dict[type, str] = {float: "number", str: "text", list: "array"}
    return names.get(type(value), "object")
