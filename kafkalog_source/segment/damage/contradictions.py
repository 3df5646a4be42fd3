"""Decide which of two batches with contradictory offsets is the wrong one.

No checksum covers a batch's base offset, so only the neighbouring batches can show that it is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.segment.damage.lost import offsets_of
from kafkalog_source.segment.entries import read_header, sound_entry_at

if TYPE_CHECKING:
    from kafkalog_source.segment.entries import EntryHeader
    from kafkalog_source.segment.source import LocalFile

_V2 = 2
TOO_HIGH = ("the offset is above those of the batches after it", "increasing offsets")
"""The reason for a batch whose offset is too high, and what was expected."""


class Wrong(Enum):
    """What the neighbours of a batch show to be wrong with it."""

    NOTHING = "nothing"
    OFFSET = "the offset is too high"
    MAGIC = "the magic byte"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a batch by its neighbours.

    Attributes
    ----------
    wrong : Wrong
    following : EntryHeader or None
        If the offset is wrong, the next batch, where reading continues; otherwise None.
    """

    wrong: Wrong
    following: EntryHeader | None = None


_RIGHT = Judgement(Wrong.NOTHING)


def judge_range_end(source: LocalFile, position: int, above: int, last_magic: int | None, end: int) -> Judgement:
    """Judge the batch at `position`, whose offset is past those of the range; a wrong one would end the range early.

    Parameters
    ----------
    source : LocalFile
    position : int
    above : int
        The last offset before `position`.
    last_magic : int or None
        The magic of the previous header, None if there is none. A v2 batch is never followed by a v0 or v1 wrapper.
    end : int
        The position where the range ends.
    """
    if _passes_for_batch(source, position, above, last_magic):
        return Judgement(Wrong.MAGIC)
    header = read_header(source, position)
    following = None if header is None else read_header(source, position + header.size)
    if header is None or following is None or following.position >= end:
        return _RIGHT
    is_too_high = above < following.first_offset <= header.last_offset
    return Judgement(Wrong.OFFSET, following) if is_too_high else _RIGHT


def _passes_for_batch(source: LocalFile, position: int, above: int, last_magic: int | None) -> bool:
    """Whether the entry at `position` may be a v0 or v1 wrapper whose magic byte was changed to 2.

    A wrapper carries the offset of its last message. Read as the base offset of a v2 batch, it may be above the range
    although the wrapper's first messages are in the range.
    """
    may_be_set = position == 0 if last_magic is None else last_magic < _V2
    return may_be_set and sound_entry_at(source, position, above + 1, MAX_OFFSET) is None


def judge_offset(source: LocalFile, batch: EntryHeader, previous: int, bound: int, largest_batch: int) -> Judgement:
    """Judge a batch with a correct checksum by its neighbours.

    If its offsets contradict those of the next batch, its own offset is wrong in these cases:

    - the gap between its neighbours has exactly as many offsets as the batch;
    - the batch after the next one contradicts it too;
    - no batch follows the next one, the batch does not start below the next one's first offset, and the gap has more
      offsets than it needs.

    Otherwise the next batch is taken to be the wrong one.

    Parameters
    ----------
    source : LocalFile
    batch : EntryHeader
    previous : int
        The last offset before the batch.
    bound : int
        All offsets of the segment are below this.
    largest_batch : int
        Limit in bytes for a v0 or v1 wrapper that is decoded to get its first offset.
    """
    last = batch.last_offset
    following = sound_entry_at(source, batch.position + batch.size, previous + 1, bound)
    if following is None or following.first_offset > last:
        return _RIGHT
    held, next_held = (offsets_of(source, each, largest_batch) for each in (batch, following))
    if held is None or next_held is None:
        return _RIGHT
    room, needed = next_held[0] - previous - 1, held[1] - held[0] + 1
    if room == needed:
        return Judgement(Wrong.OFFSET, following)
    after_next = sound_entry_at(source, following.position + following.size, following.last_offset + 1, bound)
    if after_next is not None:
        return Judgement(Wrong.OFFSET, following) if after_next.first_offset <= last else _RIGHT
    is_above = room > needed and held[0] >= next_held[0]
    return Judgement(Wrong.OFFSET, following) if is_above else _RIGHT
