"""A stream over a directory that a broker writes to: every record once, whatever happens between two micro-batches."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source import DataLossError, LogDirError, OptionError
from kafkalog_source.columns import VIEWS
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.streaming.positions import from_json, to_json
from kafkalog_source.transactions.history import Followed, PartitionHistory, from_headers
from tests.builders import Batch, Record, end_marker, offset_index, partition_dir
from tests.unit.streaming.streaming import Query, append, some


def offsets(rows: list[tuple[str, int, int]] | None) -> list[int] | None:
    return None if rows is None else [row[2] for row in rows]


def test_a_stream_starts_at_the_earliest_offset_and_goes_on_with_what_is_new(tmp_path: Path) -> None:
    append(tmp_path, some(0, 3))
    query = Query(tmp_path)
    assert query.offsets == {"t": {"0": 0}}
    assert offsets(query.trigger()) == [0, 1, 2]
    assert query.offsets == {"t": {"0": 3}}
    assert query.trigger() is None
    append(tmp_path, some(3, 2))
    assert offsets(query.trigger()) == [3, 4]


def test_a_batch_that_is_half_written_is_waited_for(tmp_path: Path) -> None:
    path = append(tmp_path, some(0), some(1, 5))
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    query = Query(tmp_path)
    assert offsets(query.trigger()) == [0]
    assert query.trigger() is None
    with path.open("ab") as file:
        file.write(whole[-7:])
    assert offsets(query.trigger()) == [1, 2, 3, 4, 5]
    assert query.warnings == []


def test_zeros_of_a_preallocated_segment_become_batches_in_place(tmp_path: Path) -> None:
    path = append(tmp_path, some(0))
    used = path.stat().st_size
    with path.open("ab") as file:
        file.write(bytes(4096))
    query = Query(tmp_path)
    assert offsets(query.trigger()) == [0]
    with path.open("r+b") as file:
        file.seek(used)
        file.write(some(1).encode())
    assert offsets(query.trigger()) == [1]


def test_new_segments_and_new_partitions_and_topics_are_found(tmp_path: Path) -> None:
    append(tmp_path, some(0))
    query = Query(tmp_path)
    assert query.trigger() == [("t", 0, 0)]
    append(tmp_path, some(1), segment=1)
    append(tmp_path, some(0), partition=1)
    append(tmp_path, some(7), topic="u", segment=7)
    assert sorted(query.trigger() or []) == [("t", 0, 1), ("t", 1, 0), ("u", 0, 7)]
    assert query.offsets == {"t": {"0": 2, "1": 1}, "u": {"0": 8}}


def test_a_roll_is_found_after_directories_have_long_been_at_rest(tmp_path: Path) -> None:
    append(tmp_path, some(0))
    old = time.time() - 3600
    os.utime(tmp_path / "t-0", (old, old))
    query = Query(tmp_path)
    assert offsets(query.trigger()) == [0]
    append(tmp_path, some(1))
    append(tmp_path, some(2), segment=2)
    assert offsets(query.trigger()) == [1, 2]


def test_kafkas_own_topics_start_no_stream_unless_named(tmp_path: Path) -> None:
    append(tmp_path, some(0), topic="__consumer_offsets")
    append(tmp_path, some(0))
    assert Query(tmp_path).offsets == {"t": {"0": 0}}
    assert Query(tmp_path, {"subscribe": "__consumer_offsets"}).offsets == {"__consumer_offsets": {"0": 0}}


@pytest.mark.parametrize("given", ["latest", {"t": {"0": -1}}])
def test_latest_is_what_is_there_when_the_stream_starts(tmp_path: Path, given: object) -> None:
    append(tmp_path, some(0, 3))
    query = Query(tmp_path, {"startingOffsets": given})
    assert query.offsets == {"t": {"0": 3}}
    assert query.trigger() is None
    append(tmp_path, some(3))
    append(tmp_path, some(0), partition=1)
    assert query.trigger() == [("t", 0, 3), ("t", 1, 0)]  # A new partition starts at its earliest offset.


def test_offsets_and_times_to_start_at_are_those_of_a_batch_query(tmp_path: Path) -> None:
    append(tmp_path, *(some(i, base_timestamp=1000 * i) for i in range(5)))
    assert offsets(Query(tmp_path, {"startingOffsets": {"t": {"0": 3}}}).trigger()) == [3, 4]
    assert offsets(Query(tmp_path, {"startingTimestamp": 2000}).trigger()) == [2, 3, 4]
    with pytest.raises(OptionError, match="no record of t-0 is at or after"):
        Query(tmp_path, {"startingTimestamp": 9000})
    late = Query(tmp_path, {"startingTimestamp": 9000, "startingOffsetsByTimestampStrategy": "latest"})
    assert late.offsets == {"t": {"0": 5}}
    with pytest.raises(DataLossError):
        Query(tmp_path, {"startingOffsets": {"t": {"0": 99}}})


def test_a_topic_that_is_not_there_yet_is_an_error_or_waited_for(tmp_path: Path) -> None:
    append(tmp_path, some(0), topic="other")
    with pytest.raises(LogDirError, match="not found: t"):
        Query(tmp_path, {"subscribe": "t"})
    query = Query(tmp_path, {"subscribe": "t", "failOnDataLoss": False})
    assert query.trigger() is None
    assert len(query.warnings) == 1
    assert "not found: t" in query.warnings[0]
    append(tmp_path, some(0))
    assert offsets(query.trigger()) == [0]


STREAMED = ("records", "consumer_offsets", "transaction_state", "share_group_state", "remote_log_metadata")
WITHOUT_STREAM = [view for view in VIEWS if view not in STREAMED]


@pytest.mark.parametrize("view", STREAMED[1:])
def test_a_view_of_one_of_kafkas_topics_is_followed_and_reads_no_other(tmp_path: Path, view: str) -> None:
    topic = f"__{view}"
    for name in (topic, "other"):
        append(tmp_path, some(0), topic=name)
    query = Query(tmp_path, {"view": view})
    assert query.trigger() == [(topic, 0, 0)]
    append(tmp_path, some(1), topic=topic)
    append(tmp_path, some(1), topic="other")
    assert query.trigger() == [(topic, 0, 1)]
    assert Query(tmp_path / f"{topic}-0", {"view": view}).trigger() == [(topic, 0, 0), (topic, 0, 1)]
    assert Query(tmp_path / "other-0", {"view": view}).trigger() is None


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"endingOffsets": "latest"}, "endingOffsets cannot be used in a stream"),
        ({"endingTimestamp": 5}, "endingTimestamp cannot be used in a stream"),
        *[({"view": view}, f"view={view} cannot be used in a stream.*consumer_offsets") for view in WITHOUT_STREAM],
        ({"mode": "RECOVER"}, "mode=RECOVER cannot be used in a stream"),
    ],
)
def test_what_makes_no_sense_without_an_end_is_refused(options: dict[str, object], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        parse_options(options, ["/logs"], streaming=True)


def test_a_segment_of_no_topic_cannot_be_followed(tmp_path: Path) -> None:
    path = tmp_path / f"{0:020d}.log"
    path.write_bytes(some(0).encode())
    with pytest.raises(OptionError, match="a stream stores offsets by topic and partition"):
        Query(path)


@pytest.mark.parametrize("checkpoint", ['{"sources": 3}', '{"t": [1]}', "[]"])
def test_a_checkpoint_of_another_source_is_an_error(tmp_path: Path, checkpoint: str) -> None:
    append(tmp_path, some(0))
    with pytest.raises(OptionError, match="the checkpoint holds no offsets"):
        Query(tmp_path, checkpoint=checkpoint).trigger()


def test_equal_positions_have_equal_texts() -> None:
    positions = {("b", 10): 1, ("b", 9): 2, ("a", 0): 3}
    assert list(to_json(positions)["b"]) == ["9", "10"]
    assert from_json(to_json(dict(reversed(positions.items())))) == positions


# What a broker does between two micro-batches.


def test_compaction_behind_and_before_the_stream_moves_nothing(tmp_path: Path) -> None:
    for base in (0, 4, 8):
        append(tmp_path, *(some(base + i) for i in range(4)), segment=base)
    query = Query(tmp_path, {"maxOffsetsPerTrigger": 6})
    assert offsets(query.trigger()) == [0, 1, 2, 3, 4, 5]
    (tmp_path / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 8\n")
    directory = partition_dir(tmp_path, "t")
    (directory / f"{4:020d}.log").rename(directory / f"{4:020d}.log.deleted")
    (directory / f"{0:020d}.log").write_bytes(some(1).encode() + some(7).encode())
    assert offsets(query.trigger()) == [7, 8, 9, 10, 11][:5]
    assert query.trigger() is None


@pytest.mark.parametrize("fail", [True, False])
def test_compaction_inside_of_a_micro_batch_costs_what_it_costs_a_consumer(tmp_path: Path, fail: bool) -> None:
    (tmp_path / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 8\n")
    first = append(tmp_path, some(0, 4))
    second = append(tmp_path, some(4, 4), segment=4)
    append(tmp_path, some(8, 2), segment=8)

    def compact() -> None:
        other = tmp_path / "cleaned"
        other.write_bytes(some(1, 1).encode() + some(6, 2).encode())
        other.replace(first)
        second.unlink()

    query = Query(tmp_path, {"failOnDataLoss": fail}, meanwhile=compact)
    assert offsets(query.trigger()) == [1, 6, 7, 8, 9]
    assert query.trigger() is None
    assert [each for each in query.warnings if "compacted" not in each] == []


def test_segments_deleted_before_they_were_read_are_data_loss(tmp_path: Path) -> None:
    for base in (0, 2, 4):
        append(tmp_path, some(base, 2), segment=base)
    checkpoint = Query(tmp_path, {"maxOffsetsPerTrigger": 1})
    assert offsets(checkpoint.trigger()) == [0]
    (partition_dir(tmp_path, "t") / f"{0:020d}.log").unlink()
    (partition_dir(tmp_path, "t") / f"{2:020d}.log").unlink()
    with pytest.raises(DataLossError, match="t-0: offsets 1 to 3 were removed before they were read") as error:
        Query(tmp_path, {}, checkpoint.checkpoint).trigger()
    assert "failOnDataLoss=false" in str(error.value)
    query = Query(tmp_path, {"failOnDataLoss": False}, checkpoint.checkpoint)
    assert offsets(query.trigger()) == [4, 5]
    assert len(query.warnings) == 1


def test_a_log_start_that_moved_on_is_data_loss(tmp_path: Path) -> None:
    append(tmp_path, some(0, 6))
    query = Query(tmp_path, {"maxOffsetsPerTrigger": 1, "failOnDataLoss": False})
    assert offsets(query.trigger()) == [0]
    (tmp_path / "log-start-offset-checkpoint").write_text("0\n1\nt 0 4\n")
    query = Query(tmp_path, {"failOnDataLoss": False}, query.checkpoint)
    assert offsets(query.trigger()) == [4, 5]
    assert "t-0: offsets 1 to 3 were deleted before they were read" in query.warnings[-1]


def test_a_partition_that_is_gone_keeps_its_place(tmp_path: Path) -> None:
    append(tmp_path, some(0, 2))
    append(tmp_path, some(0, 2), topic="u")
    query = Query(tmp_path, {"failOnDataLoss": False})
    assert len(query.trigger() or []) == 4
    (tmp_path / "u-0").rename(tmp_path / "away")
    append(tmp_path, some(2))
    with pytest.raises(DataLossError, match="u-0 no longer exists"):
        Query(tmp_path, {}, query.checkpoint).trigger()
    assert query.trigger() == [("t", 0, 2)]
    (tmp_path / "away").rename(tmp_path / "u-0")
    append(tmp_path, some(2), topic="u")
    assert query.trigger() == [("u", 0, 2)]
    assert [("u-0 no longer exists" in each) for each in query.warnings] == [True]


def test_a_log_that_is_shorter_than_it_was_is_data_loss(tmp_path: Path) -> None:
    path = append(tmp_path, some(0), some(1), some(2))
    query = Query(tmp_path, {"failOnDataLoss": False})
    query.trigger()
    path.write_bytes(some(0).encode())
    with pytest.raises(DataLossError, match="t-0 ends at offset 1, but the stream has read up to 3"):
        Query(tmp_path, {}, query.checkpoint).trigger()
    assert query.trigger() == []
    append(tmp_path, some(1))
    assert offsets(query.trigger()) == [1]


def test_a_micro_batch_that_is_planned_again_has_the_same_rows(tmp_path: Path) -> None:
    append(tmp_path, some(0, 4))
    query = Query(tmp_path)
    start = from_json(query.offsets)
    end = query.stream.latest(start)
    append(tmp_path, some(4, 4))
    append(tmp_path, some(8), segment=8)
    again = Query(tmp_path, {}, query.checkpoint)
    assert offsets(again.rows(start, end, "offset")) == [0, 1, 2, 3]


# Bounds of a micro-batch.


def test_offsets_are_shared_out_in_proportion_to_what_is_new(tmp_path: Path) -> None:
    append(tmp_path, *(some(i) for i in range(90)))
    append(tmp_path, *(some(i) for i in range(10)), partition=1)
    query = Query(tmp_path, {"maxOffsetsPerTrigger": 20})
    query.trigger()
    assert query.offsets == {"t": {"0": 18, "1": 2}}
    assert sum(len(rows) for rows in query.to_end()) == 80


def test_a_bound_in_the_middle_of_a_batch_holds(tmp_path: Path) -> None:
    append(tmp_path, some(0, 10, codec="zstd"))
    assert [len(rows) for rows in Query(tmp_path, {"maxOffsetsPerTrigger": 4}).to_end()] == [4, 4, 2]


def test_bytes_bound_a_micro_batch_at_a_batch_and_every_one_makes_progress(tmp_path: Path) -> None:
    size = len(some(0, 10).encode())
    for base in (0, 200):
        append(tmp_path, *(some(base + 10 * i, 10) for i in range(20)), segment=base)
    batches = Query(tmp_path, {"maxBytesPerTrigger": 5 * size}).to_end()
    assert [len(rows) for rows in batches] == [50] * 8
    assert [len(rows) for rows in Query(tmp_path, {"maxBytesPerTrigger": 1}).to_end()] == [10] * 40
    both = Query(tmp_path, {"maxBytesPerTrigger": 5 * size, "maxOffsetsPerTrigger": 7}).to_end()
    assert {len(rows) for rows in both[:-1]} == {7}


def test_too_little_is_waited_for_and_not_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("kafkalog_source.streaming.stream.time.monotonic", lambda: now)
    append(tmp_path, some(0, 2))
    query = Query(tmp_path, {"minOffsetsPerTrigger": 5, "maxTriggerDelay": "60s"})
    assert offsets(query.trigger()) == [0, 1]  # The first one never waits, as in Spark's Kafka source.
    append(tmp_path, some(2, 2))
    assert query.trigger() is None
    assert query.stream.newest() == {("t", 0): 4}
    now += 59
    assert query.trigger() is None
    now += 1
    assert offsets(query.trigger()) == [2, 3]
    append(tmp_path, some(4, 5))
    assert offsets(query.trigger()) == [4, 5, 6, 7, 8]


def test_available_now_ends_at_what_was_there_when_it_began_and_after_a_restart_at_what_was_there_then(
    tmp_path: Path,
) -> None:
    append(tmp_path, *(some(i) for i in range(10)))
    options = {"maxOffsetsPerTrigger": 4, "minOffsetsPerTrigger": 3}
    query = Query(tmp_path, options, available_now=True)
    assert offsets(query.trigger()) == [0, 1, 2, 3]
    append(tmp_path, some(10), some(11))
    append(tmp_path, some(0), partition=1)
    assert [offsets(rows) for rows in query.to_end()] == [[4, 5, 6, 7], [8, 9]]
    assert query.offsets == {"t": {"0": 10}}
    again = query.restarted(available_now=True)
    assert sorted(row for rows in again.to_end() for row in rows) == [("t", 0, 10), ("t", 0, 11), ("t", 1, 0)]


# What may be read.


def transactional(base: int, producer: int) -> Batch:
    return Batch([Record()], base, transactional=True, producer_id=producer)


def marker(base: int, producer: int, *, commit: bool = True) -> Batch:
    return Batch([end_marker(commit=commit)], base, transactional=True, control=True, producer_id=producer)


def test_the_last_stable_offset_holds_a_stream_back(tmp_path: Path) -> None:
    append(tmp_path, some(0), transactional(1, 7), some(2))
    query = Query(tmp_path, {"isolationLevel": "read_committed"})
    assert offsets(query.trigger()) == [0]
    assert query.trigger() is None
    append(tmp_path, transactional(3, 8), marker(4, 7))
    assert offsets(query.trigger()) == [1, 2]
    append(tmp_path, marker(5, 8, commit=False), some(6))
    assert offsets(query.trigger()) == [6]
    assert query.offsets == {"t": {"0": 7}}


def test_a_stream_from_an_offset_waits_for_a_transaction_that_began_before_it(tmp_path: Path) -> None:
    append(tmp_path, transactional(0, 7), some(1))
    append(tmp_path, some(2), segment=2)
    query = Query(tmp_path, {"isolationLevel": "read_committed", "startingOffsets": {"t": {"0": 2}}})
    assert query.trigger() is None
    append(tmp_path, marker(3, 7), segment=2)
    assert offsets(query.trigger()) == [2]


def test_transactions_are_followed_from_where_they_were_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[PartitionHistory] = []

    def noting(*given: Any, **named: Any) -> Followed:
        followed = from_headers(*given, **named)
        looked_up.append(followed.history)
        return followed

    for module in ("streaming.log_follower", "planning.partition_plan"):
        monkeypatch.setattr(f"kafkalog_source.{module}.from_headers", noting)
    batches = [transactional(i, 7) for i in range(4000)]
    path = append(tmp_path, *batches)
    size = len(batches[0].encode())
    path.with_suffix(".index").write_bytes(offset_index([(i, i * size) for i in range(50, 4000, 50)]))
    query = Query(tmp_path, {"isolationLevel": "read_committed"})
    query.trigger()
    append(tmp_path, marker(4000, 7), some(4001))
    looked_up.clear()
    assert len(query.trigger() or []) == 4001
    append(tmp_path, transactional(4002, 7), marker(4003, 7, commit=False), some(4004))
    assert offsets(query.trigger()) == [4004]
    in_looks, in_plans = looked_up[::2], looked_up[1::2]
    assert len(in_looks) == len(in_plans) == 2
    assert all(each.bytes_read < 70_000 < path.stat().st_size for each in (*in_looks, in_plans[1]))


def test_the_high_watermark_holds_a_stream_back(tmp_path: Path) -> None:
    checkpoint = tmp_path / "replication-offset-checkpoint"
    append(tmp_path, *(some(i) for i in range(6)))
    checkpoint.write_text("0\n1\nt 0 2\n")
    query = Query(tmp_path, {"readUpTo": "highWatermark"})
    assert offsets(query.trigger()) == [0, 1]
    checkpoint.write_text("0\n1\nt 0 5\n")
    assert offsets(query.trigger()) == [2, 3, 4]


# Damage.


def damaged(base: int, count: int = 1) -> bytes:
    content = bytearray(some(base, count).encode())
    content[-1] ^= 1
    return bytes(content)


def test_damage_ends_a_stream_or_is_told_once(tmp_path: Path) -> None:
    path = append(tmp_path, some(0, 5))
    path.write_bytes(path.read_bytes() + damaged(5, 10) + some(15, 5).encode())
    with pytest.raises(Exception, match="checksum"):
        Query(tmp_path).to_end()
    for bound in (1, 3, 7, 100):
        options = {"mode": "PERMISSIVE", "maxOffsetsPerTrigger": bound}
        rows = [row for rows in Query(tmp_path, options).to_end("_corrupt_record") for row in rows]
        assert len([row for row in rows if row[2] is not None]) == 1
        assert len([row for row in rows if row[2] is None]) == 10
    dropped = Query(tmp_path, {"mode": "DROPMALFORMED"}).to_end()
    assert [offsets(rows) for rows in dropped] == [[0, 1, 2, 3, 4, 15, 16, 17, 18, 19]]


def test_damage_at_the_end_is_waited_for_until_something_follows(tmp_path: Path) -> None:
    path = append(tmp_path, some(0))
    with path.open("ab") as file:
        file.write(b"\x01nonsense" * 20)
    query = Query(tmp_path, {"mode": "PERMISSIVE"})
    assert [row[2] is None for row in query.trigger("_corrupt_record") or []] == [True]
    assert query.trigger("_corrupt_record") is None
    append(tmp_path, some(1))
    assert [row[2] is None for row in query.trigger("_corrupt_record") or []] == [False, True]
