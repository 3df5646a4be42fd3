"""What a salvage does not go on without unless it is told to: files whose content was not even looked at."""

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
    """What the listing of a log dir could not take up.

    Parameters
    ----------
    bad : sequence of KafkaLogError
    source : str
        The log dir.
    skip_unreadable : bool
        Whether to go on without segments and partition directories that cannot be read.

    Raises
    ------
    LogDirError
        There are such, and nobody asked to go on without them.
    """
    unreadable = [error for error in bad if is_unreadable(error)]
    if unreadable and not skip_unreadable:
        raise cannot_read(unreadable)
    found = [LeftOut(each.file or source, each.problem, True, is_unreadable=is_unreadable(each)) for each in bad]
    return list({(each.path, each.reason): each for each in found}.values())


def is_unreadable(error: KafkaLogError) -> bool:
    """Whether records may be missing because a file or directory cannot be read; a checkpoint has none."""
    return isinstance(error, LogDirError) and os.path.basename(error.file or "") not in CHECKPOINT_NAMES


def cannot_read(errors: Sequence[KafkaLogError]) -> LogDirError:
    """The refusal to go on without some files."""
    first = errors[0]
    others = f" (and {len(errors) - 1} more that cannot be read)" if len(errors) > 1 else ""
    return LogDirError(
        f"{first.problem}{others}: its records would be missing from the new log dir",
        file=first.file,
        found=None if first.found is None else printable(str(first.found)),
        remedy=f"{f'{first.remedy}. ' if first.remedy else ''}To go on without what cannot be read, "
        "give --skip-unreadable",
    )
