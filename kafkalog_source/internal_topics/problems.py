"""Why a record could not be decoded, in words."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from kafkalog_source._core.fields import FAULTS

_WORDS = {
    "no_room": "there is no memory for it, or it would pass 2 GiB",
    "cut_short": "cut short",
    "bad_varint": "a varint is longer than five bytes",
    "null_field": "null in a field that cannot be null",
    "text_length": "a text is longer than 32767 bytes",
    "array_length": "an array has more elements than bytes are left",
    "tag_count": "a struct has more tags than bytes are left",
    "tag_version": "a tagged field does not belong to this version",
    "left_over": "bytes are left over after the last field",
    "no_key": "unknown type: the record has no key, which would begin with it",
    "key_cut": "unknown type: the key is too short to hold it",
    "unknown_frame": "unknown frame: the value does not begin with 1",
    "frame_cut": "cut short before the type and version",
    "type_range": "unknown type: above 32767",
    "unknown_type": "unknown type",
    "version_cut": "cut short before the version",
    "unknown_version": "unknown version",
}
_PARTS = ("key", "value")
_WITHOUT_PLACE = ("no_key", "key_cut", "unknown_frame", "frame_cut", "type_range", "version_cut")


def fault_name(packed: int) -> str:
    """Which of `FAULTS` the core packed, with its place, into a number."""
    return FAULTS[packed & 0xFF]


def errors(faults: pa.Array, types: pa.Array, versions: pa.Array, paths: Sequence[str]) -> pa.Array:
    """The column ``decodeError``.

    Parameters
    ----------
    faults : Array
        What the core packed; null for a sound record.
    types, versions : Array
        Of the records, as far as they are known.
    paths : sequence of str
        What the fields of the program are called.
    """
    if faults.null_count == len(faults):
        return pa.nulls(len(faults), pa.string())
    rows = zip(faults.to_pylist(), types.to_pylist(), versions.to_pylist(), strict=True)
    words = [None if fault is None else _error(fault, number, version, paths) for fault, number, version in rows]
    return pa.array(words, pa.string())


def _error(packed: int, number: int | None, version: int | None, paths: Sequence[str]) -> str:
    fault = fault_name(packed)
    part = _PARTS[packed >> 8 & 0xFF]
    field = (packed >> 16 & 0xFFFF) - 1
    words = _WORDS[fault]
    if fault == "unknown_type":
        return f"{words} {number}"
    if fault == "unknown_version":
        return f"{words}: above 2147483647" if version is None else f"{words} {version}"
    if fault in _WITHOUT_PLACE:
        return words
    where = f" in {paths[field]}" if field >= 0 else ""
    return f"{part}: {words}{where}, at byte {packed >> 32}"
