"""``mode=RECOVER``: partitions as a broker would leave them that starts after a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.errors import CodecError, CorruptBatchError, DamageWarning, KafkaLogError
from tests.builders import Batch, Message, Record, encode, end_marker, offset_index, partition_dir, write_segment

SMALL = [Batch(base_offset=i) for i in range(60)]
SIZE = len(encode(SMALL[:1]))
LATER = "a broker's recovery deletes this segment"

pytestmark = pytest.mark.filterwarnings("ignore::kafkalog_source.errors.DamageWarning")


def segment(number: int) -> bytes:
    return encode(SMALL[20 * number : 20 * number + 20])


def damaged(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def log_of(root: Path, *contents: bytes, indexed: bool = True) -> Path:
    directory = partition_dir(root)
    for number, content in enumerate(contents):
        base = 20 * number
        index = offset_index([(base + i, i * SIZE) for i in range(2, 20, 3)], base_offset=base) if indexed else None
        write_segment(directory, content, base_offset=base, index=index)
    return directory


def recovered(path: Path, **options: Any) -> tuple[list[int], list[tuple[Any, ...]]]:
    scan = kafkalog_source.scan(path, columns=["offset"], mode="RECOVER", **options)
    offsets = scan.to_table()["offset"].to_pylist()
    fields = ("kind", "position", "size", "first_offset", "last_offset")
    return offsets, [tuple(each[name] for name in fields) for each in scan.report()["damage"]]


PLANS: list[dict[str, Any]] = [
    {"threads": 1},
    {"maxPartitionBytes": 1},
    {"maxPartitionBytes": 300, "threads": 2},
    {"maxRecordsPerPartition": 3},
    {"minPartitions": 9},
]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("indexed", [True, False])
def test_a_sound_log_is_read_whole(tmp_path: Path, plan: dict[str, Any], indexed: bool) -> None:
    directory = log_of(tmp_path, segment(0), segment(1), segment(2), indexed=indexed)
    assert recovered(directory, **plan) == (list(range(60)), [])


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("bad", [0, 1, 7, 19])
def test_the_log_ends_at_its_first_bad_batch_in_every_plan(
    tmp_path: Path, bad: int, plan: dict[str, Any], indexed: bool
) -> None:
    directory = log_of(tmp_path, segment(0), damaged(segment(1), bad * SIZE + 70), segment(2), indexed=indexed)
    offsets, left_out = recovered(directory, **plan)
    assert offsets == list(range(20 + bad))
    assert left_out == [
        ("cut", bad * SIZE, (20 - bad) * SIZE, 20 + bad, 39),
        ("cut", 0, 20 * SIZE, 40, None),
    ]


def test_what_is_left_out_is_warned_of_and_in_the_view(tmp_path: Path) -> None:
    directory = log_of(tmp_path, damaged(segment(0), 70), segment(1))
    with pytest.warns(DamageWarning) as caught:
        assert recovered(directory)[0] == []
    assert "a broker's recovery truncates the log here: the batch's checksum is wrong" in str(caught[0].message)
    view = kafkalog_source.scan(directory, view="damage", mode="RECOVER").to_table().to_pylist()
    assert [(each["topic"], each["partition"], each["kind"]) for each in view] == [("topic", 0, "cut")] * 2
    assert view[1]["reason"].startswith(LATER)


@pytest.mark.parametrize(
    ("start", "end", "told"), [(0, 10, 0), (5, 25, 1), (22, 30, 1), (35, 60, 2), (45, 60, 2), (20, 21, 0)]
)
def test_a_range_has_what_is_kept_of_it(tmp_path: Path, start: int, end: int, told: int) -> None:
    """A start behind the end is moved to it, so that all that is cut off lies in the range."""
    directory = log_of(tmp_path, segment(0), damaged(segment(1), SIZE + 70), segment(2))
    limits = {"startingOffsets": {"topic": {0: start}}, "endingOffsets": {"topic": {0: end}}, "failOnDataLoss": False}
    offsets, left_out = recovered(directory, **limits)
    assert offsets == list(range(start, min(end, 21)))
    assert len(left_out) == told


def test_offsets_that_recovery_removes_are_not_on_disk(tmp_path: Path) -> None:
    directory = log_of(tmp_path, segment(0), damaged(segment(1), SIZE + 70), segment(2))
    with pytest.raises(KafkaLogError, match="not on disk"):
        recovered(directory, startingOffsets={"topic": {0: 30}})


def test_damaged_lengths_are_not_looked_behind(tmp_path: Path) -> None:
    """A broker takes the end of what it can read for the end of the log; here it is told apart from a torn one."""
    directory = log_of(tmp_path, damaged(segment(0), 5 * SIZE + 8))
    assert recovered(directory) == (list(range(5)), [("cut", 5 * SIZE, 15 * SIZE, 5, None)])
    directory = log_of(tmp_path, segment(0)[:-9])
    assert recovered(directory) == (list(range(19)), [("torn", 19 * SIZE, SIZE - 9, 19, None)])


def test_zeros_end_a_log_only_where_more_segments_follow(tmp_path: Path) -> None:
    assert recovered(log_of(tmp_path, segment(0) + bytes(500))) == (list(range(20)), [])
    directory = log_of(tmp_path, segment(0) + bytes(500), segment(1))
    assert recovered(directory) == (
        list(range(20)),
        [("cut", 20 * SIZE, 500, 20, 19), ("cut", 0, 20 * SIZE, 20, None)],
    )


@pytest.mark.parametrize(
    "bad",
    [
        Batch([Record(key_length=99)], base_offset=5),
        Batch([Record()], base_offset=5, magic=9),
        Batch([Record()], base_offset=5, count=3),
        Batch([Record()], base_offset=2),
        Message(offset=5, attributes=7),
    ],
    ids=["record", "magic", "count", "offset", "codec"],
)
@pytest.mark.parametrize("plan", PLANS)
def test_what_a_broker_keeps_and_nobody_can_decode_is_an_error(
    tmp_path: Path, bad: Batch | Message, plan: dict[str, Any]
) -> None:
    good = encode(SMALL[:5])
    directory = partition_dir(tmp_path)
    log = write_segment(directory, good + encode([bad, *SMALL[6:9]]) + damaged(segment(0), 70)[:SIZE])
    with pytest.raises(CorruptBatchError) as caught:
        recovered(directory, **plan)
    assert caught.value.position == len(good)
    assert caught.value.remedy is not None
    assert "recovery keeps this batch" in caught.value.remedy
    view = kafkalog_source.scan(log, view="damage", mode="RECOVER").to_table()
    assert view["kind"].to_pylist() == ["damaged", "cut"] or view["kind"].to_pylist() == ["cut", "damaged"]
    before = recovered(directory, endingOffsets={"topic": {0: 5}}, **plan)
    assert before[0] == list(range(5))


def test_a_payload_that_its_codec_refuses_is_an_error_too(tmp_path: Path) -> None:
    directory = log_of(tmp_path, encode([Batch(codec="gzip", payload=b"no stream")]))
    with pytest.raises(CodecError):
        recovered(directory)


def data(base: int, **fields: Any) -> Batch:
    return Batch([Record()], base, transactional=True, producer_id=1, **fields)


def test_transactions_whose_end_is_cut_off_are_open(tmp_path: Path) -> None:
    marker = Batch([end_marker(commit=True)], 3, transactional=True, control=True, producer_id=1)
    content = [Batch(), data(1), data(2), marker, Batch(base_offset=4)]
    whole = encode(content)
    directory = partition_dir(tmp_path)
    write_segment(directory, whole)
    committed = {"isolationLevel": "read_committed"}
    assert recovered(directory, **committed)[0] == [0, 1, 2, 4]
    write_segment(directory, damaged(whole, len(encode(content[:4])) - 1))
    assert recovered(directory, **committed)[0] == [0]
    assert recovered(directory)[0] == [0, 1, 2]
    scan = kafkalog_source.scan(directory, columns=["transactionState"], mode="RECOVER")
    assert scan.to_table()["transactionState"].to_pylist() == [None, "open", "open"]


def test_a_text_is_nothing_that_a_broker_keeps(tmp_path: Path) -> None:
    directory = log_of(tmp_path, b"some text. " * 100)
    offsets, left_out = recovered(directory)
    assert (offsets, len(left_out)) == ([], 1)
