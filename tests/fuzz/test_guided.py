"""The corpus of the guided fuzzer, input by input, and its command line; a short run of it is marked."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import os
import re
import subprocess
import sys

import pytest

from tests.builders.v07 import Message07, Set07
from tests.fuzz import guided, sanitized
from tests.fuzz.case import Case, Outcome
from tests.fuzz.fast import NAME, FastTargets
from tests.fuzz.inputs import case_of, corpus, inputs_of
from tests.fuzz.seeds import all_seeds

MOST_BYTES = 300_000


def test_the_corpus_gives_rows_or_our_errors() -> None:
    targets = FastTargets(())
    outcomes = [targets.check(case_of(data)) for data in corpus().values()]
    assert sum(outcome.rows for outcome in outcomes) > len(outcomes)
    assert {name for outcome in outcomes for name in outcome.errors} >= {"CodecError", "LimitError"}


def test_the_corpus_is_small_and_its_files_are_named_by_their_content() -> None:
    inputs = corpus()
    assert sum(map(len, inputs.values())) < MOST_BYTES
    assert [name for name, data in inputs.items() if hashlib.sha1(data).hexdigest() != name] == []


def test_an_input_stands_for_the_case_that_it_was_made_of() -> None:
    targets = FastTargets(all_seeds(("codec-variants", "v1-2.8")))
    kinds = set()
    for number in range(300):
        case = targets.make(3, number)
        inputs = inputs_of(case)
        assert case_of(inputs[0]).data == case.data
        assert {case_of(data).config["kind"] for data in inputs} == {case.config["kind"]}
        kinds.add(case.config["kind"])
    assert len(kinds) == 3


@pytest.mark.parametrize("name", ["built gzip 0 v2", "built gzip 0 v0", "built snappy 0 v1", "built lz4 0 v2"])
def test_payloads_may_stand_in_an_input_before_compression(name: str) -> None:
    seed = next(seed for seed in all_seeds(()) if seed.name == name)
    whole = b"".join(seed.entries)
    plain = inputs_of(Case(NAME, whole, {"kind": "entries", "way": 0, "base": 0}))[1]
    assert b"x" * 35 in plain
    assert case_of(plain).data == whole


def test_sets_of_kafka_07_may_stand_in_an_input_before_compression() -> None:
    inner = Set07([Message07(b"y" * 40), Message07(b"n")], "snappy")
    whole = Set07([Message07(b"x" * 40), inner], "gzip").encode()
    plain = inputs_of(Case(NAME, whole, {"kind": "messages07", "way": 0, "base": 0}))[1]
    assert b"x" * 40 in plain
    assert b"y" * 40 in plain
    again = case_of(plain)
    assert b"x" * 40 not in again.data
    assert b"y" * 40 not in again.data
    assert FastTargets(()).check(again) == Outcome(rows=3)


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    compiler = dataclasses.replace(sanitized.COVERED, compiler="no-such-clang")
    monkeypatch.setattr(sanitized, "COVERED", compiler)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert guided.main([]) == 2
    said = capsys.readouterr().out
    assert said.startswith("could not run: ")
    assert said.count("\n") == 1
    assert "no-such-clang" in said
    assert "atheris" in said


def test_the_command_line_needs_neither_clang_nor_atheris() -> None:
    environment = {**os.environ, "CLANG": "no-such-clang"}
    helped = _run("--help", environment=environment)
    assert helped.returncode == 0
    assert "--minimize" in helped.stdout
    stopped = _run("--seconds", "1", environment=environment)
    assert stopped.returncode == 2
    assert "no-such-clang" in stopped.stdout
    assert stopped.stderr == ""


@pytest.mark.fuzz
@pytest.mark.skipif(bool(guided.find_missing()), reason="clang or atheris is not installed")
def test_the_compiled_core_guides() -> None:
    done = _run("--seconds", "20", environment=dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr
    modules = len(list((sanitized.ROOT / "kafkalog_source" / "_core").glob("*.pyx")))
    assert f"Loaded {modules} modules" in done.stderr
    reached = [int(number) for number in re.findall(r"cov: (\d+)", done.stderr)]
    assert reached
    assert reached[-1] > 2500


def _run(*more: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.fuzz.guided", *more]
    return subprocess.run(command, cwd=sanitized.ROOT, env=environment, capture_output=True, text=True, check=False)
