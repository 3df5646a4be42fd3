"""Groups and partitions of the case groups-4.4, as Kafka's own classes read them, and lag by a plain loop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CASE = "groups-4.4"
Place = tuple[str, int]
Owner = tuple[str, str, int]
"""A group, and the topic and partition that it reads."""


@dataclass(frozen=True)
class Commit:
    """A commit, or the deletion of one (`committed` is None)."""

    owner: Owner
    time: int
    committed: int | None


@dataclass(frozen=True)
class Batch:
    """What a log grows by."""

    place: Place
    time: int
    end: int


def lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as text:
        yield from map(json.loads, text)


def batches_below(oracle: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each batch with the name of its partition directory, in the order of the log."""
    for file in sorted(oracle.glob("*/*.log.batches.jsonl")):
        for line in lines(file):
            yield file.parent.name, line


def batches_of(oracle: Path) -> list[Batch]:
    """Give the batches of topics that are not Kafka's own."""
    found = []
    for name, line in batches_below(oracle):
        topic, _, partition = name.rpartition("-")
        if not topic.startswith("__"):
            found.append(Batch((topic, int(partition)), line["maxTimestamp"], line["lastOffset"] + 1))
    return found


def commits_of(oracle: Path, records: Path) -> list[Commit]:
    """Give the commits that count, in the order of the log, without those of aborted and open transactions."""
    transactional = {
        (name, offset): line["producerId"]
        for name, line in batches_below(oracle)
        if line["isTransactional"] and not line["isControl"]
        for offset in range(line["baseOffset"], line["lastOffset"] + 1)
    }
    markers = {
        (name, line["baseOffset"]): line["producerId"] for name, line in batches_below(oracle) if line["isControl"]
    }
    found: list[Commit] = []
    pending: dict[tuple[str, int], list[int]] = {}
    dropped: set[int] = set()
    for line in lines(records):
        if line["topic"] != "__consumer_offsets":
            continue
        at = (line["file"].split("/")[1], line["offset"])
        if at in markers:
            ended = pending.pop((at[0], markers[at]), [])
            dropped.update(ended if line["recordType"] != "COMMIT" else [])
        elif line["recordType"] == "OFFSET_COMMIT":
            if at in transactional:
                pending.setdefault((at[0], transactional[at]), []).append(len(found))
            key, value = line["key"], line["value"]
            owner = (key["group"], key["topic"], key["partition"])
            found.append(Commit(owner, line["timestamp"], None if line["tombstone"] else value["offset"]))
    dropped.update(each for left in pending.values() for each in left)
    return [commit for number, commit in enumerate(found) if number not in dropped]


def lag_at(commits: list[Commit], batches: list[Batch], time: int) -> dict[Owner, tuple[int, int | None]]:
    """Give what each group had committed at a time, and the end of that log then; None if it was empty."""
    last = {commit.owner: commit.committed for commit in commits if commit.time <= time}
    return {
        owner: (committed, end_at(batches, owner[1:], time))
        for owner, committed in last.items()
        if committed is not None
    }


def end_at(batches: list[Batch], place: Place, time: int) -> int | None:
    return max((batch.end for batch in batches if batch.place == place and batch.time <= time), default=None)


def most_lag(commits: list[Commit], batches: list[Batch], low: int, high: int) -> dict[Owner, int]:
    """Give the greatest lag in [low, high) that is not 0, from what was committed before and after each moment."""
    most: dict[Owner, int] = {}
    moments = {each.time for each in (*commits, *batches) if low <= each.time < high} | {low, high - 1}
    for moment in sorted(moments):
        for then in (moment - 1, moment):
            for owner, (committed, _) in lag_at(commits, batches, then).items():
                end = end_at(batches, owner[1:], moment)
                if end is not None:
                    most[owner] = max(most.get(owner, 0), end - committed)
    return {owner: lag for owner, lag in most.items() if lag > 0}
