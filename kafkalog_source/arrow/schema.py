"""The columns of a read, their Arrow types, and the default columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from kafkalog_source.arrow.types import column_types
from kafkalog_source.columns import CORRUPT_RECORD, VIEWS
from kafkalog_source.errors import OptionError, did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

VIEW_TYPES = {view: column_types(view) for view in VIEWS}
"""The columns of each view in their documented order, with their Arrow types."""
COLUMN_TYPES = VIEW_TYPES["records"]
"""Those of a record."""


def check_columns(columns: Sequence[str], view: str = "records", mode: str = "FAILFAST") -> tuple[str, ...]:
    """Return the selected columns; raise OptionError if one is unknown, selected twice or required but missing."""
    existing = VIEW_TYPES[view]
    for name in columns:
        if name not in existing:
            raise OptionError(
                f"the column {printable(name)!r} does not exist",
                expected="one of " + ", ".join(existing),
                remedy=did_you_mean(name, existing),
            )
    if not columns:
        raise OptionError("no column is selected", expected="one or more of " + ", ".join(existing))
    if len(set(columns)) < len(columns):
        raise OptionError("a column is selected twice", found=", ".join(columns))
    check_corrupt_record(columns, view, mode)
    return tuple(columns)


def check_corrupt_record(columns: Sequence[str], view: str, mode: str) -> None:
    """Raise OptionError for a PERMISSIVE read without the column that reports damage."""
    if mode == "PERMISSIVE" and CORRUPT_RECORD in VIEW_TYPES[view] and CORRUPT_RECORD not in columns:
        raise OptionError(
            f"mode=PERMISSIVE reports damage in the column {CORRUPT_RECORD}, which is not selected",
            found=", ".join(columns),
            remedy=f"Select {CORRUPT_RECORD} (a string) too, or use mode=DROPMALFORMED",
        )


def view_schema(columns: Sequence[str], view: str) -> pa.Schema:
    """Return the schema of a view's record batches, all columns nullable."""
    return pa.schema([pa.field(name, VIEW_TYPES[view][name]) for name in columns])


def arrow_schema(columns: Sequence[str]) -> pa.Schema:
    """Return the schema of record batches with these columns, all nullable."""
    return pa.schema([pa.field(name, COLUMN_TYPES[name]) for name in columns])
