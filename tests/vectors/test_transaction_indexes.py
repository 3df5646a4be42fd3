"""Transaction indexes as brokers leave them after retention, and as followers write them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import kafkalog_source
from kafkalog_source.verifying import verify
from tests.builders.index_files import write_checkpoint

FixtureCase = Callable[[str], Path]


def segments(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.log"))


def without_first(partition: Path, target: Path, count: int = 1) -> Path:
    """A copy of a partition from which retention has taken the first segments."""
    directory = target / partition.name
    shutil.copytree(partition, directory)
    for segment in segments(directory)[:count]:
        for path in directory.glob(f"{segment.stem}.*"):
            path.unlink()
    topic, _, number = partition.name.rpartition("-")
    write_checkpoint(target / "log-start-offset-checkpoint", {(topic, int(number)): int(segments(directory)[0].stem)})
    return directory


def read(directory: Path) -> tuple[object, object, list[str]]:
    """What a committed read gives, the states of all transactions, and the warnings of both."""
    committed = kafkalog_source.scan(directory, columns=["offset", "value"], isolationLevel="read_committed")
    states = kafkalog_source.scan(directory, columns=["offset", "transactionState"], includeControlRecords=True)
    tables = committed.to_table().to_pydict(), states.to_table().to_pydict()
    return (*tables, committed.report()["warnings"] + states.report()["warnings"])


def check_read_as_by_headers(directory: Path) -> None:
    """The same rows with and without the files that say which transactions were aborted."""
    committed, states, warnings = read(directory)
    assert [each for each in warnings if ".txnindex" in each] == []
    for path in directory.glob("*.txnindex"):
        path.unlink()
    assert read(directory)[:2] == (committed, states)
    for path in directory.glob("*.snapshot"):
        path.unlink()
    assert read(directory)[:2] == (committed, states)


@pytest.mark.parametrize("name", ["tx-a-0", "tx-a-1", "tx-b-0"])
def test_retention_took_where_a_transaction_began(name: str, fixture_case: FixtureCase, tmp_path: Path) -> None:
    partition = fixture_case("txn-4.4") / "log" / name
    for count in range(1, len(segments(partition))):
        directory = without_first(partition, tmp_path / str(count), count)
        assert verify([str(directory.parent)]).all_findings == []
        check_read_as_by_headers(directory)


def test_a_follower_notes_what_began_after_the_marker(fixture_case: FixtureCase, tmp_path: Path) -> None:
    log = fixture_case("follower-txnindex") / "log"
    assert verify([str(log)]).all_findings == []
    partition = log / "t6-a-1"
    for count in range(len(segments(partition))):
        check_read_as_by_headers(without_first(partition, tmp_path / str(count), count))
