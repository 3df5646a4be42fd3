"""Files that hold one JSON object: ``quorum-state`` and, since Kafka 3.5, ``.kafka_cleanshutdown``."""

from __future__ import annotations

import json
from typing import Any

from kafkalog_source.errors import LogDirError, printable

__all__ = ["parse_json_object"]


def parse_json_object(content: bytes, path: str) -> dict[str, Any]:
    """The fields of a file's JSON object.

    Parameters
    ----------
    content : bytes
    path : str
        The file, for the error.

    Raises
    ------
    LogDirError
        The content is not JSON, or JSON of something else.
    """
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _malformed(path, str(error)) from error
    if not isinstance(found, dict):
        raise _malformed(path, type(found).__name__)
    return found


def _malformed(path: str, found: str) -> LogDirError:
    return LogDirError(
        "the file is not a JSON object",
        file=path,
        found=printable(found[:80]),
        expected="a JSON object, as a broker writes it",
        remedy="Restore the file, or remove it from the copy that is read",
    )
