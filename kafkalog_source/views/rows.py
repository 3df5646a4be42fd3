"""Rows of a view of files, column by column, and what their values share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Rows = dict[str, Sequence[Any]]
"""Values by column, all of one length. Columns that are left out are null; timestamps are microseconds."""

_MOST_MS = (2**63 - 1) // 1000


def microseconds(timestamp_ms: int) -> int | None:
    """A timestamp of Kafka's; None for -1 and for what microseconds cannot hold."""
    return timestamp_ms * 1000 if timestamp_ms != -1 and -_MOST_MS <= timestamp_ms <= _MOST_MS else None


def known(number: int) -> int | None:
    """A number that Kafka writes as -1 where there is none."""
    return None if number == -1 else number


def valid_text(text: str) -> str:
    """Text that Arrow takes: a surrogate without its pair, which JSON can hold, is replaced."""
    return text.encode("utf-8", "replace").decode()
