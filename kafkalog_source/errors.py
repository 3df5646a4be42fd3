"""Every error that kafkalog raises on purpose.

One root, `KafkaLogError`, so that a caller needs a single ``except``. An error
says what was found, where, what was expected there and what to do, and it
survives pickling, since Spark carries it from a worker to the driver. No error
holds the content of a record.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "BAD_DATA",
    "DONE",
    "NOT_RUN",
    "CodecError",
    "CorruptBatchError",
    "DamageWarning",
    "DataLossError",
    "KafkaLogError",
    "LimitError",
    "LogDirError",
    "NotASegmentError",
    "OptionError",
    "PermissionDeniedError",
    "ReadFailedError",
    "UnsupportedFormatError",
    "counted",
    "exit_status",
    "offsets_text",
    "printable",
]

DONE, BAD_DATA, NOT_RUN = 0, 1, 2
"""What commands and jobs exit with."""


def printable(text: str) -> str:
    """Escape what a terminal or a log would act on (control and lone surrogate characters)."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def counted(count: int, noun: str) -> str:
    """Write how many there are of something: ``1 batch``, ``2 batches``."""
    ending = "" if count == 1 else "es" if noun.endswith(("ch", "s")) else "s"
    if count != 1 and noun.endswith("ry"):
        noun, ending = noun[:-1], "ies"
    return f"{count} {noun}{ending}"


def offsets_text(first: int | None, last: int | None) -> str:
    """Write which offsets damage may have taken, as the rows of ``view=damage`` give the first and the last."""
    if first is None:
        return "offsets unknown"
    if last is None:
        return f"offsets from {first} on"
    if last < first:
        return "no offsets lost"
    return f"offset {first}" if last == first else f"offsets {first} to {last}"


class KafkaLogError(Exception):
    """Root of all errors of kafkalog.

    Parameters
    ----------
    problem : str
        What is wrong, as one sentence without a full stop.
    file : str, optional
        The file concerned.
    position : int, optional
        Byte position in the file where the trouble starts.
    base_offset : int, optional
        Kafka's offset of the batch concerned.
    found, expected : object, optional
        What stood there, and what should have. Never the content of a record.
    remedy : str, optional
        What the reader of the message can do.
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

    def at(self, file: str, position: int | None, base_offset: int | None = None) -> KafkaLogError:
        """The same error with its place filled in, for what was raised by a part that knows no files."""
        fields = {**self._fields(), "file": file, "position": position, "base_offset": base_offset}
        return _rebuild(type(self), fields)

    def __reduce__(self) -> tuple[Any, ...]:
        # What others have put on the error (notes among it) goes along as the state that pickle sets itself.
        return _rebuild, (type(self), self._fields()), dict(self.__dict__)

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = ("problem", "file", "position", "base_offset", "found", "expected", "remedy")


def _rebuild(kind: type[KafkaLogError], fields: dict[str, Any]) -> KafkaLogError:
    return kind(**fields)


class CorruptBatchError(KafkaLogError):
    """Bytes that are no valid batch: a wrong CRC, a length or count that lies, offsets that fall."""


class DamageWarning(UserWarning):
    """What a read left out because it is damaged, where a mode other than FAILFAST asks for that."""


class CodecError(CorruptBatchError):
    """A compressed payload that its codec refuses."""


class LimitError(KafkaLogError):
    """Something larger than a configured bound, such as a batch that decompresses past its cap."""


class UnsupportedFormatError(KafkaLogError):
    """A file that is not a Kafka segment, or a format that kafkalog does not read."""


class LogDirError(KafkaLogError):
    """A path, directory or file that is missing, unreadable or not what it should be."""


class PermissionDeniedError(LogDirError):
    """A file or directory that this process may not read."""


class ReadFailedError(LogDirError):
    """A disk or file system that fails, as with an input/output error."""


class NotASegmentError(UnsupportedFormatError, LogDirError):
    """A path that by its name is no segment of Kafka's; nothing of it was read."""


class OptionError(KafkaLogError, ValueError):
    """An option that is unknown, malformed, contradictory or not supported yet."""


class DataLossError(KafkaLogError):
    """Offsets that were asked for and are not on disk, with ``failOnDataLoss=true``."""


def kind_of(error: OSError) -> type[LogDirError]:
    """The kind of error that a failure of the operating system becomes."""
    if isinstance(error, PermissionError):
        return PermissionDeniedError
    return LogDirError if isinstance(error, (FileNotFoundError, NotADirectoryError)) else ReadFailedError


def exit_status(kind: type[BaseException]) -> int:
    """What a command or a job exits with that an error of this kind ends.

    Parameters
    ----------
    kind : type

    Returns
    -------
    int
        NOT_RUN if what was asked for makes no sense or is not there to be read: an option, a path that does not exist,
        that holds nothing of Kafka's, or that this process may not read. BAD_DATA if reading began and failed: damage,
        records that are missing, a format that is not read, a disk that fails.
    """
    if issubclass(kind, ReadFailedError):
        return BAD_DATA
    return NOT_RUN if issubclass(kind, (OptionError, LogDirError)) else BAD_DATA
