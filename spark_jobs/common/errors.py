"""Why a job failed, in one line.

Spark wraps what a Python worker raises in pages of Java and Python stack
traces. The line that matters ends the first Python traceback; this finds it.
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
    """Find which error of kafkalog a Python worker raised that Spark reports.

    Parameters
    ----------
    error : BaseException
        Of Spark.

    Returns
    -------
    type or None
        None if it was another error than one of kafkalog.
    """
    raised = _RAISED.search(str(error))
    named = None if raised is None else _OWN.match(raised[1])
    kind = None if named is None else getattr(errors, named[1], None)
    return kind if isinstance(kind, type) and issubclass(kind, KafkaLogError) else None


def one_line(error: BaseException) -> str:
    """Give the reason of a failure as a single printable line.

    Parameters
    ----------
    error : BaseException
        What reached the job: an error of kafkalog, one of Spark that may carry
        a Python worker's, or any other.

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
    # Py4J says which call failed, and then on a line of its own what Java said.
    java = next((line[2:] for line in lines if line.startswith(": ")), None)
    return printable(java or f"{type(error).__name__}: {lines[0]}")
