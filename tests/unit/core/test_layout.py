"""What compiled code knows of the layout is what Python knows, and the numbers stand in one place."""

from __future__ import annotations

import re
import struct
from itertools import accumulate
from pathlib import Path

import pytest

from kafkalog_source import _core, format
from kafkalog_source._core.codes import NAMES

CORE = Path(_core.__path__[0])
LIMITS = {"INT64_MAX": 2**63 - 1}
OTHER_LAYOUTS = {"fields", "framing", "native", "quoting"}
"""These read frames of codecs, fields without fixed positions, or text: no layout of Kafka's."""


def mirrored() -> dict[str, int]:
    """The constants of layout.pxd."""
    text = (CORE / "layout.pxd").read_text()
    members = re.findall(r"(?m)^    ([A-Z]\w*) = (\S+)$", text)
    found = {name: int(number, 0) for name, number in members}
    found.update((name, LIMITS[limit]) for name, limit in re.findall(r'const int64_t (\w+) "(\w+)"', text))
    assert len(found) == len(re.findall(r"(?m)^    (?:const \w+ )?[A-Z]\w*\b", text)), "a line that was not understood"
    return found


def of_python() -> dict[str, int]:
    """The numbers of kafkalog_source.format, with those of its enumerations."""
    numbers = {name: value for name, value in vars(format).items() if type(value) is int}
    numbers.update((f"CODEC_{each.name}", each.value) for each in format.Codec)
    numbers.update((f"CONTROL_{each.name}", each.value) for each in format.ControlType)
    numbers.update((each.name, each.value) for each in format.TimestampType)
    return numbers


PYTHON_ONLY = {"SNAPSHOT_CHECKED_FROM", "SNAPSHOT_VERSION", "TXN_INDEX_VERSION"}


def test_the_mirror_is_equal() -> None:
    expected = {name: number for name, number in of_python().items() if name not in PYTHON_ONLY}
    assert mirrored() == expected


V2 = {
    "OFFSET_OFFSET": "q",
    "SIZE_OFFSET": "i",
    "V2_PARTITION_LEADER_EPOCH_OFFSET": "i",
    "MAGIC_OFFSET": "b",
    "V2_CRC_OFFSET": "I",
    "V2_ATTRIBUTES_OFFSET": "h",
    "V2_LAST_OFFSET_DELTA_OFFSET": "i",
    "V2_BASE_TIMESTAMP_OFFSET": "q",
    "V2_MAX_TIMESTAMP_OFFSET": "q",
    "V2_PRODUCER_ID_OFFSET": "q",
    "V2_PRODUCER_EPOCH_OFFSET": "h",
    "V2_BASE_SEQUENCE_OFFSET": "i",
    "V2_RECORDS_COUNT_OFFSET": "i",
    "V2_HEADER_SIZE": "",
}
V0 = {
    "OFFSET_OFFSET": "q",
    "SIZE_OFFSET": "i",
    "LEGACY_CRC_OFFSET": "I",
    "LEGACY_MAGIC_OFFSET": "b",
    "LEGACY_ATTRIBUTES_OFFSET": "b",
    "LEGACY_KEY_SIZE_OFFSET_V0": "i",
}
V1 = {
    **{name: field for name, field in V0.items() if name != "LEGACY_KEY_SIZE_OFFSET_V0"},
    "LEGACY_TIMESTAMP_OFFSET": "q",
    "LEGACY_KEY_SIZE_OFFSET_V1": "i",
}
V07_MAGIC_0 = {"V07_LENGTH_OFFSET": "i", "V07_MAGIC_OFFSET": "b", "V07_CRC_OFFSET_V0": "I", "V07_PAYLOAD_OFFSET_V0": ""}
V07_MAGIC_1 = {
    "V07_LENGTH_OFFSET": "i",
    "V07_MAGIC_OFFSET": "b",
    "V07_ATTRIBUTES_OFFSET": "b",
    "V07_CRC_OFFSET_V1": "I",
    "V07_PAYLOAD_OFFSET_V1": "",
}


@pytest.mark.parametrize("fields", [V2, V0, V1, V07_MAGIC_0, V07_MAGIC_1], ids=["v2", "v0", "v1", "0.7 0", "0.7 1"])
def test_a_field_begins_where_the_one_before_ends(fields: dict[str, str]) -> None:
    places = accumulate((struct.calcsize(f">{field}") for field in fields.values()), initial=0)
    expected = dict(zip(fields, places, strict=False))
    assert {name: getattr(format, name) for name in fields} == expected


def test_smallest_sizes_are_those_of_their_fields() -> None:
    # Two lengths, of the key and the value, end a message without either.
    assert format.V0_MIN_LENGTH == format.LEGACY_KEY_SIZE_OFFSET_V0 + 8 - format.LOG_OVERHEAD
    assert format.V1_MIN_LENGTH == format.LEGACY_KEY_SIZE_OFFSET_V1 + 8 - format.LOG_OVERHEAD


def test_codes_are_in_the_order_of_their_names() -> None:
    text = (CORE / "codes.pxd").read_text()
    members = re.findall(r"(?m)^    ([A-Z]\w*)", text[text.index("cdef enum Code") :])
    assert [name.lower() for name in members] == list(NAMES)


@pytest.mark.parametrize("path", sorted(CORE.glob("*.pyx")), ids=lambda path: path.stem)
def test_no_position_is_a_bare_number(path: Path) -> None:
    if path.stem in OTHER_LAYOUTS:
        return
    bare = re.compile(r"load_\w+\([^()]*\+ ?\d+\)|\bp ?\+ ?\d|\bp\[\d|\battributes\)? & \d|_MASK = |_FLAG = ")
    lines = path.read_text().splitlines()
    assert [line for line in lines if bare.search(line)] == []
