"""``kafkalog groups``: groups, their members, committed offsets and lag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from kafkalog_source.answers.group_members import Member
from kafkalog_source.answers.groups import GroupAnswer, GroupsAnswer, Position, groups_at
from kafkalog_source.cli.cells import iso_utc
from kafkalog_source.cli.text import complain, json_line, table
from kafkalog_source.errors import BAD_DATA, DONE, counted, printable

__all__ = ["run"]

_HEADS = (
    "GROUP",
    "TOPIC",
    "PARTITION",
    "CURRENT-OFFSET",
    "LOG-END-OFFSET",
    "LAG",
    "COMMITTED",
    "MEMBER",
    "HOST",
    "CLIENT",
)
_RIGHT = frozenset({"PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"})


def run(
    out: TextIO,
    paths: Sequence[str],
    given: Mapping[str, Any],
    *,
    as_json: bool,
    at_ms: int | None,
    names: Sequence[str],
) -> int:
    """Write the groups as text or as one JSON object, and return the exit status."""
    answer = groups_at(paths, given, at_ms=at_ms, names=names)
    for warning in answer.warnings:
        complain(f"warning: {warning}")
    if as_json:
        out.write(json_line(_document(answer, at_ms)) + "\n")
    else:
        out.writelines(line + "\n" for line in _lines(answer, at_ms))
    return BAD_DATA if answer.undecoded else DONE


def _lines(answer: GroupsAnswer, at_ms: int | None) -> Iterator[str]:
    for group in answer.groups:
        yield _title(group)
        yield from _group_table(group)
        yield ""
    moment = "" if at_ms is None else f" at {iso_utc(at_ms * 1000)}"
    read = f"{counted(len(answer.partitions), 'partition')} of __consumer_offsets"
    yield f"{counted(len(answer.groups), 'group')}{moment}, read from {read}"


def _title(group: GroupAnswer) -> str:
    facts = [f"{group.type} group", group.state]
    if group.epoch is not None:
        facts.append(f"{'generation' if group.type in ('classic', 'simple') else 'epoch'} {group.epoch}")
    if group.protocol:
        facts.append(f"protocol {printable(group.protocol)}")
    facts.append(counted(len(group.members), "member"))
    facts.append(f"lag {'unknown' if group.lag is None else group.lag}")
    return f"{printable(group.name)}: {', '.join(facts)}"


def _group_table(group: GroupAnswer) -> Iterator[str]:
    rows = [_row(group, each) for each in group.positions]
    assigned = {each.member.member_id for each in group.positions if each.member is not None}
    idle = [member for member in group.members if member.member_id not in assigned]
    rows += [[printable(group.name), *["-"] * 6, *_member(member)] for member in idle]
    if not rows:
        return iter(())
    notes = [", ".join(each.notes) for each in group.positions] + [""] * len(idle)
    if not any(notes):
        return table(_HEADS, rows, _RIGHT)
    return table((*_HEADS, "NOTE"), [[*row, note] for row, note in zip(rows, notes, strict=True)], _RIGHT)


def _row(group: GroupAnswer, position: Position) -> list[object]:
    numbers = (position.offset, None if position.log is None else position.log.end, position.lag)
    return [
        printable(group.name),
        printable(position.topic),
        position.partition,
        *("-" if number is None else number for number in numbers),
        _time(position.written_us) or "-",
        *_member(position.member),
    ]


def _member(member: Member | None) -> list[str]:
    if member is None:
        return ["-", "-", "-"]
    return [printable(each or "-") for each in (member.member_id, member.client_host, member.client_id)]


def _time(time_us: int | None) -> str | None:
    return None if time_us is None else iso_utc(time_us)


def _document(answer: GroupsAnswer, at_ms: int | None) -> dict[str, object]:
    return {
        "at": None if at_ms is None else iso_utc(at_ms * 1000),
        "groups": [_group_object(group) for group in answer.groups],
        "partitions": answer.partitions,
        "warnings": answer.warnings,
    }


def _group_object(group: GroupAnswer) -> dict[str, object]:
    return {
        "group": group.name,
        "type": group.type,
        "state": group.state,
        "epoch": group.epoch,
        "protocolType": group.protocol_type,
        "protocol": group.protocol,
        "leader": group.leader,
        "lag": group.lag,
        "members": [_member_object(member) for member in group.members],
        "offsets": [_position_object(position) for position in group.positions],
    }


def _member_object(member: Member) -> dict[str, object]:
    return {
        "memberId": member.member_id,
        "instanceId": member.instance_id,
        "clientId": member.client_id,
        "clientHost": member.client_host,
        "epoch": member.epoch,
        "subscribedTopics": member.subscribed,
        "assignedPartitions": [{"topic": topic, "partitions": parts} for topic, parts in member.assigned.items()],
    }


def _position_object(position: Position) -> dict[str, object]:
    commit, log = position.commit, position.log
    return {
        "topic": position.topic,
        "partition": position.partition,
        "committedOffset": position.offset,
        "firstOffset": None if log is None else log.start,
        "logEndOffset": None if log is None else log.end,
        "highWatermark": None if log is None else log.high_watermark,
        "lag": position.lag,
        "commitTimestamp": _time(position.written_us),
        "expireTimestamp": None if commit is None else _time(commit.expires_us),
        "committedLeaderEpoch": None if commit is None else commit.leader_epoch,
        "committedTopicId": None if commit is None else commit.topic_id,
        "metadata": None if commit is None else commit.metadata,
        "memberId": None if position.member is None else position.member.member_id,
        "notes": list(position.notes),
    }
