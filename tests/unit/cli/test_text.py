"""Sizes for people, and colours on terminals only."""

from __future__ import annotations

import io

import pytest

from kafkalog_source.cli.text import painted
from kafkalog_source.errors import size_text
from spark_jobs.common.summary import size_text as size_text_of_jobs


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1 << 20, "1.0 MiB"), (5 << 50, "5120.0 TiB")],
)
def test_sizes_are_the_same_in_the_command_and_in_the_jobs(size: int, text: str) -> None:
    assert size_text(size) == size_text_of_jobs(size) == text


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert painted("damage", "red", Terminal()) == "\x1b[31mdamage\x1b[0m"
    assert painted("damage", "red", io.StringIO()) == "damage"
    monkeypatch.setenv("TERM", "dumb")
    assert painted("damage", "red", Terminal()) == "damage"


def test_no_color_turns_colours_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert painted("damage", "red", Terminal()) == "damage"
