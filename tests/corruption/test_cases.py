"""The packed damaged segments: what each is to give, why, and what a broker's own recovery keeps of it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.errors import DamageWarning, KafkaLogError
from tests.corruption.reading import Reading, Region, failfast, skipping
from tests.vectors.test_reference_equals_kafka import EXPECTED_OTHERWISE

FixtureCase = Callable[[str], Path]
Case = dict[str, Any]

CHECKSUM, ENDS = "the batch's checksum is wrong", "the batch continues past the end of the data"
LENGTH, MAGIC = "the batch's length field is too small", "the magic byte is invalid"
FALLS, HIGH = "the offset is not above that of the previous batch", "the offset is above those of the batches after it"
CODEC, CUT = "codec does not exist in its format", "the batch's body ends before its last record"
NEGATIVE, TOO_MANY = "record count is negative", "claims more records than its bytes can hold"
RECORD, LEFT_OVER = "a record's length does not match", "bytes are left over after the batch's last record"
HEADERS, NAME = "a record's header count is invalid", "a header's name is null or exceeds its record"
KEY, VALUE, OFFSET = (
    "a key's length exceeds",
    "a value's length exceeds",
    "a record's offset does not increase or is outside",
)
EMPTY, INNER = (
    "a compressed message contains no messages",
    "the length of a message inside a compressed message is invalid",
)
PAYLOAD, BOMB = "payload is damaged", "payload decompresses to more than is allowed"

REASONS: dict[str, tuple[str, ...]] = {
    "cut-in-offset-and-size": (ENDS,),
    "cut-in-header": (ENDS,),
    "cut-in-payload": (ENDS,),
    "one-byte": (ENDS,),
    "junk-appended": (MAGIC, LENGTH, ENDS),
    "zero-hole": (LENGTH,),
    "bitflip-payload": (CHECKSUM,),
    "bitflip-length-0": (CHECKSUM,),
    "bitflip-length-9": (CHECKSUM, ENDS),
    "bitflip-length-20": (ENDS,),
    "negative-length": (LENGTH,),
    "length-int-max": (ENDS,),
    "length-int-min": (LENGTH,),
    "length-zero": (LENGTH,),
    "length-thirteen": (LENGTH,),
    "bad-magic-9": (MAGIC,),
    "bad-magic-minus-1": (MAGIC,),
    "swapped-batches": (FALLS,),
    "repeated-batch": (FALLS,),
    "offset-negative": (FALLS,),
    "offset-huge": (HIGH,),
    "codec-4": (CODEC,),
    "codec-5": (CODEC,),
    "codec-6": (CODEC,),
    "codec-7": (CODEC,),
    "count-negative": (NEGATIVE,),
    "count-minus-min": (NEGATIVE,),
    "count-zero": ("has a record count of 0 but also a body",),
    "count-too-large": (CUT, TOO_MANY),
    "count-int-max": (TOO_MANY,),
    "count-too-small": (LEFT_OVER,),
    "last-delta-negative": ("last offset delta is out of range",),
    "last-delta-huge": (HIGH,),
    "record-length-varint-overflow": (CUT,),
    "record-length-varint-six-bytes": (CUT,),
    "record-length-negative": (RECORD,),
    "record-length-huge": (RECORD,),
    "record-length-short-by-one": (HEADERS,),
    "record-length-long-by-one": (RECORD,),
    "header-count-minus-1": (HEADERS,),
    "header-count-huge": (HEADERS,),
    "header-name-null": (NAME,),
    "header-name-too-long": (NAME,),
    "key-length-too-long": (KEY,),
    "key-length-huge": (KEY,),
    "key-length-minus-2": (VALUE,),
    "value-length-int-max": (VALUE,),
    "offset-delta-outside": (OFFSET,),
    "offset-delta-negative": (OFFSET,),
    "trailing-bytes": (LEFT_OVER,),
    "wrapper-null-value": (EMPTY,),
    "wrapper-empty-value": (EMPTY,),
    "wrapper-in-wrapper": ("is itself compressed",),
    "inner-cut": (INNER,),
    "inner-size-negative": (INNER,),
    "inner-bad-crc": ("the checksum of a message inside a compressed message is wrong",),
    "stream-cut": (PAYLOAD,),
    "stream-empty": (CUT,),
    "stream-junk": (PAYLOAD,),
    "stream-bitflips": (PAYLOAD,),
    "stream-trailing": (PAYLOAD,),
    "bomb": (BOMB,),
    "bomb-zero-records": (BOMB,),
    "snappy-claims-2gb": (PAYLOAD,),
    "snappy-block-negative": (PAYLOAD,),
    "snappy-block-past-end": (PAYLOAD,),
    "snappy-header-only": (TOO_MANY,),
    "text-file": ("this is not a Kafka segment",),
}
"""What may be said of the one damaged region of each kind of case. Kinds without any are sound."""


@pytest.fixture(scope="module")
def log(fixture_case: FixtureCase) -> Path:
    return fixture_case("corrupt") / "log"


@pytest.fixture(scope="module")
def cases(log: Path) -> list[Case]:
    found: list[Case] = json.loads((log / "CORRUPTION.json").read_text(encoding="utf-8"))["cases"]
    assert len(found) == 165
    return found


def expected_of(case: Case) -> str:
    """Where the description says rows and Kafka's own reader refuses the record, Kafka is right."""
    return EXPECTED_OTHERWISE.get(case["file"], str(case["expect"]))


def test_each_gives_what_is_expected_and_says_why(log: Path, cases: list[Case]) -> None:
    for case in cases:
        name, expected = case["file"], expected_of(case)
        found, skipped = failfast(log / name), skipping(log / name)
        kinds = [each["kind"] for each in skipped.damage]
        seen = {(): "rows", ("torn",): "torn", ("damaged",): "damage"}[tuple(kinds)]
        assert expected == "any" or seen in expected.split(" or "), name
        assert isinstance(found, Reading) == (seen != "damage"), name
        if isinstance(found, Reading):
            assert found == skipped, name
        for region in skipped.damage:
            check_region(case, region, found)


def check_region(case: Case, region: Region, found: Reading | KafkaLogError) -> None:
    name, start, end = case["file"], case["byteStart"], case["byteEnd"]
    assert any(reason in region["reason"] for reason in REASONS[case["kind"]]), (name, region["reason"])
    if isinstance(found, KafkaLogError):
        assert (found.position, region["reason"] in str(found)) == (region["position"], True), name
    if start is not None:
        assert region["position"] < (end or case["size"]), name
        assert region["position"] + region["size"] >= start, name


def test_skipping_loses_the_damaged_batch_alone(log: Path, cases: list[Case]) -> None:
    """The others are as in the good segment of the same format that lacks the batch."""
    without = {case["format"]: case["file"] for case in cases if case["kind"] == "missing-batch"}
    compared = 0
    for case in cases:
        if case["format"] in without and case["kind"].startswith(
            ("bitflip", "length", "negative", "bad-magic", "zero-hole")
        ):
            rest = failfast(log / without[case["format"]])
            assert isinstance(rest, Reading)
            assert skipping(log / case["file"]).rows == rest.rows, case["file"]
            compared += 1
    assert compared == 4 * 12


ZEROS = ("zero-tail", "all-zero")
"""A broker cuts zeros off; here they are a sound end, and no row is lost with them."""


def recovered(path: Path) -> Iterator[Region]:
    """What RECOVER leaves out, and what it would keep and cannot decode."""
    yield from kafkalog_source.scan(path, mode="RECOVER", view="damage").to_table().to_pylist()


def test_recover_keeps_what_a_brokers_recovery_keeps(log: Path, cases: list[Case]) -> None:
    for case in cases:
        name, kept = case["file"], case["recovery"]["keptBytes"]
        regions = list(recovered(log / name))
        cuts = [each["position"] for each in regions if each["kind"] != "damaged"]
        if case["kind"] in ZEROS:
            assert regions == [], name
        elif kept is not None:
            assert cuts == ([kept] if kept < case["size"] else []), name
        check_recovered_rows(log / name, regions)


def check_recovered_rows(path: Path, regions: list[Region]) -> None:
    """Rows up to the cut; an error where a broker keeps, or fails at, what nobody can decode."""
    scan = kafkalog_source.scan(path, mode="RECOVER", columns=["offset", "batchPosition"])
    undecodable = [each["position"] for each in regions if each["kind"] == "damaged"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        if undecodable:
            with pytest.raises(KafkaLogError) as raised:
                scan.to_table()
            assert raised.value.position == undecodable[0]
            return
        rows = scan.to_table().to_pylist()
        dropped = kafkalog_source.scan(path, mode="DROPMALFORMED", columns=["offset", "batchPosition"]).to_table()
    end = min((each["position"] for each in regions), default=2**63)
    assert rows == [row for row in dropped.to_pylist() if row["batchPosition"] < end]
