"""Record batches of a topic's records → record batches of its view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source._core.memory import BlockPool
from kafkalog_source._core.topic_records import RecordDecoder
from kafkalog_source.internal_topics import slots
from kafkalog_source.internal_topics.columns import TYPED_COLUMNS
from kafkalog_source.internal_topics.compiling import Compiler, Marks
from kafkalog_source.internal_topics.problems import errors
from kafkalog_source.internal_topics.table import RecordType, record_types

_FRAMES = {"cluster_metadata": "metadata", "remote_log_metadata": "metadata"}
_CLASSIC = "GROUP_METADATA.value"
SECRET_FIELDS = frozenset(
    {"CONFIG_RECORD.value.value"}
    | {f"USER_SCRAM_CREDENTIAL_RECORD.value.{name}" for name in ("salt", "storedKey", "serverKey")}
)
"""The fields that are shown as ``(redacted)`` in the rows that are to be redacted."""


class Decoding:
    """The core's decoder of one view, for some of its columns.

    Parameters
    ----------
    view : str
    columns : collection of str
        Those wanted; others than the typed ones and the two of JSON cost nothing.
    pool : BlockPool
    """

    def __init__(self, view: str, columns: Sequence[str], pool: BlockPool) -> None:
        typed = [each for each in TYPED_COLUMNS[view] if each.name in columns]
        self._layout = slots.SlotLayout(view, typed)
        compiler = Compiler(_marks(view, self._layout.by_field))
        types = [compiler.add(each) for each in record_types(view)]
        control = [compiler.add(each) for each in record_types("control")]
        self.paths = compiler.paths
        self._slots = self._layout.slots(pool)
        self._decoder = RecordDecoder(
            compiler.program(),
            self._slots,
            _FRAMES.get(view, "coordinator"),
            types,
            control,
            key_json="keyJson" in columns,
            value_json="valueJson" in columns,
        )

    def decode(
        self, keys: pa.Array, values: pa.Array, control: bytes, redacted: bytes
    ) -> Iterator[tuple[int, Decoded]]:
        """Decode the rows in as many pieces as their JSON needs: (the row where a piece begins, the piece)."""
        at, rows = 0, len(values)
        while True:
            stop = self._decoder.decode(rows, at, _lent(keys), _lent(values), control, redacted)
            yield at, Decoded(self._slots.take(), self._layout, self.paths)
            at = stop
            if at == rows:
                return


class Decoded:
    """What the core made of some rows."""

    def __init__(self, taken: Sequence[slots.Taken], layout: slots.SlotLayout, paths: Sequence[str]) -> None:
        self._taken = taken
        self._paths = paths
        self.types = slots.numbers(taken[slots.TYPE])
        self.versions = slots.numbers(taken[slots.VERSION])
        self.faults = slots.numbers(taken[slots.FAULT])
        self.typed = layout.arrays(taken)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.types)

    def json(self, slot: int) -> pa.Array:
        """The JSON of the keys or the values."""
        return slots.texts(self._taken[slot])

    @cached_property
    def errors(self) -> pa.Array:
        """The column ``decodeError``."""
        return errors(self.faults, self.types, self.versions, self._paths)


def _marks(view: str, by_field: dict[str, int]) -> Marks:
    if view != "consumer_offsets":
        return Marks(by_field, secret=SECRET_FIELDS)
    embedded = {each.name.lower(): each.value for each in record_types("embedded")}
    return Marks(
        by_field,
        embedded={f"{_CLASSIC}.members.{name}": message for name, message in embedded.items()},
        marker=(f"{_CLASSIC}.protocolType", "consumer"),
    )


def _lent(array: pa.Array) -> tuple[Any, ...] | None:
    if array.null_count == len(array):
        return None
    return (array.offset, *array.buffers())


def type_names(view: str, types: pa.Array, is_control: pa.Array) -> pa.Array:
    """The column ``recordType``."""
    own = _names(record_types(view), types)
    if not pc.any(is_control).as_py():
        return own
    return pc.if_else(is_control, _names(record_types("control"), types), own)


def _names(known: Sequence[RecordType], types: pa.Array) -> pa.Array:
    numbers = pa.array([each.number for each in known], pa.int64())
    return pa.array([each.name for each in known], pa.string()).take(pc.index_in(types, value_set=numbers))
