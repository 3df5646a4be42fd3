"""Keys and values as text or as typed columns: what ``scan(decode=...)`` asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from kafkalog_source.errors import OptionError, counted, did_you_mean, printable
from kafkalog_source.reading.json_values import JsonColumn, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Decode = Mapping[str, str | pa.DataType]

__all__ = ["check_decode", "decoded", "types_of"]

_TEXT, _JSON = "text", "json"


def check_decode(decode: Decode, schema: pa.Schema) -> None:
    """Raise OptionError if a column cannot be decoded, or not as is wanted."""
    binary = [field.name for field in schema if pa.types.is_binary(field.type)]
    for name, wanted in decode.items():
        if name not in binary:
            raise OptionError(
                f"decode names {printable(str(name))!r}, which is not a selected column of bytes",
                expected=" or ".join(binary) or "key or value, which are not selected",
                remedy=did_you_mean(str(name), binary),
            )
        if not isinstance(wanted, pa.DataType) and wanted not in (_TEXT, _JSON):
            raise OptionError(
                f"decode of the column {name} is unknown",
                found=printable(str(wanted)),
                expected='"text", "json", or the type that JSON values are to have, as pa.struct([("id", pa.int64())])',
            )


def types_of(decode: Decode, sample: Callable[[str], Iterable[bytes | None]]) -> dict[str, pa.DataType]:
    """The types that the columns get.

    Parameters
    ----------
    decode : mapping
        By column "text", "json", or the type that JSON values are to have.
    sample : callable
        Returns the first values of a column, from which the type of "json" is derived.
    """
    return {
        name: wanted
        if isinstance(wanted, pa.DataType)
        else pa.string()
        if wanted == _TEXT
        else type_of(sample(name), name)
        for name, wanted in decode.items()
    }


def decoded(
    batches: Iterable[pa.RecordBatch], decode: Decode, schema: pa.Schema, warn: Callable[[str], None]
) -> Iterator[pa.RecordBatch]:
    """Decode batches.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
    decode : mapping
    schema : pyarrow.Schema
        Of the decoded rows.
    warn : callable
        Called after the last batch with a text for each column with values that do not fit.
    """
    columns: dict[str, _TextColumn | JsonColumn] = {
        name: _TextColumn() if wanted == _TEXT else JsonColumn(schema.field(name).type)
        for name, wanted in decode.items()
    }
    for batch in batches:
        arrays = [
            columns[name].convert(array) if name in columns else array
            for name, array in zip(schema.names, batch.columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
    for name, column in columns.items():
        kind = "UTF-8" if isinstance(column, _TextColumn) else "JSON of its type"
        if column.left_out:
            is_null = "is not {}, and so null" if column.left_out == 1 else "are not {}, and so null"
            warn(f"{counted(column.left_out, 'value')} of the column {name} {is_null.format(kind)}")
        if isinstance(column, JsonColumn) and column.has_more_fields:
            warn(f"values of the column {name} have fields that its type lacks: give a type with them to get them too")


class _TextColumn:
    """Bytes as text; those that are not UTF-8 are null."""

    def __init__(self) -> None:
        self.left_out = 0

    def convert(self, values: pa.Array) -> pa.Array:
        try:
            return values.cast(pa.string())
        except pa.ArrowInvalid:
            found = pa.array([_text(value) for value in values.to_pylist()], pa.string())
            self.left_out += found.null_count - values.null_count
            return found


def _text(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
