"""What is known at a position of a segment, and the verdict on what is wrong there."""

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
    """What can be trusted at the position where reading continues.

    Attributes
    ----------
    position : int
        The position where the next batch is expected.
    above : int
        The last offset before `position`; the next batch's offsets are above it.
    before : int
        The last offset before the batch that ends at `position`, used if that batch's offset proves wrong.
    magic : int or None
        The magic of the last header read, None before the first.
    is_after_damage : bool
        Whether damage ends at `position`, so that the next offset is unknown.
    is_cleared : bool
        Whether the batch at `position` was found valid although the next one's offset contradicts it.
    """

    position: int
    above: int
    before: int
    magic: int | None = None
    is_after_damage: bool = False
    is_cleared: bool = False

    def moved(self, position: int, *, is_after_damage: bool = False) -> Trust:
        """Return the same offsets at a later position."""
        return replace(self, position=position, is_after_damage=is_after_damage, is_cleared=False)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the walk through a window's headers stopped.

    Attributes
    ----------
    code : int
        A code of the core; END if the window ends with an entry.
    magic : int or None
        The magic of the last header read, in this window or before.
    next_size : int
        The size of the next entry if `code` is INCOMPLETE: it extends past the window, or is larger than allowed.
    is_whole : bool
        Whether the next entry is larger than allowed and is completely in the window.
    is_doubted : bool
        Whether the offsets of the next entry contradict those of the entry after it.
    """

    code: int
    magic: int | None
    next_size: int = 0
    is_whole: bool = False
    is_doubted: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong at a position, and where reading continues.

    Attributes
    ----------
    damage : Damage or None
        None if nothing is wrong.
    trust : Trust or None
        What is known where reading continues; None if reading ends.
    is_inside : bool
        Whether reading continues with the next entry of the same window.
    """

    damage: Damage | None
    trust: Trust | None
    is_inside: bool = False


class Faults(Protocol):
    """Walks the entry headers of one format, and judges bytes that are not a valid entry.

    Attributes
    ----------
    entries : Entries
        The entries of the last window walked.
    """

    @property
    def entries(self) -> Entries: ...  # noqa: D102

    def walk(self, window: Window, trust: Trust) -> Stop:
        """Find the entries of a window, up to one that is larger than allowed or has a contradictory offset."""
        ...

    def bad_entry(self, at: Trust, index: int, code: int, error: KafkaLogError | None) -> Verdict:
        """Judge the entry `index`, which begins at `at` and which the decoder rejected with `code` or `error`."""
        ...

    def at_stop(self, at: Trust, stop: Stop) -> Verdict:
        """Judge the position where a walk stopped before the end of the window."""
        ...

    def next_offset(self, at: Trust) -> int | None:
        """Return the offset that follows the range; None if it is unknown."""
        ...


class WindowTrust:
    """What can be trusted before each entry of a window.

    Parameters
    ----------
    start : Trust
        What is known at the window's first byte.
    entries : Entries
    magic : int or None
        The magic of the last header read.
    """

    def __init__(self, start: Trust, entries: Entries, magic: int | None) -> None:
        self._start = start
        self._entries = entries
        self._magic = magic
        self._corrected: dict[int, int] = {}

    def at(self, index: int) -> Trust:
        """Return what is known before the entry `index`; the number of entries stands for the end of the last one."""
        entries, start = self._entries, self._start
        if entries.count == 0:
            return start
        place = entries.walked if index == entries.count else entries.entry(index)[0]
        return Trust(start.position + place, self._offset_before(index), self._offset_before(index - 1), self._magic)

    def correct(self, index: int, above: int) -> None:
        """Use `above` as the last offset before the entry `index`, in place of the previous header's offset."""
        self._corrected[index] = above

    def _offset_before(self, index: int) -> int:
        if index <= 0:
            return self._start.above if index == 0 else self._start.before
        corrected = self._corrected.get(index)
        return self._entries.entry(index - 1)[5] if corrected is None else corrected
