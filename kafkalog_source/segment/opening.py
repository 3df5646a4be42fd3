"""Which class looks places up in a segment: Kafka 0.7, which only a file's name tells, has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.segment.seek import Seeker
from kafkalog_source.segment.v07.seek import Seeker07

if TYPE_CHECKING:
    from kafkalog_source.segment.seek import SegmentPlace

__all__ = ["open_seeker"]


def open_seeker(place: SegmentPlace) -> Seeker:
    """Open a segment to look places up in it."""
    return Seeker07(place) if place.is_07 else Seeker(place)
