"""Which of two batches whose offsets contradict each other is the wrong one.

No checksum covers a batch's offset, so that nothing but its neighbours can tell.
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
TOO_HIGH = ("the offset is above that of the batches behind it", "offsets that rise")
"""What is wrong with a batch whose offset is too high, and what was expected."""


class Wrong(Enum):
    """What is wrong with a batch, as far as its neighbours tell."""

    NOTHING = "nothing"
    OFFSET = "the offset is too high"
    MAGIC = "the magic byte"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What its neighbours say of a batch.

    Attributes
    ----------
    wrong : Wrong
    following : EntryHeader or None
        The next batch, where reading goes on if the offset is wrong; otherwise None.
    """

    wrong: Wrong
    following: EntryHeader | None = None


_RIGHT = Judgement(Wrong.NOTHING)


def judge_range_end(source: LocalFile, position: int, above: int, last_magic: int | None, end: int) -> Judgement:
    """Judge what is at `position` and seems to lie above a range's offsets: one that is too high would end it early.

    Parameters
    ----------
    source : LocalFile
    position : int
    above : int
        The last offset before it.
    last_magic : int or None
        Of the header before it, None if there is none. After batches of format v2 there are no compressed sets.
    end : int
        Where the range's bytes end.
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
    """Whether what is at `position` may be a compressed set with a wrong magic byte.

    The offset of such a set is its last one. Taken for that of a batch it is the first, which may lie above all that
    is wanted.
    """
    may_be_set = position == 0 if last_magic is None else last_magic < _V2
    return may_be_set and sound_entry_at(source, position, above + 1, MAX_OFFSET) is None


def judge_offset(source: LocalFile, batch: EntryHeader, previous: int, bound: int, largest_batch: int) -> Judgement:
    """Judge a batch, of which the checksum is right, by those around it.

    Where its offset and the next one's contradict each other, its own is wrong if its right offsets would just fill
    the room between those around it, or if the batch after the next contradicts it too. If there is none, it is wrong
    if it lies above the next one and there is room for it; else nothing tells, and the next one is wrong.

    Parameters
    ----------
    source : LocalFile
    batch : EntryHeader
    previous : int
        The last offset before it.
    bound : int
    largest_batch : int
        A v0 or v1 wrapper of more bytes is not decoded to know its first offset.
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
