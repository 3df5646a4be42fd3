"""``view=batches``: rows of headers alone, in every mode, also where payloads are passed over."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import kafkalog_source
from kafkalog_source._core.memory import Scratch
from kafkalog_source.arrow.batch_headers import BATCH_TYPES, BatchRows
from kafkalog_source.errors import CorruptBatchError, DamageWarning, LimitError, OptionError
from kafkalog_source.segment.batch_headers import BatchHeaders, HeaderReader
from kafkalog_source.segment.damage.description import Damage
from kafkalog_source.segment.reader import End
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.span import Span
from tests.builders import Batch, Message, Record, Wrapper, encode, partition_dir, write_segment
from tests.builders.disk import Entry
from tests.comparing import Row, table_rows

SMALL = [Batch([Record(), Record()], base_offset=2 * i) for i in range(10)]
SIZE = len(encode(SMALL[:1]))
WHOLE = encode(SMALL)
CORRUPT = "_corrupt_record"
MAX_OFFSET = 2**63 - 1


def log_of(root: Path, content: bytes | list[Entry]) -> Path:
    directory = partition_dir(root)
    write_segment(directory, content)
    return directory


def rows(path: Path, *columns: str, **options: Any) -> list[tuple[Any, ...]]:
    # Checksums are compared unless a test says otherwise; by default the view reads no payloads.
    options = {"verifyChecksums": True, **options}
    found = kafkalog_source.scan(path, columns=list(columns) or None, view="batches", **options).to_table()
    return [tuple(row.values()) for row in found.to_pylist()]


def flipped(at: int, data: bytes = WHOLE, bit: int = 0) -> bytes:
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


BAD_FIFTH = flipped(5 * SIZE + 64)


def test_a_projection_gives_the_named_columns_in_their_order(tmp_path: Path) -> None:
    log = log_of(tmp_path, WHOLE)
    found = rows(log, "recordCount", "topic", "batchLastOffset", "batchSize")
    assert found == [(2, "topic", 2 * i + 1, SIZE) for i in range(10)]
    every = list(reversed(BATCH_TYPES))
    table = kafkalog_source.scan(log, columns=every, view="batches").to_table()
    assert table.schema.names == every
    assert [field.type for field in table.schema] == [BATCH_TYPES[name] for name in every]
    with pytest.raises(OptionError, match="one of topic, partition, file, baseOffset, batchPosition"):
        rows(log, "offset")


def test_the_report_counts_batches_as_rows(tmp_path: Path) -> None:
    found = kafkalog_source.scan(log_of(tmp_path, WHOLE), view="batches", verifyChecksums=False)
    assert found.to_table().num_rows == 10
    assert (found.report()["records"], found.report()["batches"]) == (10, 10)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"isolationLevel": "read_committed"}, "every batch on disk, committed or not"),
        ({"maxRecordsPerPartition": 5}, "whole batches"),
    ],
)
def test_options_of_records_are_refused(tmp_path: Path, options: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        kafkalog_source.scan(log_of(tmp_path, WHOLE), view="batches", **options)


def test_a_wrong_checksum_is_damage_unless_it_is_not_compared(tmp_path: Path) -> None:
    log = log_of(tmp_path, BAD_FIFTH)
    with pytest.raises(CorruptBatchError) as caught:
        rows(log)
    assert caught.value.position == 5 * SIZE
    with pytest.warns(DamageWarning, match="offsets 10 to 11"):
        found = rows(log, "batchBaseOffset", mode="DROPMALFORMED")
    assert found == [(2 * i,) for i in range(10) if i != 5]
    assert len(rows(log, verifyChecksums=False)) == 10


def test_permissive_gives_a_row_in_the_place_of_the_damage(tmp_path: Path) -> None:
    log = log_of(tmp_path, BAD_FIFTH)
    found = kafkalog_source.scan(log, view="batches", mode="PERMISSIVE", verifyChecksums=True).to_table()
    assert found.schema.names == list(BATCH_TYPES)
    assert [row["batchBaseOffset"] for row in found.to_pylist()] == [2 * i for i in range(10)]
    bad = {name: value for name, value in found.to_pylist()[5].items() if value is not None}
    told = json.loads(bad.pop(CORRUPT))
    assert bad == {
        "topic": "topic",
        "partition": 0,
        "file": str(next(log.glob("*.log"))),
        "baseOffset": 0,
        "batchPosition": 5 * SIZE,
        "batchSize": SIZE,
        "batchBaseOffset": 10,
        "batchLastOffset": 11,
    }
    assert (told["first_offset"], told["last_offset"], told["kind"]) == (10, 11, "damaged")
    with pytest.raises(OptionError, match=CORRUPT):
        rows(log, "crc", mode="PERMISSIVE")


@pytest.mark.parametrize("verify", [True, False])
def test_a_broken_header_is_damage_with_and_without_checksums(tmp_path: Path, verify: bool) -> None:
    log = log_of(tmp_path, flipped(5 * SIZE + 16, bit=4))
    with pytest.raises(CorruptBatchError) as caught:
        rows(log, verifyChecksums=verify)
    assert caught.value.position == 5 * SIZE
    with pytest.warns(DamageWarning):
        found = rows(log, "batchBaseOffset", mode="DROPMALFORMED", verifyChecksums=verify)
    assert found == [(2 * i,) for i in range(10) if i != 5]


@pytest.mark.parametrize("verify", [True, False])
def test_an_offset_that_is_too_high_hides_no_batch(tmp_path: Path, verify: bool) -> None:
    """No checksum covers it: what follows shows that it is wrong."""
    log = log_of(tmp_path, flipped(4 * SIZE + 4, bit=2))
    with pytest.warns(DamageWarning, match="offsets 8 to 9"):
        found = rows(log, "batchBaseOffset", mode="DROPMALFORMED", verifyChecksums=verify)
    assert found == [(2 * i,) for i in range(10) if i != 4]


def test_recover_gives_the_batches_that_a_broker_keeps(tmp_path: Path) -> None:
    with pytest.warns(DamageWarning):
        found = rows(log_of(tmp_path, BAD_FIFTH), "batchBaseOffset", mode="RECOVER")
    assert found == [(2 * i,) for i in range(5)]


@pytest.mark.parametrize("verify", [True, False])
def test_a_torn_end_is_no_row_and_no_error(tmp_path: Path, verify: bool) -> None:
    log = log_of(tmp_path, WHOLE[:-3])
    assert len(rows(log, verifyChecksums=verify)) == 9


@pytest.mark.parametrize("verify", [True, False])
def test_a_batch_above_the_limit_is_refused(tmp_path: Path, verify: bool) -> None:
    big = Batch([Record(value=bytes(300_000))], base_offset=20)
    log = log_of(tmp_path, [*SMALL, big, Batch(base_offset=21)])
    with pytest.raises(LimitError):
        rows(log, maxDecompressedBatchBytes=100_000, verifyChecksums=verify)
    with pytest.warns(DamageWarning):
        found = rows(
            log, "batchBaseOffset", maxDecompressedBatchBytes=100_000, verifyChecksums=verify, mode="DROPMALFORMED"
        )
    assert found == [*((2 * i,) for i in range(10)), (21,)]


def test_payloads_are_passed_over_where_checksums_are_not_compared(tmp_path: Path) -> None:
    log = log_of(tmp_path, [Batch([Record(value=bytes(1_000_000))], base_offset=i) for i in range(10)])
    whole = kafkalog_source.scan(log, view="batches", verifyChecksums=True)
    headers = kafkalog_source.scan(log, view="batches")
    assert whole.to_table() == headers.to_table()
    assert whole.report()["bytes_read"] >= 10_000_000
    assert headers.report()["bytes_read"] < 20_000


def test_headers_alone_are_read_once_however_many_threads_there_are(tmp_path: Path) -> None:
    log = log_of(tmp_path, [Batch([Record(value=bytes(1_000_000))], base_offset=i) for i in range(40)])
    one, four = (kafkalog_source.scan(log, view="batches", threads=threads) for threads in (1, 4))
    assert one.to_table() == four.to_table()
    assert one.report()["bytes_read"] == four.report()["bytes_read"] < 40_000


def test_sequences_go_on_with_zero_after_the_largest(tmp_path: Path) -> None:
    three = [Record(), Record(), Record()]
    content: list[Entry] = [
        Batch(three, base_offset=0, producer_id=5, producer_epoch=0, base_sequence=4),
        Batch(three, base_offset=3, producer_id=5, producer_epoch=0, base_sequence=2**31 - 2),
        Batch(three, base_offset=6),
        Message(offset=9, magic=1),
    ]
    found = rows(log_of(tmp_path, content), "baseSequence", "lastSequence")
    assert found == [(4, 6), (2**31 - 2, 0), (None, None), (None, None)]


@pytest.mark.parametrize("verify", [True, False])
def test_many_batches_come_in_pieces(tmp_path: Path, verify: bool) -> None:
    count = 60_000
    behind_offset = encode([Batch([], last_offset_delta=0)])[8:]
    log = log_of(tmp_path, b"".join(i.to_bytes(8, "big") + behind_offset for i in range(count)))
    reader = kafkalog_source.scan(log, view="batches", verifyChecksums=verify, threads=1).to_reader()
    pieces = [piece["batchBaseOffset"].to_pylist() for piece in reader]
    assert len(pieces) > 1
    assert [offset for piece in pieces for offset in piece] == list(range(count))


def test_times_beyond_microseconds_are_null_and_counted(tmp_path: Path) -> None:
    log = log_of(tmp_path, [Batch(base_timestamp=2**62, max_timestamp=2**62)])
    found = kafkalog_source.scan(log, view="batches", columns=["firstTimestamp", "maxTimestamp"])
    assert found.to_table().to_pylist() == [{"firstTimestamp": None, "maxTimestamp": None}]
    assert found.report()["times_out_of_range"] == 2


MIXED: list[Entry] = [
    Message(offset=0, magic=0),
    Wrapper([Message(offset=1, magic=0), Message(offset=2, magic=0)], codec="gzip"),
    Message(offset=3),
    Wrapper([Message(offset=4), Message(offset=5)], codec="lz4"),
    Batch([Record(), Record()], base_offset=6),
    Batch([Record(value=bytes(40_000))], base_offset=8),
    Batch([Record(value=bytes(40_000))], base_offset=9, codec="zstd"),
    *(Batch(base_offset=10 + i) for i in range(12)),
    Batch([Record(value=bytes(5_000))], base_offset=22),
]


Told = tuple[list[Row], list[Damage], int | None]


def told_by(headers: BatchHeaders, reader: HeaderReader) -> Told:
    made = BatchRows(tuple(name for name in BATCH_TYPES if name != CORRUPT), headers.table)
    made.set_place("t", 0, "f")
    found: list[pa.RecordBatch | None] = []
    damage: list[Damage] = []
    next_offset: int | None = None
    for event in reader:
        found.append(made.finish())
        if isinstance(event, Damage):
            damage.append(event)
        elif isinstance(event, End):
            next_offset = event.next_offset
    found.append(made.finish())
    pieces = [piece for piece in found if piece is not None]
    return table_rows(pa.Table.from_batches(pieces, made.schema)), damage, next_offset


def skipping_and_whole(path: Path, *, benign: bool) -> list[Told]:
    """What both ways to read a segment without comparing checksums tell."""
    told = []
    with LocalFile(str(path)) as source:
        span = Span(0, source.size, 0, MAX_OFFSET, MAX_OFFSET, True, benign)
        for way in ("reader", "whole"):
            headers = BatchHeaders(False, 1 << 16, Scratch())
            is_reader = way == "reader"
            reader = headers.reader(source, span, 0, MAX_OFFSET) if is_reader else headers.whole(source, span)
            told.append(told_by(headers, reader))
    return told


def without_place(damage: Damage) -> dict[str, object]:
    return {**damage.to_dict(), "first_offset": None}


@pytest.mark.parametrize("seed", range(8))
def test_what_passes_payloads_over_finds_what_reads_all(tmp_path: Path, seed: int) -> None:
    """With bytes of the headers changed at random, or cut, both give the same rows and damage.

    Which offsets a batch may have lost that stands in the wrong place is told more narrowly by the one that begins
    nearer to it.
    """
    choose = random.Random(seed)
    content = encode(MIXED)
    starts = [len(encode(MIXED[:number])) for number in range(len(MIXED))]
    for round_number in range(25):
        changed = bytearray(content)
        for _ in range(choose.choice((1, 1, 2))):
            at = choose.choice(starts) + choose.randrange(28)
            changed[at] = choose.choice((changed[at] ^ 1 << choose.randrange(8), 0, 255))
        if choose.random() < 0.2:
            del changed[choose.randrange(len(changed)) :]
        path = write_segment(partition_dir(tmp_path, f"t{round_number}"), bytes(changed))
        skipped, whole = skipping_and_whole(path, benign=choose.random() < 0.5)
        assert skipped[0] == whole[0]
        assert skipped[2] == whole[2]
        assert len(skipped[1]) == len(whole[1])
        for one, other in zip(skipped[1], whole[1], strict=True):
            assert (one.first_offset or 0) >= (other.first_offset or 0)
            assert without_place(one) == without_place(other)
