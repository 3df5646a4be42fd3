"""The number of distinct keys, as HyperLogLog sketches of Apache DataSketches."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import xxhash

if TYPE_CHECKING:
    from datasketches import hll_sketch

__all__ = ["KeySketches", "can_count_keys", "estimates", "merged_sketches"]

_LOG2_REGISTERS = 12
"""A sketch has up to 2 KiB, and a standard error of 1.6 %."""
_PLACE = ("topic", "partition")


def can_count_keys() -> bool:
    """Return whether datasketches is installed."""
    return importlib.util.find_spec("datasketches") is not None


class KeySketches:
    """The sketches of some partitions."""

    def __init__(self) -> None:
        self._by_place: dict[tuple[str | None, int | None], hll_sketch] = {}

    def add(self, topic: str | None, partition: int | None, keys: pa.Array) -> None:
        """Add the keys of records; null is no key."""
        from datasketches import hll_sketch

        place = topic, partition
        if place not in self._by_place:
            self._by_place[place] = hll_sketch(_LOG2_REGISTERS)
        update = self._by_place[place].update
        for key in pc.unique(keys.drop_null()).to_pylist():
            # Sketches take no bytes, and ignore empty strings. Their integers are signed.
            update(xxhash.xxh3_64_intdigest(key) - (1 << 63))

    def table(self) -> pa.Table:
        """Return a row for each partition."""
        topics, partitions = zip(*self._by_place, strict=True) if self._by_place else ((), ())
        sketches = [sketch.serialize_compact() for sketch in self._by_place.values()]
        names = {"topic": pa.array(topics, pa.string()), "partition": pa.array(partitions, pa.int32())}
        return pa.table({**names, "sketch": pa.array(sketches, pa.binary())})


def merged_sketches(table: pa.Table) -> pa.Table:
    """Merge the sketches of each partition."""
    merged = KeySketches()
    merged._by_place = _united(table, _PLACE)
    return merged.table()


def estimates(table: pa.Table, keys: tuple[str, ...]) -> pa.Table:
    """Return the estimated number of distinct keys by topic, or by topic and partition."""
    found = _united(table, keys)
    columns = {name: pa.array([place[i] for place in found], table[name].type) for i, name in enumerate(keys)}
    return pa.table({**columns, "distinct_keys": pa.array([round(each.get_estimate()) for each in found.values()])})


def _united(table: pa.Table, keys: tuple[str, ...]) -> dict[tuple[str | None, int | None], hll_sketch]:
    from datasketches import hll_sketch, hll_union

    unions: dict[tuple[str | None, int | None], hll_union] = {}
    for row in table.to_pylist():
        place = tuple(row[name] for name in keys)
        unions.setdefault(place, hll_union(_LOG2_REGISTERS)).update(hll_sketch.deserialize(row["sketch"]))
    return {place: union.get_result() for place, union in unions.items()}
