"""The offsets that a batch with a correct checksum contains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.columns import Columns
from kafkalog_source._core.decode import Decoder
from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source._core.walk import Entries
from kafkalog_source.batch import DecodeSettings, make_decoder
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import CodecError, LimitError
from kafkalog_source.format import MAX_OFFSET

if TYPE_CHECKING:
    from kafkalog_source.segment.entries import EntryHeader
    from kafkalog_source.segment.source import LocalFile


def offsets_of(source: LocalFile, header: EntryHeader, largest_batch: int) -> tuple[int, int] | None:
    """Return the first and the last offset of a batch; None for a v0 or v1 wrapper that cannot be decoded.

    A wrapper's header gives only its last offset, and in v0 even that need not match the inner offsets, which are
    absolute. So its messages are decoded.
    """
    if header.record_count is not None:
        return header.first_offset, header.last_offset
    if header.size > largest_batch:
        return None
    window, entries = Scratch(), Entries(least=-(2**63) + 1)
    window.reserve(header.size)
    with window.view(0, header.size) as room:
        source.read_into(header.position, room)
    entries.walk(window, header.size)
    columns = Columns(["offset"], BlockPool())
    settings = DecodeSettings(include_control=True, max_decompressed_bytes=largest_batch)
    decoder = make_decoder(columns, Decompressor(largest_batch), settings, 0, MAX_OFFSET)
    held = _first_and_last(columns, decoder, window, entries)
    return None if held is None else (held[0], min(held[1], header.last_offset))


def _first_and_last(columns: Columns, decoder: Decoder, window: Scratch, entries: Entries) -> tuple[int, int] | None:
    """The first and the last decoded offset; the columns hold only part of the offsets at a time."""
    decoder.start()
    first: int | None = None
    last, code = -1, CODE["full"]
    while code == CODE["full"]:
        try:
            code = decoder.decode(window, 0, entries)
        except (CodecError, LimitError):
            return None
        if columns.rows:
            count, taken = columns.take()
            offsets = memoryview(taken["offset"][2]).cast("B").cast("q")[:count]
            first, last = offsets[0] if first is None else first, offsets[-1]
    return None if first is None or code != CODE["end"] else (first, last)
