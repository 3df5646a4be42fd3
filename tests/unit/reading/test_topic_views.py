"""The views of Kafka's own topics, from options to rows: what is read, how, and what damage becomes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.arrow.types import column_types
from kafkalog_source.columns import CORRUPT_RECORD, VIEWS
from kafkalog_source.errors import CorruptBatchError, OptionError
from kafkalog_source.internal_topics.columns import TOPICS, view_types
from tests.builders import Batch, Record, encode, partition_dir, write_segment

FixtureCase = Callable[[str], Path]
GROUP, TOPIC = b"g", b"orders"


def commit_key(partition: int = 0) -> bytes:
    return b"\0\1\0\1" + GROUP + b"\0\6" + TOPIC + partition.to_bytes(4, "big")


def commit_value(offset: int) -> bytes:
    return b"\0\3" + offset.to_bytes(8, "big") + b"\xff" * 4 + b"\0\0" + (1_700_000_000_000).to_bytes(8, "big")


def commit(offset: int, base_offset: int, **more: Any) -> Batch:
    return Batch([Record(key=commit_key(), value=commit_value(offset))], base_offset=base_offset, **more)


def rows(path: Path, view: str = "consumer_offsets", **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = kafkalog_source.scan(path, view=view, **options).to_table().to_pylist()
    return found


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    """Give a log dir with commits of one group, and a topic of somebody's records."""
    write_segment(partition_dir(tmp_path, "__consumer_offsets", 7), [commit(5 * i, i) for i in range(4)])
    write_segment(partition_dir(tmp_path, "orders"), [Batch([Record(key=commit_key(), value=commit_value(99))])])
    return tmp_path


@pytest.mark.parametrize("view", TOPICS)
def test_the_columns_are_those_that_the_decoder_makes(view: str) -> None:
    declared = {name: kind for name, kind in column_types(view).items() if name != CORRUPT_RECORD}
    made = view_types(view)
    assert list(declared) == list(made)
    assert {name: str(kind) for name, kind in declared.items()} == {name: str(kind) for name, kind in made.items()}
    assert VIEWS[view].topic == TOPICS[view]


def test_the_view_reads_its_topic_and_no_other(log_dir: Path) -> None:
    found = rows(log_dir)
    shown = ("topic", "partition", "offset", "group", "committedTopic", "committedPartition", "committedOffset")
    assert [tuple(row[name] for name in shown) for row in found] == [
        ("__consumer_offsets", 7, i, "g", "orders", 0, 5 * i) for i in range(4)
    ]
    assert rows(log_dir / "orders-0") == []
    assert rows(log_dir, "transaction_state") == []


@pytest.mark.parametrize(
    "options", [{"subscribe": "orders"}, {"subscribePattern": ".*"}, {"assign": {"orders": [0]}}], ids=str
)
def test_other_topics_are_refused(log_dir: Path, options: dict[str, object]) -> None:
    with pytest.raises(OptionError, match="reads the topic __consumer_offsets and no other"):
        rows(log_dir, **options)


def test_partitions_and_ranges_are_chosen_as_for_records(log_dir: Path) -> None:
    own = "__consumer_offsets"
    assert len(rows(log_dir, subscribe=own)) == 4
    assert len(rows(log_dir, assign={own: [7]}, startingOffsets={own: {7: 1}}, endingOffsets={own: {7: 3}})) == 2
    write_segment(partition_dir(log_dir, own, 8), [commit(1, 0)])
    assert [row["partition"] for row in rows(log_dir, assign={own: [8]})] == [8]


def test_a_projection_gives_the_named_columns_in_their_order(log_dir: Path) -> None:
    table = kafkalog_source.scan(log_dir, view="consumer_offsets", columns=["committedOffset", "file"]).to_table()
    assert table.schema.names == ["committedOffset", "file"]
    assert table["committedOffset"].to_pylist() == [0, 5, 10, 15]
    assert table["file"].to_pylist() == [str(log_dir / "__consumer_offsets-7" / f"{0:020d}.log")] * 4


def test_many_threads_and_splits_give_the_same_rows(log_dir: Path) -> None:
    wanted = rows(log_dir, threads=1)
    assert rows(log_dir, threads=3, maxPartitionBytes=1) == wanted


def test_a_bad_record_is_a_row_with_its_error(tmp_path: Path) -> None:
    content = [Batch([Record(key=b"\0", value=b""), Record(key=commit_key(), value=b"\0\3\0")])]
    write_segment(partition_dir(tmp_path, "__consumer_offsets"), content)
    first, second = rows(tmp_path)
    assert first["recordType"] is None
    assert first["decodeError"]
    assert (second["recordType"], second["group"], second["committedOffset"]) == ("OFFSET_COMMIT", "g", None)
    assert second["decodeError"]
    assert json.loads(second["keyJson"])["group"] == "g"


class TestDamage:
    @pytest.fixture
    def damaged(self, tmp_path: Path) -> Path:
        data = bytearray(encode([commit(5 * i, i) for i in range(4)]))
        data[len(encode([commit(0, 0)])) + 70] ^= 1
        write_segment(partition_dir(tmp_path, "__consumer_offsets"), bytes(data))
        return tmp_path

    def test_failfast(self, damaged: Path) -> None:
        with pytest.raises(CorruptBatchError):
            rows(damaged)

    def test_permissive_has_a_row_in_its_place(self, damaged: Path) -> None:
        found = rows(damaged, mode="PERMISSIVE")
        assert [row["committedOffset"] for row in found] == [0, None, 10, 15]
        bad = {name: value for name, value in found[1].items() if value is not None}
        assert json.loads(bad.pop(CORRUPT_RECORD))["first_offset"] == 1
        assert bad == {"topic": "__consumer_offsets", "partition": 0, "offset": 1}

    def test_dropmalformed_leaves_it_out(self, damaged: Path) -> None:
        with pytest.warns(kafkalog_source.DamageWarning):
            assert [row["offset"] for row in rows(damaged, mode="DROPMALFORMED")] == [0, 2, 3]


class TestRealBrokers:
    def test_an_aborted_commit_is_marked_and_never_committed(self, fixture_case: FixtureCase) -> None:
        log = fixture_case("groups-4.4") / "log"
        states = {row["transactionState"] for row in rows(log)}
        assert {"committed", "aborted"} <= states
        read = rows(log, isolationLevel="read_committed")
        assert {row["transactionState"] for row in read} == states - {"aborted"}

    def test_markers_are_rows_where_they_are_asked_for(self, fixture_case: FixtureCase) -> None:
        log = fixture_case("groups-4.4") / "log"
        kinds = {row["recordType"]: row["transactionState"] for row in rows(log, includeControlRecords=True)}
        assert (kinds["COMMIT"], kinds["ABORT"]) == (None, None)
        assert not {"COMMIT", "ABORT"} & {row["recordType"] for row in rows(log)}

    def test_the_log_and_the_snapshots_of_the_cluster(self, fixture_case: FixtureCase) -> None:
        found = rows(fixture_case("kraft-metadata-4.4") / "log", "cluster_metadata")
        assert {row["source"] for row in found} >= {"log", "snapshot"}
        assert {"LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER"} <= {row["recordType"] for row in found}
        snapshots = {row["snapshotOffset"] for row in found if row["source"] == "snapshot"}
        assert all(isinstance(offset, int) for offset in snapshots)

    def test_secrets_are_shown_only_where_asked_for(self, fixture_case: FixtureCase) -> None:
        log = fixture_case("kraft-metadata-4.4") / "log"
        scram = [row for row in rows(log, "cluster_metadata") if row["recordType"] == "USER_SCRAM_CREDENTIAL_RECORD"]
        shown = [
            row
            for row in rows(log, "cluster_metadata", includeSecrets=True)
            if row["recordType"] == "USER_SCRAM_CREDENTIAL_RECORD"
        ]
        assert scram
        for hidden, plain in zip(scram, shown, strict=True):
            assert json.loads(hidden["valueJson"])["salt"] == "(redacted)"
            assert hidden["value"] is None
            assert plain["value"] is not None
            assert json.loads(plain["valueJson"])["salt"] != "(redacted)"
