"""The audit as one self-contained HTML page: no network, embedded plots, and one script, which sorts tables.

Every name that comes from a disk is escaped, and the page forbids itself to load anything or to run another script.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

from kafkalog_source.errors import printable
from spark_jobs.audit.page.plots import Plot, plots_of_topic, topics_plot
from spark_jobs.audit.page.style import SCRIPT, STYLE
from spark_jobs.audit.result import Profile, Row
from spark_jobs.audit.text import SECTIONS, Section, cell, topic_text
from spark_jobs.audit.verdict import verdict_of
from spark_jobs.common.summary import size_text

__all__ = ["html_report"]

_HASH = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{_HASH}'"

_TEXT_COLUMNS = frozenset({"topic", "compression", "codecs", "magics", "name", "file", "reason"})


def html_report(profile: Profile, *, plots: bool) -> str:
    """Write the page.

    Parameters
    ----------
    profile : Profile
    plots : bool
        Whether to plot the largest topics; needs matplotlib.

    Returns
    -------
    str
        A complete document.
    """
    sections = [section for section in SECTIONS if len(section.shown_columns(section.rows(profile))) > 1]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8"/>',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"/>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            "<title>Audit of Kafka's log directories</title>",
            f"<style>\n{STYLE}\n</style>",
            "</head>",
            "<body>",
            *_head(profile),
            "<main>",
            *_verdict(profile),
            *_overview(profile, plots=plots),
            *_contents(profile, sections, plots=plots),
            *(line for number, section in enumerate(sections) for line in _section(profile, section, number)),
            *(_plots(profile) if plots else ()),
            "</main>",
            f"<script>{SCRIPT}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _head(profile: Profile) -> Iterator[str]:
    yield "<header>"
    yield "<h1>Audit of Kafka's log directories</h1>"
    read = "Headers of batches and records were read" if profile.depth == "records" else "Only headers were read"
    yield f"<p>{_text(', '.join(profile.input))}. {read}; times are in {_text(profile.time_zone)}.</p>"
    yield "</header>"


def _verdict(profile: Profile) -> Iterator[str]:
    verdict = verdict_of(profile)
    bad = "" if verdict.state in ("sound", "empty") else " bad"
    yield f'<section class="verdict{bad}" aria-label="Verdict">'
    yield f"<p><strong>{verdict.state.capitalize()}.</strong> {_text(verdict.summary)}</p>"
    if verdict.findings:
        yield f"<ul>{''.join(f'<li>{_text(finding)}</li>' for finding in verdict.findings)}</ul>"
    if verdict.commands:
        commands = "\n".join(map(_text, verdict.commands))
        yield f"<p>What to run next:</p><pre><code>{commands}</code></pre>"
    yield "</section>"


def _contents(profile: Profile, sections: Sequence[Section], *, plots: bool) -> Iterator[str]:
    links = [(f"section-{number}", section.title) for number, section in enumerate(sections)]
    links += [("plots", "Topics one by one")] if plots and profile.plotted else []
    yield '<nav aria-label="Sections"><ul>'
    yield from (f'<li><a href="#{target}">{_text(title)}</a></li>' for target, title in links)
    yield "</ul></nav>"


def _overview(profile: Profile, *, plots: bool) -> Iterator[str]:
    totals = [
        ("Topics", f"{profile.cut.get('topics', len(profile.topics)):,}"),
        ("Partitions", f"{profile.total('partitions'):,}"),
        ("Segments", f"{profile.total('segments'):,}"),
        ("On disk", size_text(profile.total("bytes"))),
        ("Batches", f"{profile.total('batches'):,}"),
        ("Records", "unknown" if profile.records is None else f"{profile.records:,}"),
        ("Damaged regions", f"{profile.damaged_regions:,}"),
    ]
    yield '<dl class="totals">'
    for name, value in totals:
        bad = ' class="bad"' if name == "Damaged regions" and profile.damaged_regions else ""
        yield f"<div><dt>{name}</dt><dd{bad}>{value}</dd></div>"
    yield "</dl>"
    notes = [*profile.warnings, *(f"Left out: {path}" for path in profile.skipped)]
    if notes:
        yield '<ul class="notes">'
        yield from (f"<li>{_text(note)}</li>" for note in notes)
        yield "</ul>"
    picture = topics_plot(profile.topics[: len(profile.plotted)]) if plots else None
    if picture is not None:
        yield _figure(picture)


def _section(profile: Profile, section: Section, number: int) -> Iterator[str]:
    rows = section.rows(profile)
    columns = section.shown_columns(rows)
    yield f'<section aria-labelledby="section-{number}">'
    yield f'<h2 id="section-{number}">{_text(section.title)}</h2>'
    yield f"<p>{_text(section.words)}</p>"
    if section.table in profile.cut:
        yield f"<p>The first {len(rows):,} of {profile.cut[section.table]:,} rows; the Parquet tables have all.</p>"
    yield f'<div class="table" tabindex="0" role="region" aria-labelledby="section-{number}"><table>'
    yield "<thead><tr>" + "".join(f'<th scope="col"{_class(key)}>{_text(head)}</th>' for head, key, _ in columns)
    yield "</tr></thead>"
    yield "<tbody>"
    yield from (_row(row, columns) for row in rows)
    yield "</tbody></table></div>"
    yield "</section>"


def _row(row: Row, columns: Sequence[tuple[str, str, Callable[[Any], str]]]) -> str:
    cells = []
    for place, (_, key, write) in enumerate(columns):
        text = cell(row, key, write)
        tag = 'th scope="row"' if place == 0 else "td"
        cells.append(f"<{tag}{_class(key)}{_sort_key(row[key])}>{_text(text)}</{tag.split()[0]}>")
    return f"<tr>{''.join(cells)}</tr>"


def _class(key: str) -> str:
    if key in ("topic", "name", "file", "reason"):
        return ' class="text long"'
    return ' class="text"' if key in _TEXT_COLUMNS else ""


def _sort_key(value: object) -> str:
    """Return the attribute by which a number is sorted; other values are sorted by their text."""
    return f' data-value="{value}"' if isinstance(value, int | float) else ""


def _plots(profile: Profile) -> Iterator[str]:
    if not profile.plotted:
        return
    yield '<section aria-labelledby="plots">'
    yield '<h2 id="plots">Topics one by one</h2>'
    others = profile.cut.get("topics", len(profile.topics)) - len(profile.plotted)
    if others > 0:
        yield f"<p>The {len(profile.plotted)} largest; {others:,} more are only in the tables.</p>"
    for topic in profile.plotted:
        yield f"<h3>{_text(topic_text(topic))}</h3>"
        pictures = plots_of_topic(profile, topic)
        yield f'<div class="plots">{"".join(map(_figure, pictures))}</div>'
        if not pictures:
            yield "<p>No plots: no record has a timestamp, and there is one partition.</p>"
    yield "</section>"


def _figure(picture: Plot) -> str:
    data = base64.b64encode(picture.svg).decode("ascii")
    image = f'<img alt="{_text(picture.words)}" src="data:image/svg+xml;base64,{data}"/>'
    return f"<figure><figcaption>{_text(picture.title)}</figcaption>{image}</figure>"


def _text(text: str) -> str:
    """Escape text for the page: markup, and characters that are not printable."""
    return escape(printable(text), quote=True)
