"""Why a job failed, in one line.

Spark wraps an exception of a Python worker in pages of Java and Python stack
traces. The cause is the last line of the first Python traceback; it is extracted here.
"""

from __future__ import annotations

import re

from kafkalog_source import errors
from kafkalog_source.errors import KafkaLogError, printable

__all__ = ["one_line", "own_kind"]

# The line that ends a Python traceback: the first one that is not indented.
_RAISED = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)+(\S.*)")


_OWN = re.compile(r"kafkalog_source\.errors\.(\w+)")


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
    raised = _RAISED.search(str(error))
    named = None if raised is None else _OWN.match(raised[1])
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
    raised = _RAISED.search(text)
    if raised is not None:
        return printable(raised[1].removeprefix("kafkalog_source.errors."))
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no message"]
    # Py4J names the call that failed, and then, on a separate line, the Java exception.
    java = next((line[2:] for line in lines if line.startswith(": ")), None)
    return printable(java or f"{type(error).__name__}: {lines[0]}")
