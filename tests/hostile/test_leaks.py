"""Nothing that a record holds is in errors, warnings, logs, reports, plans, event logs and checkpoints."""

from __future__ import annotations

import io
import json
import logging
import os
import pickle
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.cli.main import main
from kafkalog_source.errors import KafkaLogError
from kafkalog_source.verifying import verify
from tests.hostile.measured import ROOT
from tests.hostile.secret import SECRET, segments, traces, write_all

WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"verifyChecksums": False},
    {"mode": "DROPMALFORMED"},
    {"mode": "DROPMALFORMED", "verifyChecksums": False},
    {"mode": "PERMISSIVE"},
    {"mode": "RECOVER"},
    {"view": "damage"},
    {"maxDecompressedBatchBytes": 300, "mode": "DROPMALFORMED"},
    {"isolationLevel": "read_committed"},
    {"startingTimestamp": 1_600_000_000_000, "maxPartitionBytes": 100},
)
EVIL = "e\x1b[31m\x07vil\n\u202e"
"""A name that does things to a terminal."""


def said(path: Path, **options: Any) -> Iterator[str]:
    """All that a reading says beside its rows."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        scan = kafkalog_source.scan(path, threads=1, **options)
        try:
            for split in scan.splits():
                yield repr(split)
                yield pickle.dumps(split).decode("latin-1")
            table = scan.to_table()
            if options.get("view") == "damage":
                yield str(table.to_pylist())
            if options.get("mode") == "PERMISSIVE":
                yield str(table.column("_corrupt_record").to_pylist())
            yield json.dumps(scan.report())
        except KafkaLogError as error:
            yield from of_error(error)
        yield repr(scan)
    yield from (str(each.message) for each in warned)


def of_error(error: KafkaLogError) -> Iterator[str]:
    yield from (str(error), repr(error), pickle.dumps(error).decode("latin-1"), repr(vars(error)))
    yield "".join(traceback.format_exception(error, chain=True))


def test_what_a_trace_is() -> None:
    for text in ("...JKVWQZ..", SECRET[2:6].hex(), str(list(SECRET)), str(int.from_bytes(SECRET[:4], "big"))):
        assert traces(text), text
    assert not traces("an error like any other (found 12 bytes, expected 0x1f)")


def test_no_reading_says_what_a_record_holds(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    paths = write_all(tmp_path)
    with caplog.at_level(logging.DEBUG):
        for path, (name, _, _) in zip(paths, segments(), strict=True):
            for way in WAYS:
                for text in said(path, **way):
                    assert not traces(text), (name, way, text)
    assert not traces(caplog.text)


def test_no_check_says_what_a_record_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_all(tmp_path / "logs")
    found = verify([str(tmp_path / "logs")], threads=1)
    assert len(found.all_findings) > 100
    assert not traces(json.dumps(found.to_dict()))
    commands = (
        ["verify"],
        ["verify", "--json"],
        ["ls"],
        ["ls", "--json"],
        ["salvage"],
        ["salvage", "--json"],
    )
    for number, command in enumerate(commands):
        target = [str(tmp_path / f"new{number}")] if command[0] == "salvage" else []
        main([command[0], str(tmp_path / "logs"), *target, *command[1:]])
        out, err = capsys.readouterr()
        assert out + err
        assert not traces(out + err), command


def test_dump_shows_records_and_says_nothing_of_them_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = write_all(tmp_path)
    for path in paths:
        for more in ([], ["--option", "mode=DROPMALFORMED"]):
            main(["dump", str(path), *more])
            assert not traces(capsys.readouterr().err), path


def test_names_are_escaped_where_they_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / EVIL
    write_all(root)
    (root / f"{EVIL}-0").mkdir()
    (root / f"{EVIL}-0" / f"{EVIL}.log").write_bytes(b"x")
    (root / "log-start-offset-checkpoint").write_text(f"0\n1\n{EVIL}\n")
    first = sorted(root.iterdir())[0]
    for path in (root, first, root / EVIL, root / f"{EVIL}-0" / f"{EVIL}.log"):
        for way in WAYS:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                try:
                    kafkalog_source.scan(path, threads=1, **way).to_table()
                except KafkaLogError as error:
                    assert str(error).isprintable(), repr(str(error))
            for each in warned:
                assert str(each.message).isprintable(), repr(str(each.message))
        for command in (["ls"], ["verify"], ["verify", "--json"], ["ls", "--json"], ["salvage"]):
            target = [str(tmp_path / "new")] if command == ["salvage"] else []
            main([command[0], str(path), *target, *command[1:]])
            out, err = capsys.readouterr()
            shown = (out + err).replace("\n", "").replace("\t", "")
            assert shown.isprintable(), (command, [c for c in shown if not c.isprintable()])


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_logs_nothing_that_a_record_holds(tmp_path: Path) -> None:
    write_all(tmp_path / "logs")
    (tmp_path / "events").mkdir()
    command = [sys.executable, "-m", "tests.hostile.spark_reading", str(tmp_path)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert not traces(done.stdout)
    assert not traces(done.stderr)
    events = [file for file in (tmp_path / "events").rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in events) > 10_000
    for file in events:
        assert not traces(file.read_bytes()), file
    checkpoint = [file for file in (tmp_path / "checkpoint").rglob("*") if file.is_file()]
    assert {file.parent.name for file in checkpoint} >= {"offsets", "commits"}
    for file in checkpoint:
        assert not traces(file.read_bytes()), file
    assert b"stream in mode DROPMALFORMED ended" in done.stdout
    assert b"stream in mode FAILFAST failed as it should" in done.stdout
    assert done.stdout.count(b"failed as it should") >= 2
    assert io.BytesIO(done.stdout).read().count(b"Physical Plan") >= 3
