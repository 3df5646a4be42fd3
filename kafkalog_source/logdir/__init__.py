"""Directories: which partitions and segments there are, and what a broker's checkpoints say of them.

In the order in which a listing goes: `globs` (patterns to paths), `listing` (paths to partitions, the public
`list_logs`), `partition_dir` (one directory), `fingerprint` (whether a broker changed the directory meanwhile),
`crash_states` (an interrupted compaction), `single_segment` (one segment by its own path), `relisting` (all of it
again, for a stream), `log_dir_state` and `checkpoints` (what lies beside), `foreign` (files that are not Kafka's),
`absent` (records that are not in the directory), `diagnose` (why there is nothing to read). `names` and `access` are
what all of them stand on; `model` is the result.
"""

from __future__ import annotations

from kafkalog_source.logdir.listing import list_logs, list_partition_again
from kafkalog_source.logdir.model import Listing, PartitionLog, SegmentFile, Skipped
from kafkalog_source.logdir.relisting import Relisting

__all__ = ["Listing", "PartitionLog", "Relisting", "SegmentFile", "Skipped", "list_logs", "list_partition_again"]
