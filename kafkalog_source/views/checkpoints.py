"""``view=checkpoints``: the lines and properties of the small text files that a broker keeps.

Versions come from the first line (``CheckpointFile``, 4.4), from the property
``version`` (``MetaProperties``) or from the JSON (``QuorumStateData``, ``CleanShutdownFileHandler``).
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from kafkalog_source.logdir.checkpoints import (
    encoded_topic_id,
    read_leader_epochs,
    read_offset_checkpoint,
    read_topic_id,
)
from kafkalog_source.logdir.json_files import parse_json_object
from kafkalog_source.logdir.names import (
    CHECKPOINT_NAMES,
    CLEAN_SHUTDOWN,
    LEADER_EPOCH_CHECKPOINT,
    META_PROPERTIES,
    PARTITION_METADATA,
    QUORUM_STATE,
)
from kafkalog_source.logdir.properties import parse_properties
from kafkalog_source.segment.side_files.side_file import read_file
from kafkalog_source.views.rows import valid_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_source.partition.file_parts import CheckpointFile
    from kafkalog_source.views.rows import Rows

__all__ = ["LOG_DIR_FILES", "PARTITION_FILES", "checkpoint_rows"]

LOG_DIR_FILES = frozenset((*CHECKPOINT_NAMES, META_PROPERTIES, CLEAN_SHUTDOWN))
"""The files of a log dir that are shown."""
PARTITION_FILES = frozenset((LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA, QUORUM_STATE))
"""The files of a partition's directory that are shown."""
_VERSION = 0
"""Of every checkpoint of lines that any broker has written."""
_INT32 = 2**31
_NUMBER = re.compile(r"[+-]?[0-9]{1,10}")


def checkpoint_rows(file: CheckpointFile, wants: Callable[[str, int], bool]) -> Iterator[Rows]:
    """A row for each line or property.

    Parameters
    ----------
    file : CheckpointFile
    wants : callable
        Whether a topic and partition are chosen; lines about others are left out.

    Raises
    ------
    LogDirError
        The file cannot be read, or is malformed.
    """
    name = os.path.basename(file.path)
    rows = _offsets(file, wants) if name in CHECKPOINT_NAMES else _READERS[name](file)
    count = max(map(len, rows.values()), default=0)
    if count:
        yield {"checkpoint": [name] * count, **rows}


def _offsets(file: CheckpointFile, wants: Callable[[str, int], bool]) -> Rows:
    lines = [(place, offset) for place, offset in read_offset_checkpoint(file.path).items() if wants(*place)]
    return {
        "topic": [topic for (topic, _), _ in lines],
        "partition": [partition for (_, partition), _ in lines],
        "version": [_VERSION] * len(lines),
        "offset": [offset for _, offset in lines],
    }


def _leader_epochs(file: CheckpointFile) -> Rows:
    lines = read_leader_epochs(file.path)
    return {
        "version": [_VERSION] * len(lines),
        "leaderEpoch": [each.epoch for each in lines],
        "offset": [each.start_offset for each in lines],
    }


def _topic_id(file: CheckpointFile) -> Rows:
    topic_id = read_topic_id(file.path)
    return _properties_of({"version": str(_VERSION), "topic_id": encoded_topic_id(topic_id)}, _VERSION)


def _meta_properties(file: CheckpointFile) -> Rows:
    properties = parse_properties(read_file(file.path))
    version = properties.get("version", "")
    return _properties_of(properties, _int32(version))


def _quorum_state(file: CheckpointFile) -> Rows:
    return _json_properties(file.path, read_file(file.path), "data_version")


def _clean_shutdown(file: CheckpointFile) -> Rows:
    content = read_file(file.path)
    # Brokers before 3.5 leave the file empty.
    return _json_properties(file.path, content, "version") if content else {"name": [None]}


_READERS: dict[str, Callable[[CheckpointFile], Rows]] = {
    LEADER_EPOCH_CHECKPOINT: _leader_epochs,
    PARTITION_METADATA: _topic_id,
    META_PROPERTIES: _meta_properties,
    QUORUM_STATE: _quorum_state,
    CLEAN_SHUTDOWN: _clean_shutdown,
}


def _json_properties(path: str, content: bytes, version_field: str) -> Rows:
    found = parse_json_object(content, path)
    version = found.get(version_field)
    texts = {name: _text(value) for name, value in found.items()}
    return _properties_of(texts, version if isinstance(version, int) and abs(version) < _INT32 else None)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _properties_of(properties: dict[str, str], version: int | None) -> Rows:
    return {
        "version": [version] * len(properties),
        "name": [*map(valid_text, properties)],
        "value": [*map(valid_text, properties.values())],
    }


def _int32(text: str) -> int | None:
    number = int(text) if _NUMBER.fullmatch(text) else None
    return number if number is not None and -_INT32 <= number < _INT32 else None
