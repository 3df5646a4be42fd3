"""Why a job failed, in one line.

Spark wraps an exception of a Python worker in pages of Java and Python stack traces, for
a stream several times over. The cause is the last line of a Python traceback; it is
extracted here.
"""

from __future__ import annotations

import re

from kafkalog_source import errors
from kafkalog_source.errors import KafkaLogError, printable

__all__ = ["one_line", "own_kind"]

# The line that ends a Python traceback: the first one that is not indented.
_RAISED = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\S.*)")
_OWN = re.compile(r"kafkalog_source\.errors\.(\w+): ")
# What Spark raises itself for the exception of a worker.
_OF_SPARK = "pyspark.errors."
_SQL_STATE = re.compile(r" SQLSTATE: \w{5}$")


def own_kind(error: BaseException) -> type[KafkaLogError] | None:
    """Return the class of kafkalog error that a Python worker raised, from the exception of Spark.

    Parameters
    ----------
    error : BaseException
        The exception of Spark.

    Returns
    -------
    type or None
        None if it is not an error of kafkalog.
    """
    raised = _raised(str(error))
    named = None if raised is None else _OWN.match(raised)
    kind = None if named is None else getattr(errors, named[1], None)
    return kind if isinstance(kind, type) and issubclass(kind, KafkaLogError) else None


def one_line(error: BaseException) -> str:
    """Return the reason of a failure as a single printable line.

    Parameters
    ----------
    error : BaseException
        An error of kafkalog, one of Spark that may wrap that of a Python worker,
        or any other.

    Returns
    -------
    str
        The error's kind and message.
    """
    text = str(error)
    raised = _raised(text)
    if raised is not None:
        return printable(raised.removeprefix("kafkalog_source.errors."))
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no message"]
    # Py4J names the call that failed, and then, on a separate line, the Java exception.
    java = next((line[2:] for line in lines if line.startswith(": ")), None)
    return printable(_SQL_STATE.sub("", java or f"{type(error).__name__}: {lines[0]}"))


def _raised(text: str) -> str | None:
    """Return the line in which a Python traceback names the cause: an error of kafkalog, or of anything but Spark."""
    lines: list[str] = _RAISED.findall(text)
    own = (line for line in lines if _OWN.match(line))
    others = (line for line in lines if not line.startswith(_OF_SPARK))
    return next(own, None) or next(others, None) or (lines[0] if lines else None)
