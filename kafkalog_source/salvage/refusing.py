"""Unreadable files: a salvage fails unless it was started with ``--skip-unreadable``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kafkalog_source.errors import LogDirError, printable
from kafkalog_source.logdir.names import CHECKPOINT_NAMES
from kafkalog_source.salvage.report import LeftOut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_source.errors import KafkaLogError


def left_out_of_listing(bad: Sequence[KafkaLogError], source: str, skip_unreadable: bool) -> list[LeftOut]:
    """The files and directories that the listing of a log dir left out.

    Parameters
    ----------
    bad : sequence of KafkaLogError
        The errors of the listing.
    source : str
        The log dir.
    skip_unreadable : bool
        Whether to continue without segments and partition directories that cannot be read.

    Raises
    ------
    LogDirError
        If some cannot be read and `skip_unreadable` is False.
    """
    unreadable = [error for error in bad if is_unreadable(error)]
    if unreadable and not skip_unreadable:
        raise cannot_read(unreadable)
    found = [LeftOut(each.file or source, each.problem, True, is_unreadable=is_unreadable(each)) for each in bad]
    return list({(each.path, each.reason): each for each in found}.values())


def is_unreadable(error: KafkaLogError) -> bool:
    """Whether records may be missing because a file or directory cannot be read; not so for a checkpoint."""
    return isinstance(error, LogDirError) and os.path.basename(error.file or "") not in CHECKPOINT_NAMES


def cannot_read(errors: Sequence[KafkaLogError]) -> LogDirError:
    """The error that ends a salvage because some files cannot be read."""
    first = errors[0]
    others = f" (and {len(errors) - 1} more that cannot be read)" if len(errors) > 1 else ""
    return LogDirError(
        f"{first.problem}{others}: its records would be missing from the new log dir",
        file=first.file,
        found=None if first.found is None else printable(str(first.found)),
        remedy=f"{f'{first.remedy}. ' if first.remedy else ''}To continue without unreadable files, "
        "give --skip-unreadable",
    )
