"""``kafkalog transactions``: the transactions of partitions, and which of them hang."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from kafkalog_source.answers.open_transactions import OpenTransactions, Transaction, find_open, transactions
from kafkalog_source.cli.cells import iso_utc
from kafkalog_source.cli.text import complain, json_line, table
from kafkalog_source.errors import DONE, counted, printable

__all__ = ["run"]

_RIGHT = frozenset(
    {"PARTITION", "FIRST", "LAST", "MARKER", "PRODUCER", "EPOCH", "RECORDS", "DURATION MS", "AGE", "HELD BACK"}
)
_TOOL = "kafka-transactions.sh --bootstrap-server HOST:PORT"
_UNITS = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000))


def run(out: TextIO, paths: Sequence[str], given: Mapping[str, Any], *, as_json: bool, only_open: bool) -> int:
    """Write the transactions, and return the exit status."""
    if only_open:
        found = find_open(paths, given)
        warnings, lines = found.warnings, _open_lines(found)
        document: dict[str, object] = {"asOf": _time(found.as_of_us), "transactions": [*map(_shown, found.rows)]}
    else:
        rows, warnings = transactions(paths, given)
        document, lines = {"transactions": [*map(_shown, rows)]}, _lines(rows)
    for warning in dict.fromkeys(warnings):
        complain(f"warning: {warning}")
    if as_json:
        out.write(json_line({**document, "warnings": warnings}) + "\n")
    else:
        out.writelines(f"{line}\n" for line in lines)
    return DONE


def _lines(rows: Sequence[Transaction]) -> Iterator[str]:
    names = ("topic", "partition", "firstOffset", "lastOffset", "markerOffset", "state", "producerId", "producerEpoch")
    heads = ("TOPIC", "PARTITION", "FIRST", "LAST", "MARKER", "STATE", "PRODUCER", "EPOCH", "TRANSACTIONAL ID")
    cells = [[*(_cell(row[name]) for name in (*names, "transactionalId", "recordCount", "durationMs"))] for row in rows]
    if rows:
        yield from table((*heads, "RECORDS", "DURATION MS"), cells, _RIGHT)
    counts = {state: sum(row["state"] == state for row in rows) for state in ("committed", "aborted", "open")}
    yield counted(len(rows), "transaction") + "".join(f", {count} {state}" for state, count in counts.items())


def _open_lines(found: OpenTransactions) -> Iterator[str]:
    heads = ("TOPIC", "PARTITION", "FIRST", "PRODUCER", "EPOCH", "TRANSACTIONAL ID", "SINCE", "AGE", "HELD BACK")
    cells = [
        [
            *(_cell(row[name]) for name in ("topic", "partition", "firstOffset", "producerId", "producerEpoch")),
            _cell(row["transactionalId"]),
            _cell(_time(row["firstTimestamp"])),
            _age(row["ageMs"]),
            _cell(row["heldBackOffsets"]),
            row["verdict"],
        ]
        for row in found.rows
    ]
    if cells:
        yield from table((*heads, "STATE"), cells, _RIGHT)
        yield ""
        for row in found.rows:
            yield from _advice(row)
        yield ""
    counts = {verdict: sum(row["verdict"] == verdict for row in found.rows) for verdict in ("hanging", "unknown")}
    text = counted(len(found.rows), "open transaction")
    text += "".join(f", {count} {verdict}" for verdict, count in counts.items() if count)
    yield text if found.as_of_us is None or not cells else f"{text}; ages as of {_time(found.as_of_us)}"


def _advice(row: Transaction) -> Iterator[str]:
    """Why it is open, and what ends it."""
    yield printable(f"{row['topic']}-{row['partition']}@{row['firstOffset']}: {row['verdict']}: {row['reason']}")
    if row["pinsLastStableOffset"]:
        held = f"{counted(row['heldBackOffsets'], 'offset')} up to the end of the log, {row['logEndOffset']}"
        yield f"  pins the last stable offset {row['firstOffset']}: read_committed consumers do not get {held}"
    if row["verdict"] in ("hanging", "unknown"):
        condition = "" if row["verdict"] == "hanging" else ", if the coordinator does not have it"
        yield f"  to abort it{condition}:"
        for arguments, versions in ((row["abort"]["from30"], ""), (row["abort"]["before30"], "  # brokers before 3.0")):
            yield printable(f"    {_TOOL} {shlex.join(arguments)}{versions}")
    elif row["verdict"] == "ongoing" and row["transactionTimeoutMs"] is not None:
        if (row["ageMs"] or 0) > row["transactionTimeoutMs"]:
            yield "  is older than its timeout: a running coordinator would have aborted it"
        name = printable(shlex.quote(row["transactionalId"]))
        yield f"  ends with its producer, or {row['transactionTimeoutMs']} ms after it began, or by"
        yield f"    {_TOOL} forceTerminateTransaction --transactional-id {name}"


def _shown(row: Transaction) -> dict[str, object]:
    return {name: _time(value) if name.endswith("Timestamp") else value for name, value in row.items()}


def _cell(value: object) -> str:
    return "-" if value is None else printable(str(value))


def _time(time_us: int | None) -> str | None:
    return None if time_us is None else iso_utc(time_us)


def _age(age_ms: int | None) -> str:
    """An age in its two greatest units."""
    if age_ms is None:
        return "-"
    rest = age_ms
    parts: list[str] = []
    for unit, size in _UNITS:
        count, rest = divmod(rest, size)
        if count or parts:
            parts.append(f"{count}{unit}")
    return "".join(parts[:2]) or "0s"
