"""The report: titled blocks of rows, as text for a terminal or as Markdown."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence


@dataclasses.dataclass
class Block:
    """One part of the report; ``failures`` are the lines of what could not be measured."""

    title: str
    header: tuple[str, ...]
    notes: tuple[str, ...] = ()
    rows: list[tuple[str, ...]] = dataclasses.field(default_factory=list)
    failures: list[str] = dataclasses.field(default_factory=list)


def render(title: str, facts: Sequence[str], blocks: Sequence[Block], *, markdown: bool) -> str:
    """The whole report."""
    heading = f"## {title}" if markdown else title
    lines = [heading, "", *_paragraphs(facts, markdown)]
    for block in blocks:
        lines += ["", f"### {block.title}" if markdown else block.title, ""]
        lines += _markdown_rows(block) if markdown else _text_rows(block)
        if block.notes or block.failures:
            lines += [
                "",
                *_paragraphs([*block.notes, *(f"Failed: {line}" for line in block.failures)], markdown),
            ]
    return "\n".join(lines) + "\n"


def _paragraphs(lines: Sequence[str], markdown: bool) -> Iterator[str]:
    return (f"- {line}" if markdown else line for line in lines)


def _markdown_rows(block: Block) -> Iterator[str]:
    yield "| " + " | ".join(block.header) + " |"
    yield "|---" + "|---:" * (len(block.header) - 1) + "|"
    for row in block.rows:
        yield "| " + " | ".join(row) + " |"


def _text_rows(block: Block) -> Iterator[str]:
    lines = [block.header, *block.rows]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    for line in lines:
        first = line[0].ljust(widths[0])
        yield "  ".join([first, *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))])


def number(value: float | None) -> str:
    """Three significant digits, or a dash for what was not measured."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
