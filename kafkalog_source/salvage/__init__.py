"""A new log dir out of a damaged one: every good batch, and all files that a broker needs beside them made anew.

- `salvage`: the whole of it; the public `salvage`.
- `places`: which directories may be read and written, and how the new one gets its name only when it is complete.
- `partition`: one partition: its good batches copied, its indexes and its producers' state made of them.
- `producers`, `transactions`: the producers at the log's end, and the index of aborted transactions.
- `log_dir`: the files that a broker keeps beside its partitions.
- `topic_ids`: the ids of topics that a cluster knows; `metadata`: the log of the cluster's metadata.
- `writing`: files that are on disk when they are done.
- `report`: what was written, and what was left out.
"""

from __future__ import annotations

from kafkalog_source.salvage.report import LeftOut, PartitionReport, SalvageReport
from kafkalog_source.salvage.salvage import salvage
from kafkalog_source.salvage.topic_ids import parse_topic_ids

__all__ = ["LeftOut", "PartitionReport", "SalvageReport", "parse_topic_ids", "salvage"]
