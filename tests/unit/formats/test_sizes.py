"""The sizes that Kafka's documentation and articles about its formats give."""

from __future__ import annotations

import pytest

from tests.builders import Batch, Message, Record, encode
from tests.unit.formats.conftest import Both

ENTRY_HEADER = 12


@pytest.mark.parametrize(("magic", "size"), [(0, 22), (1, 30)])
def test_size_of_a_message_with_a_short_key_and_value(both: Both, magic: int, size: int) -> None:
    message = Message(b"key", b"value", magic=magic)
    assert len(message.encode()) == ENTRY_HEADER + size
    assert [(r.key, r.value) for r in both.read([message])] == [(b"key", b"value")]


def test_size_of_a_v2_record_and_batch_with_a_short_key_and_value(both: Both) -> None:
    assert len(Record(b"key", b"value").encode(0)) == 15
    batch = Batch([Record(b"key", b"value")])
    assert len(batch.encode()) == 76
    assert [(r.key, r.value) for r in both.read([batch])] == [(b"key", b"value")]


@pytest.mark.parametrize(("magic", "size"), [(0, 14), (1, 22)])
def test_size_of_the_smallest_message(both: Both, magic: int, size: int) -> None:
    message = Message(None, None, magic=magic)
    assert len(message.encode()) == ENTRY_HEADER + size
    assert [(r.key, r.value) for r in both.read([message])] == [(None, None)]


@pytest.mark.parametrize(("magic", "size"), [(0, 320), (1, 400), (2, 191)])
def test_size_of_ten_records_in_each_format(both: Both, magic: int, size: int) -> None:
    if magic == 2:
        data = Batch([Record(None, b"6bytes")] * 10).encode()
    else:
        data = encode(Message(None, b"6bytes", offset, magic) for offset in range(10))
    assert len(data) == size
    assert [r.value for r in both.read(data)] == [b"6bytes"] * 10


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_null_key_differs_from_an_empty_one(both: Both, magic: int) -> None:
    keys = [None, b""]
    if magic == 2:
        data = Batch([Record(key) for key in keys]).encode()
    else:
        data = encode(Message(key, b"v", offset, magic) for offset, key in enumerate(keys))
    assert [r.key for r in both.read(data)] == keys
