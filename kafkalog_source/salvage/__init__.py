"""Writes a new log dir from a damaged one: all valid batches, and the other files that a broker needs.

- `salvage`: the public `salvage`.
- `places`: checks the source and target directories; the target appears only when it is complete.
- `refusing`: whether to continue without unreadable files.
- `partition`: copies the valid batches of one partition, and rebuilds its indexes and producer state from them.
- `producers`, `transactions`: the producer snapshot at the log's end, and the transaction indexes.
- `log_dir`: the files that a broker keeps in the log dir itself.
- `topic_ids`: the topic ids of a cluster; `metadata`: the cluster metadata log.
- `writing`: writes files durably.
- `report`: the result: what was written, and what was left out.
"""

from __future__ import annotations

from kafkalog_source.salvage.report import LeftOut, PartitionReport, SalvageReport
from kafkalog_source.salvage.salvage import salvage
from kafkalog_source.salvage.topic_ids import parse_topic_ids

__all__ = ["LeftOut", "PartitionReport", "SalvageReport", "parse_topic_ids", "salvage"]
