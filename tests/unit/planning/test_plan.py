"""What is planned: which segments, cut where, packed how, and what the report says of it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.errors import DataLossError
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.planning.plan import plan_read
from tests.builders import Batch, Record, encode, offset_index, partition_dir, write_segment
from tests.comparing import scan_rows


def segment(base: int, batches: int, size: int = 1000) -> list[Batch]:
    return [Batch([Record(value=bytes(size))], base_offset=base + i) for i in range(batches)]


def plan(path: Path, **options: Any) -> list[list[tuple[int, int]]]:
    """The splits as lists of (start, end)."""
    splits = plan_read(parse_options(options, [str(path)])).splits
    return [[(each.span.start, each.span.end) for each in split.ranges] for split in splits]


def test_a_thousand_small_partitions_are_packed_and_stay_in_order(tmp_path: Path) -> None:
    for partition in range(1000):
        write_segment(partition_dir(tmp_path, partition=partition), segment(0, 1, 10))
    splits = kafkalog_source.scan(tmp_path).splits()
    assert len(splits) <= 40
    assert [each.partition for split in splits for each in split.ranges] == list(range(1000))
    assert len(kafkalog_source.scan(tmp_path, openCostInBytes=0).splits()) == 1


def test_segments_of_a_partition_are_read_in_the_order_of_their_offsets(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    for base in (200, 0, 1000, 30):
        write_segment(directory, segment(base, 3), base_offset=base)
    wanted = [(base + i,) for base in (0, 30, 200, 1000) for i in range(3)]
    for options in ({}, {"maxPartitionBytes": 1}, {"minPartitions": 7}, {"threads": 3, "maxPartitionBytes": 1500}):
        assert scan_rows(directory, ["offset"], failOnDataLoss=False, **options) == wanted


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("target", [1, 1000, 1100, 5000, 10**6])
def test_pieces_cover_the_segment_without_gaps_and_are_no_larger_than_asked(
    tmp_path: Path, target: int, indexed: bool
) -> None:
    batches = segment(0, 40)
    size = len(encode(batches[:1]))
    index = offset_index([(i, i * size) for i in range(3, 40, 5)]) if indexed else None
    log = write_segment(partition_dir(tmp_path), batches, index=index)
    pieces = [piece for split in plan(tmp_path, maxPartitionBytes=target, openCostInBytes=0) for piece in split]
    starts = [start for start, _ in pieces]
    assert starts == [0, *(end for _, end in pieces[:-1])]
    assert pieces[-1][1] == log.stat().st_size
    assert all(end - start <= max(target, size) for start, end in pieces)


@pytest.mark.parametrize("wanted", [1, 2, 3, 7, 40])
def test_there_are_as_many_splits_as_asked_for_if_batches_allow(tmp_path: Path, wanted: int) -> None:
    write_segment(partition_dir(tmp_path), segment(0, 40))
    found = plan(tmp_path, minPartitions=wanted)
    assert wanted <= len(found) <= 40


def test_there_are_no_more_splits_than_batches(tmp_path: Path) -> None:
    write_segment(partition_dir(tmp_path), segment(0, 5))
    assert len(plan(tmp_path, minPartitions=100)) == 5


def test_an_empty_log_has_no_splits(tmp_path: Path) -> None:
    write_segment(partition_dir(tmp_path), b"")
    assert plan(tmp_path) == []
    assert plan(tmp_path, minPartitions=5) == []
    assert plan(tmp_path, maxRecordsPerPartition=5) == []


def test_only_the_segments_of_the_range_are_planned(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    for base in range(0, 100, 10):
        write_segment(directory, segment(base, 10), base_offset=base)
    bounds = {"startingOffsets": {"topic": {0: 35}}, "endingOffsets": {"topic": {0: 52}}}
    splits = kafkalog_source.scan(directory, **bounds).splits()
    names = [Path(each.path).name for split in splits for each in split.ranges]
    assert names == [f"{base:020d}.log" for base in (30, 40, 50)]


def test_splits_travel_and_hold_no_option(tmp_path: Path) -> None:
    write_segment(partition_dir(tmp_path), segment(0, 40))
    splits = kafkalog_source.scan(tmp_path, maxPartitionBytes=2000).splits()
    assert pickle.loads(pickle.dumps(splits)) == splits
    assert max(len(pickle.dumps(split)) for split in splits) < 1500


def test_the_report_counts_what_was_chosen_and_read(tmp_path: Path) -> None:
    for topic in ("a", "b"):
        for partition in range(2):
            directory = partition_dir(tmp_path, topic, partition)
            write_segment(directory, segment(0, 5))
            write_segment(directory, segment(5, 5), base_offset=5)
    total = sum(path.stat().st_size for path in tmp_path.rglob("*.log"))
    scan = kafkalog_source.scan(tmp_path, columns=["offset"])
    planned = scan.report()
    assert (planned["records"], planned["batches"], planned["bytes_read"]) == (0, 0, 0)
    for _ in range(2):
        assert scan.to_table().num_rows == 40
        report = scan.report()
        chosen = [report[name] for name in ("topics", "partitions", "segments", "records", "batches")]
        assert chosen == [2, 4, 8, 40, 40]
        assert report["bytes_total"] == report["bytes_read"] == total
        assert report["damage"] == report["warnings"] == []
        assert report["minor_faults"] >= 0


def test_the_report_of_a_part_counts_the_part(tmp_path: Path) -> None:
    for topic in ("a", "b"):
        write_segment(partition_dir(tmp_path, topic), segment(0, 5))
    scan = kafkalog_source.scan(tmp_path, subscribe="b")
    assert scan.to_table().num_rows == 5
    assert (scan.report()["topics"], scan.report()["segments"]) == (1, 1)


CHANGES = {
    "cut": lambda log: log.write_bytes(log.read_bytes()[:-1]),
    "emptied": lambda log: log.write_bytes(b""),
    "replaced": lambda log: (log.with_name("new").write_bytes(log.read_bytes()), log.with_name("new").rename(log)),
    "removed": lambda log: log.unlink(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changed_since_planning_is_data_loss(tmp_path: Path, change: str) -> None:
    from kafkalog_source.reading.read import read_split

    log = write_segment(partition_dir(tmp_path), segment(0, 5))
    options = parse_options({}, [str(tmp_path)])
    (split,) = plan_read(options).splits
    CHANGES[change](log)
    with pytest.raises(DataLossError) as caught:
        list(read_split(split, options, ["offset"]))
    assert caught.value.file == str(log)
    assert caught.value.remedy is not None


def test_a_file_that_grew_since_planning_is_read_as_planned(tmp_path: Path) -> None:
    from kafkalog_source.reading.read import read_split

    log = write_segment(partition_dir(tmp_path), segment(0, 5))
    options = parse_options({}, [str(tmp_path)])
    (split,) = plan_read(options).splits
    with log.open("ab") as file:
        file.write(encode(segment(5, 5)))
    assert sum(batch.num_rows for batch in read_split(split, options, ["offset"])) == 5


def test_a_file_that_is_cut_while_it_is_read_is_data_loss(tmp_path: Path) -> None:
    log = write_segment(partition_dir(tmp_path), segment(0, 500, 20_000))
    reader = kafkalog_source.scan(log, threads=1).to_reader()
    reader.read_next_batch()
    log.write_bytes(log.read_bytes()[: 5 << 20])
    with pytest.raises(DataLossError, match="shorter"):
        reader.read_all()
