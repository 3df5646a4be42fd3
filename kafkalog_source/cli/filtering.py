"""Filters by key, value and headers, applied to Arrow's columns before anything is written."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Sequence
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source.cli.filters import Filters
from kafkalog_source.columns import CORRUPT_RECORD
from kafkalog_source.errors import OptionError, printable

__all__ = ["matching"]

_Test = Callable[[pa.Array], pa.Array]


def matching(filters: Filters) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """Return a function that leaves the records that match, and rows about damage; see `Filters.compiled`."""
    tests = list(_tests(filters))

    def matching_rows(rows: pa.RecordBatch) -> pa.RecordBatch:
        found = reduce(pc.and_, (pc.fill_null(test(rows), False) for test in tests))
        if CORRUPT_RECORD in rows.schema.names:
            found = pc.or_(found, rows.column(CORRUPT_RECORD).is_valid())
        return rows.filter(found)

    return matching_rows


def _tests(filters: Filters) -> Iterator[Callable[[pa.RecordBatch], pa.Array]]:
    for name, term in (("key", filters.key), ("value", filters.value)):
        if term is not None:
            yield _column_test(name, _term(f"--{name}", term))
    for each in filters.headers:
        name, equals, term = each.partition("=")
        yield _header_test(name, _term("--header", term) if equals else None)
    if filters.grep is not None:
        yield _anywhere(_regex("--grep", filters.grep))


def _column_test(name: str, matches: _Test) -> Callable[[pa.RecordBatch], pa.Array]:
    return lambda rows: matches(rows.column(name))


def _header_test(name: str, matches: _Test | None) -> Callable[[pa.RecordBatch], pa.Array]:
    def test(rows: pa.RecordBatch) -> pa.Array:
        column = rows.column("headers")
        headers = column.flatten()
        found = pc.equal(headers.field(0), name)
        return _any_header(column, found if matches is None else pc.and_(found, matches(headers.field(1))))

    return test


def _anywhere(matches: _Test) -> Callable[[pa.RecordBatch], pa.Array]:
    def test(rows: pa.RecordBatch) -> pa.Array:
        column = rows.column("headers")
        headers = column.flatten()
        in_headers = (matches(headers.field(0).cast(pa.binary())), matches(headers.field(1)))
        found = [matches(rows.column("key")), matches(rows.column("value")), _any_header(column, _either(in_headers))]
        return _either(found)

    return test


def _either(parts: Sequence[pa.Array]) -> pa.Array:
    return reduce(pc.or_, (pc.fill_null(part, False) for part in parts))


def _any_header(column: pa.Array, found: pa.Array) -> pa.Array:
    """Whether any of the headers of each row is among those that were found."""
    rows = pc.list_parent_indices(column).filter(pc.fill_null(found, False)).unique()
    return pc.is_in(pa.array(range(len(column)), rows.type), rows)


def _term(flag: str, term: str) -> _Test:
    kind, colon, rest = term.partition(":")
    if colon and kind == "re":
        return _regex(flag, rest)
    wanted = pa.scalar(_content(flag, kind if colon else "", rest, term), pa.binary())
    return lambda column: pc.equal(column, wanted)


def _content(flag: str, kind: str, rest: str, term: str) -> bytes:
    try:
        if kind == "hex":
            return bytes.fromhex(rest)
        if kind == "base64":
            return base64.b64decode(rest, validate=True)
    except (ValueError, binascii.Error):
        raise OptionError(
            f"{flag} is not {'hexadecimal' if kind == 'hex' else 'base64'}",
            found=printable(term),
            remedy="Begin with text: if it is meant as text",
        ) from None
    return (rest if kind == "text" else term).encode("utf-8", "surrogateescape")


def _regex(flag: str, pattern: str) -> _Test:
    pattern = pattern.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    test: _Test = lambda column: pc.match_substring_regex(column, pattern)  # noqa: E731
    try:
        test(pa.array([b""], pa.binary()))
    except pa.ArrowInvalid as error:
        reason = printable(str(error).partition(": ")[2])
        raise OptionError(f"{flag} is not a regular expression: {reason}", expected="the syntax of RE2") from None
    return test
