"""A whole segment file: walking entries, how the file ends, what is damaged."""

from __future__ import annotations

from tests.reference.cursor import Bad
from tests.reference.legacy import decode_legacy
from tests.reference.model import RefBatch, RefCorrupt, RefRecord, RefSegment, TailKind
from tests.reference.v2 import decode_v2

OVERHEAD = 12
MAGIC_AT = 16
SMALLEST_LENGTH = {0: 14, 1: 22, 2: 49}
LONGEST_SPAN = 2**31 - 1


def decode_segment(data: bytes, *, base_offset: int = 0, next_base_offset: int | None = None) -> list[RefRecord]:
    """Return every record of a segment.

    Parameters
    ----------
    data : bytes
        The file.
    base_offset : int
        The offset in the file's name.
    next_base_offset : int, optional
        The offset in the name of the next segment's file.

    Raises
    ------
    RefCorrupt
        At the first damage. A torn tail is not damage.
    """
    return decode_file(data, base_offset=base_offset, next_base_offset=next_base_offset).records


def decode_file(data: bytes, *, base_offset: int = 0, next_base_offset: int | None = None) -> RefSegment:
    """As `decode_segment`, with the batches and how the file ends."""
    batches: list[RefBatch] = []
    lowest, at = base_offset, 0
    while at < len(data):
        tail = _tail(data, at, lowest, first=not batches)
        if tail is not None:
            return RefSegment(tuple(batches), tail, at)
        batch = _batch(data, at)
        _check_offsets(batch, lowest, next_base_offset)
        batches.append(batch)
        lowest, at = batch.last_offset + 1, at + batch.size
    return RefSegment(tuple(batches), TailKind.CLEAN, at)


def _length(data: bytes, at: int) -> int:
    return int.from_bytes(data[at + 8 : at + OVERHEAD], "big", signed=True)


def _magic(data: bytes, at: int) -> int:
    return int.from_bytes(data[at + MAGIC_AT : at + MAGIC_AT + 1], "big", signed=True)


def _tail(data: bytes, at: int, lowest: int, *, first: bool) -> TailKind | None:
    """Return how the file ends if it ends at `at`; None if a complete entry begins there."""
    left = len(data) - at
    if left < OVERHEAD:
        return TailKind.TORN
    if not any(data[at:]):
        return TailKind.ZEROED
    length = _length(data, at)
    if length < SMALLEST_LENGTH[0]:
        raise RefCorrupt(at, f"length {length} is below the smallest")
    if OVERHEAD + length <= left:
        return None
    if first and left > MAGIC_AT and not _plausible_header(data, at, lowest):
        raise RefCorrupt(at, "not a segment: its first header is implausible")
    found = _next_valid(data, at + 1, lowest)
    if found is not None:
        raise RefCorrupt(at, f"length {length} exceeds the file, but an entry begins at {found}")
    return TailKind.TORN


def _plausible_header(data: bytes, at: int, lowest: int) -> bool:
    offset = int.from_bytes(data[at : at + 8], "big", signed=True)
    smallest = SMALLEST_LENGTH.get(_magic(data, at))
    return smallest is not None and _length(data, at) >= smallest and offset >= lowest


def _next_valid(data: bytes, start: int, lowest: int) -> int | None:
    """Return the next position of a complete, valid entry."""
    for at in range(start, len(data) - MAGIC_AT):
        if data[at + MAGIC_AT] in SMALLEST_LENGTH and _plausible_header(data, at, lowest):
            try:
                _batch(data, at)
            except RefCorrupt:
                continue
            return at
    return None


def _batch(data: bytes, at: int) -> RefBatch:
    size = OVERHEAD + _length(data, at)
    magic = _magic(data, at)
    try:
        if at + size > len(data):
            raise Bad("entry exceeds the file")
        if magic not in SMALLEST_LENGTH:
            raise Bad(f"magic {magic}")
        decode = decode_v2 if magic == 2 else decode_legacy
        return decode(data[at : at + size], at)
    except Bad as error:
        raise RefCorrupt(at, str(error)) from error


def _check_offsets(batch: RefBatch, lowest: int, next_base_offset: int | None) -> None:
    """Check that offsets, which no CRC covers, increase within the segment's range."""
    if batch.first_offset < lowest:
        raise RefCorrupt(batch.position, f"offset {batch.first_offset} where {lowest} is the lowest possible")
    if next_base_offset is not None and batch.last_offset >= next_base_offset:
        raise RefCorrupt(batch.position, f"offset {batch.last_offset} reaches the next file's {next_base_offset}")
    if batch.last_offset - batch.first_offset > LONGEST_SPAN:
        raise RefCorrupt(batch.position, "batch spans more than 2^31-1 offsets")
