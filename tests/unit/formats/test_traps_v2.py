"""Traps of v2 batches: counts, lengths, offsets, times, headers, flags."""

from __future__ import annotations

import pytest

from tests.builders import Batch, Header, Record, control_record, end_marker
from tests.builders.v2 import varint
from tests.comparing import scan_rows
from tests.unit.formats.conftest import Both

T = 1_600_000_000_000
NUMBERS_THAT_LIE = [2**31 - 1, 2**30, 100]
CONTROL_TYPES = [
    "ABORT",
    "COMMIT",
    "LEADER_CHANGE",
    "SNAPSHOT_HEADER",
    "SNAPSHOT_FOOTER",
    "KRAFT_VERSION",
    "KRAFT_VOTERS",
]
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def records(*deltas: int) -> list[Record]:
    return [Record(offset_delta=delta, value=b"%d" % delta) for delta in deltas]


def test_log_append_time_is_the_largest_timestamp_of_the_batch(both: Both) -> None:
    batch = Batch([Record(timestamp_delta=5), Record(timestamp_delta=-7)], max_timestamp=T, log_append_time=True)
    assert [(r.timestamp_ms, r.timestamp_type) for r in both.read([batch])] == [(T, 1), (T, 1)]


@pytest.mark.parametrize("log_append_time", [False, True])
def test_a_timestamp_of_minus_one_is_null_and_keeps_its_type(both: Both, log_append_time: bool) -> None:
    batch = Batch(base_timestamp=-1, max_timestamp=-1, log_append_time=log_append_time)
    assert [(r.timestamp_ms, r.timestamp_type) for r in both.read([batch])] == [(None, int(log_append_time))]


def test_negative_timestamps_are_times_before_1970(both: Both) -> None:
    go_zero_time = -62_135_596_800_000
    assert [r.timestamp_ms for r in both.read([Batch(base_timestamp=go_zero_time)])] == [go_zero_time]


@pytest.mark.parametrize("timestamp", [2**63 - 1, -(2**63), 2**63 // 1000 + 1, -(2**63) // 1000 - 1])
def test_a_time_beyond_int64_microseconds_is_null(both: Both, timestamp: int) -> None:
    (record,) = both.read([Batch(base_timestamp=timestamp)])
    assert (record.timestamp_ms, record.timestamp_us) == (timestamp, None)


def test_timestamp_arithmetic_wraps_as_int64(both: Both) -> None:
    batch = Batch([Record(timestamp_delta=10)], base_timestamp=2**63 - 5, max_timestamp=0)
    assert [r.timestamp_ms for r in both.read([batch])] == [-(2**63) + 5]


def test_delete_horizon_takes_the_place_of_the_base_timestamp(both: Both) -> None:
    batch = Batch([Record(), Record(timestamp_delta=40)], base_timestamp=T, delete_horizon=T + 1_000_000)
    assert [r.timestamp_ms for r in both.read([batch])] == [T, T + 40]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("count", [-1, -(2**31), 0, 2, 4, 2**31 - 1])
def test_a_count_that_is_not_the_number_of_records_is_refused(both: Both, count: int, codec: str) -> None:
    both.refuse([Batch([Record()] * 3, codec=codec, count=count)], position=0)


@pytest.mark.parametrize("codec", CODECS)
def test_bytes_after_the_last_record_are_refused(both: Both, codec: str) -> None:
    both.refuse([Batch(codec=codec, trailing=b"\0")], position=0)


@pytest.mark.parametrize("codec", ["none", "lz4"])
@pytest.mark.parametrize("error", [-1, 1, 1000, 2**31 - 100])
def test_a_record_length_other_than_its_fields_is_refused(both: Both, error: int, codec: str) -> None:
    true_length = len(Record().encode(0)) - 1
    both.refuse([Batch([Record(length=true_length + error), Record()], codec=codec)], position=0)


@pytest.mark.parametrize("length", [-1, -9, -(2**31), 0, 5])
def test_a_record_length_below_the_smallest_is_refused(both: Both, length: int) -> None:
    both.refuse([Batch([Record(length=length), Record()])], position=0)


def test_bytes_left_over_inside_a_record_are_refused(both: Both) -> None:
    both.refuse([Batch([Record(extra=b"\0")])], position=0)


@pytest.mark.parametrize("length", [b"\x80\x80\x80\x80\x80\x00", b"\xff" * 10, b"\x80" * 5 + b"\x01"])
def test_a_varint_longer_than_its_type_is_refused(both: Both, length: bytes) -> None:
    both.refuse([Batch([Record(length=length)])], position=0)


def test_an_overlong_varint_is_read(both: Both) -> None:
    """Kafka drops what does not fit, so the same length may be written in five bytes."""
    plain = varint(len(Record().encode(0)) - 1)
    padded = bytes([plain[0] | 0x80, 0x80, 0x80, 0x80, 0x70])
    assert len(both.read([Batch([Record(length=padded)])])) == 1


@pytest.mark.parametrize("length", [-1, -2, -(2**31)])
def test_any_negative_length_is_null_and_an_empty_one_is_not(both: Both, length: int) -> None:
    batch = Batch(
        [
            Record(key=None, key_length=length, value=b""),
            Record(key=b"", value=None, value_length=length),
            Record(headers=[Header(value=None, value_length=length), Header(b"", b"")]),
        ]
    )
    found = both.read([batch])
    assert [(r.key, r.value) for r in found[:2]] == [(None, b""), (b"", None)]
    assert found[2].headers == (("name", None), ("", b""))


@pytest.mark.parametrize("field", ["key_length", "value_length", "header_count"])
@pytest.mark.parametrize("number", NUMBERS_THAT_LIE)
@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_length_or_count_past_the_end_of_its_record_is_refused(
    both: Both, field: str, number: int, codec: str
) -> None:
    both.refuse([Batch([Record(**{field: number}), Record()], codec=codec)], position=0)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [-1, -(2**31)])
def test_a_negative_header_count_is_refused(both: Both, count: int) -> None:
    both.refuse([Batch([Record(header_count=count)])], position=0)


@pytest.mark.parametrize(
    "header",
    [
        Header(None),
        Header(name_length=-2),
        Header(name_length=200),
        Header(value_length=200),
        Header(name_length=2**31 - 1),
    ],
    ids=["null name", "negative name", "name too long", "value too long", "name huge"],
)
def test_a_header_name_must_be_there_and_lengths_must_fit(both: Both, header: Header) -> None:
    both.refuse([Batch([Record(headers=[header]), Record()])], position=0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (b"\xff", "\ufffd"),
        (b"a\xc3(", "a\ufffd("),
        (b"\xe2\x82", "\ufffd"),
        (b"\xe2\x82A", "\ufffdA"),
        (b"\xed\xa0\x80", "\ufffd"),
        (b"\xc0\x80", "\ufffd\ufffd"),
        (b"\xf0\x9f\x98\x80", "\U0001f600"),
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\xf4\x90\x80\x80", "\ufffd" * 4),
        (b"\xe0\x80\x80", "\ufffd" * 3),
        (b"nul\x00", "nul\x00"),
    ],
)
def test_header_names_that_are_not_utf8_are_decoded_as_java_does(both: Both, name: bytes, text: str) -> None:
    (record,) = both.read([Batch([Record(headers=[Header(name, b"v")])])])
    assert record.headers == ((text, b"v"),)


def test_header_names_may_repeat_and_keep_their_order(both: Both) -> None:
    headers = [Header(b"b", b"1"), Header(b"a", b"2"), Header(b"b", None), Header(b"b", b"1")]
    (record,) = both.read([Batch([Record(headers=headers)])])
    assert record.headers == (("b", b"1"), ("a", b"2"), ("b", None), ("b", b"1"))


def test_a_record_without_headers_has_null_headers(both: Both) -> None:
    assert [r.headers for r in both.read([Batch([Record(), Record(headers=[Header()])])])] == [
        None,
        (("name", b"value"),),
    ]


def test_an_empty_batch_gives_no_row_and_its_offsets_are_used_up(both: Both) -> None:
    empty = Batch([], base_offset=5, last_offset_delta=4)
    assert [r.offset for r in both.read([Batch(), empty, Batch(base_offset=10)])] == [0, 10]
    both.refuse([Batch(), empty, Batch(base_offset=9)], position=len(Batch().encode()) + 61)


@pytest.mark.parametrize("attributes", [1, 2, 3, 4])
def test_an_empty_batch_may_still_name_a_codec(both: Both, attributes: int) -> None:
    assert both.read([Batch([], attributes=attributes)]) == []


@pytest.mark.parametrize("codec", CODECS)
def test_offsets_come_from_the_deltas_where_the_cleaner_left_gaps(both: Both, codec: str) -> None:
    batch = Batch(records(3, 4, 9), base_offset=100, last_offset_delta=12, codec=codec)
    assert [r.offset for r in both.read([batch, Batch(base_offset=113)])] == [103, 104, 109, 113]


@pytest.mark.parametrize("deltas", [(0, 0), (0, 0, 0), (1, 0), (0, -3), (-1, 0), (0, 3), (0, 2**31 - 1), (0, -(2**31))])
def test_offset_deltas_outside_the_batch_or_not_rising_are_refused(both: Both, deltas: tuple[int, ...]) -> None:
    both.refuse([Batch(records(*deltas), base_offset=7, last_offset_delta=2)], position=0)


@pytest.mark.parametrize("delta", [-1, -7, -(2**31)])
def test_a_negative_last_offset_delta_is_refused(both: Both, delta: int) -> None:
    both.refuse([Batch(last_offset_delta=delta)], position=0)


def test_a_batch_may_span_2_to_the_31_less_one_offsets(both: Both) -> None:
    batch = Batch(records(0, 2**31 - 1))
    assert [r.offset for r in both.read([batch])] == [0, 2**31 - 1]


def test_sequence_numbers_wrap_to_zero(both: Both) -> None:
    batch = Batch([Record()] * 4, producer_id=9, producer_epoch=1, base_sequence=2**31 - 2)
    found = both.read([batch])
    assert [r.sequence for r in found] == [2**31 - 2, 2**31 - 1, 0, 1]
    assert {(r.producer_id, r.producer_epoch) for r in found} == {(9, 1)}


def test_minus_one_in_the_header_is_null_in_the_row(both: Both) -> None:
    (record,) = both.read([Batch(leader_epoch=-1)])
    assert (record.leader_epoch, record.producer_id, record.producer_epoch, record.sequence) == (None,) * 4


def test_unused_attribute_bits_are_ignored(both: Both) -> None:
    (record,) = both.read([Batch([Record(attributes=-1)], attributes=-256 + 0x80)])
    assert (record.compression, record.is_control, record.is_transactional) == ("none", False, False)


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_a_codec_that_does_not_exist_is_refused(both: Both, codec: int) -> None:
    both.refuse([Batch(attributes=codec)], position=0)


@pytest.mark.parametrize("codec", CODECS)
def test_control_batches_may_be_compressed(both: Both, codec: str) -> None:
    batch = Batch([end_marker(commit=True)], control=True, transactional=True, producer_id=1, codec=codec)
    (record,) = both.read([batch])
    assert (record.is_control, record.is_transactional, record.control_type) == (True, True, "COMMIT")


@pytest.mark.parametrize(
    ("kind", "name"),
    list(enumerate([*CONTROL_TYPES, "UNKNOWN"])),
)
def test_control_types_have_kafkas_names(both: Both, kind: int, name: str) -> None:
    assert [r.control_type for r in both.read([Batch([control_record(kind)], control=True)])] == [name]


@pytest.mark.parametrize("kind", [-1, 99, 32767])
def test_a_control_type_of_a_later_kafka_is_unknown(both: Both, kind: int) -> None:
    assert [r.control_type for r in both.read([Batch([control_record(kind, version=5)], control=True)])] == ["UNKNOWN"]


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0", b"\xff\xff\0\1"], ids=["null", "empty", "short", "version -1"])
def test_a_control_record_without_a_whole_key_is_refused(both: Both, key: bytes | None) -> None:
    record = Record(key=key, value=b"")
    both.refuse([Batch([record], control=True)], position=0)


def test_control_records_are_left_out_by_default(both: Both) -> None:
    log = both.directory / f"{0:020d}.log"
    both.read([Batch(), Batch([end_marker(commit=False)], base_offset=1, control=True, transactional=True)])
    assert scan_rows(log, ["offset"], includeControlRecords=False) == [(0,)]


def test_tombstones_are_rows(both: Both) -> None:
    assert [(r.key, r.value) for r in both.read([Batch([Record(value=None)])])] == [(b"key", None)]
