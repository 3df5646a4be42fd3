"""Directories: lists partitions and segments, and reads a broker's checkpoints.

In the order of a listing: `globs` (patterns to paths), `listing` (paths to partitions, the public `list_logs`),
`partition_dir` (one directory), `fingerprint` (detects changes during a listing), `crash_states` (an interrupted
compaction), `single_segment` (a segment given by its own path), `relisting` (repeated listings, for a stream),
`log_dir_state` and `checkpoints` (the checkpoints of a log dir), `foreign` (files that are not Kafka's), `absent`
(records that are not in the directory), `diagnose` (why there is nothing to read). All of them build on `names` and
`access`; `model` holds the result.
"""

from __future__ import annotations

from kafkalog_source.logdir.listing import list_logs, list_partition_again
from kafkalog_source.logdir.model import Listing, PartitionLog, SegmentFile, Skipped
from kafkalog_source.logdir.relisting import Relisting

__all__ = ["Listing", "PartitionLog", "Relisting", "SegmentFile", "Skipped", "list_logs", "list_partition_again"]
