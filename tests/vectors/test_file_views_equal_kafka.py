"""``view=indexes`` and ``view=segments`` say what Kafka's own classes read from the files of real brokers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source import scan
from tests.data.cases import CASES
from tests.vectors.oracle import json_lines, oracle_segments
from tests.vectors.test_batches_equal_kafka import microseconds

FixtureCase = Callable[[str], Path]
Row = tuple[Any, ...]

# Cases whose files are damaged on purpose, or of Kafka 0.7, which has no indexes.
SOUND = [name for name in CASES if name not in ("corrupt", "side-files", "codec-variants", "log-0.7")]
TYPES = {"index": "offset", "timeindex": "time", "txnindex": "transaction"}


def roots(case: Path) -> list[Path]:
    return sorted((case / "log").glob("disk*")) or [case / "log"]


def rows(case: Path, view: str, *columns: str) -> list[Row]:
    """Rows of all topics, times as microseconds."""
    paths = [str(root) for root in roots(case)]
    table = scan(paths, view=view, columns=columns, subscribePattern=".*", includeDeleted=True).to_table()
    columns_of = [
        table[name].cast("int64") if str(table.schema.field(name).type).startswith("timestamp") else table[name]
        for name in columns
    ]
    return list(zip(*(column.to_pylist() for column in columns_of), strict=True))


def index_entries(case: Path) -> Iterator[Row]:
    """What Kafka reads from every live index of a case."""
    for root in roots(case):
        for path in sorted(root.glob("*-*/*index")):
            oracle = case / "oracle" / path.relative_to(case / "log").with_name(path.name + ".jsonl")
            kind = path.suffix[1:]
            if not re.fullmatch(r".+-\d+", path.parent.name) or not oracle.exists():
                continue
            for number, entry in enumerate(json_lines(oracle)):
                aborted = [entry.get(name) for name in ("producerId", "firstOffset", "lastOffset", "lastStableOffset")]
                time = microseconds(entry.get("timestamp"))
                yield str(path), TYPES[kind], number, entry.get("offset"), entry.get("position"), time, *aborted


@pytest.mark.parametrize("case", SOUND)
def test_every_index_entry(case: str, fixture_case: FixtureCase) -> None:
    directory = fixture_case(case)
    names = ("offset", "position", "timestamp", "producerId", "firstOffset", "lastOffset", "lastStableOffset")
    found = rows(directory, "indexes", "file", "indexType", "entry", *names)
    wanted = set(index_entries(directory))
    assert {row for row in found if row[0] in {each[0] for each in wanted}} == wanted
    assert len(found) == len(set(found))


@pytest.mark.parametrize("case", SOUND)
def test_every_segment(case: str, fixture_case: FixtureCase) -> None:
    directory = fixture_case(case)
    names = ("lastOffset", "validSize", "batchCount", "maxTimestamp", "isTransactional", "controlBatchCount", "size")
    found = {Path(file): rest for file, *rest in rows(directory, "segments", "file", *names)}
    wanted = {segment.log: segment.batches for segment in oracle_segments(directory)}
    assert found
    for path in found.keys() & wanted.keys():
        batches = wanted[path]
        times = [microseconds(each.max_timestamp) for each in batches]
        assert found[path] == [
            batches[-1].last_offset if batches else None,
            max((each.position + each.size for each in batches), default=0),
            len(batches),
            max((time for time in times if time is not None), default=None),
            any(each.is_transactional for each in batches),
            sum(each.is_control for each in batches),
            path.stat().st_size,
        ]


@pytest.mark.parametrize("case", [*SOUND, "side-files"])
def test_the_ends_of_a_segment_by_its_index_are_those_of_a_walk(case: str, fixture_case: FixtureCase) -> None:
    directory = fixture_case(case)
    names = ("file", "lastOffset", "nextOffset", "end", "firstTimestamp")
    walked = [row[:-1] for row in rows(directory, "segments", *names, "batchCount")]
    assert rows(directory, "segments", *names) == walked != []
