"""Which topics and partitions are read: subscribe, subscribePattern and assign."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

from kafkalog_source.errors import OptionError
from kafkalog_source.options.offsets_json import topic_name
from kafkalog_source.options.values import invalid, shown

__all__ = ["parse_subscribe", "parse_subscribe_pattern"]


def parse_subscribe(name: str, value: object) -> tuple[str, ...]:
    """Read topics from a comma list or a list; empty parts are dropped, as Spark drops them."""
    parts: Sequence[object]
    if isinstance(value, str):
        parts = value.split(",")
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = list(value)
    else:
        raise invalid(name, "is no list of topics", value, "topicA,topicB")
    trimmed = [part.strip() if isinstance(part, str) else part for part in parts]
    topics = tuple(dict.fromkeys(topic_name(name, part) for part in trimmed if part != ""))
    if not topics:
        raise invalid(name, "names no topic", value, "topicA,topicB")
    return topics


def parse_subscribe_pattern(name: str, value: object) -> str:
    """Read a regular expression that has to match a topic's whole name."""
    pattern = value.strip() if isinstance(value, str) else ""
    if not pattern:
        raise invalid(name, "is no pattern", value, "a regular expression such as orders.*")
    try:
        # Java reads [a&&[b]] as an intersection and Python does not: Python only warns, so that is an error.
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            re.compile(pattern)
    except (re.error, FutureWarning, OverflowError, RecursionError) as error:
        raise OptionError(
            f"option {name} is not a regular expression that Python understands: {error}",
            found=shown(pattern),
            remedy="Python's re.fullmatch matches it; some forms of Java's regular expressions differ",
        ) from None
    return pattern
