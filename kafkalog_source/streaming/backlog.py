"""`backlog`: what a stream over log directories has yet to read, computed without Spark."""

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
    """What a stream has yet to read.

    Attributes
    ----------
    splits : list of Split
        The splits that Spark would run as tasks.
    warnings : tuple of str
    times : dict
        The times at which a stream without positions starts, by option, in UTC.
    """

    splits: list[Split]
    warnings: tuple[str, ...]
    times: dict[str, str]


def backlog(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], positions: object = None, /, **options: Any
) -> Backlog:
    """Plan what a stream with these options has yet to read; no record is read.

    Parameters
    ----------
    path : str, path or sequence of these
        As for `scan`.
    positions : mapping or str, optional
        The positions of the stream, as in a checkpoint of Spark: ``{"orders": {"0": 23}}``, the offset of the next
        record by topic and partition. By default the stream starts where its options say.
    **options
        Options of a stream.

    Returns
    -------
    Backlog

    Raises
    ------
    OptionError
        If an option or `positions` is malformed.
    LogDirError, DataLossError
        As from the stream itself.

    Examples
    --------
    >>> new = backlog("/backup/kafka-logs", {"orders": {"0": 23}})  # doctest: +SKIP
    """
    warnings: list[str] = []
    read_options = parse_options(options, path, streaming=True)
    stream = Stream(read_options, warnings.append)
    start = stream.initial() if positions is None else from_json(positions)
    splits = stream.plan(start, stream.latest(start)).splits
    return Backlog(splits, tuple(dict.fromkeys(warnings)), read_options.times if positions is None else {})
