"""Where a replay resumes, and whether a target holds the same records as the log.

A replay resumes only after a comparison: up to its last replayed record, the target must
hold all records of the log, with the same keys, values and timestamps. This detects gaps,
and a topic of the same name from another cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkalog_source.errors import counted
from spark_jobs.common.run import JobError
from spark_jobs.replay.frame import Found, HeaderNames, digests, found_records, partition_names, within

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Partitions", "check_complete", "check_found"]

Partitions = dict[tuple[str, int], Found]
_NO_END = 2**63 - 1


def check_found(
    records: DataFrame, target: DataFrame, extents: Partitions, topics: Mapping[str, str], names: HeaderNames
) -> Partitions:
    """Return which records a target already holds: all up to some offset.

    Parameters
    ----------
    records : DataFrame
        Records of the log, with ``timestamp_ms``.
    target : DataFrame
        All records of the target topics.
    extents : dict
        The records of each partition in the log.
    topics : mapping
        The target of each source topic.
    names : HeaderNames
        The headers of origin.

    Returns
    -------
    dict
        By source topic and partition; without partitions of which the target holds nothing.

    Raises
    ------
    JobError
        If the target holds other records, or lacks earlier ones.
    """
    own, others = found_records(target, topics, names)
    strangers = {
        (topic, number): count for topic, number, count in others.groupBy("topic", "partition").count().collect()
    }
    if strangers:
        held = counted(sum(strangers.values()), "record")
        raise JobError(
            f"the targets of {partition_names(sorted(strangers))} hold {held} that no replay of these topics wrote;"
            " choose an empty topic, or set when_not_empty = append to write after them"
        )
    found = digests(within(own, {place: (each.first, _NO_END) for place, each in extents.items()}))
    wanted = digests(within(records, {place: (extents[place].first, each.last + 1) for place, each in found.items()}))
    for place, each in found.items():
        _compare(place, each, wanted.get(place))
    return found


def check_complete(
    records: DataFrame, target: DataFrame, extents: Partitions, topics: Mapping[str, str], names: HeaderNames
) -> None:
    """Compare the records of the log with those of the target, read back from the brokers.

    Raises
    ------
    JobError
        If a record is missing or different.
    """
    own, _ = found_records(target, topics, names)
    ranges = {place: (each.first, each.last + 1) for place, each in extents.items()}
    found, wanted = digests(within(own, ranges)), digests(within(records, ranges))
    for place, each in wanted.items():
        if place not in found:
            raise JobError(f"no record of {partition_names([place])} arrived")
        _compare(place, found[place], each)


def _compare(place: tuple[str, int], found: Found, wanted: Found | None) -> None:
    if found == wanted:
        return
    there, expected = found.count, 0 if wanted is None else wanted.count
    what = "with other keys, values or timestamps" if there == expected else f"{there} of {counted(expected, 'record')}"
    raise JobError(
        f"the target of {partition_names([place])} holds offsets {found.first} to {found.last} of it, but not the"
        f" same records as the log: {what}; replay into an empty topic, since records cannot be inserted"
    )
