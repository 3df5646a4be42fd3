"""Apache Kafka's log directories as Arrow tables and Spark DataFrames, with no broker.

The data flows upwards, and each layer imports only those below it:

- `spark`, `cli`: rows for Spark; words for people.
- `reading`: options → plan → splits → Arrow batches; `scan`, the public API.
- `verifying`, `salvage`: beside `reading`: whether log dirs are sound; a new one out of what is good.
- `arrow`, `logdir`: columns → record batches; directories and checkpoints.
- `segment`: one file: walk its batches, seek by index, how it ends, what is damaged.
- `batch`, `codecs`: one batch: header, checksum, payload; decompression, bounded.
- `_core`: compiled: bytes → column buffers.
- `format`, `errors`: what the bytes mean; what can go wrong.
"""

from __future__ import annotations

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
    from kafkalog_source.reading.scan import Scan, scan

__version__ = "0.1.0"

__all__ = [
    "CodecError",
    "CorruptBatchError",
    "DamageWarning",
    "DataLossError",
    "KafkaLogError",
    "LimitError",
    "LogDirError",
    "OptionError",
    "Scan",
    "UnsupportedFormatError",
    "scan",
]


def __getattr__(name: str) -> Any:
    """Import `scan` and `Scan` when they are first used: Spark looks at the package at every start."""
    if name in ("Scan", "scan"):
        from kafkalog_source.reading import scan as module

        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
