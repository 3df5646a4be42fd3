"""Apache Kafka's log directories as Arrow tables and Spark DataFrames, with no broker.

The data flows upwards, and each layer imports only those below it:

- `spark`, `cli`: rows for Spark; words for people.
- `reading`: options → plan → splits → Arrow batches; `scan`, `backlog`, `compacted_up_to`: the public API.
- `verifying`, `salvage`: beside `reading`: whether log dirs are sound; a new one out of what is good.
- `arrow`, `logdir`: columns → record batches; directories and checkpoints.
- `segment`: one file: walk its batches, seek by index, how it ends, what is damaged.
- `batch`, `codecs`: one batch: header, checksum, payload; decompression, bounded.
- `_core`: compiled: bytes → column buffers.
- `format`, `errors`: what the bytes mean; what can go wrong.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kafkalog_source.errors import (
    CodecError,
    CorruptBatchError,
    DamageWarning,
    DataLossError,
    KafkaLogError,
    LimitError,
    LogDirError,
    OptionError,
    UnsupportedFormatError,
)

if TYPE_CHECKING:
    from kafkalog_source.partition.compacted import compacted_up_to
    from kafkalog_source.partition.splits import Split
    from kafkalog_source.reading.scan import Scan, scan
    from kafkalog_source.streaming.backlog import Backlog, backlog

__version__ = "0.1.0"

__all__ = [
    "Backlog",
    "CodecError",
    "CorruptBatchError",
    "DamageWarning",
    "DataLossError",
    "KafkaLogError",
    "LimitError",
    "LogDirError",
    "OptionError",
    "Scan",
    "Split",
    "UnsupportedFormatError",
    "backlog",
    "compacted_up_to",
    "scan",
]

_HOMES = {
    "Backlog": "streaming.backlog",
    "Scan": "reading.scan",
    "Split": "partition.splits",
    "backlog": "streaming.backlog",
    "compacted_up_to": "partition.compacted",
    "scan": "reading.scan",
}
"""The modules of the names that are imported late."""


def __getattr__(name: str) -> Any:
    """Import what reads when it is first used: Spark looks at the package at every start."""
    if name in _HOMES:
        return getattr(import_module(f"kafkalog_source.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
