"""``kafkalog man`` holds every command and flag, and nothing that roff would interpret."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable

import pytest

from kafkalog_source.cli.commands import kafkalog as group
from tests.unit.cli.conftest import Run

Kafkalog = Callable[..., Run]


def test_the_manual_page_holds_every_command_and_flag(kafkalog: Kafkalog) -> None:
    run = kafkalog("man")
    assert (run.status, run.err) == (0, "")
    text = run.out.replace("\\-", "-")
    for name, command in group.commands.items():
        start = text.index(f".SS kafkalog {name} ")
        part = text[start : text.find(".SS ", start + 4)]
        for flag in (each for param in command.params for each in param.opts if each.startswith("-")):
            assert flag in part


def test_lines_begin_with_known_requests_only(kafkalog: Kafkalog) -> None:
    requests = {line.split()[0] for line in kafkalog("man").out.splitlines() if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".SS", ".TP", ".PP", ".nf", ".fi"}


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_manual_page_as_a_terminal_shows_it(kafkalog: Kafkalog) -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww"], input=kafkalog("man").out, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    assert "kafkalog ls kafka-logs -h --sort size" in shown
    assert "kafkalog verify kafka-logs --json | jq '.partitions[].findings[]" in shown
