"""``kafkalog ls``: list topics, partitions and segments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from kafkalog_source.cli.cells import iso_utc
from kafkalog_source.cli.inspecting import refuse_ranges
from kafkalog_source.cli.offsets import Edge, first_edge, last_edge
from kafkalog_source.cli.text import complain, json_line, table
from kafkalog_source.errors import BAD_DATA, DONE, KafkaLogError, counted, printable, size_text
from kafkalog_source.logdir import Listing, PartitionLog, SegmentFile, list_logs
from kafkalog_source.logdir.absent import RemotePart, absent_segments, remote_part
from kafkalog_source.logdir.topic_id import topic_id_of
from kafkalog_source.options.read_options import ReadOptions, parse_options
from kafkalog_source.planning.missing_topics import not_found

__all__ = ["Shown", "run"]

_RIGHT = frozenset({"PARTITION", "SEGMENTS", "BYTES", "SIZE", "FIRST", "LAST", "BASE"})
_LONG_AGO = -(1 << 63)


_Edge = Edge | None | KafkaLogError
"""An offset with its time, None if there is no batch, or the error if the batch cannot be read."""


@dataclass(frozen=True, slots=True)
class Shown:
    """How the rows are shown.

    Attributes
    ----------
    sort : str
        ``name``; or ``size``, ``segments`` or ``time`` (of the last batch), the largest first.
    sizes_for_people : bool
        Whether sizes are rounded, as in 1.5 MiB.
    list_skipped : bool
    """

    sort: str
    sizes_for_people: bool
    list_skipped: bool


@dataclass(frozen=True, slots=True)
class _Row:
    """A partition or one of its segments, and the offsets it spans."""

    log: PartitionLog
    segments: Sequence[SegmentFile]
    first: _Edge
    last: _Edge

    @property
    def remote(self) -> RemotePart | None:
        return remote_part(self.log)

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self.segments)

    @property
    def damage(self) -> list[KafkaLogError]:
        return [edge for edge in (self.first, self.last) if isinstance(edge, KafkaLogError)]


def run(
    out: TextIO,
    paths: Sequence[str],
    given: Mapping[str, Any],
    *,
    as_json: bool,
    by_segment: bool,
    shown: Shown,
) -> int:
    """Write the table or the JSON object, and return the exit status."""
    options = parse_options(given, paths)
    refuse_ranges(options, "ls")
    listing = list_logs(options.paths, wanted=options.inspects, follow_symlinks=options.follow_symlinks)
    missing = not_found(options, listing)
    if missing is not None:
        raise missing
    topic_ids, warnings = _topic_ids(listing)
    warnings += [*listing.warnings, *filter(None, map(absent_segments, listing.partitions))]
    if not listing.partitions:
        warnings.append("no partition was selected; without --subscribe-pattern all are listed")
    for warning in warnings:
        complain(f"warning: {warning}")
    partitions = _sorted([_row(log, log.segments, options) for log in listing.partitions], shown.sort)
    segments = None
    if by_segment:
        segments = _sorted([_row(log, [s], options) for log in listing.partitions for s in log.segments], shown.sort)
    if as_json:
        out.write(json_line(_document(listing, partitions, segments, topic_ids, warnings)) + "\n")
    else:
        lines = _partition_table(partitions, shown) if segments is None else _segment_table(segments, shown)
        out.writelines(line + "\n" for line in (*lines, *_summary(listing, partitions, shown)))
    return _print_damage([*partitions, *(segments or ())])


def _row(log: PartitionLog, segments: Sequence[SegmentFile], options: ReadOptions) -> _Row:
    first = _first_known(lambda segment: first_edge(log, segment, options), segments)
    return _Row(log, segments, first, _first_known(last_edge, reversed(segments)))


def _first_known(ask: Callable[[SegmentFile], Edge | None], segments: Iterable[SegmentFile]) -> _Edge:
    """Return the first offset or error that `ask` has for the segments, None if it has none."""
    for segment in segments:
        try:
            edge = ask(segment)
        except KafkaLogError as error:
            return error
        if edge is not None:
            return edge
    return None


def _sorted(rows: list[_Row], sort: str) -> list[_Row]:
    """Order rows that are in the order of their names; equal ones stay in it."""
    keys: dict[str, Callable[[_Row], int]] = {
        "size": lambda row: row.size,
        "segments": lambda row: len(row.segments),
        "time": lambda row: _LONG_AGO if (time := _time(row.last)) is None else time,
    }
    return rows if sort == "name" else sorted(rows, key=keys[sort], reverse=True)


def _partition_table(rows: Sequence[_Row], shown: Shown) -> Iterator[str]:
    heads = ["TOPIC", "PARTITION", "SEGMENTS", *_span_heads(shown)]
    cells = [[*_place(row), len(row.segments), *_span(row, shown)] for row in rows]
    remote = [row.remote for row in rows]
    if any(remote):
        heads.append("REMOTE")
        cells = [[*each, _shown_remote(part)] for each, part in zip(cells, remote, strict=True)]
    return table(heads, cells, _RIGHT)


def _segment_table(rows: Sequence[_Row], shown: Shown) -> Iterator[str]:
    heads = ("TOPIC", "PARTITION", "BASE", *_span_heads(shown), "FILE")
    cells = [
        (*_place(row), segment.base_offset, *_span(row, shown), printable(segment.path))
        for row in rows
        for segment in row.segments
    ]
    return table(heads, cells, _RIGHT)


def _span_heads(shown: Shown) -> tuple[str, ...]:
    return ("SIZE" if shown.sizes_for_people else "BYTES", "FIRST", "LAST", "FIRST TIME", "LAST TIME")


def _span(row: _Row, shown: Shown) -> tuple[object, ...]:
    size = size_text(row.size) if shown.sizes_for_people else row.size
    return (size, _shown(row.first), _shown(row.last), _shown_time(row.first), _shown_time(row.last))


def _place(row: _Row) -> tuple[object, object]:
    return ("-", "-") if row.log.topic is None else (row.log.topic, row.log.partition)


def _shown_remote(part: RemotePart | None) -> str:
    if part is None:
        return "-"
    return f"{part.first_offset}..{part.last_offset}" + ("" if part.is_remote else " or missing")


def _shown(edge: _Edge) -> str:
    if isinstance(edge, KafkaLogError):
        return "?"
    return "-" if edge is None else str(edge.offset)


def _shown_time(edge: _Edge) -> str:
    return _time_text(edge) or "-"


def _time_text(edge: _Edge) -> str | None:
    time = _time(edge)
    return None if time is None else iso_utc(time * 1000)


def _time(edge: _Edge) -> int | None:
    return edge.timestamp_ms if isinstance(edge, Edge) else None


def _summary(listing: Listing, rows: Sequence[_Row], shown: Shown) -> Iterator[str]:
    counts = {
        "topic": len({row.log.topic for row in rows if row.log.topic is not None}),
        "partition": len(rows),
        "segment": sum(len(row.segments) for row in rows),
    }
    size = sum(row.size for row in rows)
    size_words = size_text(size) if shown.sizes_for_people else counted(size, "byte")
    yield ", ".join([*(counted(count, noun) for noun, count in counts.items()), size_words])
    if shown.list_skipped:
        yield from (f"skipped: {printable(each.path)}: {printable(each.reason)}" for each in listing.skipped)
    elif listing.skipped:
        yield f"{len(listing.skipped)} skipped; --skipped lists them"


def _topic_ids(listing: Listing) -> tuple[dict[str, str], list[str]]:
    """Read topic ids, by partition directory, with a warning for each damaged file."""
    found: dict[str, str] = {}
    warnings: list[str] = []
    for log in listing.partitions:
        try:
            topic_id = topic_id_of(log)
        except KafkaLogError as error:
            warnings.append(f"{error}. The topic id is unknown")
            continue
        if topic_id is not None:
            found[log.path] = topic_id
    return found, warnings


def _document(
    listing: Listing,
    partitions: Sequence[_Row],
    segments: Sequence[_Row] | None,
    topic_ids: Mapping[str, str],
    warnings: Sequence[str],
) -> dict[str, object]:
    """Build the JSON object; unknown offsets are null, and `damage` lists why."""
    files: dict[str, list[object]] = {}
    for row in segments or ():
        files.setdefault(row.log.path, []).append(_segment_object(row))
    return {
        "partitions": [
            _partition_object(row, topic_ids.get(row.log.path))
            | ({} if segments is None else {"segmentFiles": files.get(row.log.path, [])})
            for row in partitions
        ],
        "skipped": [{"path": each.path, "reason": each.reason} for each in listing.skipped],
        "warnings": list(warnings),
        "damage": _messages([*partitions, *(segments or ())]),
    }


def _partition_object(row: _Row, topic_id: str | None) -> dict[str, object]:
    return {
        "topic": row.log.topic,
        "topicId": topic_id,
        "partition": row.log.partition,
        "path": row.log.path,
        "segments": len(row.segments),
        "bytes": row.size,
        "firstOffset": _offset(row.first),
        "lastOffset": _offset(row.last),
        "firstTimestamp": _time_text(row.first),
        "lastTimestamp": _time_text(row.last),
        "logStartOffset": row.log.log_start_offset,
        "cleaned": row.log.cleaned,
        "remote": None if (part := row.remote) is None else _remote_object(part),
    }


def _remote_object(part: RemotePart) -> dict[str, object]:
    return {"firstOffset": part.first_offset, "lastOffset": part.last_offset, "certain": part.is_remote}


def _segment_object(row: _Row) -> dict[str, object]:
    (segment,) = row.segments
    return {
        "path": segment.path,
        "baseOffset": segment.base_offset,
        "bytes": segment.size,
        "firstOffset": _offset(row.first),
        "lastOffset": _offset(row.last),
        "firstTimestamp": _time_text(row.first),
        "lastTimestamp": _time_text(row.last),
    }


def _offset(edge: _Edge) -> int | None:
    return edge.offset if isinstance(edge, Edge) else None


def _messages(rows: Iterable[_Row]) -> list[str]:
    """List each error once, though a segment's error is also that of its partition."""
    return list(dict.fromkeys(str(error) for row in rows for error in row.damage))


def _print_damage(rows: Iterable[_Row]) -> int:
    messages = _messages(rows)
    for message in messages:
        complain(message)
    return BAD_DATA if messages else DONE
