"""The small text files in which a broker keeps offsets, epochs and topic ids.

A checkpoint is a version line, a count line, and that many entries of fields
separated by white space (``CheckpointFile``). Anything else is an error: a
number from a damaged checkpoint could hide records or return deleted ones.
"""

from __future__ import annotations

import base64
import re
import stat
import uuid
from typing import NamedTuple, NoReturn

from kafkalog_source.errors import LogDirError, counted, printable
from kafkalog_source.logdir.access import file_kind, os_error, status

__all__ = [
    "MAX_CHECKPOINT_SIZE",
    "LeaderEpoch",
    "encoded_topic_id",
    "read_leader_epochs",
    "read_offset_checkpoint",
    "read_topic_id",
]

MAX_CHECKPOINT_SIZE = 256 * 1024 * 1024
"""In bytes, about 270 for each of a million partitions: far more than a broker's largest checkpoint."""

_INT32 = 2**31
_INT64 = 2**63
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
# The line terminators of Java's BufferedReader; str.splitlines accepts more.
_END_OF_LINE = re.compile(r"\r\n|\r|\n")
_WHITE_SPACE = re.compile(r"[ \t\n\x0b\f\r]+")
_TOPIC_ID = re.compile(r"topic_id: ([A-Za-z0-9_-]{22})")
_REMEDY = "Restore the file, or remove it from the copy that is read"


class LeaderEpoch(NamedTuple):
    """A leader epoch and the first offset written in it."""

    epoch: int
    start_offset: int


def read_offset_checkpoint(path: str) -> dict[tuple[str, int], int]:
    """Read a checkpoint of ``topic partition offset`` lines.

    Returns
    -------
    dict
        Offset by topic and partition; empty for an empty file.

    Raises
    ------
    LogDirError
        If it is missing, unreadable or malformed.
    """
    offsets = {}
    for number, (topic, partition, offset) in _rows(path, 3):
        place = (topic, _integer(path, number, partition, _INT32))
        offsets[place] = _integer(path, number, offset, _INT64)
    return offsets


def read_leader_epochs(path: str) -> list[LeaderEpoch]:
    """Read a ``leader-epoch-checkpoint``, in the order of its lines.

    Raises
    ------
    LogDirError
        If it is missing, unreadable or malformed.
    """
    return [
        LeaderEpoch(_integer(path, number, epoch, _INT32), _integer(path, number, start, _INT64))
        for number, (epoch, start) in _rows(path, 2)
    ]


def read_topic_id(path: str) -> uuid.UUID:
    """Read the topic's id from a ``partition.metadata``.

    Raises
    ------
    LogDirError
        If it is missing, unreadable or malformed.
    """
    lines = _lines(path)
    if not lines or lines[0] != "version: 0":
        _malformed(path, 1, lines[0] if lines else "", "version: 0")
    match = _TOPIC_ID.fullmatch(lines[1]) if len(lines) == 2 else None
    if match is None:
        _malformed(path, 2, "".join(lines[1:2]), "topic_id: followed by 22 characters, as the last line")
    return uuid.UUID(bytes=base64.urlsafe_b64decode(match[1] + "=="))


def encoded_topic_id(topic_id: uuid.UUID) -> str:
    """Encode a topic id as Kafka's own tools show it: 22 characters of base64."""
    return base64.urlsafe_b64encode(topic_id.bytes).decode("ascii").rstrip("=")


def _rows(path: str, width: int) -> list[tuple[int, list[str]]]:
    """The line number and fields of each entry."""
    lines = _lines(path)
    if not lines:
        return []
    version = _integer(path, 1, lines[0], _INT32)
    if version != 0:
        _malformed(path, 1, lines[0], "version 0")
    if len(lines) == 1:
        return []
    count = _integer(path, 2, lines[1], _INT32)
    rows = [(number, _WHITE_SPACE.split(line)) for number, line in enumerate(lines[2:], start=3)]
    for number, fields in rows:
        if len(fields) != width:
            _malformed(path, number, lines[number - 1], f"{width} fields")
    if len(rows) != count:
        _malformed(
            path, 2, f"count {count} and {counted(len(rows), 'entry')}", "a count equal to the number of entries"
        )
    return rows


def _lines(path: str) -> list[str]:
    found = status(path)
    if not stat.S_ISREG(found.st_mode):
        raise LogDirError(f"is {file_kind(found.st_mode)}, not a checkpoint", file=path, remedy=_REMEDY)
    if found.st_size > MAX_CHECKPOINT_SIZE:
        _malformed(path, None, f"{found.st_size} bytes", f"at most {MAX_CHECKPOINT_SIZE} bytes")
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_CHECKPOINT_SIZE)
    except OSError as error:
        raise os_error(path, error) from error
    try:
        lines = _END_OF_LINE.split(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise LogDirError(
            "is not a checkpoint: not UTF-8 text", file=path, position=error.start, remedy=_REMEDY
        ) from error
    # Text after the last line terminator is a line only if it is not empty.
    return lines if lines[-1] else lines[:-1]


def _integer(path: str, number: int, text: str, bound: int) -> int:
    if _INTEGER.fullmatch(text) is None or not -bound <= int(text) < bound:
        _malformed(path, number, text, f"a signed integer of {bound.bit_length()} bits")
    return int(text)


def _malformed(path: str, line: int | None, found: str, expected: str) -> NoReturn:
    place = "" if line is None else f", in line {line}"
    raise LogDirError(
        f"damaged checkpoint{place}",
        file=path,
        found=repr(printable(found[:80])),
        expected=expected,
        remedy=_REMEDY,
    )
