"""Arrays of one value, made without a conversion of Python values: pyarrow imports pandas for the first of those."""

from __future__ import annotations

from array import array

import pyarrow as pa

__all__ = ["repeated"]

_CODES = {pa.int32(): "i", pa.int64(): "q"}


def repeated(value: str | int | None, kind: pa.DataType, count: int) -> pa.Array:
    """Return an array that has `value` in each of its `count` rows.

    Parameters
    ----------
    value : str, int or None
    kind : pyarrow.DataType
        string, int32 or int64; any type for None.
    count : int
    """
    if value is None:
        return pa.nulls(count, kind)
    if isinstance(value, int):
        return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(array(_CODES[kind], [value]) * count)])
    content = value.encode()
    ends = (
        array("i", [0]) * (count + 1) if not content else array("i", range(0, (count + 1) * len(content), len(content)))
    )
    return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(ends), pa.py_buffer(content * count)])
