"""The header fields that an error message shows as found, read again at the damaged batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.codes import CODE
from kafkalog_source.batch.checksum import checksums_text
from kafkalog_source.errors import offsets_text
from kafkalog_source.format import (
    CODEC_MASK,
    LEGACY_ATTRIBUTES_OFFSET,
    LOG_OVERHEAD,
    MAGIC_OFFSET,
    SIZE_OFFSET,
    V2_FLAGS_OFFSET,
    V2_HEADER_SIZE,
    V2_LAST_OFFSET_DELTA_OFFSET,
    V2_RECORDS_COUNT_OFFSET,
)
from kafkalog_source.segment.entries import checksums_of, read_header

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_source.segment.source import LocalFile

_V2 = 2


def found_in_batch(source: LocalFile, position: int, end: int, code: int) -> str | None:
    """Describe what an error code found in the batch at `position`, whose file or range ends at `end`.

    Only header fields are shown, never the content of a record. None if no header field explains the code, or if the
    file no longer holds what was found.
    """
    if code == CODE["bad_crc"]:
        return _checksums(source, position)
    head = source.read(position, min(V2_HEADER_SIZE, end - position))
    if code == CODE["incomplete"]:
        return bytes_left(_int(head, SIZE_OFFSET, 4), LOG_OVERHEAD, end - position)
    describe = _FIELDS.get(code)
    return None if describe is None else describe(head)


def bytes_left(length: int | None, overhead: int, left: int) -> str | None:
    """Describe how much is there of an entry that `length` bytes should follow its first `overhead` bytes."""
    if length is None:
        return f"{left} bytes"
    return f"{left} of {overhead + length} bytes" if overhead + length > left else None


def _checksums(source: LocalFile, position: int) -> str | None:
    header = read_header(source, position)
    found = None if header is None else checksums_of(source, header)
    # They are equal if the broker has written the batch anew since it was read.
    return None if found is None or found[0] == found[1] else checksums_text(*found)


def _length(head: bytes) -> str | None:
    return _shown("length", _int(head, SIZE_OFFSET, 4))


def _magic(head: bytes) -> str | None:
    return _shown("magic", _int(head, MAGIC_OFFSET, 1))


def _codec(head: bytes) -> str | None:
    is_v2 = _int(head, MAGIC_OFFSET, 1) == _V2
    attributes = _int(head, V2_FLAGS_OFFSET if is_v2 else LEGACY_ATTRIBUTES_OFFSET, 1)
    return None if attributes is None else f"codec {attributes & CODEC_MASK}"


def _delta(head: bytes) -> str | None:
    base, delta = _int(head, 0, 8), _int(head, V2_LAST_OFFSET_DELTA_OFFSET, 4)
    return None if delta is None else f"base offset {base}, last offset delta {delta}"


def _offsets(head: bytes) -> str | None:
    base = _int(head, 0, 8)
    delta = _int(head, V2_LAST_OFFSET_DELTA_OFFSET, 4) if _int(head, MAGIC_OFFSET, 1) == _V2 else 0
    return None if base is None or delta is None else offsets_text(base, base + delta)


def _count(head: bytes) -> str | None:
    is_v2 = _int(head, MAGIC_OFFSET, 1) == _V2
    return _shown("record count", _int(head, V2_RECORDS_COUNT_OFFSET, 4)) if is_v2 else None


def _body(head: bytes) -> str | None:
    length = _int(head, SIZE_OFFSET, 4)
    return None if length is None else f"a body of {LOG_OVERHEAD + length - V2_HEADER_SIZE} bytes"


def _int(head: bytes, offset: int, size: int) -> int | None:
    field = head[offset : offset + size]
    return int.from_bytes(field, "big", signed=True) if len(field) == size else None


def _shown(name: str, number: int | None) -> str | None:
    return None if number is None else f"{name} {number}"


_FIELDS: dict[int, Callable[[bytes], str | None]] = {
    CODE["bad_length"]: _length,
    CODE["bad_magic"]: _magic,
    CODE["bad_last_offset_delta"]: _delta,
    CODE["offset_not_rising"]: _offsets,
    CODE["offset_below_file"]: _offsets,
    CODE["offset_above_file"]: _offsets,
    CODE["bad_count"]: _count,
    CODE["bad_codec"]: _codec,
    CODE["count_too_large"]: _count,
    CODE["bytes_left_over"]: _count,
    CODE["record_cut"]: _count,
    CODE["wrapper_offset"]: _offsets,
    CODE["empty_with_bytes"]: _body,
}
"""The field that each code is about; the codes that are missing are about the records."""
