"""What can be trusted of a segment at a place, and the verdict on what is wrong there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kafkalog_source._core.walk import Entries
    from kafkalog_source.errors import KafkaLogError
    from kafkalog_source.segment.damage.description import Damage
    from kafkalog_source.segment.window import Window


@dataclass(frozen=True, slots=True)
class Trust:
    """What can be trusted where reading goes on.

    Attributes
    ----------
    position : int
        Where the next batch is expected.
    above : int
        The last offset before it: the next batch's offsets have to be above.
    before : int
        The last offset before the batch that ends at `position`, for when that one's offset turns out to be wrong.
    magic : int or None
        Of the last header that was walked; None if none was.
    is_after_damage : bool
        Whether what ends at `position` is damage, so that nothing tells which offset comes next.
    is_cleared : bool
        Whether the batch at `position` was found to be right although the next one's offset contradicts it.
    """

    position: int
    above: int
    before: int
    magic: int | None = None
    is_after_damage: bool = False
    is_cleared: bool = False

    def moved(self, position: int, *, is_after_damage: bool = False) -> Trust:
        """The same offsets at a later position."""
        return replace(self, position=position, is_after_damage=is_after_damage, is_cleared=False)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the walk through a window's headers ended after the entries that it holds now.

    Attributes
    ----------
    code : int
        Of the core: END if the window's end is that of an entry.
    magic : int or None
        Of the last header that was walked, here or before.
    next_size : int
        The size of the next entry if `code` is INCOMPLETE: it passes the window's end, or is larger than allowed.
    is_whole : bool
        Whether the next entry is larger than allowed and the window holds all of it.
    is_doubted : bool
        Whether the next entry's offsets are contradicted by the entry after it.
    """

    code: int
    magic: int | None
    next_size: int = 0
    is_whole: bool = False
    is_doubted: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong at a place, and where reading goes on.

    Attributes
    ----------
    damage : Damage or None
        None if nothing is wrong.
    trust : Trust or None
        What is known where reading goes on; None if it ends here.
    is_inside : bool
        Whether the next entry of the same window follows there.
    """

    damage: Damage | None
    trust: Trust | None
    is_inside: bool = False


class Faults(Protocol):
    """Walks the headers of a format's entries, and judges what is no good entry.

    Attributes
    ----------
    entries : Entries
        Of the window that was walked last.
    """

    @property
    def entries(self) -> Entries: ...  # noqa: D102

    def walk(self, window: Window, trust: Trust) -> Stop:
        """Find the entries of a window, up to one that is larger than allowed or has a doubtful offset."""
        ...

    def bad_entry(self, at: Trust, index: int, code: int, error: KafkaLogError | None) -> Verdict:
        """Judge the entry of this number, in which the decoder met `code` or `error`; `at` is its beginning."""
        ...

    def at_stop(self, at: Trust, stop: Stop) -> Verdict:
        """Judge the place where a walk ended for another reason than the window's end."""
        ...

    def next_offset(self, at: Trust) -> int | None:
        """The offset that comes next at the range's end; None if nothing tells it."""
        ...


class WindowTrust:
    """What can be trusted before each entry of a window.

    Parameters
    ----------
    start : Trust
        What was known at the window's first byte.
    entries : Entries
    magic : int or None
        Of the last header that was walked.
    """

    def __init__(self, start: Trust, entries: Entries, magic: int | None) -> None:
        self._start = start
        self._entries = entries
        self._magic = magic
        self._corrected: dict[int, int] = {}

    def at(self, index: int) -> Trust:
        """What is known before the entry of this number, or after the last one."""
        entries, start = self._entries, self._start
        if entries.count == 0:
            return start
        place = entries.walked if index == entries.count else entries.entry(index)[0]
        return Trust(start.position + place, self._offset_before(index), self._offset_before(index - 1), self._magic)

    def correct(self, index: int, above: int) -> None:
        """The last offset before the entry of this number is `above`, whatever the header before it says."""
        self._corrected[index] = above

    def _offset_before(self, index: int) -> int:
        if index <= 0:
            return self._start.above if index == 0 else self._start.before
        corrected = self._corrected.get(index)
        return self._entries.entry(index - 1)[5] if corrected is None else corrected
