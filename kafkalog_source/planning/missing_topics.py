"""Topics and partitions that a read names and that do not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.errors import LogDirError, nearest
from kafkalog_source.logdir import list_logs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kafkalog_source.errors import KafkaLogError
    from kafkalog_source.logdir import Listing
    from kafkalog_source.options.read_options import ReadOptions

_OTHERWISE = "; failOnDataLoss=false reads the rest"


def not_found(options: ReadOptions, listing: Listing, otherwise: str = _OTHERWISE) -> LogDirError | None:
    """The error that names what `subscribe`, `assign` or `places` choose and the listing lacks, and the nearest topics.

    None if nothing is missing. `otherwise` ends the error with what else can be done.
    """
    found = {(log.topic, log.partition) for log in listing.partitions}
    topics = {topic for topic, _ in found if topic is not None}
    missing = [each for each in _named(options) if each not in found and (each[1] is not None or each[0] not in topics)]
    if not missing:
        return None
    near = _nearest([topic for topic, _ in missing], topics | listing.others)
    return LogDirError(
        f"not found: {', '.join(topic if number is None else f'{topic}-{number}' for topic, number in missing)}",
        file=", ".join(options.paths),
        remedy=f"{near}`kafkalog ls` lists the partitions on disk{otherwise}",
    )


def check_named(options: ReadOptions) -> None:
    """Refuse topics and partitions that do not exist, for a command that lists directories only while it works.

    Raises
    ------
    LogDirError
    """
    if not any(_named(options)):
        return
    bad: list[KafkaLogError] = []
    listing = list_logs(
        options.paths, wanted=options.inspects, follow_symlinks=options.follow_symlinks, on_bad=bad.append
    )
    error = not_found(options, listing, otherwise="")
    # What cannot be listed may be what is missing; the command reports it.
    if error is not None and not bad:
        raise error


def _named(options: ReadOptions) -> Iterator[tuple[str, int | None]]:
    """The topics and partitions that are chosen by name; a partition of None stands for any."""
    yield from ((topic, None) for topic in options.subscribe or ())
    yield from ((topic, number) for topic, numbers in (options.assign or {}).items() for number in numbers)
    yield from ((place.topic, place.partition) for place in options.places or ())


def _nearest(missing: Sequence[str], existing: Collection[str]) -> str:
    near = dict.fromkeys(filter(None, (nearest(topic, existing) for topic in missing if topic not in existing)))
    return f"Did you mean {', '.join(near)}? " if near else ""
