"""Code blocks of a Markdown file, with the output that stands below each.

A comment on the line before a block says how it is run:

    <!-- slow -->             it takes long, so its test is marked slow
    <!-- fresh clone -->      it sets something up, so it runs in a new copy of the project
    <!-- not run: reason -->  it needs what a test has not

A block that is marked ``text`` and follows is the output. An ellipsis (…) in it stands for anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

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
    def name(self) -> str:
        return f"line {self.line}: {self.code.splitlines()[0][:40]}"

    @property
    def is_run(self) -> bool:
        return not any(mark.startswith("not run: ") for mark in self.marks)


def blocks_of(file: Path) -> list[Block]:
    """Give the blocks of a Markdown file in their order."""
    text = file.read_text(encoding="utf-8")
    return [
        Block(
            found["language"],
            found["code"],
            found["output"],
            tuple(part.strip() for part in (found["marks"] or "").split(",") if part),
            text.count("\n", 0, found.start("language")) + 1,
        )
        for found in _BLOCK.finditer(text)
    ]


def is_as_shown(printed: str, shown: str) -> bool:
    """Whether `printed` is what a file shows; spaces at the ends of lines and empty lines around do not count."""
    printed, shown = ("\n".join(line.rstrip() for line in text.strip("\n").splitlines()) for text in (printed, shown))
    pattern = ".*".join(re.escape(part) for part in shown.split("…"))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None
