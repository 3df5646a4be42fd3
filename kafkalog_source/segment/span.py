"""A range of a segment, as it is planned, sent to a task and read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A range of a segment, from one batch's start to another's or to the file's end.

    Attributes
    ----------
    start, end : int
        Positions; `end` may be the size that the file had when the read was planned.
    least, bound : int
        The segment's offsets lie in [least, bound).
    stop : int
        Reading ends at the first batch that begins at or above this offset.
    to_file_end : bool
        Whether the range ends where the file does, and not where another batch begins.
    torn_is_benign : bool
        Whether a batch that the end of the file cuts is what a live log looks like, and no loss.
    base_07 : int or None
        The base offset of a Kafka 0.7 segment, whose offsets are positions counted from it; None for any other.
    """

    start: int
    end: int
    least: int
    bound: int
    stop: int
    to_file_end: bool
    torn_is_benign: bool
    base_07: int | None = None
