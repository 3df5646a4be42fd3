"""The plots of an audit, as SVG for the page; drawn by matplotlib, if it is installed."""

from __future__ import annotations

import importlib.util
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from kafkalog_source.errors import printable
from spark_jobs.audit.page.plot_times import Panel, time_panels
from spark_jobs.audit.result import Profile, Row
from spark_jobs.audit.tasks.times import DAY, MINUTE
from spark_jobs.common.summary import size_text

__all__ = ["Plot", "can_plot", "plots_of_topic", "topics_plot"]

# Distinguishable with colour blindness. The page shows them on white and, in its dark mode, the second ones on black.
_BLUE, _ORANGE, _GREY, _LINE = "#1f5f99", "#b3541e", "#4b565d", "#e3e6e8"
_DARK = {_BLUE: "#6cb0ec", _ORANGE: "#e8915c", _GREY: "#aab6be", _LINE: "#333c42"}
_LIGHT = {colour: colour for colour in _DARK}
_MOST_BARS = 200
_LONGEST_NAME = 32
_WIDTH = 5.6
"""In inches: narrow, so that the text can be read where a phone shows the plot at its own width."""


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
    figure = _figure(0.6 + 0.26 * len(names))
    axes = figure.add_subplot()
    bars = axes.barh(range(len(names)), sizes, color=_BLUE, height=0.7)
    axes.bar_label(bars, [size_text(size) for size in sizes], padding=4, color=_GREY)
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_xlim(0, max(sizes) * 1.22 or 1)
    _bytes_axis(axes.xaxis, max(sizes))
    _bare(axes)
    axes.grid(visible=False, axis="y")
    shown = ", ".join(f"{name} {size_text(size)}" for name, size in zip(names[::-1][:5], sizes[::-1][:5], strict=True))
    return Plot(_svg(figure), "Bytes on disk by topic", f"Bytes on disk by topic: {shown}.")


def plots_of_topic(profile: Profile, topic: str | None) -> list[Plot]:
    """Return the plots of one topic that have something to show."""
    name = "(no topic)" if topic is None else printable(topic)
    times, sizes, partitions = (
        [row for row in rows if row["topic"] == topic] for rows in (profile.timeline, profile.sizes, profile.partitions)
    )
    made = [_times(name, times), _sizes(name, sizes), _balance(name, partitions)]
    return [plot for plot in made if plot is not None]


def _times(name: str, rows: Sequence[Row]) -> Plot | None:
    """Plot records and bytes on disk by time, without long times of nothing; only bytes if records are unknown."""
    if not rows:
        return None
    panels = time_panels(rows)
    step = panels[0].step_text
    is_counted = not any(row.get("uncounted_batches") for row in rows)
    measures = [("records", f"records / {step}", _BLUE)] if is_counted else []
    measures.append(("bytes", f"on disk / {step}", _ORANGE))
    figure = _figure(0.5 + 1.3 * len(measures))
    widths = [panel.width for panel in panels]
    grid = figure.subplots(len(measures), len(panels), sharex="col", sharey="row", squeeze=False, width_ratios=widths)
    for line, (key, label, colour) in zip(grid, measures, strict=True):
        most = _most(panels, key)
        for axes, panel in zip(line, panels, strict=True):
            axes.bar(panel.starts, panel.values(key), width=panel.length, align="edge", color=colour)
            _bare(axes)
        line[0].set_ylim(0, most * 1.1 or 1)
        line[0].set_ylabel(label)
        if key == "records":
            _counts_axis(line[0].yaxis)
        else:
            _bytes_axis(line[0].yaxis, most)
    for axes, panel in zip(grid[-1], panels, strict=True):
        axes.set_xlim(*panel.bounds)
        _time_axis(axes.xaxis, panel, most=int(6 * panel.width / sum(widths)))
    most_text = f"{_most(panels, 'records'):,} records" if is_counted else size_text(_most(panels, "bytes"))
    span = f"from {panels[0].starts[0]:%Y-%m-%d %H:%M:%S} to {panels[-1].starts[-1]:%Y-%m-%d %H:%M:%S}"
    words = f"Throughput of {name} {span}: at most {most_text} in an interval of one {step}."
    if step[0].isdigit():
        words = words.replace("of one ", "of ")
    title = f"Throughput by {step}" + ("; long times without records are left out" if len(panels) > 1 else "")
    return Plot(_svg(figure), title, words)


def _most(panels: Sequence[Panel], name: str) -> int:
    return max(value for panel in panels for value in panel.values(name))


def _sizes(name: str, sizes: Sequence[Row]) -> Plot | None:
    """Plot the number of records by size, in powers of two."""
    doubled = {kind: _by_power([row for row in sizes if row["of"] == kind]) for kind in ("key", "value")}
    if not any(doubled.values()):
        return None
    last = max(max(powers, default=0) for powers in doubled.values())
    figure = _figure(2.4)
    axes = figure.add_subplot()
    for shift, (kind, colour) in enumerate((("key", _ORANGE), ("value", _BLUE))):
        powers = doubled[kind]
        places = [power + 0.4 * shift - 0.2 for power in powers]
        axes.bar(places, list(powers.values()), width=0.38, color=colour, label=f"{kind}s")
    every = 1 if last < 12 else 2
    axes.set_xticks(range(0, last + 1, every), [_power_text(power) for power in range(0, last + 1, every)])
    axes.set_xlim(-0.7, last + 0.7)
    axes.set_xlabel("bytes, from this size to below the next power of two")
    axes.set_ylabel("records")
    _counts_axis(axes.yaxis)
    _bare(axes)
    axes.legend(frameon=False, labelcolor=_GREY)
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
    return str(first) if first < 1024 else size_text(first).replace(".0 ", " ").removesuffix("iB")


def _balance(name: str, partitions: Sequence[Row]) -> Plot | None:
    """Plot the bytes of the partitions, in order; None if there is only one."""
    if len(partitions) < 2 or len(partitions) > _MOST_BARS:
        return None
    partitions = sorted(partitions, key=lambda row: (row["partition"] is None, row["partition"]))
    sizes = [row.get("bytes") or 0 for row in partitions]
    figure = _figure(2.2)
    axes = figure.add_subplot()
    axes.bar(range(len(sizes)), sizes, color=_BLUE, width=0.8)
    every = -(-len(sizes) // 20)
    axes.set_xticks(range(0, len(sizes), every), [str(row["partition"]) for row in partitions[::every]])
    axes.set_xlim(-0.8, max(len(sizes), 12) - 0.2)
    axes.set_ylim(0, max(sizes) * 1.1 or 1)
    axes.set_xlabel("partition")
    axes.set_ylabel("on disk")
    _bytes_axis(axes.yaxis, max(sizes))
    _bare(axes)
    span = f"{size_text(min(sizes))} to {size_text(max(sizes))}"
    words = f"Bytes on disk of the {len(sizes)} partitions of {name}: {span}."
    return Plot(_svg(figure), "Bytes on disk by partition", words)


def _short(topic: str | None) -> str:
    name = "(no topic)" if topic is None else printable(topic)
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _figure(height: float) -> Any:
    # Without pyplot, which keeps figures and looks for a display.
    matplotlib, figure = import_module("matplotlib"), import_module("matplotlib.figure")
    # Equal data give equal files; text is drawn as paths, so that no font is needed.
    fixed = {"svg.hashsalt": "kafkalog", "svg.fonttype": "path", "font.size": 9}
    colours = dict.fromkeys(("axes.labelcolor", "axes.edgecolor", "text.color", "xtick.color", "ytick.color"), _GREY)
    matplotlib.rcParams.update({**fixed, **colours})
    return figure.Figure(figsize=(_WIDTH, height), layout="constrained")


def _svg(figure: Any) -> bytes:
    """Return the plot with colours that follow the mode, light or dark, of whoever shows it."""
    out = io.StringIO()
    figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    colours = {light: f"--c{light[1:]}" for light in _DARK}
    light, dark = ("".join(f"{colours[name]}:{shown[name]};" for name in _DARK) for shown in (_LIGHT, _DARK))
    style = f"<style>:root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}</style>"
    text = re.sub("|".join(_DARK), lambda found: f"var({colours[found[0]]})", out.getvalue())
    return re.sub("(<svg [^>]*>)", lambda found: found[0] + style, text, count=1).encode()


def _bare(axes: Any) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0)
    axes.grid(visible=True, color=_LINE, linewidth=0.8)
    axes.set_axisbelow(True)


def _bytes_axis(axis: Any, largest: int) -> None:
    """Set two to four ticks, at multiples of a power of two."""
    ticker = import_module("matplotlib.ticker")
    axis.set_major_locator(ticker.MultipleLocator(1 << max(largest.bit_length() - 2, 0)))
    axis.set_major_formatter(lambda value, _: size_text(int(value)).replace(".0", "") if value >= 0 else "")


def _counts_axis(axis: Any) -> None:
    ticker = import_module("matplotlib.ticker")
    axis.set_major_locator(ticker.MaxNLocator(5, integer=True))
    axis.set_major_formatter(lambda value, _: f"{int(value):,}" if value >= 0 else "")


def _time_axis(axis: Any, panel: Panel, *, most: int) -> None:
    """Label times, at most so many; the date of a whole axis is below it. A narrow panel has only its date."""
    dates, ticker = import_module("matplotlib.dates"), import_module("matplotlib.ticker")
    if most < 2:
        axis.set_major_locator(ticker.FixedLocator([dates.date2num(panel.starts[0])]))
        time = "%H:%M:%S" if panel.step < MINUTE else "%H:%M" if panel.step < DAY else ""
        axis.set_major_formatter(dates.DateFormatter(f"{time}\n%Y-%b-%d"))
        return
    locator = dates.AutoDateLocator(minticks=2, maxticks=most)
    axis.set_major_locator(locator)
    axis.set_major_formatter(dates.ConciseDateFormatter(locator))
