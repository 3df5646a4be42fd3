"""Times are read as people write them, by one clock for a whole read."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from kafkalog_source.errors import OptionError
from kafkalog_source.options.read_options import ReadOptions, parse_options
from kafkalog_source.options.times import Clock, day_of, iso_text, milliseconds

NOW = datetime(2026, 11, 22, 13, 45, 30, 250_000, tzinfo=UTC)
NOW_MS = 1_795_355_130_250
BERLIN = ZoneInfo("Europe/Berlin")
HOUR = 3_600_000
DAY = 24 * HOUR


def ms(*parts: int, hours_east: int = 0) -> int:
    """Milliseconds of a time by the calendar, counted in whole seconds and without the code under test."""
    time = datetime(*parts, tzinfo=timezone(timedelta(hours=hours_east)))
    return round(time.timestamp()) * 1000


def parse(**options: object) -> ReadOptions:
    return parse_options(options, "/data")


def test_the_clock_of_these_tests_is_what_it_says() -> None:
    assert ms(2026, 11, 22, 13, 45, 30) + 250 == NOW_MS


@pytest.mark.parametrize(
    ("text", "time_ms"),
    [
        ("1700000000000", 1_700_000_000_000),
        (" 0 ", 0),
        ("9223372036854775807", 2**63 - 1),
        ("20261120", 20_261_120),
        ("2026-11-20", ms(2026, 11, 20)),
        ("2026-11-20T14:30", ms(2026, 11, 20, 14, 30)),
        ("2026-11-20 14:30:05", ms(2026, 11, 20, 14, 30, 5)),
        ("2026-11-20T14", ms(2026, 11, 20, 14)),
        ("2026-11-20T14:30:05.007", ms(2026, 11, 20, 14, 30, 5) + 7),
        ("2026-11-20T14:30:05,007Z", ms(2026, 11, 20, 14, 30, 5) + 7),
        ("2026-11-20t14:30z", ms(2026, 11, 20, 14, 30)),
        ("2026-11-20T14:30+01:00", ms(2026, 11, 20, 14, 30, hours_east=1)),
        ("2026-11-20T14:30-0500", ms(2026, 11, 20, 14, 30, hours_east=-5)),
        ("20261120T143000Z", ms(2026, 11, 20, 14, 30)),
        ("2026-W47-5", ms(2026, 11, 20)),
        ("1970-01-01T01:00+01:00", 0),
        ("9999-12-31", ms(9999, 12, 31)),
        ("now", NOW_MS),
        ("NOW", NOW_MS),
        ("today", ms(2026, 11, 22)),
        (" Yesterday ", ms(2026, 11, 21)),
        ("-45s", NOW_MS - 45_000),
        ("-30m", NOW_MS - HOUR // 2),
        ("-2h", NOW_MS - 2 * HOUR),
        ("-2H", NOW_MS - 2 * HOUR),
        ("-7d", NOW_MS - 7 * DAY),
        ("-1w", NOW_MS - 7 * DAY),
    ],
)
def test_what_is_a_time(text: str, time_ms: int) -> None:
    assert milliseconds(text, now=NOW) == time_ms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-20", ms(2026, 11, 20, hours_east=1)),
        ("2026-07-20", ms(2026, 7, 20, hours_east=2)),
        ("2026-11-20T14:30", ms(2026, 11, 20, 14, 30, hours_east=1)),
        ("2026-11-20T14:30Z", ms(2026, 11, 20, 14, 30)),
        ("today", ms(2026, 11, 22, hours_east=1)),
        ("yesterday", ms(2026, 11, 21, hours_east=1)),
    ],
)
def test_a_zone_is_that_of_times_without_one(text: str, expected: int) -> None:
    assert milliseconds(text, now=NOW, zone="Europe/Berlin") == expected


def test_today_is_the_day_of_the_zone() -> None:
    late = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)
    assert milliseconds("today", now=late) == ms(2026, 11, 22)
    assert milliseconds("today", now=late, zone="Europe/Berlin") == ms(2026, 11, 23, hours_east=1)


def test_yesterday_is_a_day_of_the_calendar_when_clocks_change() -> None:
    # On 2026-10-25 clocks in Berlin went back, so that the day had 25 hours.
    noon = datetime(2026, 10, 26, 12, tzinfo=BERLIN)
    today, yesterday = (milliseconds(word, now=noon, zone="Europe/Berlin") for word in ("today", "yesterday"))
    assert today - yesterday == 25 * HOUR
    assert milliseconds("-1d", now=noon, zone="Europe/Berlin") == round(noon.timestamp()) * 1000 - DAY


def test_a_part_of_a_millisecond_is_rounded_up() -> None:
    second = ms(2026, 11, 20, 14, 30, 5)
    assert milliseconds("2026-11-20T14:30:05.000001") == second + 1
    assert milliseconds("2026-11-20T14:30:05.001") == second + 1


def test_without_a_given_now_it_is_the_current_time() -> None:
    before = datetime.now(UTC).timestamp() * 1000
    assert before <= milliseconds("now") <= datetime.now(UTC).timestamp() * 1000 + 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "noon",
        "2h",
        "+2h",
        "-2",
        "-2y",
        "-2h30m",
        "-1.5h",
        "- 2h",
        "--2h",
        "-99999999999h",
        "-999999999w",
        "2026-11",
        "2026-11-31",
        "2026-11-20T25:00",
        "2026-11-20x14:30",
        "2026-11-20T14:30 Europe/Berlin",
        "2026-11-20T14:30+99:00",
        "20.11.2026",
        "11/20/2026",
        "1.7e12",
        "1969-12-31T23:59:59Z",
        "0001-01-01T00:00+14:00",
        "-3000w",
        "9223372036854775808",
        "\N{ARABIC-INDIC DIGIT ONE}",
        "9" * 5000,
        "2" * 5000 + "-01-01",
    ],
)
def test_what_is_no_time_is_refused_with_what_is(text: str) -> None:
    with pytest.raises(OptionError) as caught:
        milliseconds(text, now=NOW)
    assert "yesterday or -2h" in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_misspelt_word_is_suggested() -> None:
    with pytest.raises(OptionError, match=r"Did you mean yesterday\?"):
        milliseconds("yesteday")


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("yesterday", (ms(2026, 11, 21), ms(2026, 11, 22))),
        ("2026-11-20", (ms(2026, 11, 20), ms(2026, 11, 21))),
        ("2026-11-20T14:30", None),
        ("-1d", None),
        ("20261120", None),
        ("9999-12-31", None),
    ],
)
def test_a_day_begins_and_ends(text: str, bounds: tuple[int, int] | None) -> None:
    assert day_of(text, Clock(NOW)) == bounds


def test_a_day_may_have_25_hours() -> None:
    first, end = day_of("2026-10-25", Clock(NOW, BERLIN)) or (0, 0)
    assert end - first == 25 * HOUR


@pytest.mark.parametrize(
    ("time_ms", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (NOW_MS, "2026-11-22T13:45:30.250Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800_000, "253402300800000"),
    ],
)
def test_a_time_is_shown_in_utc(time_ms: int, text: str) -> None:
    assert iso_text(time_ms) == text


# As options


@pytest.mark.parametrize("name", ["startingTimestamp", "endingTimestamp"])
def test_options_take_times(name: str) -> None:
    field = name.replace("T", "_t")
    assert getattr(parse(**{name: "2026-11-20"}), field) == ms(2026, 11, 20)
    assert getattr(parse(**{name: date(2026, 11, 20)}), field) == ms(2026, 11, 20)
    assert getattr(parse(**{name: datetime(2026, 11, 20, 14, tzinfo=BERLIN)}), field) == ms(2026, 11, 20, 13)
    assert getattr(parse(**{name: datetime(2026, 11, 20, 14)}), field) == ms(2026, 11, 20, 14)


def test_json_takes_times_beside_milliseconds() -> None:
    options = parse(startingOffsetsByTimestamp='{"t":{"0":"2026-11-20","1":5,"2":"7"}}')
    assert options.starting_offsets_by_timestamp == {"t": {0: ms(2026, 11, 20), 1: 5, 2: 7}}
    with pytest.raises(OptionError, match=r'startingOffsetsByTimestamp at topic "t", partition 3 is not a time'):
        parse(startingOffsetsByTimestamp={"t": {3: "soon"}})


def test_now_and_the_zone_of_a_read_can_be_given() -> None:
    options = parse(
        now="2026-11-22T23:30Z",
        timeZone="Europe/Berlin",
        startingTimestamp="today",
        endingTimestamp="-15m",
        startingOffsets="latest",
    )
    assert options.starting_timestamp == ms(2026, 11, 23, hours_east=1)
    assert options.ending_timestamp == ms(2026, 11, 22, 23, 15)
    assert options.now == ms(2026, 11, 22, 23, 30)
    assert options.time_zone == "Europe/Berlin"


def test_all_times_of_a_read_have_one_now() -> None:
    options = parse(startingTimestamp="-0s", endingTimestamp="now", endingOffsetsByTimestamp='{"t":{"0":"now"}}')
    assert options.starting_timestamp == options.ending_timestamp
    assert options.ending_offsets_by_timestamp == {"t": {0: options.ending_timestamp}}


@pytest.mark.parametrize("zone", ["", "Europe", "Mars/Olympus", "../etc/passwd", "/etc/localtime", 5, "\0", "x" * 500])
def test_an_unknown_zone_is_refused(zone: object) -> None:
    with pytest.raises(OptionError, match="option timeZone is not a time zone"):
        parse(timeZone=zone)


def test_a_misspelt_zone_is_suggested() -> None:
    with pytest.raises(OptionError, match=r"Did you mean Europe/Berlin\?"):
        parse(timeZone="Europe/Berln")


@pytest.mark.parametrize("now", ["soon", "-1", "253402300800000", str(2**63 - 1)])
def test_an_impossible_now_is_refused(now: str) -> None:
    with pytest.raises(OptionError, match="option now is "):
        parse(now=now, startingTimestamp="-2h")
