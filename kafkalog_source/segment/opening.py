"""Choose the seeker of a segment by its format. Only the file's name identifies Kafka 0.7."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.segment.seek import Seeker
from kafkalog_source.segment.v07.seek import Seeker07

if TYPE_CHECKING:
    from kafkalog_source.segment.seek import SegmentPlace

__all__ = ["open_seeker"]


def open_seeker(place: SegmentPlace) -> Seeker:
    """Open a segment for seeking."""
    return Seeker07(place) if place.is_07 else Seeker(place)
