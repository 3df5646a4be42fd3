"""Where a replay goes on, and whether what a target holds is what the log says.

A target is believed only after it was compared: the records of origin up to the last one
that is there must be all that the log has up to that offset, with the same keys, values
and times. So neither a hole nor another cluster's topic of the same name goes unnoticed.
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
    """Tell what a target holds of the records that are to be replayed: all up to some offset.

    Parameters
    ----------
    records : DataFrame
        Of the log, with ``timestamp_ms``.
    target : DataFrame
        All that the target topics hold.
    extents : dict
        What the log holds of each partition.
    topics : mapping
        The target of each source topic.
    names : HeaderNames
        The headers of origin.

    Returns
    -------
    dict
        By source topic and partition; a partition of which the target holds nothing is not in it.

    Raises
    ------
    JobError
        If the target holds anything else, or holds records and lacks earlier ones.
    """
    own, others = found_records(target, topics, names)
    strangers = {
        (topic, number): count for topic, number, count in others.groupBy("topic", "partition").count().collect()
    }
    if strangers:
        held = counted(sum(strangers.values()), "record")
        raise JobError(
            f"the targets of {partition_names(sorted(strangers))} hold {held} that no replay of these topics wrote;"
            " choose an empty topic, or when_not_empty = append to write behind them"
        )
    found = digests(within(own, {place: (each.first, _NO_END) for place, each in extents.items()}))
    wanted = digests(within(records, {place: (extents[place].first, each.last + 1) for place, each in found.items()}))
    for place, each in found.items():
        _compare(place, each, wanted.get(place))
    return found


def check_complete(
    records: DataFrame, target: DataFrame, extents: Partitions, topics: Mapping[str, str], names: HeaderNames
) -> None:
    """Compare all that was to be replayed with what the target now holds, read back from the brokers.

    Raises
    ------
    JobError
        If a record is missing or is another one.
    """
    own, _ = found_records(target, topics, names)
    ranges = {place: (each.first, each.last + 1) for place, each in extents.items()}
    found, wanted = digests(within(own, ranges)), digests(within(records, ranges))
    for place, each in wanted.items():
        if place not in found:
            raise JobError(f"of {partition_names([place])} no record arrived")
        _compare(place, found[place], each)


def _compare(place: tuple[str, int], found: Found, wanted: Found | None) -> None:
    if found == wanted:
        return
    there, expected = found.count, 0 if wanted is None else wanted.count
    what = "other keys, values or times" if there == expected else f"{there} of {counted(expected, 'record')}"
    raise JobError(
        f"the target of {partition_names([place])} holds offsets {found.first} to {found.last} of it, and of these"
        f" {what} than the log; replay into an empty topic, since what is missing cannot be put in between"
    )
