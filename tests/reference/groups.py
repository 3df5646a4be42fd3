"""The groups of ``__consumer_offsets`` by Kafka's reading of its records, without a thought to speed or memory.

The records of one time are found anew for each question, by scanning all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

COMMITS = ("OFFSET_COMMIT", "LEGACY_OFFSET_COMMIT")
MEMBER_TYPES = {
    "CONSUMER_GROUP_MEMBER_METADATA": "consumer",
    "SHARE_GROUP_MEMBER_METADATA": "share",
    "STREAMS_GROUP_MEMBER_METADATA": "streams",
}
GROUP_TYPES = {
    "CONSUMER_GROUP_METADATA": "consumer",
    "SHARE_GROUP_METADATA": "share",
    "STREAMS_GROUP_METADATA": "streams",
}


@dataclass(frozen=True)
class KafkaRecord:
    """A record as Kafka's classes decode it, with what its batch says of it."""

    partition: int
    offset: int
    timestamp: int
    type: str
    key: dict[str, Any] | None
    value: dict[str, Any] | None
    producer_id: int | None
    """Null outside of a transaction."""
    marker: bool


def is_committed(record: KafkaRecord, records: Iterable[KafkaRecord]) -> bool:
    """Whether the next marker of the record's producer commits."""
    markers = [
        each
        for each in records
        if each.marker
        and each.partition == record.partition
        and each.producer_id == record.producer_id
        and each.offset > record.offset
    ]
    return bool(markers) and min(markers, key=lambda each: each.offset).type == "COMMIT"


def counted(records: list[KafkaRecord], at_ms: int | None) -> list[KafkaRecord]:
    """The records that count at a time, in the order of the log."""
    return [
        each
        for each in sorted(records, key=lambda each: (each.partition, each.offset))
        if not each.marker
        and each.key is not None
        and (at_ms is None or each.timestamp <= at_ms)
        and (each.producer_id is None or is_committed(each, records))
    ]


def committed_offsets(records: list[KafkaRecord], at_ms: int | None) -> dict[tuple[str, str, int], int]:
    """Offsets by group, topic and partition."""
    found: dict[tuple[str, str, int], int] = {}
    for record in counted(records, at_ms):
        if record.type in COMMITS:
            key = record.key or {}
            place = (key["group"], key["topic"], key["partition"])
            found.pop(place, None)
            if record.value is not None:
                found[place] = record.value["offset"]
    return found


def members(records: list[KafkaRecord], at_ms: int | None) -> set[tuple[str, str]]:
    """Group and member id of every member."""
    classic: dict[str, list[str]] = {}
    others: set[tuple[str, str]] = set()
    for record in counted(records, at_ms):
        key = record.key or {}
        if record.type == "GROUP_METADATA":
            classic[key["group"]] = [each["memberId"] for each in (record.value or {}).get("members", [])]
        elif record.type in MEMBER_TYPES:
            member = (key["groupId"], key["memberId"])
            others.discard(member)
            if record.value is not None:
                others.add(member)
    return others | {(group, member) for group, ids in classic.items() for member in ids}


def types(records: list[KafkaRecord], at_ms: int | None) -> dict[str, str]:
    """The types of the groups that have a record of their own or a member, simple ones left out."""
    found: dict[str, str] = {}
    for record in counted(records, at_ms):
        key, value = record.key or {}, record.value
        if record.type == "GROUP_METADATA" and (value is None or value["protocolType"]):
            _set(found, key["group"], "classic", value)
        elif record.type in GROUP_TYPES:
            _set(found, key["groupId"], GROUP_TYPES[record.type], value)
        elif record.type in MEMBER_TYPES and value is not None:
            found[key["groupId"]] = MEMBER_TYPES[record.type]
    return found


def _set(found: dict[str, str], group: str, kind: str, value: object) -> None:
    if value is not None:
        found[group] = kind
    elif found.get(group) == kind:
        del found[group]


def log_end(timestamps: list[tuple[int, int]], at_ms: int | None) -> int:
    """The end of a log of records with offset and time: that of the first record that is later."""
    later = [offset for offset, time_ms in timestamps if at_ms is not None and time_ms > at_ms]
    return min(later) if later else max(offset for offset, _ in timestamps) + 1
