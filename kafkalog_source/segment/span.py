"""A range of a segment, as planned, sent to a task and read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A range of a segment, from the start of a batch to the start of another or to the end of the file.

    Attributes
    ----------
    start, end : int
        Positions in bytes; `end` may be the size of the file when the read was planned.
    least, bound : int
        The segment's offsets are in [least, bound).
    stop : int
        Reading ends at the first batch that begins at or above this offset.
    to_file_end : bool
        Whether the range ends at the end of the file rather than at the start of another batch.
    torn_is_benign : bool
        Whether a torn batch at the end of the file is normal, as in a live log, and not a loss.
    base_07 : int or None
        The base offset of a Kafka 0.7 segment, whose offsets are positions plus this; None for other formats.
    """

    start: int
    end: int
    least: int
    bound: int
    stop: int
    to_file_end: bool
    torn_is_benign: bool
    base_07: int | None = None
