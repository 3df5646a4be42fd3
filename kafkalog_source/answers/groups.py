"""The groups in ``__consumer_offsets``: members, committed offsets, and lag against the logs on the same disks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafkalog_source.answers.group_members import Member, epoch_of, members_of, named_topics, state_of
from kafkalog_source.answers.group_records import TOPIC, GroupRecords, read_groups
from kafkalog_source.answers.group_state import Commit, Group
from kafkalog_source.answers.log_ends import LogEnd, LogEnds, read_log_ends
from kafkalog_source.answers.share_positions import TOPIC as SHARE_TOPIC
from kafkalog_source.answers.share_positions import SharePosition, read_share_positions
from kafkalog_source.errors import LogDirError, OptionError, counted, printable
from kafkalog_source.options.read_options import ReadOptions, parse_options
from kafkalog_source.partition.moved_files import until_files_stay

__all__ = ["GroupAnswer", "GroupsAnswer", "Position", "groups_at"]

_OPTIONS = (
    "mode",
    "readUpTo",
    "verifyChecksums",
    "maxDecompressedBatchBytes",
    "followSymlinks",
)
"""The options of a read that make sense here."""


@dataclass(frozen=True, slots=True)
class Position:
    """A partition that a group has a position in, or a member is assigned.

    Attributes
    ----------
    topic : str
    partition : int
    offset : int or None
        The committed offset; of a share group its start offset. None if there is none.
    written_us : int or None
        When it was committed, in microseconds.
    commit : Commit or None
    log : LogEnd or None
        None if the partition is not in the paths.
    lag : int or None
        Records from the position to the log's end; of a share group without those that it is done with. None if
        either is unknown.
    member : Member or None
        Who the partition is assigned to.
    notes : tuple of str
        What is unusual.
    """

    topic: str
    partition: int
    offset: int | None
    written_us: int | None
    commit: Commit | None
    log: LogEnd | None
    lag: int | None
    member: Member | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupAnswer:
    """A group.

    Attributes
    ----------
    name, type, state : str
    epoch : int or None
        The generation of a classic group.
    protocol_type, protocol, leader : str or None
        Of a classic group.
    members : list of Member
    positions : list of Position
        By topic and partition.
    """

    name: str
    type: str
    state: str
    epoch: int | None
    protocol_type: str | None
    protocol: str | None
    leader: str | None
    members: list[Member]
    positions: list[Position]

    @property
    def lag(self) -> int | None:
        """The sum of the lags that are known; None if none is."""
        known = [each.lag for each in self.positions if each.lag is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class GroupsAnswer:
    """The groups in some paths.

    Attributes
    ----------
    groups : list of GroupAnswer
        By name.
    partitions : list of int
        The partitions of ``__consumer_offsets`` that were read.
    warnings : list of str
    undecoded : int
        Records that could not be decoded, and were left out.
    """

    groups: list[GroupAnswer]
    partitions: list[int]
    warnings: list[str]
    undecoded: int


def groups_at(
    paths: Sequence[str], given: Mapping[str, Any], *, at_ms: int | None = None, names: Collection[str] = ()
) -> GroupsAnswer:
    """Read the groups in some paths.

    Parameters
    ----------
    paths : sequence of str
        Log dirs or partition directories, with a partition of ``__consumer_offsets`` among them.
    given : mapping
        Further options of the read: mode, readUpTo, verifyChecksums, maxDecompressedBatchBytes, followSymlinks.
    at_ms : int, optional
        Only what was written up to this time counts, in milliseconds.
    names : collection of str, optional
        Only these groups; all by default.

    Raises
    ------
    OptionError
        For an option that makes no sense here.
    LogDirError
        If no partition of ``__consumer_offsets`` is in the paths, or a named group is not in those that are.
    """
    options = _checked(paths, given)
    # A broker that is running removes segments while their ends are looked up.
    return until_files_stay(lambda: _groups_at(options, given, at_ms, names), options.paths)


def _groups_at(
    options: ReadOptions, given: Mapping[str, Any], at_ms: int | None, names: Collection[str]
) -> GroupsAnswer:
    logs = read_log_ends(options, at_ms)
    if not logs.partitions_of(TOPIC):
        raise _without_offsets(options)
    records = read_groups(logs.paths_of(TOPIC), given, at_ms)
    warnings = [*records.warnings]
    groups = _chosen(records, logs.partitions_of(TOPIC), names)
    positions: dict[tuple[str, str, int], SharePosition] = {}
    undecoded = records.undecoded
    if any(group.type == "share" for group in groups):
        if logs.partitions_of(SHARE_TOPIC):
            positions, more = read_share_positions(logs.paths_of(SHARE_TOPIC), given, at_ms)
            undecoded += more
        else:
            warnings.append(
                f"no partition of {SHARE_TOPIC} is in these paths, so the positions of share groups are not known"
            )
    latest = max(records.last_us.values(), default=0)
    found = _Joined(logs, positions, latest if at_ms is None else at_ms * 1000).answers(groups)
    warnings += [*logs.warnings, *_left_out(records, undecoded)]
    return GroupsAnswer(found, logs.partitions_of(TOPIC), warnings, undecoded)


def _checked(paths: Sequence[str], given: Mapping[str, Any]) -> ReadOptions:
    known = {name.lower() for name in _OPTIONS}
    for name in given:
        if name.lower() not in known:
            raise OptionError(
                f"option {printable(name)} does not go together with groups",
                expected=", ".join(_OPTIONS),
                remedy="Leave it out",
            )
    return parse_options(given, paths)


def _without_offsets(options: ReadOptions) -> LogDirError:
    return LogDirError(
        f"no partition of {TOPIC} is here, where brokers keep groups and their committed offsets",
        file=", ".join(options.paths),
        remedy="Give the log dirs of a broker that has it; `kafkalog ls` lists the partitions on disk",
    )


def _chosen(records: GroupRecords, partitions: Sequence[int], names: Collection[str]) -> list[Group]:
    """The groups that exist, by name; the later one if partitions were added and it is in two of them."""
    found: dict[str, Group] = {}
    for groups in records.partitions.values():
        for name, group in groups.by_name.items():
            is_wanted = group.exists and (not names or name in names)
            if is_wanted and (name not in found or found[name].last_us < group.last_us):
                found[name] = group
    missing = [printable(name) for name in names if name not in found]
    if missing:
        there = ", ".join(map(str, partitions))
        raise LogDirError(
            f"no group {', '.join(missing)} in the partitions of {TOPIC} that are here",
            found=f"{counted(len(partitions), 'partition')}: {there}",
            remedy="A group is in one partition, chosen by its name: give the log dirs of the brokers with the others",
        )
    return [found[name] for name in sorted(found)]


def _left_out(records: GroupRecords, undecoded: int) -> list[str]:
    texts = []
    if records.open:
        commits = counted(records.open, "commit")
        texts.append(f"{commits} in open transactions left out: they count when their transactions are committed")
    if records.unknown:
        texts.append(
            f"{counted(records.unknown, 'record')} of unknown types left out: Kafka is newer than this kafkalog"
        )
    if undecoded:
        texts.append(
            f"{counted(undecoded, 'record')} that cannot be decoded left out; view=consumer_offsets shows them"
        )
    return texts


class _Joined:
    """Joins groups with the logs of what they consume, at the time `now_us`."""

    def __init__(self, logs: LogEnds, share: Mapping[tuple[str, str, int], SharePosition], now_us: int) -> None:
        self._logs = logs
        self._now_us = now_us
        self._share: dict[str, dict[tuple[str, int], SharePosition]] = {}
        for (group, topic_id, partition), position in share.items():
            self._share.setdefault(group, {})[topic_id, partition] = position

    def answers(self, groups: Sequence[Group]) -> list[GroupAnswer]:
        """The answer about each group."""
        names: dict[str, str] = {}
        for group in groups:
            names.update(named_topics(group))
        names.update(self._logs.topic_names())
        return [self._answer(group, names) for group in groups]

    def _answer(self, group: Group, names: Mapping[str, str]) -> GroupAnswer:
        members = members_of(group, names)
        owners = {
            (topic, partition): member
            for member in members
            for topic, partitions in member.assigned.items()
            for partition in partitions
        }
        share = self._share.get(group.name, {})
        shared = {(names.get(topic_id, topic_id), partition): each for (topic_id, partition), each in share.items()}
        places = sorted({*group.commits, *owners, *shared})
        classic = group.parts.get(("classic", "METADATA"), {})
        return GroupAnswer(
            group.name,
            group.type,
            state_of(group),
            epoch_of(group),
            classic.get("protocolType"),
            classic.get("protocol"),
            classic.get("leader"),
            members,
            [self._position(place, group.commits.get(place), shared.get(place), owners.get(place)) for place in places],
        )

    def _position(
        self, place: tuple[str, int], commit: Commit | None, share: SharePosition | None, member: Member | None
    ) -> Position:
        log = self._logs.of(*place)
        offset, written = None, None
        if commit is not None:
            offset, written = commit.offset, commit.committed_us or commit.written_us
        elif share is not None:
            offset, written = share.start_offset, share.written_us
        lag = None if _is_of_other_topic(commit, log) else _lag(offset, 0 if share is None else share.complete, log)
        notes = _notes(offset, commit, log)
        if commit is not None and commit.expires_us is not None and commit.expires_us <= self._now_us:
            notes.append("expired")
        return Position(*place, offset, written, commit, log, lag, member, tuple(notes))


def _lag(offset: int | None, complete: int | None, log: LogEnd | None) -> int | None:
    if offset is None or complete is None or log is None or log.end is None:
        return None
    return log.end - offset - complete


def _is_of_other_topic(commit: Commit | None, log: LogEnd | None) -> bool:
    if commit is None or log is None or commit.topic_id is None or log.topic_id is None:
        return False
    return commit.topic_id != log.topic_id


def _notes(offset: int | None, commit: Commit | None, log: LogEnd | None) -> list[str]:
    if log is None:
        return ["not on these disks"]
    if commit is not None and _is_of_other_topic(commit, log):
        return [f"of an earlier topic of this name, id {commit.topic_id}"]
    notes = [] if log.problem is None else [log.problem]
    if offset is not None and log.end is not None and offset > log.end:
        notes.append("above the log end")
    if offset is not None and log.start is not None and offset < log.start:
        notes.append(f"below {log.start}, the first offset on disk")
    return notes
