"""The end of ``kafkalog verify``: what is lost, in words, and what to run next."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafkalog_source.errors import printable
from kafkalog_source.reporting.losses import loss_lines
from kafkalog_source.verifying import Severity

if TYPE_CHECKING:
    from kafkalog_source.reporting.losses import Loss
    from kafkalog_source.verifying import Verification

__all__ = ["verdict_lines"]

_TOPIC_FLAGS = {
    "subscribe": "--subscribe",
    "subscribepattern": "--subscribe-pattern",
    "assign": "--assign",
    "places": "--place",
}


def verdict_lines(
    found: Verification, losses: Sequence[Loss], paths: Sequence[str], given: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the lines; none if everything is sound.

    Parameters
    ----------
    found : Verification
    losses : sequence of Loss
        Those of `found`.
    paths, given
        The paths and options of the command, for the commands to run next.
    """
    severities = {finding.severity for finding in found.all_findings if not finding.is_denied}
    if Severity.DAMAGE in severities:
        yield from loss_lines(losses, len(found.partitions))
        if not losses:
            yield "lost: no offset, as far as can be known"
        yield from _next(paths, given, can_salvage=_can_salvage(found))
    elif Severity.MISLEADING in severities and found.is_complete:
        yield "lost: nothing; all records can be read"


def _can_salvage(found: Verification) -> bool:
    """Whether there is damage that a salvaged log dir would not have; a missing segment is missing there too."""
    return any(each.severity is Severity.DAMAGE and not each.is_absent for each in found.all_findings)


def _next(paths: Sequence[str], given: Mapping[str, Any], *, can_salvage: bool) -> Iterator[str]:
    flags = [part for name, value in given.items() for part in _flag(name, value)]
    yield f"next: {_command('export', *paths, *flags, '--rescue')} -o OUT.parquet  (all records that can be read)"
    if can_salvage and len(paths) == 1 and os.path.isdir(paths[0]):
        yield f"next: {_command('salvage', *paths, 'DST', *flags)}  (all good batches, as a new log dir)"


def _flag(name: str, value: str | Sequence[str]) -> tuple[str, ...]:
    flag = _TOPIC_FLAGS.get(name.lower())
    values = [value] if isinstance(value, str) else value
    return () if flag is None else tuple(part for each in values for part in (flag, each))


def _command(*words: str) -> str:
    return printable(shlex.join(["kafkalog", *words]))
