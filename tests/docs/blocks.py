"""Code blocks of a Markdown file, with the output that stands below each.

A comment on the line before a block says how it is run:

    <!-- slow -->             it takes long, so its test is marked slow
    <!-- fresh clone -->      it sets something up, so it runs in a new copy of the project
    <!-- exit 1 -->           its last command ends with this status
    <!-- not run: reason -->  it needs what a test does not have

A block that is marked ``text`` and follows is the output. An ellipsis (…) in it stands for anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_BLOCK = re.compile(
    r"(?:^<!-- (?P<marks>[^\n]*) -->\n)?"
    r"^```(?P<language>python|sh)\n(?P<code>.*?)^```\n"
    r"(?:\n*^```text\n(?P<output>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """One code block.

    Attributes
    ----------
    language : str
        ``python`` or ``sh``.
    code : str
    output : str or None
        What it prints according to the file; None if the file does not say.
    marks : tuple of str
    line : int
        Where it starts in the file.
    """

    language: str
    code: str
    output: str | None
    marks: tuple[str, ...]
    line: int

    @property
    def is_run(self) -> bool:
        return not any(mark.startswith("not run: ") for mark in self.marks)

    @property
    def status(self) -> int:
        return next((int(mark.removeprefix("exit ")) for mark in self.marks if mark.startswith("exit ")), 0)


@dataclass(frozen=True)
class Page:
    """One Markdown file: its blocks are run in their order."""

    file: Path

    @property
    def name(self) -> str:
        return self.file.relative_to(ROOT).as_posix()

    @cached_property
    def text(self) -> str:
        return self.file.read_text(encoding="utf-8")

    @cached_property
    def all_blocks(self) -> list[Block]:
        return [
            Block(
                found["language"],
                found["code"],
                found["output"],
                tuple(part.strip() for part in (found["marks"] or "").split(",") if part),
                self.text.count("\n", 0, found.start("language")) + 1,
            )
            for found in _BLOCK.finditer(self.text)
        ]

    def blocks(self, language: str = "", without: tuple[str, ...] = ()) -> list[Block]:
        """Give the blocks that are run, of one language or of all, without those that have one of the marks."""
        return [
            block
            for block in self.all_blocks
            if block.is_run and language in ("", block.language) and not set(without) & set(block.marks)
        ]


README = Page(ROOT / "README.md")
DOCS = tuple(Page(file) for file in sorted((ROOT / "docs").rglob("*.md")))
PAGES = (README, *DOCS)


def is_as_shown(printed: str, shown: str) -> bool:
    """Whether `printed` is what a file shows; spaces at the ends of lines and empty lines around do not count."""
    printed, shown = ("\n".join(line.rstrip() for line in text.strip("\n").splitlines()) for text in (printed, shown))
    pattern = ".*".join(re.escape(part) for part in shown.split("…"))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None
