"""A cluster's image at a point of its metadata log: the nearest snapshot at or before it, then the log."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from kafkalog_source.answers.cluster_image import ClusterImage, MetadataRecord
from kafkalog_source.answers.metadata_copies import find_copies, last_time_ms, read_bootstrap
from kafkalog_source.answers.metadata_start import find_start
from kafkalog_source.errors import CorruptBatchError, LogDirError, OptionError
from kafkalog_source.logdir.checkpoints import read_leader_epochs
from kafkalog_source.logdir.names import LEADER_EPOCH_CHECKPOINT, QUORUM_STATE
from kafkalog_source.logdir.properties import parse_properties
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.partition.file_parts import CheckpointFile
from kafkalog_source.segment.side_files.side_file import read_file
from kafkalog_source.views.checkpoints import checkpoint_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa

    from kafkalog_source.answers.metadata_copies import Copy, Snapshot
    from kafkalog_source.answers.metadata_start import Point, Start

__all__ = ["ClusterState", "read_cluster", "read_state"]

_COLUMNS = ("offset", "timestamp", "leaderEpoch", "recordType", "valueJson", "decodeError")
_NOTHING = "NO_OP_RECORD"
_SNAPSHOT_END = "SNAPSHOT_FOOTER"


@dataclass(slots=True)
class ClusterState:
    """A cluster's image, and where it comes from.

    Attributes
    ----------
    image : ClusterImage
    directory : str or None
        Of the metadata log that was read; None if only ``bootstrap.checkpoint`` was.
    cluster_id : str or None
        By ``meta.properties`` of its log dir.
    snapshot : str or None
        The file of the snapshot that it begins with.
    snapshot_offset : int
        The last offset that this snapshot stands for, -1 without one. All up to it was committed.
    offset : int
        The last offset that was applied, -1 if there is none.
    timestamp_ms : int or None
        Of the last record.
    epoch : int or None
        The leader epoch of the last record.
    is_log_end : bool
        Whether it is the last offset on disk.
    leader : int or None
        The active controller in that epoch; None if it is not known.
    """

    image: ClusterImage
    directory: str | None = None
    cluster_id: str | None = None
    snapshot: str | None = None
    snapshot_offset: int = -1
    offset: int = -1
    timestamp_ms: int | None = None
    epoch: int | None = None
    is_log_end: bool = True
    leader: int | None = None

    def to_json(self) -> dict[str, Any]:
        """One object: where it comes from, then the image."""
        return {
            "clusterId": self.cluster_id,
            "directory": self.directory,
            "snapshot": self.snapshot,
            "offset": self.offset,
            "timestampMs": self.timestamp_ms,
            "leaderEpoch": self.epoch,
            "leader": self.leader,
            "isLogEnd": self.is_log_end,
            "committedOffset": self.snapshot_offset,
            "inTransaction": self.image.is_in_transaction,
            **self.image.to_json(),
            "problems": self.image.problems,
        }


def read_cluster(paths: Sequence[str], given: Mapping[str, Any], point: Point) -> ClusterState:
    """The state of a cluster.

    Parameters
    ----------
    paths : sequence of str
        Log dirs or directories of the metadata log. Of several copies the one with the longest history is read, unless
        only another one reaches back to the point.
    given : mapping
        Options of a read: ``includeSecrets``, ``followSymlinks`` and the like.
    point : Point
        Up to which record.

    Raises
    ------
    LogDirError
        There is no metadata log, or the log dirs are those of several clusters.
    OptionError, DataLossError
        The point is not on disk.
    KafkaLogError
        For damage.
    """
    options = parse_options({**given, "view": "cluster_metadata"}, paths)
    copies = find_copies(options)
    cluster_id = _cluster_id(copies)
    if not copies:
        return _from_bootstrap(list(read_bootstrap(options, _COLUMNS)), paths, point)
    return read_state(find_start(copies, point), cluster_id)


def read_state(start: Start, cluster_id: str | None = None) -> ClusterState:
    """The state that a snapshot and a range of the log make.

    Raises
    ------
    KafkaLogError
        For damage.
    """
    copy, snapshot = start.copy, start.snapshot
    state = ClusterState(ClusterImage(), copy.directory, cluster_id)
    if snapshot is not None:
        _take_snapshot(state, copy, snapshot)
    _apply(state, copy.read_log(start.low, start.high, _COLUMNS))
    state.is_log_end = copy.end <= state.offset + 1
    if state.image.leader is None and state.epoch is not None:
        _find_leader(state.image, copy, state.epoch)
    state.leader = state.image.leader
    if state.leader is None:
        state.leader = _elected(copy, state.epoch)
    return state


def _take_snapshot(state: ClusterState, copy: Copy, snapshot: Snapshot) -> None:
    last = _apply(state, copy.read_snapshot(snapshot, _COLUMNS))
    if last != _SNAPSHOT_END:
        raise CorruptBatchError(
            "the snapshot is not complete",
            file=snapshot.path,
            found=f"{last} as its last record",
            expected=_SNAPSHOT_END,
            remedy="Remove it from the copy that is read, or ask for an earlier offset with --at-offset",
        )
    # The offsets and times in a snapshot are its own.
    state.snapshot = snapshot.path
    state.snapshot_offset = state.offset = snapshot.end_offset - 1
    state.epoch, state.timestamp_ms = snapshot.epoch, copy.snapshot_time(snapshot)


def _apply(state: ClusterState, batches: Iterable[pa.RecordBatch]) -> str | None:
    """Apply the records; gives the type of the last one."""
    last_type = None
    for batch in batches:
        if not len(batch):
            continue
        *_, last = batch.slice(len(batch) - 1).to_pylist()
        last_type, state.offset, state.epoch = last["recordType"], last["offset"], last["leaderEpoch"]
        # Most records of an idle cluster: the active controller writes two of them a second.
        kept = batch.filter(pc.fill_null(pc.not_equal(batch.column("recordType"), _NOTHING), True))
        names = ("offset", "recordType", "valueJson", "decodeError")
        for offset, kind, text, problem in zip(*(kept.column(name).to_pylist() for name in names), strict=True):
            state.image.apply(MetadataRecord(offset, kind, None if problem else json.loads(text or "null"), problem))
        state.timestamp_ms = last_time_ms(batch)
    return last_type


def _find_leader(image: ClusterImage, copy: Copy, epoch: int) -> None:
    """Look before the snapshot for the record with which the epoch began; it may be gone."""
    path = os.path.join(copy.directory, LEADER_EPOCH_CHECKPOINT)
    if not os.path.exists(path) or copy.offsets is None:
        return
    start = dict(read_leader_epochs(path)).get(epoch)
    if start is not None and start >= copy.offsets.earliest:
        _apply(ClusterState(image), copy.read_log(start, start + 1, _COLUMNS))


def _elected(copy: Copy, epoch: int | None) -> int | None:
    """The leader that this node knew of, if it is that of the epoch."""
    path = os.path.join(copy.directory, QUORUM_STATE)
    if epoch is None or not os.path.exists(path):
        return None
    file = CheckpointFile(None, None, path, os.path.getsize(path))
    for rows in checkpoint_rows(file, lambda *_: True):
        found = dict(zip(rows["name"], rows["value"], strict=True))
        if found.get("leaderEpoch") == str(epoch):
            return int(found.get("leaderId", -1))
    return None


def _from_bootstrap(batches: list[pa.RecordBatch], paths: Sequence[str], point: Point) -> ClusterState:
    if not batches:
        raise LogDirError(
            "no path holds a metadata log",
            found=", ".join(paths),
            expected="__cluster_metadata-0 with segments or snapshots, or a log dir with bootstrap.checkpoint",
            remedy="Give the log dir of a broker or controller in KRaft mode, the one that metadata.log.dir names",
        )
    if not point.is_end:
        raise OptionError(
            "there is no metadata log, only bootstrap.checkpoint, which has no offsets or times",
            remedy="Leave out --at and --at-offset",
        )
    state = ClusterState(ClusterImage())
    _apply(state, batches)
    state.offset, state.timestamp_ms, state.epoch = -1, None, None
    return state


def _cluster_id(copies: Sequence[Copy]) -> str | None:
    """The id that all log dirs have."""
    found = {}
    for copy in copies:
        path = os.path.join(copy.log_dir, "meta.properties")
        if os.path.exists(path):
            found[parse_properties(read_file(path)).get("cluster.id")] = path
    known = {each: path for each, path in found.items() if each is not None}
    if len(known) > 1:
        raise LogDirError(
            "the log dirs belong to several clusters",
            found=", ".join(f"cluster.id {each} in {path}" for each, path in known.items()),
            remedy="Give the log dirs of one cluster",
        )
    return next(iter(known), None)
