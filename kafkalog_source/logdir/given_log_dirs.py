"""Which of the paths given are log dirs, for whatever reads the files that lie in them beside the partitions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kafkalog_source.logdir.diagnose import is_log_dir
from kafkalog_source.logdir.globs import expand
from kafkalog_source.logdir.names import parse_partition

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["given_log_dirs"]


def given_log_dirs(paths: Iterable[str], follow_symlinks: bool) -> list[str]:
    """The log dirs among some paths and globs, each once; the directory of a partition is none."""
    given = (each.path for path in paths for each in expand(path, follow_symlinks))
    found = (
        os.path.realpath(path)
        for path in given
        if os.path.isdir(path) and (parse_partition(os.path.basename(path)) is None or is_log_dir(path))
    )
    return list(dict.fromkeys(found))
