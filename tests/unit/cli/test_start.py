"""What the command does before it reads anything: help, completion, and how little it imports for them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import kafkalog_source
from kafkalog_source.cli.commands import kafkalog as group
from kafkalog_source.cli.flags import read_options
from kafkalog_source.options.read_options import OPTION_NAMES
from tests.builders import Batch, partition_dir, write_segment
from tests.unit.cli.conftest import Run

Kafkalog = Callable[..., Run]


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([name, "--help"] for name in group.commands)])
def test_help_imports_nothing_that_reads(arguments: list[str]) -> None:
    heavy = "{'pyarrow', 'numpy', 'pandas', 'rich', 'pyspark', 'kafkalog_source._core'} & set(sys.modules)"
    code = f"import sys; from kafkalog_source.cli.main import main; main({arguments}); print('loaded', {heavy})"
    assert python(code).splitlines()[-1] == "loaded set()"


@pytest.mark.parametrize("arguments", [["ls"], ["ls", "--json"], ["dump"], ["dump", "--json"], ["verify"]])
def test_commands_do_without_pandas(tmp_path: Path, arguments: list[str]) -> None:
    write_segment(partition_dir(tmp_path, "orders", 0), [Batch()])
    command = [*arguments, str(tmp_path)]
    code = f"import sys; from kafkalog_source.cli.main import main; main({command}); print('pandas' in sys.modules)"
    assert python(code).splitlines()[-1] == "False"


def test_the_version(kafkalog: Kafkalog) -> None:
    run = kafkalog("--version")
    assert (run.status, run.out, run.err) == (0, f"kafkalog {kafkalog_source.__version__}\n", "")


@pytest.mark.parametrize("name", group.commands)
def test_every_command_is_listed_and_explains_all_of_its_flags(kafkalog: Kafkalog, name: str) -> None:
    assert f"  {name} " in kafkalog("--help").out
    lines = kafkalog(name, "--help").out.splitlines()
    for flag in (option for param in group.commands[name].params for option in param.opts if option.startswith("--")):
        assert any(flag in line for line in lines)
    assert max(len(line) for line in lines[: lines.index("examples:")]) <= 80


def test_flags_may_stand_between_paths(kafkalog: Kafkalog, tmp_path: Path) -> None:
    for number in (0, 1):
        write_segment(partition_dir(tmp_path, "orders", number), [Batch()])
    run = kafkalog("dump", tmp_path / "orders-0", "--columns", "partition", tmp_path / "orders-1")
    assert (run.status, run.out) == (0, "partition=0\npartition=1\n")


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("kafkalog ", list(group.commands)),
        ("kafkalog sal", ["salvage"]),
        ("kafkalog dump --isolation-level ", ["read_uncommitted", "read_committed"]),
        ("kafkalog dump --mode d", ["DROPMALFORMED"]),
        ("kafkalog dump --start", ["--starting-offsets", "--starting-timestamp"]),
    ],
)
def test_completion(kafkalog: Kafkalog, monkeypatch: pytest.MonkeyPatch, words: str, completed: list[str]) -> None:
    monkeypatch.setenv("_KAFKALOG_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    run = kafkalog()
    assert (run.status, run.err) == (0, "")
    assert [line.removeprefix("plain,") for line in run.out.splitlines()] == completed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_of_each_shell(kafkalog: Kafkalog, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.setenv("_KAFKALOG_COMPLETE", f"{shell}_source")
    run = kafkalog()
    assert run.status == 0
    assert f"_KAFKALOG_COMPLETE={shell}_complete" in run.out


def test_flags_are_options_of_a_read() -> None:
    flags = {param.name for param in group.commands["dump"].params}
    own = {"paths", "as_json", "limit", "columns", "pattern", "grep", "key", "value", "headers", "generic"}
    assert flags - own <= set(OPTION_NAMES)
    assert read_options(
        {"mode": None, "followSymlinks": False, "includeControlRecords": True, "generic": ("a=b",)}
    ) == {
        "includeControlRecords": "true",
        "a": "b",
    }
