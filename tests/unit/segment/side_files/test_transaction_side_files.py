"""What is believed of ``.txnindex`` and ``.snapshot`` files, and what is said of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_source.segment.side_files.producer_snapshot import read_producer_snapshot
from kafkalog_source.segment.side_files.txn_index import AbortedTransaction, read_txn_index
from tests.builders.transactions import producer_snapshot, txn_index

RIGHT = [(7, 100, 110, 105), (8, 105, 120, 121)]


def txn_index_at(path: Path, content: bytes) -> tuple[tuple[AbortedTransaction, ...] | None, str | None]:
    path.write_bytes(content)
    return read_txn_index(str(path), 100, 200)


def test_the_entries_of_a_txn_index(tmp_path: Path) -> None:
    entries, warning = txn_index_at(tmp_path / "x.txnindex", txn_index(RIGHT))
    assert warning is None
    assert entries == tuple(AbortedTransaction(*entry) for entry in RIGHT)


def test_a_transaction_may_have_begun_in_an_earlier_segment(tmp_path: Path) -> None:
    entries, _ = txn_index_at(tmp_path / "x.txnindex", txn_index([(7, 3, 110, 50)]))
    assert entries is not None


def test_an_empty_txn_index_has_no_entries(tmp_path: Path) -> None:
    assert txn_index_at(tmp_path / "x.txnindex", b"") == ((), None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (txn_index(RIGHT)[:-1], "not a whole number of entries"),
        (txn_index(RIGHT, version=1), "entry 0 has version 1, expected 0"),
        (txn_index([(7, 110, 110, 105)]), "entry 0 has invalid offsets 110 to 110, expected an end from 100 to"),
        (txn_index([(7, -1, 110, 105)]), "entry 0 has invalid offsets -1 to 110"),
        (txn_index([(7, 50, 99, 60)]), "entry 0 has invalid offsets 50 to 99"),
        (txn_index([(7, 100, 200, 105)]), "entry 0 has invalid offsets 100 to 200"),
        (txn_index([RIGHT[1], RIGHT[0]]), "entry 1 has invalid offsets"),
        (txn_index([(7, 100, 110, 110 + (1 << 31))]), "entry 0 is inconsistent: producer id "),
        (txn_index([(7, 100, 110, -1)]), "entry 0 is inconsistent: producer id "),
        (txn_index([(-1, 100, 110, 105)]), "entry 0 is inconsistent: producer id "),
        (bytes(34), "entry 0 has invalid offsets 0 to 0"),
    ],
)
def test_a_txn_index_that_cannot_be_true_is_not_used_and_told(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000100.txnindex"
    entries, warning = txn_index_at(path, content)
    assert entries is None
    assert warning is not None
    assert said in warning
    assert path.name in warning


def test_side_files_that_cannot_be_read_are_not_used(tmp_path: Path) -> None:
    for found, warning in (
        read_txn_index(str(tmp_path), 0, 10),
        read_producer_snapshot(str(tmp_path / "absent.snapshot"), 10),
    ):
        assert found is None
        assert warning is not None


def test_a_side_file_larger_than_any_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x.txnindex"
    with path.open("wb") as file:
        file.truncate(34 << 30)
    entries, warning = read_txn_index(str(path), 0, 10)
    assert entries is None
    assert str(34 << 30) in (warning or "")


def snapshot_at(path: Path, content: bytes) -> tuple[tuple[tuple[int, int], ...] | None, str | None]:
    path.write_bytes(content)
    return read_producer_snapshot(str(path), 100)


def test_a_snapshot_tells_the_open_transactions(tmp_path: Path) -> None:
    content = producer_snapshot({9: 40, 2: 99}, others=[5, 6])
    assert snapshot_at(tmp_path / "x.snapshot", content) == (((2, 99), (9, 40)), None)


def test_a_snapshot_without_producers(tmp_path: Path) -> None:
    assert snapshot_at(tmp_path / "x.snapshot", producer_snapshot({})) == ((), None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "its size of 0 bytes is below the header's 10"),
        (producer_snapshot({2: 40}, version=2), "it has version 2, expected 1"),
        (producer_snapshot({2: 40})[:-1], "its checksum is wrong: stored CRC 0x"),
        (producer_snapshot({2: 40}) + b"x", "its checksum is wrong: stored CRC 0x"),
        (producer_snapshot({2: 100}), "the transaction of producer 2 from offset 100 on is invalid"),
    ],
)
def test_a_snapshot_that_cannot_be_true_is_not_used_and_told(content: bytes, said: str, tmp_path: Path) -> None:
    begun, warning = snapshot_at(tmp_path / "00000000000000000100.snapshot", content)
    assert begun is None
    assert said in (warning or "")


@pytest.mark.parametrize("bit", range(0, 8 * len(producer_snapshot({2: 40})), 5))
def test_no_bit_of_a_snapshot_is_believed_when_it_is_wrong(bit: int, tmp_path: Path) -> None:
    content = bytearray(producer_snapshot({2: 40}))
    content[bit // 8] ^= 1 << bit % 8
    begun, _ = snapshot_at(tmp_path / "x.snapshot", bytes(content))
    assert begun is None
