"""Topics and partitions that a read names and that do not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.errors import LogDirError

if TYPE_CHECKING:
    from kafkalog_source.logdir import Listing
    from kafkalog_source.options.read_options import ReadOptions


def not_found(options: ReadOptions, listing: Listing) -> LogDirError | None:
    """The error that names what `subscribe` or `assign` choose and the listing lacks; None if nothing is missing."""
    found = {(log.topic, log.partition) for log in listing.partitions}
    topics = {topic for topic, _ in found}
    missing = [topic for topic in options.subscribe or () if topic not in topics]
    for topic, partitions in (options.assign or {}).items():
        missing += [f"{topic}-{partition}" for partition in partitions if (topic, partition) not in found]
    if not missing:
        return None
    return LogDirError(
        f"not found: {', '.join(missing)}",
        file=", ".join(options.paths),
        remedy="`kafkalog ls` lists the partitions on disk; failOnDataLoss=false reads the rest",
    )
