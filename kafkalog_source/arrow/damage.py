"""Damage as Arrow: the rows of ``mode=PERMISSIVE`` and those of ``view=damage``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from kafkalog_source.columns import CORRUPT_RECORD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_source.segment.damage.description import Damage


def corrupt_rows(
    schema: pa.Schema, topic: str | None, partition: int | None, low: int, regions: Sequence[Damage]
) -> pa.RecordBatch:
    """Return a row for each region, with its description in ``_corrupt_record``.

    The offset is the first lost one of the requested range, which begins at `low`.
    """
    values = {
        "topic": [topic] * len(regions),
        "partition": [partition] * len(regions),
        "offset": [None if each.first_offset is None else max(each.first_offset, low) for each in regions],
        CORRUPT_RECORD: [each.to_json() for each in regions],
    }
    arrays = [
        pa.array(values[field.name], field.type) if field.name in values else pa.nulls(len(regions), field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def damage_rows(
    schema: pa.Schema, topic: str | None, partition: int | None, regions: Sequence[Damage]
) -> pa.RecordBatch:
    """Return a row for each region, with the columns of `schema`."""
    place = {"topic": topic, "partition": partition}
    found = [{**each.to_dict(), **place, "file": utf8(each.file)} for each in regions]
    arrays = [pa.array([each[field.name] for each in found], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def utf8(name: str) -> str:
    """Return a file name as text that Arrow accepts; bytes that are not UTF-8 are replaced."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
