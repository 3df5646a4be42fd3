"""Checks options that cannot be combined with a view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.columns import FILE_VIEWS, VIEWS
from kafkalog_source.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kafkalog_source.options.places import Place

__all__ = ["check_streamed_view", "check_view"]

_OF_RECORDS = {
    "isolationLevel": "read_uncommitted",
    "readUpTo": "logEnd",
    "includeControlRecords": False,
    "maxRecordsPerPartition": None,
    "startingOffsets": "earliest",
    "endingOffsets": "latest",
    "startingTimestamp": None,
    "endingTimestamp": None,
    "startingOffsetsByTimestamp": None,
    "endingOffsetsByTimestamp": None,
}
"""Options that choose among records, with the values that choose all."""
_STREAMED = [name for name, view in VIEWS.items() if view.topic is not None and name != "cluster_metadata"]
"""Views of records. Those of ``cluster_metadata`` are also in snapshots, which are at no offset of the log."""
_FILES_TAKE = "path, subscribe, subscribePattern, assign, places, mode, verifyChecksums and followSymlinks"


def check_view(view: str, given: Mapping[str, object]) -> None:
    """Refuse an option that makes no sense with a view.

    Parameters
    ----------
    view : str
    given : mapping
        The options given, by their documented names, as typed values.

    Raises
    ------
    OptionError
    """
    if view in FILE_VIEWS:
        _check_file_view(view, given)
    if view == "batches":
        _check_batches(given)
    if VIEWS[view].topic is not None:
        _check_topic_view(view, VIEWS[view].topic, given)


def check_streamed_view(view: str) -> None:
    """Refuse a view that a stream cannot follow.

    Raises
    ------
    OptionError
    """
    if view not in ("records", *_STREAMED):
        raise OptionError(
            f"view={view} cannot be used in a stream",
            found=view,
            expected=f"no view, or one of {', '.join(_STREAMED)}",
            remedy="Use spark.read",
        )


def _check_file_view(view: str, given: Mapping[str, object]) -> None:
    """A view of files shows them whole."""
    for name, value in given.items():
        if name in _OF_RECORDS and value != _OF_RECORDS[name]:
            raise OptionError(
                f"option {name} does not go together with view={view}, which shows whole files",
                found=str(value),
                remedy=f"Leave it out; the options of this view are {_FILES_TAKE}",
            )
    if not all(place.is_whole for place in _places(given)):
        raise OptionError(
            f"option places cannot have a range with view={view}, which shows whole files",
            remedy="Give topics and partitions only, as in orders or orders:3",
        )
    if given.get("mode") == "RECOVER":
        raise OptionError(
            f"mode=RECOVER does not go together with view={view}, which shows what is on disk before any recovery",
            remedy="Use FAILFAST, DROPMALFORMED or PERMISSIVE",
        )


def _check_topic_view(view: str, topic: str | None, given: Mapping[str, object]) -> None:
    """A view that decodes a topic reads no other; its partitions may be chosen."""
    named = given.get("subscribe") or given.get("assign") or [place.topic for place in _places(given)] or (topic,)
    topics: Collection[object] = named  # type: ignore[assignment]
    if "subscribePattern" in given or set(topics) != {topic}:
        raise OptionError(
            f"view={view} reads the topic {topic} and no other",
            found=str(given.get("subscribePattern") or ", ".join(map(str, topics))),
            remedy=f"Leave subscribe, subscribePattern, assign and places out, or name {topic}",
        )


def _places(given: Mapping[str, object]) -> Sequence[Place]:
    places: Sequence[Place] = given.get("places", ())  # type: ignore[assignment]
    return places


def _check_batches(given: Mapping[str, object]) -> None:
    """The rows of ``view=batches`` are all batches, whole, and each one once."""
    level = given.get("isolationLevel", "read_uncommitted")
    if level != "read_uncommitted":
        raise OptionError(
            "view=batches shows every batch on disk, committed or not",
            found=f"isolationLevel={level}",
            remedy="Leave isolationLevel out; the columns isTransactional and isControl mark batches of transactions",
        )
    if given.get("maxRecordsPerPartition") is not None:
        raise OptionError(
            "maxRecordsPerPartition cannot be combined with view=batches, whose rows are whole batches",
            remedy="Use maxPartitionBytes or minPartitions",
        )
