"""``kafkalog dump``: records as lines."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import pyarrow as pa

import kafkalog_source
from kafkalog_source.cli.cells import column_values, json_value, text_value
from kafkalog_source.cli.options import (
    add_generic_option,
    add_path_arguments,
    add_range_flags,
    add_topic_flags,
    read_options,
)
from kafkalog_source.cli.text import complain, json_line
from kafkalog_source.columns import CORRUPT_RECORD
from kafkalog_source.errors import BAD_DATA, DONE, DamageWarning, counted, offsets_text
from kafkalog_source.format import TimestampType

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from kafkalog_source.reading.scan import Scan

__all__ = ["add_command"]

Row = Mapping[str, object]

_EPILOG = """\
In text, a line is TOPIC-PARTITION@OFFSET, the time and the rest as name=value.
With --json, a line is a JSON object with a field for each column. Keys, values
and header values that are no text are base64:... in text and {"base64": "..."}
in JSON; null and empty are told apart in both.

examples:
  kafkalog dump kafka-logs/orders-0 --limit 5
  kafkalog dump kafka-logs --subscribe orders,payments --json
  kafkalog dump kafka-logs --assign '{"orders":[0]}' --starting-offsets '{"orders":{"0":100}}'
  kafkalog dump kafka-logs --starting-timestamp 1700000000000 --columns topic,offset,valueSize
  kafkalog dump kafka-logs/orders-0/00000000000000000000.log -o verifyChecksums=false
  kafkalog dump kafka-logs --mode DROPMALFORMED --json
  kafkalog dump kafka-logs --view damage
  kafkalog dump kafka-logs/orders-0 --view batches -o verifyChecksums=false
"""

_TIMESTAMP_TYPES: dict[int, str] = {
    TimestampType.NO_TIMESTAMP_TYPE: "NoTimestampType",
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
}
_PLACE = ("topic", "partition", "offset")
_BATCH_PLACE = ("topic", "partition", "batchBaseOffset", "batchLastOffset")
_RARE = ("headers", CORRUPT_RECORD)


def add_command(commands: _SubParsersAction[Any]) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "dump",
        help="show records",
        description="Show records, one to a line, in the order of their offsets within each partition.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_path_arguments(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object to a line")
    parser.add_argument("--limit", metavar="N", type=_count, help="stop after N records")
    parser.add_argument("--columns", metavar="NAMES", type=_names, help="these columns, with commas between them")
    add_topic_flags(parser)
    add_range_flags(parser)
    add_generic_option(parser)
    parser.set_defaults(run=_run)


def _run(chosen: argparse.Namespace, out: TextIO) -> int:
    # A few records are no work for several threads, which would read ahead in vain.
    threads = None if chosen.limit is None else 1
    found = kafkalog_source.scan(chosen.paths, columns=chosen.columns, threads=threads, **read_options(chosen))
    line: Callable[[Row], str] = _json_row if chosen.json else _text_row
    with warnings.catch_warnings():
        # Each region is told below.
        warnings.simplefilter("ignore", DamageWarning)
        for row in _rows(found, chosen.limit):
            out.write(line(row) + "\n")
    return BAD_DATA if found.report()["without_segments"] else DONE


def _tell(report: Mapping[str, Any], shown: Sequence[str] = ()) -> None:
    """Say what the rows alone do not show."""
    for warning in report["warnings"]:
        complain(f"warning: {warning}")
    for region in report["damage"]:
        if "kind" in shown or (CORRUPT_RECORD in shown and region["kind"] == "damaged"):
            continue
        place = f"{region['file']}, position {region['position']}"
        lost = offsets_text(region["first_offset"], region["last_offset"])
        complain(f"warning: {place}: {counted(region['size'], 'byte')} {region['kind']}, {lost}: {region['reason']}")
    if report["partitions"] == report["without_segments"] == 0:
        complain("warning: no partition was chosen; kafkalog ls shows which there are")


def _rows(found: Scan, limit: int | None) -> Iterator[Row]:
    """The rows, and at their end, also if it is an error, what they do not show."""
    arrow_batches = _arrow_batches(found.to_reader(), limit)
    try:
        for arrow_batch in arrow_batches:
            # Only what is shown becomes Python objects.
            for values in zip(*map(column_values, arrow_batch.columns), strict=True):
                yield dict(zip(found.schema.names, values, strict=True))
    except Exception as error:
        report = found.report()
        place = (getattr(error, "file", None), getattr(error, "position", None))
        # The error reports its own region; rows about others may be among those that it has kept back.
        others = [region for region in report["damage"] if (region["file"], region["position"]) != place]
        _tell({**report, "damage": others})
        raise
    _tell(found.report(), shown=found.schema.names)


def _arrow_batches(reader: pa.RecordBatchReader, limit: int | None) -> Iterator[pa.RecordBatch]:
    left = limit
    while left is None or left > 0:
        try:
            arrow_batch = reader.read_next_batch()
        except StopIteration:
            return
        yield arrow_batch if left is None else arrow_batch.slice(0, left)
        if left is not None:
            left -= arrow_batch.num_rows


def _json_row(row: Row) -> str:
    return json_line({name: json_value(value) for name, value in row.items()})


def _text_row(row: Row) -> str:
    parts = []
    rest = dict(row)
    if all(name in row for name in _PLACE):
        topic, partition, offset = (rest.pop(name) for name in _PLACE)
        parts.append(f"{text_value(topic)}-{text_value(partition)}@{text_value(offset)}")
    elif all(name in row for name in _BATCH_PLACE):
        topic, partition, first, last = (rest.pop(name) for name in _BATCH_PLACE)
        # A wrapper of v0 or v1 says only how far it reaches.
        first_text = "" if first is None else text_value(first)
        parts.append(f"{text_value(topic)}-{text_value(partition)}@{first_text}..{text_value(last)}")
    if "timestamp" in rest:
        parts.append(text_value(rest.pop("timestamp")))
    if "timestampType" in rest:
        kind = rest.pop("timestampType")
        parts.append(_TIMESTAMP_TYPES.get(kind, text_value(kind)) if isinstance(kind, int) else "null")
    # Most records have no headers and are not corrupt, and then there is nothing to say of it.
    parts += [f"{name}={text_value(value)}" for name, value in rest.items() if value is not None or name not in _RARE]
    return " ".join(parts)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError("is no count of records")
    return int(text)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
