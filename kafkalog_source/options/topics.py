"""Parses subscribe and subscribePattern, which choose the topics to read."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

from kafkalog_source.errors import OptionError
from kafkalog_source.options.offsets_json import topic_name
from kafkalog_source.options.values import invalid, shown

__all__ = ["parse_subscribe", "parse_subscribe_pattern"]


def parse_subscribe(name: str, value: object) -> tuple[str, ...]:
    """Parse topics from a comma-separated list or a Python list; empty parts are dropped, as in Spark."""
    parts: Sequence[object]
    if isinstance(value, str):
        parts = value.split(",")
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = list(value)
    else:
        raise invalid(name, "is not a list of topics", value, "topicA,topicB")
    trimmed = [part.strip() if isinstance(part, str) else part for part in parts]
    topics = tuple(dict.fromkeys(topic_name(name, part) for part in trimmed if part != ""))
    if not topics:
        raise invalid(name, "names no topic", value, "topicA,topicB")
    return topics


def parse_subscribe_pattern(name: str, value: object) -> str:
    """Parse a regular expression that has to match a topic's whole name."""
    pattern = value.strip() if isinstance(value, str) else ""
    if not pattern:
        raise invalid(name, "is not a pattern", value, "a regular expression such as orders.*")
    try:
        # Java reads [a&&[b]] as an intersection. Python does not and only warns, so the warning is made an error.
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            re.compile(pattern)
    except (re.error, FutureWarning, OverflowError, RecursionError) as error:
        raise OptionError(
            f"option {name} is not a regular expression that Python understands: {error}",
            found=shown(pattern),
            remedy="Topics are matched by Python's re.fullmatch, whose syntax differs in parts from Java's",
        ) from None
    return pattern
