"""Config files: what is taken, and how what makes no sense is refused."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from spark_jobs.common.config import ConfigError, build, load, option_strings, refuse_output_over_input


@dataclass(frozen=True)
class Inner:
    choice: Literal["one", "two"] = "one"
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outer:
    name: str
    count: int = 0
    flag: bool = False
    paths: tuple[str, ...] = ()
    inner: Inner = field(default_factory=Inner)


def test_a_table_becomes_a_dataclass() -> None:
    table = {"name": "n", "count": 3, "flag": True, "paths": ["a", "b"], "inner": {"choice": "two"}}
    assert build(Outer, table, "f") == Outer("n", 3, True, ("a", "b"), Inner("two"))


def test_a_single_string_is_a_list_of_one() -> None:
    assert build(Outer, {"name": "n", "paths": "a"}, "f").paths == ("a",)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"name": "n", "cuont": 1}, "f: unknown key 'cuont'; did you mean 'count'?"),
        ({"name": "n", "zzz": 1}, "f: unknown key 'zzz'; the keys are name, count, flag, paths, inner"),
        ({}, "f: name is missing"),
        ({"name": 1}, "f: name must be a string, not 1"),
        ({"name": "n", "count": True}, "f: count must be a whole number, not true"),
        ({"name": "n", "count": 1.5}, "f: count must be a whole number, not 1.5"),
        ({"name": "n", "flag": 1}, "f: flag must be true or false, not 1"),
        ({"name": "n", "paths": [1]}, "f: paths must be a list of strings, not 1"),
        ({"name": "n", "inner": []}, "f: inner must be a table, not []"),
        (
            {"name": "n", "inner": {"choice": "three"}},
            'f: inner: choice must be one of one, two, not "three"',
        ),
        (
            {"name": "n", "inner": {"choice": "tow"}},
            "f: inner: choice must be one of one, two, not \"tow\"; did you mean 'two'?",
        ),
        ({"name": "n", "inner": {"chioce": "one"}}, "f: inner: unknown key 'chioce'; did you mean 'choice'?"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(table: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build(Outer, table, "f")
    assert str(caught.value) == message


def test_options_become_the_strings_that_spark_takes() -> None:
    table = {"a": "x", "b": True, "c": 7, "d": ["p", "q"], "e": {"t": {"0": 23}}}
    table |= tomllib.loads("f = 2026-11-20\ng = 2026-11-20T14:30:00+01:00\nh = { t = { 0 = 2026-11-20T14:30:00Z } }")
    assert option_strings(table, "f") == {
        "a": "x",
        "b": "true",
        "c": "7",
        "d": "p,q",
        "e": '{"t": {"0": 23}}',
        "f": "2026-11-20",
        "g": "2026-11-20T14:30:00+01:00",
        "h": '{"t": {"0": "2026-11-20 14:30:00+00:00"}}',
    }


@pytest.mark.parametrize("value", [1.5, [1, 2], None])
def test_an_option_of_a_type_that_no_option_has_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match="f: x must be a string"):
        option_strings({"x": value}, "f")


def test_a_file_that_is_not_there_or_no_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: No such file"):
        load(tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("a = ", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"broken\.toml: not valid TOML"):
        load(broken)


@pytest.mark.parametrize("output", ["logs", "logs/orders-0/out", ".", "logs/../logs"])
@pytest.mark.parametrize("given", ["logs", "logs/*", "file:logs", "elsewhere,logs"])
def test_an_output_that_could_harm_an_input_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, output: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="overlap"):
        refuse_output_over_input([given], output)


@pytest.mark.parametrize("given", ["logs", "logs/*", "log*/", "s3://bucket/logs"])
def test_an_output_elsewhere_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    refuse_output_over_input([f"in/{given}" if ":" not in given else given], "out/logs")
    refuse_output_over_input([f"in/{given}" if ":" not in given else given], "s3://bucket/out")
