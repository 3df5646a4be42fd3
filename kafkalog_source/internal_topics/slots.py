"""Where the core keeps what the typed columns are made of, and the Arrow arrays over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source._core.memory import BlockPool
from kafkalog_source._core.slots import Slots
from kafkalog_source._core.topic_records import FIRST_COLUMN
from kafkalog_source.internal_topics.columns import TIMESTAMP_TYPE, AnyColumn, Column, ListColumn, sources

TYPE, VERSION, FAULT, KEY_JSON, VALUE_JSON = range(FIRST_COLUMN)
_COMMON = [("numbers", 0, 0)] * KEY_JSON + [("texts", 0, 0)] * (FIRST_COLUMN - KEY_JSON)
_MOST_MS = (2**63 - 1) // 1000

Taken = tuple[int, int, Any, Any, Any]


class SlotLayout:
    """The slots of some columns of a view.

    Parameters
    ----------
    view : str
    columns : sequence of Column and ListColumn

    Attributes
    ----------
    by_field : dict
        The slot of each field that is kept.
    """

    def __init__(self, view: str, columns: Sequence[AnyColumn]) -> None:
        self.by_field: dict[str, int] = {}
        self._view = view
        self._columns: list[AnyColumn | None] = [None] * FIRST_COLUMN
        self._described = list(_COMMON)
        self._roots = FIRST_COLUMN + len(columns)
        self._add(columns, "")
        at = FIRST_COLUMN
        while at < len(self._columns):
            self._open(at)
            at += 1

    def _add(self, columns: Sequence[AnyColumn], suffix: str) -> None:
        for each in columns:
            for name in sources(self._view, each):
                self._keep(name + suffix, len(self._columns))
            self._columns.append(each)
            self._described.append(("lists" if isinstance(each, ListColumn) else _holds(each), 0, 0))

    def _keep(self, name: str, slot: int) -> None:
        if name in self.by_field:
            raise ValueError(f"two columns are made of {name}")
        self.by_field[name] = slot

    def _open(self, at: int) -> None:
        """Add what the elements of a list are made of."""
        column = self._columns[at]
        if not isinstance(column, ListColumn):
            return
        child = len(self._columns)
        if isinstance(column.element, Column):
            for name in sources(self._view, column):
                self._keep(f"{name}[]", child)
            self._columns.append(column.element)
            self._described.append((_holds(column.element), 0, 0))
        else:
            self._add(column.element, "")
        self._described[at] = ("lists", child, len(self._columns) - child)

    def slots(self, pool: BlockPool) -> Slots:
        """New slots, empty."""
        return Slots(self._described, self._roots, pool)

    def arrays(self, taken: Sequence[Taken]) -> dict[str, pa.Array]:
        """The columns by name, those of one name put together."""
        found: dict[str, pa.Array] = {}
        for at in range(FIRST_COLUMN, self._roots):
            column = self._columns[at]
            assert column is not None
            array = self._array(column, at, taken)
            found[column.name] = pc.coalesce(found[column.name], array) if column.name in found else array
        return found

    def _array(self, column: AnyColumn, at: int, taken: Sequence[Taken]) -> pa.Array:
        if taken[at][0] == taken[at][1]:
            return pa.nulls(taken[at][0], column.type)
        if isinstance(column, Column):
            return texts(taken[at]) if _holds(column) == "texts" else shown(column, numbers(taken[at]))
        count, nulls, validity, offsets, _ = taken[at]
        child = self._described[at][1]
        if isinstance(column.element, Column):
            elements = self._array(column.element, child, taken)
        else:
            fields = [self._array(each, child + i, taken) for i, each in enumerate(column.element)]
            struct = column.type.value_type
            elements = pa.Array.from_buffers(struct, len(fields[0]), [None], 0, children=fields)
        buffers = [_buffer(validity), _buffer(offsets)]
        return pa.Array.from_buffers(column.type, count, buffers, nulls, children=[elements])


def _holds(column: Column) -> str:
    return "texts" if pa.types.is_string(column.type) and column.names is None else "numbers"


def _buffer(block: object) -> pa.Buffer | None:
    return None if block is None else pa.py_buffer(block)


def numbers(taken: Taken) -> pa.Array:
    """A slot of numbers as int64."""
    count, nulls, validity, _, data = taken
    return pa.Array.from_buffers(pa.int64(), count, [_buffer(validity), _buffer(data or b"")], nulls)


def texts(taken: Taken) -> pa.Array:
    """A slot of texts."""
    count, nulls, validity, offsets, data = taken
    return pa.Array.from_buffers(pa.string(), count, [_buffer(validity), _buffer(offsets), _buffer(data or b"")], nulls)


def shown(column: Column, array: pa.Array) -> pa.Array:
    """Numbers as their column shows them."""
    if column.none is not None:
        array = pc.if_else(pc.equal(array, column.none), None, array)
    if column.names is not None:
        known = pa.array(column.names, pa.int64()), pa.array(column.names.values(), pa.string())
        return known[1].take(pc.index_in(array, value_set=known[0]))
    if column.type == TIMESTAMP_TYPE:
        return timestamps(array)
    return array.cast(column.type)


def timestamps(milliseconds: pa.Array) -> pa.Array:
    """Kafka's milliseconds as microseconds; null for -1 and for what those cannot hold."""
    fits = pc.and_(pc.less_equal(milliseconds, _MOST_MS), pc.greater_equal(milliseconds, -_MOST_MS))
    known = pc.if_else(pc.and_(fits, pc.not_equal(milliseconds, -1)), milliseconds, None)
    return pc.multiply(known, 1000).cast(TIMESTAMP_TYPE)
