"""Apache Kafka's log directories as Arrow tables and Spark DataFrames, with no broker.

Data flows upwards, and each layer imports only those below it:

- `spark`, `cli`: the Spark data source; the command.
- `answers`: answers about a cluster, out of several views.
- `streaming`, `verifying`, `salvage`: micro-batches; checks of log dirs; a new log dir from a damaged one.
- `reading`: splits → record batches, threads, `scan`.
- `planning`, `transactions`, `reporting`, `partition`: options and a listing → splits; transaction outcomes; reports.
- `arrow`, `logdir`, `options`: columns → record batches; directories and checkpoints; the options of a read.
- `segment`: one file: walking batches, seeking by index, damage.
- `batch`, `codecs`: one batch: checksum and decoder; bounded decompression.
- `_core`: compiled: bytes → column buffers.
- `format`, `errors`: the layout of the bytes; the errors.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kafkalog_source.errors import (
    CodecError,
    CorruptBatchError,
    DamageWarning,
    DataLossError,
    DecodeWarning,
    KafkaLogError,
    LimitError,
    LogDirError,
    OptionError,
    UnsupportedFormatError,
)

if TYPE_CHECKING:
    from kafkalog_source.options.times import milliseconds
    from kafkalog_source.partition.compacted import compacted_up_to
    from kafkalog_source.partition.splits import Split
    from kafkalog_source.reading.codec_comparison import compare_codecs
    from kafkalog_source.reading.scan import Scan, scan
    from kafkalog_source.streaming.backlog import Backlog, backlog

__version__ = "0.2.0"

__all__ = [
    "Backlog",
    "CodecError",
    "CorruptBatchError",
    "DamageWarning",
    "DataLossError",
    "DecodeWarning",
    "KafkaLogError",
    "LimitError",
    "LogDirError",
    "OptionError",
    "Scan",
    "Split",
    "UnsupportedFormatError",
    "backlog",
    "compacted_up_to",
    "compare_codecs",
    "milliseconds",
    "scan",
]

_HOMES = {
    "Backlog": "streaming.backlog",
    "Scan": "reading.scan",
    "Split": "partition.splits",
    "backlog": "streaming.backlog",
    "compacted_up_to": "partition.compacted",
    "compare_codecs": "reading.codec_comparison",
    "milliseconds": "options.times",
    "scan": "reading.scan",
}
"""The modules of the names that are imported on first use."""


def __getattr__(name: str) -> Any:
    """Import the reading modules on first use, because Spark imports this package at every start."""
    if name in _HOMES:
        return getattr(import_module(f"kafkalog_source.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
