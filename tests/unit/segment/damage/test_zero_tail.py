"""Damage in a preallocated segment: a length that leads to the zeros at its end costs its batch, none behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

import kafkalog_source
from kafkalog_source.errors import CorruptBatchError
from kafkalog_source.verifying import verify
from tests.builders import Batch, Message, Record, Wrapper, encode, partition_dir, write_segment
from tests.builders.disk import Entry

pytestmark = pytest.mark.filterwarnings("ignore::kafkalog_source.errors.DamageWarning")

LENGTH_PLACE, CONTENT_PLACE_V2 = 8, 66
COUNT = 8
FORMATS: dict[str, list[Entry]] = {
    "v2": [Batch([Record(b"k", b"v%d" % offset)], offset) for offset in range(COUNT)],
    "v2 zstd": [Batch([Record(b"k", b"v%d" % offset)], offset, codec="zstd") for offset in range(COUNT)],
    "v1": [Message(b"k", b"v%d" % offset, offset) for offset in range(COUNT)],
    "v0 gzip": [Wrapper([Message(b"k", b"v", offset, 0)], "gzip", 0) for offset in range(COUNT)],
}


def flipped(data: bytes, place: int, bit: int) -> bytes:
    changed = bytearray(data)
    changed[place] ^= 1 << bit
    return bytes(changed)


def preallocated(root: Path, content: bytes, zeros: int) -> Path:
    path = write_segment(partition_dir(root), content)
    with path.open("r+b") as file:
        file.truncate(len(content) + zeros)
    return path


def read(path: Path, mode: str = "DROPMALFORMED") -> tuple[list[int], list[tuple[int, int, str]]]:
    scan = kafkalog_source.scan(path.parent, columns=["offset"], mode=mode, threads=1)
    offsets = scan.to_table()["offset"].to_pylist()
    return offsets, [(each["position"], each["size"], each["kind"]) for each in scan.report()["damage"]]


@pytest.mark.parametrize("zeros", [5000, 64 << 20])
@pytest.mark.parametrize("bad", [0, 3, COUNT - 1])
@pytest.mark.parametrize("form", FORMATS)
def test_any_bit_of_a_length_costs_one_batch(tmp_path: Path, form: str, bad: int, zeros: int) -> None:
    parts = [entry.encode() for entry in FORMATS[form]]
    start, size = sum(map(len, parts[:bad])), len(parts[bad])
    for bit in range(32):
        place, bit_of_byte = LENGTH_PLACE + 3 - bit // 8, bit % 8
        changed = [*parts[:bad], flipped(parts[bad], place, bit_of_byte), *parts[bad + 1 :]]
        path = preallocated(tmp_path, b"".join(changed), zeros)
        offsets, damage = read(path)
        assert offsets == [offset for offset in range(COUNT) if offset != bad], bit
        assert damage == [(start, size, "damaged")], bit
    with pytest.raises(CorruptBatchError):
        read(path, "FAILFAST")
    assert not verify([str(path.parent)], threads=1).is_sound


def test_a_batch_whose_length_and_content_are_damaged(tmp_path: Path) -> None:
    parts = [entry.encode() for entry in FORMATS["v2"]]
    parts[3] = flipped(flipped(parts[3], LENGTH_PLACE + 2, 3), CONTENT_PLACE_V2, 0)
    offsets, damage = read(preallocated(tmp_path, b"".join(parts), 5000))
    assert offsets == [0, 1, 2, 4, 5, 6, 7]
    assert damage == [(sum(map(len, parts[:3])), len(parts[3]), "damaged")]


def test_batches_that_a_damaged_record_holds_are_none_of_the_log(tmp_path: Path) -> None:
    held = encode(FORMATS["v2"])
    last = Batch([Record(b"k", held)], 1)
    content = Batch(base_offset=0).encode() + flipped(last.encode(), CONTENT_PLACE_V2, 0)
    assert read(preallocated(tmp_path, content, 5000))[0] == [0]


def test_where_a_good_batch_may_be_lost_nothing_is_merely_torn(tmp_path: Path) -> None:
    """Both may be: two damaged batches and a good one between them, or one batch, written in part, that holds it."""
    parts = [entry.encode() for entry in FORMATS["v2"][:4]]
    parts[1] = flipped(flipped(parts[1], LENGTH_PLACE + 2, 3), CONTENT_PLACE_V2, 0)
    parts[3] = flipped(parts[3], CONTENT_PLACE_V2, 0)
    path = preallocated(tmp_path, b"".join(parts), 5000)
    offsets, damage = read(path)
    assert offsets == [0]
    assert [kind for _, _, kind in damage] == ["damaged"]
    with pytest.raises(CorruptBatchError):
        read(path, "FAILFAST")


@pytest.mark.parametrize("own_zeros", [0, 15, 16, 17, 500])
def test_a_batch_that_ends_with_zeros_of_its_own(tmp_path: Path, own_zeros: int) -> None:
    last = Batch([Record(b"k", bytes(own_zeros))], 1).encode()
    content = Batch(base_offset=0).encode() + flipped(last, LENGTH_PLACE + 2, 4)
    offsets, damage = read(preallocated(tmp_path, content, 1 << 20))
    assert offsets == [0]
    assert damage == [(len(content) - len(last), len(last), "damaged")]
