"""Places choose partitions and their ranges in one option."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.errors import DataLossError, LogDirError, OptionError
from kafkalog_source.options.limits import OffsetLimit
from kafkalog_source.options.places import Place
from kafkalog_source.options.read_options import ReadOptions, parse_options
from tests.builders import Batch, Record, partition_dir, write_segment

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
NOON_MS = 1_795_176_000_000
HOUR = 3_600_000
EARLIEST, LATEST = OffsetLimit("places", keyword="earliest"), OffsetLimit("places", keyword="latest")


def parse(places: object, **options: object) -> ReadOptions:
    return parse_options({"places": places, "now": NOON, **options}, "/data")


def offset(number: int) -> OffsetLimit:
    return OffsetLimit("places", offset=number)


def time(hours: int) -> OffsetLimit:
    """A time so many hours after the noon that is now."""
    return OffsetLimit("places", timestamp_ms=NOON_MS + hours * HOUR)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("orders", Place("orders", None, EARLIEST, LATEST)),
        ("orders:3", Place("orders", 3, EARLIEST, LATEST)),
        ("a.b_c-7:0", Place("a.b_c-7", 0, EARLIEST, LATEST)),
        ("orders:3@1200..1300", Place("orders", 3, offset(1200), offset(1300))),
        ("orders:3@1200..", Place("orders", 3, offset(1200), LATEST)),
        ("orders:3@..1300", Place("orders", 3, EARLIEST, offset(1300))),
        ("orders:3@..", Place("orders", 3, EARLIEST, LATEST)),
        ("orders:3@1200", Place("orders", 3, offset(1200), offset(1201))),
        ("orders@5..5", Place("orders", None, offset(5), offset(5))),
        ("orders@yesterday..", Place("orders", None, time(-36), LATEST)),
        ("orders@..2026-11-20", Place("orders", None, EARLIEST, time(-12))),
        ("orders@2026-11-20", Place("orders", None, time(-12), time(12))),
        ("orders@today", Place("orders", None, time(-12), time(12))),
        ("orders@-2h..-1h", Place("orders", None, time(-2), time(-1))),
        ("orders@-2h..now", Place("orders", None, time(-2), time(0))),
        ("orders@2026-11-20T11:00+01:00..2026-11-20T11:00Z", Place("orders", None, time(-2), time(-1))),
        ("orders@1200..today", Place("orders", None, offset(1200), time(-12))),
        (" orders @ 1 .. 2 ".replace("orders @", "orders@"), Place("orders", None, offset(1), offset(2))),
    ],
)
def test_a_place_is_a_topic_or_partition_with_or_without_a_range(text: str, place: Place) -> None:
    assert parse(text).places == (place,)


def test_places_are_a_list_by_commas_or_in_python() -> None:
    both = (Place("a", 1, EARLIEST, offset(2)), Place("b", None, time(-1), LATEST))
    assert parse(" a:1@..2 ,, b@-1h.. ").places == both
    assert parse(["a:1@..2", "b@-1h.."]).places == both
    assert parse(("a:1@..2", "b@-1h..")).places == both
    assert parse(["a:1@..2,b@-1h.."]).places == both


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no place"),
        (" , ", "names no place"),
        ([], "names no place"),
        (5, "not a list of places"),
        ([5], "not a list of places"),
        ("or ders", "invalid topic name"),
        ("@5", "invalid topic name"),
        (":3", "invalid topic name"),
        ("..", "invalid topic name"),
        ("x" * 250, "invalid topic name"),
        ("orders:", "not an integer"),
        ("orders:x", "not an integer"),
        ("orders:0-3", "not an integer"),
        ("orders:1:2", "not an integer"),
        ("orders:-1", "out of range"),
        ("orders:2147483648", "out of range"),
        ("orders@", "a range that is none"),
        ("orders@-2h", "a range that is none"),
        ("orders@2026-11-20T14:30", "a range that is none"),
        ("orders@5@6", "a range that is none"),
        ("orders@soon..", "is not a time"),
        ("orders@1..yesteday", "Did you mean yesterday?"),
        ("orders@-5..", "out of range"),
        ("orders@9223372036854775807", "out of range"),
        ("orders@" + "9" * 5000 + "..", "orders@999"),
        ("orders@1960-01-01", "out of range"),
        ("orders@7..6", "ends before it starts"),
        ("orders@today..yesterday", "ends before it starts"),
        ("orders,orders", "two places with the same partition of orders"),
        ("orders:1,orders", "two places with the same partition of orders"),
        ("orders@1..2,orders:1", "two places with the same partition of orders"),
        ("orders:1@1..2,orders:1@5..6", "two places with the same partition of orders"),
    ],
)
def test_what_is_no_place_is_refused(text: object, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse(text)
    assert "option places" in str(caught.value)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("subscribe", "orders"),
        ("subscribePattern", "orders"),
        ("assign", {"orders": [0]}),
        ("startingOffsets", "earliest"),
        ("endingOffsets", "latest"),
        ("startingTimestamp", "5"),
        ("endingTimestamp", "5"),
        ("startingOffsetsByTimestamp", {"orders": {0: 5}}),
        ("endingOffsetsByTimestamp", {"orders": {0: 5}}),
    ],
)
def test_places_do_not_go_together_with_other_choices(name: str, value: object) -> None:
    with pytest.raises(OptionError, match=f"options places and {name} cannot be given together"):
        parse("orders", **{name: value})


def test_places_choose_partitions() -> None:
    options = parse("a:1,b")
    assert [options.wants(*each) for each in (("a", 0), ("a", 1), ("b", 0), ("b", 7), ("c", 0))] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert parse("__consumer_offsets").wants("__consumer_offsets", 0)
    assert not parse("a").inspects("__consumer_offsets", 0)


def test_a_view_of_files_takes_places_without_ranges() -> None:
    assert parse("a:1", view="segments").wants("a", 1)
    with pytest.raises(OptionError, match="cannot have a range with view=segments"):
        parse("a:1@5..", view="segments")


def test_a_view_of_one_topic_takes_its_places_alone() -> None:
    parse("__consumer_offsets:3@-2h..", view="consumer_offsets")
    with pytest.raises(OptionError, match="reads the topic __consumer_offsets and no other"):
        parse("orders:3", view="consumer_offsets")


def test_a_stream_starts_at_places_and_ends_nowhere() -> None:
    assert parse_options({"places": "a:1@5.."}, "/data", streaming=True).places
    with pytest.raises(OptionError, match="places with an end cannot be used in a stream"):
        parse_options({"places": "a:1@5..6"}, "/data", streaming=True)


# Reading


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Offsets 0 to 9 in two partitions of orders, one an hour from noon on; payments has only old ones."""
    for topic, partition, start in (("orders", 0, NOON_MS), ("orders", 1, NOON_MS), ("payments", 0, 0)):
        batches = [
            Batch([Record(timestamp_delta=0)], base_offset=number, base_timestamp=start + number * HOUR)
            for number in range(10)
        ]
        write_segment(partition_dir(tmp_path, topic, partition), batches)
    return tmp_path


def read(logs: Path, **options: Any) -> list[tuple[str, int, int]]:
    table = kafkalog_source.scan(logs, columns=["topic", "partition", "offset"], **options).to_table()
    return [(row["topic"], row["partition"], row["offset"]) for row in table.to_pylist()]


def spread(topic: str, partition: int, start: int, end: int) -> list[tuple[str, int, int]]:
    return [(topic, partition, number) for number in range(start, end)]


@pytest.mark.parametrize(
    ("places", "rows"),
    [
        ("orders:1@3..5", spread("orders", 1, 3, 5)),
        ("orders:1@3", spread("orders", 1, 3, 4)),
        ("orders@8..", spread("orders", 0, 8, 10) + spread("orders", 1, 8, 10)),
        ("payments,orders:0@..2", spread("orders", 0, 0, 2) + spread("payments", 0, 0, 10)),
        ("orders:0@2026-11-20T15:00..2026-11-20T17:00", spread("orders", 0, 3, 5)),
        ("orders:0@2026-11-20T15:00..4", spread("orders", 0, 3, 4)),
        ("orders:0@2026-11-20", spread("orders", 0, 0, 10)),
        ("payments@1970-01-01T08:00..", spread("payments", 0, 8, 10)),
    ],
)
def test_each_place_gives_its_records(logs: Path, places: str, rows: list[tuple[str, int, int]]) -> None:
    assert read(logs, places=places) == rows


def test_a_topic_without_records_since_then_is_no_error(logs: Path) -> None:
    places = "orders:0@2026-11-20T20:00..,payments@2026-11-20T20:00.."
    assert read(logs, places=places) == spread("orders", 0, 8, 10)
    with pytest.raises(OptionError, match=r"no record of payments-0 is at or after the time of places .*T20:00:00Z"):
        read(logs, places=places, startingOffsetsByTimestampStrategy="error")


def test_an_offset_that_is_not_there_is_loss(logs: Path) -> None:
    with pytest.raises(DataLossError, match="places names an offset of orders-0 that is not on disk"):
        read(logs, places="orders:0@8..20")
    assert read(logs, places="orders:0@8..20", failOnDataLoss=False) == spread("orders", 0, 8, 10)


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ("order@5..", "not found: order. Did you mean orders?"),
        ("orders:2", "not found: orders-2. `kafkalog ls`"),
        ("paiments:0,orders:1", "not found: paiments-0. Did you mean payments?"),
    ],
)
def test_a_place_that_is_not_there_is_an_error(logs: Path, places: str, said: str) -> None:
    with pytest.raises(LogDirError) as caught:
        read(logs, places=places)
    assert said in str(caught.value)


def test_the_report_shows_the_times_of_a_read_in_utc(logs: Path) -> None:
    def times(**options: Any) -> object:
        return kafkalog_source.scan(logs, now=NOON, **options).report()["times"]

    assert times() == {}
    assert times(startingTimestamp=0, endingTimestamp="-30m") == {
        "startingTimestamp": "1970-01-01T00:00:00Z",
        "endingTimestamp": "2026-11-20T11:30:00Z",
    }
    assert times(places="orders:0@3..,orders:1@today..5,payments@..now") == {
        "places": "orders:1@2026-11-20T00:00:00Z..5, payments@..2026-11-20T12:00:00Z"
    }
