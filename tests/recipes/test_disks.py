"""Where two log dirs part ways, on replicas that are built to part at a known offset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kafkalog_source import scan
from tests.builders import Batch, Message, Record, Wrapper, partition_dir, write_segment
from tests.recipes.page import RECIPES

BATCHES, EPOCHS = RECIPES["Where two disks part ways"], RECIPES["Where two disks part ways 2"]


def run(sizes: Sequence[int], first: int = 0, content: bytes = b"same", **fields: int) -> list[Batch]:
    """Give batches of these numbers of records, one after another."""
    starts = [first + sum(sizes[:at]) for at in range(len(sizes))]
    records = [[Record(value=b"%s %d" % (content, start))] * size for start, size in zip(starts, sizes, strict=True)]
    return [Batch(each, base_offset=start, **fields) for each, start in zip(records, starts, strict=True)]


def parting(one: Path, other: Path) -> list[tuple[object, ...]]:
    return BATCHES.ask(one=scan(one, view="batches"), other=scan(other, view="batches"))


def write(root: Path, batches: Sequence[Batch | Message | Wrapper], topic: str = "topic") -> Path:
    first = batches[0]
    base = first.base_offset if isinstance(first, Batch) else 0
    write_segment(partition_dir(root, topic), batches, base_offset=base)
    return root


COMMON = run([3, 1, 4])


@pytest.mark.parametrize(
    ("others", "parts"),
    [
        (COMMON, None),
        # Only shorter, or only longer, or without what retention removed.
        (COMMON[:2], None),
        ([*COMMON, *run([2], 8)], None),
        (COMMON[1:], None),
        # A follower that was told of a new leader epoch keeps the batch's checksum.
        ([*COMMON[:2], *run([4], 4, leader_epoch=1)], None),
        # Other records, in batches of the same bounds and of others, of which only one may be there.
        ([*COMMON[:2], *run([4], 4, b"other")], 4),
        ([*COMMON[:2], *run([1, 3], 4, b"other")], 4),
        ([*COMMON[:2], *run([2], 4, b"other")], 4),
        ([*COMMON[:2], *run([9], 4, b"other")], 4),
        (run([3, 1, 4], content=b"other"), 0),
        ([*COMMON[:1], *run([1], 3, b"other"), COMMON[2]], 3),
    ],
)
def test_where_they_part(tmp_path: Path, others: list[Batch], parts: int | None) -> None:
    one, other = write(tmp_path / "one", COMMON), write(tmp_path / "other", others)
    for left, right in ((one, other), (other, one)):
        assert [row[:3] for row in parting(left, right)] == ([] if parts is None else [("topic", 0, parts)])


def test_the_epochs_of_both(tmp_path: Path) -> None:
    one = write(tmp_path / "one", [*run([3], leader_epoch=2), *run([1, 1], 3, leader_epoch=3)])
    other = write(tmp_path / "other", [*run([3], leader_epoch=2), *run([1, 2], 3, b"other", leader_epoch=5)])
    assert parting(one, other) == [("topic", 0, 3, 3, 5)]


def test_messages_of_format_1_too(tmp_path: Path) -> None:
    def messages(value: bytes) -> list[Message | Wrapper]:
        return [Message(offset=0), Wrapper([Message(offset=1), Message(offset=2, value=value)], codec="gzip")]

    one, other = write(tmp_path / "one", messages(b"one")), write(tmp_path / "other", messages(b"other"))
    assert [row[:3] for row in parting(one, other)] == [("topic", 0, 2)]
    assert parting(one, one) == []


def test_partitions_that_only_one_has_are_left_out(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one", COMMON), write(tmp_path / "other", run([3], content=b"other"))
    write(one, COMMON, "alone")
    assert [row[0] for row in parting(one, other)] == ["topic"]


def test_leader_epochs(tmp_path: Path) -> None:
    logs = [tmp_path / "one", tmp_path / "other"]
    epochs = {"same": ["0 0\n4 9", "0 0\n4 9"], "moved": ["0 0\n1 5\n2 9", "0 0\n1 7\n3 9"], "alone": ["0 0", None]}
    for topic, texts in epochs.items():
        for log, text in zip(logs, texts, strict=True):
            if text is not None:
                write(log, COMMON, topic)
                checkpoint = log / f"{topic}-0" / "leader-epoch-checkpoint"
                checkpoint.write_text(f"0\n{text.count(chr(10)) + 1}\n{text}\n")
    one, other = (scan(log, view="checkpoints") for log in logs)
    assert EPOCHS.ask(one=one, other=other) == [
        ("moved", 0, 1, 5, 7),
        ("moved", 0, 2, 9, None),
        ("moved", 0, 3, None, 9),
    ]
