"""Topic ids, by which a broker recognizes its own partitions."""

from __future__ import annotations

import base64
import binascii
import os
import re
import uuid
from typing import TYPE_CHECKING

from kafkalog_source.errors import KafkaLogError, OptionError, printable
from kafkalog_source.logdir.checkpoints import read_topic_id
from kafkalog_source.logdir.names import PARTITION_METADATA, is_topic_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_source.logdir import PartitionLog

_ENCODED = re.compile(r"[A-Za-z0-9_-]{22}")
# A line of ``kafka-topics --describe``, whose fields are separated by tabs.
_DESCRIBED = re.compile(r"Topic:\s*(?P<topic>\S+)\s+TopicId:\s*(?P<id>\S+)")
_EXPECTED = "topic=id, or lines of kafka-topics --describe; an id has 22 characters of base64, or is a UUID"
_MOST_BYTES = 64 << 20


def parse_topic_ids(text: str) -> dict[str, uuid.UUID]:
    """Parse ids from a list such as ``orders=0F8ErRbvS3aaKgTFBQzTpA,payments=…``, or from the file that `text` names.

    A file has one topic per line, or is the output of ``kafka-topics --describe``.

    Raises
    ------
    OptionError
        If a part is malformed, or a topic has two ids.
    """
    parts = text.split(",")
    if os.path.isfile(text):
        if os.path.getsize(text) > _MOST_BYTES:
            raise OptionError(
                "the file of topic ids is too large",
                found=f"{printable(text)} of {os.path.getsize(text)} bytes",
                expected=f"at most {_MOST_BYTES} bytes",
            )
        with open(text, encoding="utf-8", errors="replace") as file:
            parts = file.read().splitlines()
    ids: dict[str, uuid.UUID] = {}
    for part in parts:
        line = part.strip()
        if not line or line.startswith("#") or (":" in line and "Topic:" in line and "TopicId:" not in line):
            continue
        topic, topic_id = _parse(line)
        if ids.setdefault(topic, topic_id) != topic_id:
            raise OptionError(f"topic {printable(topic)} has two ids", expected="one id for each topic")
    if not ids:
        raise OptionError("no topic ids are given", found=printable(text[:80]), expected=_EXPECTED)
    return ids


def _parse(line: str) -> tuple[str, uuid.UUID]:
    described = _DESCRIBED.search(line)
    topic, encoded = described.group("topic", "id") if described else _split(line)
    if not is_topic_name(topic):
        raise OptionError(
            "a topic id is given for an invalid topic name", found=printable(line[:80]), expected=_EXPECTED
        )
    return topic, _decode(encoded, line)


def _split(line: str) -> tuple[str, str]:
    parts = line.replace("=", " ").split()
    if len(parts) != 2:
        raise OptionError("this is not a topic with its id", found=printable(line[:80]), expected=_EXPECTED)
    return parts[0], parts[1]


def _decode(encoded: str, line: str) -> uuid.UUID:
    try:
        if _ENCODED.fullmatch(encoded):
            return uuid.UUID(bytes=base64.urlsafe_b64decode(encoded + "=="))
        return uuid.UUID(encoded)
    except (ValueError, binascii.Error) as error:
        raise OptionError("this is not a topic id", found=printable(line[:80]), expected=_EXPECTED) from error


class KnownIds:
    """The id of each topic that is salvaged.

    Parameters
    ----------
    logs : sequence of PartitionLog
        All partitions; the id of a topic is taken from any of its partitions.
    given : mapping of str to UUID, optional
        The ids of another cluster; if given, those on disk are ignored.
    """

    def __init__(self, logs: Sequence[PartitionLog], given: Mapping[str, uuid.UUID] | None) -> None:
        self._ids: dict[str, uuid.UUID] = dict(given or {})
        self.warnings: list[str] = []
        if given is not None:
            return
        for log in logs:
            path = os.path.join(log.path, PARTITION_METADATA)
            if log.topic is None or os.path.islink(path) or not os.path.isfile(path):
                continue
            try:
                found = read_topic_id(path)
            except KafkaLogError as error:
                self.warnings.append(f"{error}. The id is taken from another partition of the topic, if it has one")
                continue
            if self._ids.setdefault(log.topic, found) != found:
                self.warnings.append(
                    f"{printable(path)}: the topic id differs from that of the topic's other partitions, which is used"
                )

    def of(self, topic: str) -> uuid.UUID | None:
        """The id of a topic, None if unknown."""
        return self._ids.get(topic)
