"""Whether log directories are sound: every batch, and every file that a broker keeps beside them.

- `verify`: the partitions that some paths hold, checked by several threads; the public `verify`.
- `partition`: one partition: its pieces, and what is seen only when they are put together.
- `piece`: batches of a part of a segment, with the index entries that speak of it.
- `indexes`, `transactions`: what `.index`, `.timeindex` and `.txnindex` say, compared with the batches.
- `partition_files`, `log_dir_files`: snapshots, checkpoints and the other small files.
- `findings`: what is wrong, where, and how bad it is; `progress`: how far it has come.
"""

from __future__ import annotations

from kafkalog_source.verifying.findings import Finding, Severity
from kafkalog_source.verifying.verify import Verification, verify

__all__ = ["Finding", "Severity", "Verification", "verify"]
