"""The errors that kafkalog raises.

All derive from `KafkaLogError`, so that a caller needs a single ``except``. An error
says what was found, where, what was expected and what to do. It can be pickled,
since Spark sends it from a worker to the driver. No error contains record content.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

__all__ = [
    "BAD_DATA",
    "DONE",
    "NOT_RUN",
    "CodecError",
    "CorruptBatchError",
    "DamageWarning",
    "DataLossError",
    "DecodeWarning",
    "KafkaLogError",
    "LimitError",
    "LogDirError",
    "NotASegmentError",
    "OptionError",
    "PermissionDeniedError",
    "ReadFailedError",
    "UnsupportedFormatError",
    "counted",
    "did_you_mean",
    "exit_status",
    "nearest",
    "offsets_text",
    "printable",
    "size_text",
]

_UNITS = ("KiB", "MiB", "GiB", "TiB")
DONE, BAD_DATA, NOT_RUN = 0, 1, 2
"""Exit statuses of commands and jobs."""


def printable(text: str) -> str:
    """Escape characters that a terminal or a log would interpret: control and lone surrogate characters."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name most like a misspelt one, whatever its case, hyphens and underscores; None if none is."""
    spelled = {_plain(name): name for name in known}
    near = difflib.get_close_matches(_plain(word), list(spelled), n=1, cutoff=0.6)
    return spelled[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the question that suggests the nearest known name; None if no name is like the given one."""
    near = nearest(word, known)
    return None if near is None else f"Did you mean {printable(near)}?"


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def counted(count: int, noun: str) -> str:
    """Format a number of things: ``1 batch``, ``2 batches``."""
    ending = "" if count == 1 else "es" if noun.endswith(("ch", "s")) else "s"
    if count != 1 and noun.endswith("ry"):
        noun, ending = noun[:-1], "ies"
    return f"{count} {noun}{ending}"


def size_text(size: int) -> str:
    """Format a number of bytes for people: ``1.5 MiB``."""
    amount, unit = float(size), "B"
    for larger in _UNITS:
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{size} B" if unit == "B" else f"{amount:.1f} {unit}"


def offsets_text(first: int | None, last: int | None) -> str:
    """Format the range of offsets that may be lost, as in ``first_offset`` and ``last_offset`` of ``view=damage``."""
    if first is None:
        return "offsets unknown"
    if last is None:
        return f"offsets from {first} on"
    if last < first:
        return "no offsets lost"
    return f"offset {first}" if last == first else f"offsets {first} to {last}"


class KafkaLogError(Exception):
    """The base class of all errors of kafkalog.

    Parameters
    ----------
    problem : str
        What is wrong, as one sentence without a full stop.
    file : str, optional
        The file concerned.
    position : int, optional
        Byte position in the file where the problem begins.
    base_offset : int, optional
        The base offset of the batch concerned.
    found, expected : object, optional
        What was read, and what was expected. Never record content.
    remedy : str, optional
        What the user can do.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        position: int | None = None,
        base_offset: int | None = None,
        found: object = None,
        expected: object = None,
        remedy: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = file
        self.position = position
        self.base_offset = base_offset
        self.found = found
        self.expected = expected
        self.remedy = remedy
        super().__init__(self._message())

    def _message(self) -> str:
        place = [printable(self.file)] if self.file is not None else []
        if self.position is not None:
            place.append(f"position {self.position}")
        if self.base_offset is not None:
            place.append(f"base offset {self.base_offset}")
        parts = [f"{', '.join(place)}: {self.problem}" if place else self.problem]
        detail = [
            f"{word} {value}"
            for word, value in (("found", self.found), ("expected", self.expected))
            if value is not None
        ]
        if detail:
            parts[0] += f" ({', '.join(detail)})"
        if self.remedy is not None:
            parts.append(self.remedy)
        return ". ".join(parts)

    def without_remedy(self) -> str:
        """Return the message without what to do, for the warning of a read that goes on."""
        return str(_rebuild(type(self), {**self._fields(), "remedy": None}))

    def at(self, file: str, position: int | None, base_offset: int | None = None) -> KafkaLogError:
        """Return the same error with its file and position, for code that does not know them."""
        fields = {**self._fields(), "file": file, "position": position, "base_offset": base_offset}
        return _rebuild(type(self), fields)

    def __reduce__(self) -> tuple[Any, ...]:
        # Attributes added by others, such as notes, are passed as the state that pickle restores.
        return _rebuild, (type(self), self._fields()), dict(self.__dict__)

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = ("problem", "file", "position", "base_offset", "found", "expected", "remedy")


def _rebuild(kind: type[KafkaLogError], fields: dict[str, Any]) -> KafkaLogError:
    return kind(**fields)


class CorruptBatchError(KafkaLogError):
    """Bytes that are not a valid batch: a wrong CRC, an invalid length or count, offsets that do not increase."""


class DamageWarning(UserWarning):
    """A damaged region that a read skipped, in a mode other than FAILFAST."""


class DecodeWarning(UserWarning):
    """Values that are not what ``scan(decode=...)`` says, and so are null."""


class CodecError(CorruptBatchError):
    """A compressed payload that is not valid for its codec."""


class LimitError(KafkaLogError):
    """Something larger than a configured limit, such as a batch whose decompressed size exceeds it."""


class UnsupportedFormatError(KafkaLogError):
    """A file that is not a Kafka segment, or a format that kafkalog does not read."""


class LogDirError(KafkaLogError):
    """A path, directory or file that is missing, unreadable or not what it should be."""


class PermissionDeniedError(LogDirError):
    """A file or directory that this process has no permission to read."""


class ReadFailedError(LogDirError):
    """A failure of the disk or file system, such as an input/output error."""


class NotASegmentError(UnsupportedFormatError, LogDirError):
    """A path whose name is not that of a Kafka segment; its content was not read."""


class OptionError(KafkaLogError, ValueError):
    """An option that is unknown, malformed, contradictory or not supported yet."""


class DataLossError(KafkaLogError):
    """Requested offsets that are not on disk, with ``failOnDataLoss=true``."""


def kind_of(error: OSError) -> type[LogDirError]:
    """Return the class of error for a failure reported by the operating system."""
    if isinstance(error, PermissionError):
        return PermissionDeniedError
    return LogDirError if isinstance(error, (FileNotFoundError, NotADirectoryError)) else ReadFailedError


def exit_status(kind: type[BaseException]) -> int:
    """Return the exit status of a command or job that ends with an error of this class.

    Parameters
    ----------
    kind : type

    Returns
    -------
    int
        NOT_RUN if the request is invalid or cannot be started: an invalid option, a path that does not exist, contains
        no Kafka data or cannot be read by this process. BAD_DATA if reading began and failed: damage, missing records,
        an unsupported format, a disk failure.
    """
    if issubclass(kind, ReadFailedError):
        return BAD_DATA
    return NOT_RUN if issubclass(kind, (OptionError, LogDirError)) else BAD_DATA
