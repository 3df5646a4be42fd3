"""``kafkalog dump``: print records, or the rows of a view, one a line."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import pyarrow as pa

import kafkalog_source
from kafkalog_source.cli.cells import column_values, json_value, text_value
from kafkalog_source.cli.text import complain, json_line
from kafkalog_source.cli.times import show_times
from kafkalog_source.columns import CORRUPT_RECORD, FILE_VIEWS, VIEWS
from kafkalog_source.errors import BAD_DATA, DONE, DamageWarning, counted, offsets_text
from kafkalog_source.format import TimestampType

if TYPE_CHECKING:
    from kafkalog_source.reading.scan import Scan

__all__ = ["run", "warn_of"]

Row = Mapping[str, object]

_TIMESTAMP_TYPES: dict[int, str] = {
    TimestampType.NO_TIMESTAMP_TYPE: "NoTimestampType",
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
}
_PLACE = ("topic", "partition", "offset")
_BATCH_PLACE = ("topic", "partition", "batchBaseOffset", "batchLastOffset")
_RARE = ("headers", CORRUPT_RECORD)


def run(
    out: TextIO,
    paths: Sequence[str],
    given: Mapping[str, Any],
    *,
    as_json: bool,
    limit: int | None,
    columns: Sequence[str] | None,
) -> int:
    """Write a line for each row, and return the exit status."""
    # With a limit, reading ahead on several threads would be wasted work.
    threads = None if limit is None else 1
    found = kafkalog_source.scan(paths, columns=columns, threads=threads, **given)
    show_times(given, found.times)
    line: Callable[[Row], str] = _json_row if as_json else _text_line(given.get("view", "records"))
    with warnings.catch_warnings():
        # `warn_of` prints a line for each region.
        warnings.simplefilter("ignore", DamageWarning)
        for row in _rows(found, limit):
            out.write(line(row) + "\n")
    return BAD_DATA if found.report()["without_segments"] else DONE


def warn_of(report: Mapping[str, Any], shown: Sequence[str] = ()) -> None:
    """Print warnings, and each damaged region that the columns in `shown` do not show."""
    for warning in report["warnings"]:
        complain(f"warning: {warning}")
    for region in report["damage"]:
        if "kind" in shown or (CORRUPT_RECORD in shown and region["kind"] == "damaged"):
            continue
        place = f"{region['file']}, position {region['position']}"
        lost = offsets_text(region["first_offset"], region["last_offset"])
        complain(f"warning: {place}: {counted(region['size'], 'byte')} {region['kind']}, {lost}: {region['reason']}")
    if report["partitions"] == report["without_segments"] == 0:
        complain("warning: no partition was selected; kafkalog ls lists all of them")


def _rows(found: Scan, limit: int | None) -> Iterator[Row]:
    """Yield the rows; after the last one, and also if reading fails, print what they do not show."""
    arrow_batches = _arrow_batches(found.to_reader(), limit)
    try:
        for arrow_batch in arrow_batches:
            # Converted after the limit was applied: only printed values become Python objects.
            for values in zip(*map(column_values, arrow_batch.columns), strict=True):
                yield dict(zip(found.schema.names, values, strict=True))
    except Exception as error:
        report = found.report()
        place = (getattr(error, "file", None), getattr(error, "position", None))
        # The error describes its own region. Other regions are printed: their rows may not have been yielded.
        others = [region for region in report["damage"] if (region["file"], region["position"]) != place]
        warn_of({**report, "damage": others})
        raise
    warn_of(found.report(), shown=found.schema.names)


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


def _text_line(view: str) -> Callable[[Row], str]:
    """How a row of a view is written. Most columns are null in a row of a view with rows of several kinds."""
    if view in FILE_VIEWS:
        return lambda row: " ".join(_fields(row))
    return _text_row if VIEWS[view].topic is None else lambda row: _text_row(_without_nulls(row))


def _without_nulls(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}


def _fields(row: Row) -> Iterator[str]:
    return (f"{name}={text_value(value)}" for name, value in row.items() if value is not None)


def _text_row(row: Row) -> str:
    parts = []
    rest = dict(row)
    if all(name in row for name in _PLACE):
        topic, partition, offset = (rest.pop(name) for name in _PLACE)
        parts.append(f"{text_value(topic)}-{text_value(partition)}@{text_value(offset)}")
    elif all(name in row for name in _BATCH_PLACE):
        topic, partition, first, last = (rest.pop(name) for name in _BATCH_PLACE)
        # The header of a v0 or v1 wrapper holds only its last offset.
        first_text = "" if first is None else text_value(first)
        parts.append(f"{text_value(topic)}-{text_value(partition)}@{first_text}..{text_value(last)}")
    if "timestamp" in rest:
        parts.append(text_value(rest.pop("timestamp")))
    if "timestampType" in rest:
        kind = rest.pop("timestampType")
        parts.append(_TIMESTAMP_TYPES.get(kind, text_value(kind)) if isinstance(kind, int) else "null")
    # Most records have no headers and are not corrupt; nulls of these columns are omitted.
    parts += [f"{name}={text_value(value)}" for name, value in rest.items() if value is not None or name not in _RARE]
    return " ".join(parts)
