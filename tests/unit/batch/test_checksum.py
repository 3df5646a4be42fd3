"""The rule by which a checksum is compared in Python."""

from __future__ import annotations

import pytest

from kafkalog_source.batch import ChecksumRule, checksum_rule, checksum_rule_07
from tests.builders import Batch, Message, Record, Wrapper
from tests.builders.disk import Entry
from tests.builders.v07 import Message07

ENTRIES: list[tuple[Entry | Message07, ChecksumRule]] = [
    (Message(magic=0), checksum_rule(0)),
    (Message(magic=1), checksum_rule(1)),
    (Wrapper([Message(), Message(offset=1)]), checksum_rule(1)),
    (Batch([Record(b"key", b"value")]), checksum_rule(2)),
    (Message07(magic=0), checksum_rule_07(0)),
    (Message07(magic=1), checksum_rule_07(1)),
]
IDS = ["v0", "v1", "wrapper", "v2", "0.7 magic 0", "0.7 magic 1"]


@pytest.mark.parametrize(("entry", "rule"), ENTRIES, ids=IDS)
def test_what_was_written_is_right(entry: Entry, rule: ChecksumRule) -> None:
    data = entry.encode()
    assert rule.is_right(data)
    assert rule.is_right(memoryview(data))
    assert rule.stored(data) == rule.computed(data)


@pytest.mark.parametrize(("entry", "rule"), ENTRIES, ids=IDS)
def test_every_byte_from_the_first_covered_one_on_counts_and_none_before_but_the_checksum(
    entry: Entry, rule: ChecksumRule
) -> None:
    data = entry.encode()
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 0x10
        is_of_checksum = rule.position <= place < rule.position + 4
        assert rule.is_right(changed) == (place < rule.covered_from and not is_of_checksum)


@pytest.mark.parametrize(("entry", "rule"), ENTRIES, ids=IDS)
def test_a_checksum_is_computed_in_pieces_too(entry: Entry, rule: ChecksumRule) -> None:
    data = entry.encode()
    checksum = 0
    for place in range(rule.covered_from, len(data), 5):
        checksum = rule.update(data[place : place + 5], checksum)
    assert checksum == rule.stored(data)


def test_an_entry_that_is_cut_before_its_checksum_is_wrong() -> None:
    rule = checksum_rule(2)
    data = Batch([Record()]).encode()
    assert rule.stored(data[:20]) is None
    assert not rule.is_right(data[:20])
    assert not rule.is_right(b"")
