"""Which of two batches whose offsets contradict each other is the wrong one.

No checksum covers a batch's offset, so that nothing but its neighbours can tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.segment.entries import read_header, sound_entry_at
from kafkalog_source.segment.lost import offsets_of

if TYPE_CHECKING:
    from kafkalog_source.segment.entries import EntryHeader
    from kafkalog_source.segment.source import LocalFile

_MAX_OFFSET = 2**63 - 1
_V2 = 2
TOO_HIGH = ("the offset is above that of the batches behind it", "offsets that rise")
"""What is wrong with a batch that is refuted, and what was expected."""


def behind_wrong_offset(source: LocalFile, position: int) -> EntryHeader | None:
    """The entry behind the one at `position`, if its offset shows that the one at `position` has a wrong one.

    No checksum covers offsets. One that is too high would end a range early, and rows would be missing.
    """
    header = read_header(source, position)
    following = None if header is None else read_header(source, position + header.size)
    if header is None or following is None or following.first_offset > header.last_offset:
        return None
    return following


def passes_for_batch(source: LocalFile, position: int, above: int, last_magic: int | None) -> bool:
    """Whether what is at `position`, behind an entry of `last_magic`, may be a compressed set with a wrong magic byte.

    The offset of such a set is its last one. Taken for that of a batch it is the first, which may lie behind all that
    is wanted. Behind batches of format v2 there are no sets.
    """
    may_be_set = position == 0 if last_magic is None else last_magic < _V2
    return may_be_set and sound_entry_at(source, position, above + 1, _MAX_OFFSET) is None


def refuted_by(
    source: LocalFile, wrong: EntryHeader, previous: int, bound: int, largest_batch: int
) -> EntryHeader | None:
    """The batch behind `wrong`, if it and the one behind it show that the offsets of `wrong` are too high.

    No checksum covers a batch's offset. Where two contradict each other, it is the first that is wrong if its right
    offsets would just fill the room between those around it, or if the next batch contradicts it too. If none
    follows, it is wrong if it lies above the second and there is room for it; else nothing tells, and the second is.

    Parameters
    ----------
    source : LocalFile
    wrong : EntryHeader
    previous : int
        The last offset before it.
    bound : int
    largest_batch : int
        A v0 or v1 wrapper of more bytes is not decoded to know its first offset.
    """
    last = wrong.last_offset
    following = sound_entry_at(source, wrong.position + wrong.size, previous + 1, bound)
    if following is None or following.first_offset > last:
        return None
    held, next_held = (offsets_of(source, each, largest_batch) for each in (wrong, following))
    if held is None or next_held is None:
        return None
    room, needed = next_held[0] - previous - 1, held[1] - held[0] + 1
    if room == needed:
        return following
    behind = sound_entry_at(source, following.position + following.size, following.last_offset + 1, bound)
    if behind is not None:
        return following if behind.first_offset <= last else None
    return following if room > needed and held[0] >= next_held[0] else None
