"""Follows partitions while a broker writes: repeatedly determines their first and last offsets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalog_source.errors import OptionError
from kafkalog_source.logdir import Listing, Relisting
from kafkalog_source.partition.moved_files import until_files_stay
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.planning.plan import read_by_view
from kafkalog_source.transactions.history import KnownTransactions, from_headers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.logdir.names import TopicPartition
    from kafkalog_source.options.read_options import ReadOptions

_MOST_KNOWN = 16


@dataclass(frozen=True, slots=True)
class Extent:
    """The offsets of a partition that are on disk.

    Attributes
    ----------
    earliest : int
        The first offset on disk that is not deleted.
    visible_end : int
        Records below this offset may be read: the log's end, the high watermark or the last stable offset.
    end : int
        The offset after the last one on disk.
    log : PartitionLog
        The partition as it was listed.
    """

    earliest: int
    visible_end: int
    end: int
    log: PartitionLog


class LogFollower:
    """Follows the partitions that the options choose.

    A partition that has not changed since the last look costs two system calls.

    Parameters
    ----------
    options : ReadOptions

    Attributes
    ----------
    listed : Listing
        The last listing.
    warnings : dict of str
        The warnings of the last listing, as keys in their order.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._relisting = Relisting(options.paths, options.wants, options.follow_symlinks)
        self._seen: dict[TopicPartition, tuple[object, Extent]] = {}
        self._known: dict[TopicPartition, list[KnownTransactions]] = {}
        self.listed = Listing((), (), ())
        self.warnings: dict[str, None] = {}

    def listing(self, least: Mapping[TopicPartition, int]) -> Listing:
        """List the partitions, with only those segments that may hold offsets from `least` on.

        Raises
        ------
        LogDirError, UnsupportedFormatError
        OptionError
            If a path is a segment outside any ``topic-partition`` directory, whose offset a stream cannot store.
        """
        # With read_committed all segments are needed: an open transaction may have begun in any of them.
        narrow = {} if self._options.isolation_level == "read_committed" else least
        listing = self._relisting.list(narrow)
        listing = replace(listing, partitions=read_by_view(self._options, listing.partitions))
        for log in listing.partitions:
            if log.topic is None:
                raise OptionError(
                    "a stream stores offsets by topic and partition, but this segment has neither",
                    found=log.path,
                    expected="segments in a directory named topic-partition",
                    remedy="Read it with spark.read instead of spark.readStream",
                )
        self.listed, self.warnings = listing, dict.fromkeys(listing.warnings)
        return listing

    def look(self, least: Mapping[TopicPartition, int]) -> dict[TopicPartition, Extent]:
        """The extents of all partitions that have a segment now.

        Parameters
        ----------
        least : mapping
            Offsets below these are not needed.
        """
        seen = until_files_stay(lambda: self._look(least), self._options.paths)
        self._seen = seen
        return {place: extent for place, (_, extent) in seen.items()}

    def _look(self, least: Mapping[TopicPartition, int]) -> dict[TopicPartition, tuple[object, Extent]]:
        found: dict[TopicPartition, tuple[object, Extent]] = {}
        for log in self.listing(least).partitions:
            if log.topic is None or log.partition is None or not log.segments:
                continue
            place, state = (log.topic, log.partition), _state(log)
            known = self._seen.get(place)
            found[place] = known if known is not None and known[0] == state else (state, self._extent(log))
        return found

    def known_transactions(self, place: TopicPartition, low: int) -> KnownTransactions | None:
        """The open transactions at the highest known offset of at most `low`; those at lower offsets are dropped."""
        known = self._known.get(place, [])
        while len(known) > 1 and known[1].offset <= low:
            del known[0]
        return known[0] if known and known[0].offset <= low else None

    def _last_stable_offset(self, place: TopicPartition, offsets: PartitionOffsets, visible_end: int) -> int:
        known = self._known.setdefault(place, [])
        if known and (known[-1].offset > offsets.end or self._is_replaced(place, offsets.log)):
            known.clear()
        followed = from_headers(offsets, self._options, visible_end, known=known[-1] if known else None)
        self.warnings.update(dict.fromkeys(followed.history.warnings))
        if followed.reached is not None:
            known.append(followed.reached)
            # The first one serves the plan of what has not been read yet, the last ones serve the next looks.
            del known[1 : -_MOST_KNOWN + 1]
        return followed.last_stable_offset

    def _is_replaced(self, place: TopicPartition, log: PartitionLog) -> bool:
        """Whether the former last segment was replaced by another file."""
        if place not in self._seen:
            return False
        before = self._seen[place][1].log.segments[-1]
        return any(each.path == before.path and each.inode != before.inode for each in log.segments)

    def _extent(self, log: PartitionLog) -> Extent:
        options = self._options
        offsets = PartitionOffsets(log, options.include_deleted)
        # The end after any damage, so that the stream reads on, or reports the damage, instead of waiting before it.
        end = max(offsets.earliest, offsets.end_behind_damage())
        visible_end = end
        if options.read_up_to == "highWatermark" and log.high_watermark is not None:
            visible_end = min(end, log.high_watermark)
        if options.isolation_level == "read_committed" and not log.segments[0].is_07:
            place: TopicPartition = (log.topic, log.partition)  # type: ignore[assignment]
            visible_end = min(visible_end, self._last_stable_offset(place, offsets, visible_end))
        return Extent(offsets.earliest, visible_end, end, log)


def _state(log: PartitionLog) -> object:
    """A value that changes whenever the offsets of a partition do."""
    last = log.segments[-1]
    return (
        log.segments[0].base_offset,
        log.log_start_offset,
        log.high_watermark,
        (last.path, last.size, last.mtime_ns, last.inode),
    )
