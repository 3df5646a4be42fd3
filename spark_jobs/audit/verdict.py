"""The result of an audit in words: whether the logs are sound, and what to do if they are not."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kafkalog_source.errors import counted, printable
from spark_jobs.audit.result import Profile
from spark_jobs.common.summary import size_text

__all__ = ["Verdict", "verdict_of"]

_MOST_NAMED = 3


@dataclass(frozen=True)
class Verdict:
    """A judgement with its reasons.

    Attributes
    ----------
    state : str
        ``sound``; ``damaged`` if regions of files cannot be read; ``incomplete`` if offsets are missing between
        segments; ``empty`` if there is no batch.
    summary : str
        What was found, in a sentence.
    findings : tuple of str
        What is wrong or unknown, a sentence or two for each.
    commands : tuple of str
        The commands to run next.
    """

    state: Literal["sound", "damaged", "incomplete", "empty"]
    summary: str
    findings: tuple[str, ...]
    commands: tuple[str, ...]

    @property
    def words(self) -> str:
        """The state and the summary."""
        return f"{self.state.capitalize()}. {self.summary}"


def verdict_of(profile: Profile) -> Verdict:
    """Judge by damage and by offsets that are missing between segments; compaction explains the other ones."""
    lost = profile.total("missing_between_segments")
    state: Literal["sound", "damaged", "incomplete", "empty"]
    if profile.damaged_regions:
        state = "damaged"
    elif lost:
        state = "incomplete"
    else:
        state = "sound" if profile.total("batches") else "empty"
    paths = shlex.join(profile.input)
    commands = [f"kafkalog verify {paths}"] if state in ("damaged", "incomplete") else []
    if state == "damaged":
        commands.append(f"kafkalog salvage {paths} DESTINATION")
    return Verdict(state, _summary(profile), tuple(_findings(profile)), tuple(map(printable, commands)))


def _summary(profile: Profile) -> str:
    topics = _counted(profile.cut.get("topics", len(profile.topics)), "topic")
    batches = _counted(profile.total("batches"), "batch")
    records = batches if profile.records is None else _counted(profile.records, "record")
    parts = [topics, records, size_text(profile.total("bytes"))]
    first = min((row["first_time"] for row in profile.topics if row.get("first_time")), default=None)
    last = max((row["last_time"] for row in profile.topics if row.get("last_time")), default=None)
    if first is not None and last is not None:
        parts.append(f"from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}")
    damage = "no damage" if profile.depth == "records" else "no damage in headers"
    if profile.damaged_regions:
        damage = _counted(profile.damaged_regions, "damaged region")
    return f"{', '.join(parts)}; {damage}, {_missing(profile)}."


def _missing(profile: Profile) -> str:
    between = profile.total("missing_between_segments")
    if between:
        return f"{_counted(between, 'offset')} missing between segments"
    compacted = profile.total("missing_inside_batches") + profile.total("missing_between_batches")
    if any(row.get("batches") and row.get("gaps", 0) is None for row in profile.topics):
        return "missing offsets unknown"
    return (
        f"{_counted(compacted, 'offset')} without a record, as compaction leaves them"
        if compacted
        else ("no missing offsets")
    )


def _findings(profile: Profile) -> Iterator[str]:
    if profile.damaged_regions:
        regions = _counted(profile.damaged_regions, "region")
        where = f"{size_text(profile.total('damaged_bytes'))} cannot be read, in {_topics(profile, 'damaged_regions')}"
        yield f"{regions} of {where}{_offsets_lost(profile)}. The table Damage has each one."
    lost = profile.total("missing_between_segments")
    if lost:
        where = f"between two segments of {_topics(profile, 'missing_between_segments')}"
        yield f"{_counted(lost, 'offset')} {where}: a segment may be missing, or compaction removed its records."
    if profile.depth == "headers":
        yield "Only headers were read and no checksum was compared: damage inside of batches would not show."


def _counted(count: int, noun: str) -> str:
    return counted(count, noun).replace(str(count), f"{count:,}", 1)


def _offsets_lost(profile: Profile) -> str:
    ends = [(row.get("first_offset"), row.get("last_offset")) for row in profile.damage]
    known = [last - first + 1 for first, last in ends if first is not None and last is not None]
    if len(known) < profile.damaged_regions:
        return ""
    return f"; at most {_counted(sum(known), 'offset')} may be lost"


def _topics(profile: Profile, column: str) -> str:
    names = [row["topic"] for row in profile.topics if row.get(column)]
    shown = ["a segment outside of any topic" if name is None else printable(name) for name in names[:_MOST_NAMED]]
    others = len(names) - len(shown)
    return ", ".join(shown) + (f" and {_counted(others, 'other topic')}" if others else "")
