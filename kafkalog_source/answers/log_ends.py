"""Where the logs of partitions begin and end on disk, now or at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source.errors import KafkaLogError
from kafkalog_source.logdir import list_logs
from kafkalog_source.logdir.topic_id import topic_id_of
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.partition.time_offsets import offset_at_time
from kafkalog_source.reporting.damage_modes import goes_on_behind_damage
from kafkalog_source.segment.damage.description import Kind, raise_damage

if TYPE_CHECKING:
    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.segment.damage.description import Damage

__all__ = ["LogEnd", "LogEnds", "read_log_ends"]

_ANY_TIME = -(2**63)


@dataclass(frozen=True, slots=True)
class LogEnd:
    """The offsets of a partition's log.

    Attributes
    ----------
    start : int or None
        The first offset on disk that is not deleted; None if a time was asked for, since that of then is not known.
    end : int or None
        The offset after the last record, at the time asked for; None if that is unknown.
    high_watermark : int or None
        From the checkpoint, as it is now; None if there is none.
    topic_id : str or None
    problem : str or None
        Why the end is unknown.
    """

    start: int | None
    end: int | None
    high_watermark: int | None
    topic_id: str | None
    problem: str | None = None


class LogEnds:
    """The partitions in some paths, and the ends of their logs, which are looked up on demand.

    Parameters
    ----------
    listed : dict
        The logs by topic and partition.
    options : ReadOptions
    at_ms : int or None
        The time at which the end is wanted; None for the end of the log.

    Attributes
    ----------
    warnings : list of str
        Topic ids that cannot be read, high watermarks that are not known, and damage that was passed over.
    """

    def __init__(self, listed: dict[tuple[str, int], PartitionLog], options: ReadOptions, at_ms: int | None) -> None:
        self._logs = listed
        self._options = options
        self._at_ms = at_ms
        self._ids: dict[str, str | None] = {}
        self._ends: dict[tuple[str, int], LogEnd | None] = {}
        self.warnings: list[str] = []

    def of(self, topic: str, partition: int) -> LogEnd | None:
        """The offsets of a partition's log; None if it is not in the paths.

        Raises
        ------
        KafkaLogError
            If its files cannot be read, or are damaged and the mode is FAILFAST.
        """
        place = (topic, partition)
        if place not in self._ends:
            log = self._logs.get(place)
            self._ends[place] = self._look_up(log) if log is not None and log.segments else None
        return self._ends[place]

    def partitions_of(self, topic: str) -> list[int]:
        """The partitions of a topic in the paths."""
        return sorted(partition for name, partition in self._logs if name == topic)

    def paths_of(self, topic: str) -> list[str]:
        """The directories of a topic's partitions, or the segments that were given by their own paths."""
        return [log.path for (name, _), log in sorted(self._logs.items()) if name == topic]

    def topic_names(self) -> dict[str, str]:
        """The names of all topics in the paths whose ids are known, by id."""
        names = {}
        for log in self._logs.values():
            topic_id = self.topic_id(log)
            if topic_id is not None and log.topic is not None:
                names[topic_id] = log.topic
        return names

    def topic_id(self, log: PartitionLog) -> str | None:
        """The id of a partition's topic; None if it is not known."""
        if log.path not in self._ids:
            try:
                self._ids[log.path] = topic_id_of(log)
            except KafkaLogError as error:
                self.warnings.append(f"{error}. The topic id is unknown")
                self._ids[log.path] = None
        return self._ids[log.path]

    def _look_up(self, log: PartitionLog) -> LogEnd:
        offsets = PartitionOffsets(log)
        end, problem = self._end_of(offsets)
        start = offsets.earliest if self._at_ms is None else None
        return LogEnd(start, end, log.high_watermark, self.topic_id(log), problem)

    def _end_of(self, offsets: PartitionOffsets) -> tuple[int | None, str | None]:
        """The end of a log, or why it is unknown."""
        end = self._readable_end(offsets)
        if self._at_ms is None or end == offsets.earliest:
            return end, None
        later = offset_at_time(offsets, self._at_ms + 1, self._options, self._on_damage)
        if later is None:
            if offset_at_time(offsets, _ANY_TIME, self._options, self._on_damage) is None:
                return None, "its records have no timestamps"
            return end, None
        if later == offsets.earliest > 0:
            return None, "its records of that time are deleted"
        return min(later, end), None

    def _readable_end(self, offsets: PartitionOffsets) -> int:
        if self._options.read_up_to != "highWatermark":
            return offsets.latest
        if offsets.log.high_watermark is None:
            name = f"{offsets.log.topic}-{offsets.log.partition}"
            self.warnings.append(f"the high watermark of {name} is unknown: lag is counted to the end of its log")
            return offsets.latest
        return min(offsets.latest, offsets.log.high_watermark)

    def _on_damage(self, damage: Damage) -> None:
        if not goes_on_behind_damage(self._options):
            raise_damage(damage)
            return
        warning = f"{damage.to_text()}; records of the wanted time may be lost there"
        if damage.kind is not Kind.TORN and warning not in self.warnings:
            self.warnings.append(warning)


def read_log_ends(options: ReadOptions, at_ms: int | None) -> LogEnds:
    """List the partitions in the paths of a read.

    Raises
    ------
    LogDirError
        As from `list_logs`.
    """
    listing = list_logs(options.paths, wanted=lambda *_: True, follow_symlinks=options.follow_symlinks)
    listed = {
        (log.topic, log.partition): log
        for log in listing.partitions
        if log.topic is not None and log.partition is not None
    }
    return LogEnds(listed, options, at_ms)
