"""``kafkalog export``: write rows to files that other programs read."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import kafkalog_source
from kafkalog_source.cli.exporting.by_topic import ByTopic
from kafkalog_source.cli.exporting.new_files import new_directory, new_file
from kafkalog_source.cli.exporting.query import columns_for, query
from kafkalog_source.cli.exporting.target import Target, check_outside, parse_target
from kafkalog_source.cli.exporting.writers import write_rows
from kafkalog_source.cli.left_out import print_left_out
from kafkalog_source.cli.progress import progress_bar
from kafkalog_source.cli.text import complain, json_line
from kafkalog_source.cli.times import show_times
from kafkalog_source.columns import default_columns
from kafkalog_source.errors import (
    BAD_DATA,
    DONE,
    DamageWarning,
    KafkaLogError,
    OptionError,
    PermissionDeniedError,
    ReadFailedError,
    counted,
    exit_status,
)
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.reporting.losses import loss_lines

if TYPE_CHECKING:
    import pyarrow as pa

    from kafkalog_source.reading.scan import Scan
    from kafkalog_source.reporting.losses import Loss

__all__ = ["run"]

_RESCUE = {"mode": "DROPMALFORMED", "failOnDataLoss": "false"}
_TERMINATED = 128 + signal.SIGTERM


@dataclass(slots=True)
class _Counted:
    """Rows on their way to a file, and how many there were."""

    batches: Iterable[pa.RecordBatch]
    rows: int = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self.batches:
            self.rows += batch.num_rows
            yield batch


def run(
    out: TextIO,
    paths: Sequence[str],
    given: Mapping[str, Any],
    *,
    to: str,
    kind: str | None,
    columns: Sequence[str] | None,
    sql: str | None,
    rescue: bool,
    as_json: bool,
    threads: int | None,
) -> int:
    """Write the files and a summary, and return the exit status."""
    target = parse_target(to, kind)
    if rescue:
        given = _with_rescue(given)
    options = parse_options(given, paths)
    check_outside(target, options.paths, follow_symlinks=options.follow_symlinks)
    if sql is not None and columns is None:
        defaults = default_columns(options.view, options.mode, headers=options.include_headers)
        columns = columns_for(sql, options.view, defaults)
    scan = kafkalog_source.scan(paths, columns=columns, threads=threads, **given)
    show_times(given, scan.times)
    started = time.monotonic()
    try:
        with _stopped_by_sigterm(), warnings.catch_warnings(), progress_bar("exporting", scan.progress):
            # `print_left_out` prints a line for each region.
            warnings.simplefilter("ignore", DamageWarning)
            rows = _write(scan, sql, options.view, target)
    except KafkaLogError as error:
        hint = _hint(error, rescue=rescue)
        if hint is None:
            raise
        complain(str(error))
        complain(f"nothing was written; {hint}")
        return exit_status(type(error))
    report, losses = scan.report(), scan.losses()
    print_left_out(report)
    summary = _Summary(to, target, rows, report, losses, time.monotonic() - started)
    # Standard output may be the target.
    stream = sys.stderr if target.path is None else out
    stream.writelines(f"{line}\n" for line in ([json_line(summary.to_dict())] if as_json else summary.lines()))
    return BAD_DATA if losses or report["without_segments"] else DONE


def _hint(error: KafkaLogError, *, rescue: bool) -> str | None:
    """What else to run after an error, None if nothing else helps."""
    if rescue and isinstance(error, PermissionDeniedError | ReadFailedError):
        return "kafkalog salvage SRC DST --skip-unreadable leaves out files that cannot be read: export DST then"
    is_about_data = exit_status(type(error)) == BAD_DATA
    return "with --rescue, all that can be read is" if is_about_data and not rescue else None


def _with_rescue(given: Mapping[str, Any]) -> dict[str, Any]:
    for name in given:
        if name.lower() in (each.lower() for each in _RESCUE):
            raise OptionError(f"--rescue sets {name} itself", remedy="Leave one of them out")
    return {**given, **_RESCUE}


def _write(scan: Scan, sql: str | None, view: str, target: Target) -> int:
    schema, batches = (scan.schema, scan.to_reader()) if sql is None else query(scan, sql, view)
    rows = _Counted(batches)
    if target.path is None:
        _write_stdout(schema, rows, target.format)
    elif target.is_directory:
        with new_directory(target.path) as path, ByTopic(path, schema, target.format) as files:
            for batch in rows:
                files.write(batch)
    else:
        with new_file(target.path) as file:
            write_rows(file, schema, rows, target.format)
    return rows.rows


def _write_stdout(schema: pa.Schema, rows: _Counted, kind: str) -> None:
    if kind in ("parquet", "arrow") and sys.stdout.isatty():
        raise OptionError(f"{kind} is not written to a terminal", remedy="Redirect the output, or give a file")
    file = sys.stdout.buffer
    write_rows(file, schema, rows, kind, is_pipe=True)
    file.flush()


@contextlib.contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """End by an exception at SIGTERM too, so that nothing unfinished is left."""

    def stop(number: int, frame: object) -> NoReturn:
        sys.exit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@dataclass(frozen=True, slots=True)
class _Summary:
    """What was written, and what was lost."""

    to: str
    target: Target
    rows: int
    report: Mapping[str, Any]
    losses: Sequence[Loss]
    seconds: float

    def lines(self) -> list[str]:
        report = self.report
        read = f"{counted(report['partitions'], 'partition')}, {counted(report['bytes_read'], 'byte')}"
        name = "standard output" if self.target.path is None else self.to
        written = "" if self.written is None else f", {counted(self.written, 'byte')} of {self.target.format}"
        first = f"{name}: {counted(self.rows, 'row')}{written}, from {read}, in {self.seconds:.1f} s"
        return [first, *loss_lines(self.losses, report["partitions"])]

    @property
    def written(self) -> int | None:
        """Size of the files in bytes, None for standard output."""
        path = self.target.path
        if path is None:
            return None
        if not self.target.is_directory:
            return os.path.getsize(path)
        return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(path) for name in names)

    def to_dict(self) -> dict[str, Any]:
        return {
            "path": self.target.path,
            "format": self.target.format,
            "rows": self.rows,
            "bytesWritten": self.written,
            "bytesRead": self.report["bytes_read"],
            "partitions": self.report["partitions"],
            "seconds": round(self.seconds, 3),
            "lost": [each.to_dict() for each in self.losses],
            "warnings": self.report["warnings"],
        }
