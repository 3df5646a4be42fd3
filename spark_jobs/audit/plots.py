"""The plots of an audit, as SVG for the page; drawn by matplotlib, if it is installed."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any

from kafkalog_source.errors import counted, printable
from spark_jobs.audit.result import Profile, Row
from spark_jobs.common.summary import size_text

__all__ = ["Plot", "can_plot", "plots_of_topic", "topics_plot"]

_BLUE, _ORANGE, _GREY = "#1f5f99", "#b3541e", "#5b6770"
"""Distinguishable with colour blindness, and dark enough on white."""
_MOST_BARS = 200
_LONGEST_NAME = 40
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Plot:
    """A plot with its title and alternative text.

    Attributes
    ----------
    svg : bytes
    title : str
        Shown above it.
    words : str
        The alternative text.
    """

    svg: bytes
    title: str
    words: str


def can_plot() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def topics_plot(topics: Sequence[Row]) -> Plot | None:
    """Plot the bytes of the topics, the largest first; None if there is only one."""
    if len(topics) < 2:
        return None
    names = [_short(row["topic"]) for row in topics][::-1]
    sizes = [row.get("bytes") or 0 for row in topics][::-1]
    figure = _figure(8.0, 0.7 + 0.3 * len(names))
    axes = figure.add_subplot()
    bars = axes.barh(range(len(names)), sizes, color=_BLUE, height=0.7)
    axes.bar_label(bars, [size_text(size) for size in sizes], padding=4, fontsize=9, color=_GREY)
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_xlim(0, max(sizes) * 1.18 or 1)
    _bytes_axis(axes.xaxis, max(sizes))
    _bare(axes)
    axes.grid(False, axis="y")
    shown = ", ".join(f"{name} {size_text(size)}" for name, size in zip(names[::-1][:5], sizes[::-1][:5], strict=True))
    return Plot(_svg(figure), "Bytes on disk by topic", f"Bytes on disk by topic: {shown}.")


def plots_of_topic(profile: Profile, topic: str | None) -> list[Plot]:
    """Return the plots of one topic that have something to show."""
    name = "(no topic)" if topic is None else printable(topic)
    of_topic = [row for row in profile.hours if row["topic"] == topic and row["hour"] is not None]
    sizes = [row for row in profile.sizes if row["topic"] == topic]
    partitions = [row for row in profile.partitions if row["topic"] == topic]
    made = [_throughput(name, of_topic), _sizes(name, sizes), _balance(name, partitions)]
    return [plot for plot in made if plot is not None]


def _throughput(name: str, hours: Sequence[Row]) -> Plot | None:
    """Plot records and bytes on disk by hour, or by day if there are many hours; only bytes if records are unknown."""
    hours = sorted(hours, key=lambda row: row["hour"])
    if not hours:
        return None
    step, word = timedelta(hours=1), "hour"
    if hours[-1]["hour"] - hours[0]["hour"] > _MOST_BARS * step:
        hours, step, word = _by_day(hours), _DAY, "day"
    times = [row["hour"] for row in hours]
    is_counted = all(row["records"] is not None for row in hours)
    figure = _figure(8.0, 3.4 if is_counted else 2.0)
    *upper, lower = figure.subplots(2 if is_counted else 1, 1, sharex=True, squeeze=False)[:, 0]
    for axes, key, colour in (*((axes, "records", _BLUE) for axes in upper), (lower, "bytes", _ORANGE)):
        values = [row.get(key) or 0 for row in hours]
        axes.bar(times, values, width=step, align="edge", color=colour)
        axes.set_ylim(0, max(values) * 1.1 or 1)
        _bare(axes)
    for axes in upper:
        axes.set_ylabel(f"records / {word}")
        _counts_axis(axes.yaxis)
    lower.set_ylabel(f"on disk / {word}")
    _bytes_axis(lower.yaxis, max(row.get("bytes") or 0 for row in hours))
    # Otherwise a single bar would fill the plot.
    lower.set_xlim(times[0] - 2 * step, times[-1] + 3 * step)
    _time_axis(lower.xaxis)
    key = "records" if is_counted else "bytes"
    busiest = max(hours, key=lambda row: row.get(key) or 0)
    most = counted(busiest["records"], "record") if is_counted else size_text(busiest.get("bytes") or 0)
    words = (
        f"Throughput of {name} from {times[0]:%Y-%m-%d %H:%M} to {times[-1]:%Y-%m-%d %H:%M}: at most "
        f"{most} in the {word} from {busiest['hour']:%Y-%m-%d %H:%M} on."
    )
    return Plot(_svg(figure), f"Throughput by {word}", words)


def _by_day(hours: Sequence[Row]) -> list[Row]:
    days: dict[datetime, Row] = {}
    for row in hours:
        day = row["hour"].replace(hour=0)
        sums = days.setdefault(day, {"hour": day, "records": 0, "bytes": 0})
        sums["bytes"] += row.get("bytes") or 0
        is_counted = None not in (sums["records"], row["records"])
        sums["records"] = sums["records"] + row["records"] if is_counted else None
    return list(days.values())


def _sizes(name: str, sizes: Sequence[Row]) -> Plot | None:
    """Plot the number of records by size, in powers of two."""
    doubled = {kind: _by_power([row for row in sizes if row["of"] == kind]) for kind in ("key", "value")}
    if not any(doubled.values()):
        return None
    last = max(max(powers, default=0) for powers in doubled.values())
    figure = _figure(8.0, 2.4)
    axes = figure.add_subplot()
    for shift, (kind, colour) in enumerate((("key", _ORANGE), ("value", _BLUE))):
        powers = doubled[kind]
        places = [power + 0.4 * shift - 0.2 for power in powers]
        axes.bar(places, list(powers.values()), width=0.38, color=colour, label=f"{kind}s")
    axes.set_xticks(range(last + 1), [_power_text(power) for power in range(last + 1)], fontsize=8)
    axes.set_xlim(-0.7, last + 0.7)
    axes.set_xlabel("bytes, from this size to below the next")
    axes.set_ylabel("records")
    _counts_axis(axes.yaxis)
    _bare(axes)
    axes.legend(frameon=False, fontsize=9)
    parts = [
        f"most {kind}s have from {_power_text(max(powers, key=powers.__getitem__))} bytes to below the next power"
        for kind, powers in doubled.items()
        if powers
    ]
    words = f"Sizes of keys and values of {name}, by powers of two: {', '.join(parts)}."
    return Plot(_svg(figure), "Sizes of keys and values", words)


def _by_power(sizes: Sequence[Row]) -> dict[int, int]:
    """Sum records by the bit length of their size: 0, 1, 2 to 3, 4 to 7, and so on."""
    powers: dict[int, int] = {}
    for row in sizes:
        power = int(row["size"]).bit_length()
        powers[power] = powers.get(power, 0) + row["records"]
    return dict(sorted(powers.items()))


def _power_text(power: int) -> str:
    """Format the smallest size of this bit length."""
    first = 0 if power == 0 else 1 << power - 1
    return str(first) if first < 1024 else size_text(first).replace(".0", "")


def _balance(name: str, partitions: Sequence[Row]) -> Plot | None:
    """Plot the bytes of the partitions, in order; None if there is only one."""
    if len(partitions) < 2 or len(partitions) > _MOST_BARS:
        return None
    partitions = sorted(partitions, key=lambda row: (row["partition"] is None, row["partition"]))
    sizes = [row.get("bytes") or 0 for row in partitions]
    figure = _figure(8.0, 2.2)
    axes = figure.add_subplot()
    axes.bar(range(len(sizes)), sizes, color=_GREY, width=0.8)
    if len(sizes) <= 40:
        axes.set_xticks(range(len(sizes)), [str(row["partition"]) for row in partitions], fontsize=8)
    axes.set_xlim(-0.8, max(len(sizes), 12) - 0.2)
    axes.set_ylim(0, max(sizes) * 1.1 or 1)
    axes.set_xlabel("partition")
    axes.set_ylabel("on disk")
    _bytes_axis(axes.yaxis, max(sizes))
    _bare(axes)
    span = f"{size_text(min(sizes))} to {size_text(max(sizes))}"
    return Plot(
        _svg(figure), "Bytes on disk by partition", f"Bytes on disk of the {len(sizes)} partitions of {name}: {span}."
    )


def _short(topic: str | None) -> str:
    name = "(no topic)" if topic is None else printable(topic)
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _figure(width: float, height: float) -> Any:
    # Without pyplot, which keeps figures and looks for a display.
    matplotlib, figure = import_module("matplotlib"), import_module("matplotlib.figure")
    # Equal data give equal files; text is drawn as paths, so that no font is needed.
    matplotlib.rcParams.update({"svg.hashsalt": "kafkalog", "svg.fonttype": "path", "font.size": 9})
    return figure.Figure(figsize=(width, height), layout="constrained")


def _svg(figure: Any) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def _bare(axes: Any) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0, colors=_GREY)
    axes.grid(True, color="#e3e6e8", linewidth=0.8)
    axes.set_axisbelow(True)


def _bytes_axis(axis: Any, largest: int) -> None:
    """Set three to seven ticks, at multiples of a power of two."""
    ticker = import_module("matplotlib.ticker")
    axis.set_major_locator(ticker.MultipleLocator(1 << max(largest.bit_length() - 3, 0)))
    axis.set_major_formatter(lambda value, _: size_text(int(value)).replace(".0", "") if value >= 0 else "")


def _counts_axis(axis: Any) -> None:
    ticker = import_module("matplotlib.ticker")
    axis.set_major_locator(ticker.MaxNLocator(5, integer=True))
    axis.set_major_formatter(lambda value, _: f"{int(value):,}" if value >= 0 else "")


def _time_axis(axis: Any) -> None:
    dates = import_module("matplotlib.dates")
    locator = dates.AutoDateLocator(minticks=3, maxticks=8)
    axis.set_major_locator(locator)
    axis.set_major_formatter(dates.ConciseDateFormatter(locator))
