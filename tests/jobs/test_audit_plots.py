"""The timeline of an audit, and the axis of its plot: something to see at any span of time."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from datetime import datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest

from spark_jobs.audit.page.plot_times import time_panels
from spark_jobs.audit.page.plots import plots_of_topic
from spark_jobs.audit.result import Profile
from spark_jobs.audit.tasks.timeline import STEPS, coarsened, counted_by_time

SECOND = 1_000_000
DAY = 86_400 * SECOND
NOW = 1_795_000_000 * SECOND
YEAR_1 = (datetime(1, 1, 2) - datetime(1970, 1, 1)) // timedelta(microseconds=1)
YEAR_9999 = (datetime(9999, 12, 29) - datetime(1970, 1, 1)) // timedelta(microseconds=1)

SPANS = {
    "one moment": [NOW] * 5,
    "seconds": [NOW + number * SECOND // 7 for number in range(400)],
    "an hour": [NOW + number * SECOND for number in range(3600)],
    "days": [NOW + number * 600 * SECOND for number in range(1000)],
    "years": [NOW - number * DAY for number in range(3000)],
    "before 1970": [-number * DAY for number in range(50)],
    "seconds, and one wrong time": [0, *(NOW + number * SECOND for number in range(60))],
    "all of time": [YEAR_1, NOW, YEAR_9999],
    "two days with a year between": [NOW - 365 * DAY, *(NOW + number * 60 * SECOND for number in range(1440))],
}


def timeline(times: list[int], topic: str | None = "t") -> pa.Table:
    ones = pa.repeat(pa.scalar(1, pa.int64()), len(times))
    return counted_by_time(topic, pa.array(times, pa.int64()), STEPS[0], records=ones, bytes=ones)


@pytest.mark.parametrize("times", SPANS.values(), ids=SPANS)
def test_a_timeline_counts_each_time_once_in_its_interval(times: list[int]) -> None:
    rows = timeline(times).to_pylist()
    (step,) = {row["step"] for row in rows}
    assert {row["start"]: row["records"] for row in rows} == Counter(time // step * step for time in times)
    assert len(rows) <= 600


@pytest.mark.parametrize("times", SPANS.values(), ids=SPANS)
def test_merged_timelines_are_that_of_all(times: list[int]) -> None:
    shuffled = random.Random(7).sample(times, len(times))
    parts = [timeline(part) for part in (shuffled[::3], shuffled[1::3], shuffled[2::3]) if part]
    others = timeline([0, DAY], topic=None)
    merged = coarsened(pa.concat_tables([*parts, others])).to_pylist()
    order = [("start", "ascending")]
    expected = timeline(times).sort_by(order).to_pylist()
    assert sorted((row for row in merged if row["topic"] == "t"), key=lambda row: row["start"]) == expected
    assert [row["start"] for row in merged if row["topic"] is None] == [0, DAY]


def test_each_step_is_a_multiple_of_the_one_before() -> None:
    assert all(longer % step == 0 for step, longer in itertools.pairwise(STEPS))


@pytest.mark.parametrize("times", SPANS.values(), ids=SPANS)
def test_panels_show_all_and_leave_long_times_of_nothing_out(times: list[int]) -> None:
    panels = time_panels(timeline(times).to_pylist())
    assert sum(sum(panel.values("records")) for panel in panels) == len(times)
    assert len({panel.step for panel in panels}) == 1
    for panel in panels:
        low, high = panel.bounds
        assert all(low <= start < high for start in panel.starts)
        # Every bar is wide enough to be seen.
        assert (high - low) / timedelta(microseconds=panel.step) <= 150


def test_one_wrong_time_does_not_hide_the_others() -> None:
    first, last = time_panels(timeline(SPANS["seconds, and one wrong time"]).to_pylist())
    assert (first.starts[0].year, last.starts[0].year) == (1970, 2026)
    assert last.step_text == "second"
    assert last.values("records") == [1] * 60


@pytest.mark.parametrize("times", SPANS.values(), ids=SPANS)
@pytest.mark.filterwarnings("error")
def test_a_plot_of_any_span_is_drawn_with_labels(times: list[int]) -> None:
    pytest.importorskip("matplotlib")
    profile = Profile(["/logs"], "records", timeline=timeline(times).to_pylist())
    (plot,) = plots_of_topic(profile, "t")
    root = ElementTree.fromstring(plot.svg)
    found: list[Any] = [each.attrib["id"] for each in root.iter() if each.attrib.get("id", "").startswith("xtick")]
    assert len(found) >= 1
    assert "records in an interval of" in plot.words


def test_plots_take_their_colours_from_the_mode() -> None:
    pytest.importorskip("matplotlib")
    profile = Profile(["/logs"], "records", timeline=timeline(SPANS["days"]).to_pylist())
    text = plots_of_topic(profile, "t")[0].svg.decode()
    style, _, drawn = text.partition("</style>")
    assert "prefers-color-scheme:dark" in style
    assert "var(--c1f5f99)" in drawn
    # Nothing is drawn in a colour that one of the modes would hide.
    assert set(re.findall("#[0-9a-f]{6}", drawn)) == set()
