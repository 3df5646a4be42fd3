"""`backlog`: what a stream over log directories has still to read, without Spark."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kafkalog_source.options.read_options import parse_options
from kafkalog_source.partition.splits import Split
from kafkalog_source.streaming.positions import from_json
from kafkalog_source.streaming.stream import Stream

__all__ = ["Backlog", "backlog"]


@dataclass(frozen=True)
class Backlog:
    """What a stream has still to read.

    Attributes
    ----------
    splits : list of Split
        Of which Spark would make tasks.
    warnings : tuple of str
    """

    splits: list[Split]
    warnings: tuple[str, ...]


def backlog(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], positions: object = None, /, **options: Any
) -> Backlog:
    """Plan what a stream with these options has still to read; no record is read.

    Parameters
    ----------
    path : str, path or sequence of these
        As for `scan`.
    positions : mapping or str, optional
        Where the stream stands, as a checkpoint of Spark holds it: ``{"orders": {"0": 23}}``, the offset of the next
        record by topic and partition. Without it the stream has not begun, and starts where its options say.
    **options
        Options of a stream.

    Returns
    -------
    Backlog

    Raises
    ------
    OptionError
        An option or `positions` is malformed.
    LogDirError, DataLossError
        As from the stream itself.

    Examples
    --------
    >>> new = backlog("/backup/kafka-logs", {"orders": {"0": 23}})  # doctest: +SKIP
    """
    warnings: list[str] = []
    stream = Stream(parse_options(options, path, streaming=True), warnings.append)
    start = stream.initial() if positions is None else from_json(positions)
    splits = stream.plan(start, stream.latest(start)).splits
    return Backlog(splits, tuple(dict.fromkeys(warnings)))
