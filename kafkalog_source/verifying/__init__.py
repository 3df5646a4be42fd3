"""Verifies log directories: every batch, and every other file that a broker keeps.

- `verify`: checks the partitions in some paths with several threads; the public `verify`.
- `partition`: one partition: its segments, and the checks across segments.
- `segment`: one segment, checked in pieces; `piece`: the batches of a piece and the index entries for them.
- `indexes`, `transactions`: `.index`, `.timeindex` and `.txnindex`, compared with the batches.
- `small_files`: snapshots, checkpoints and other small files.
- `findings`: problems with place and severity; `progress`: bytes checked so far.
"""

from __future__ import annotations

from kafkalog_source.verifying.findings import Finding, Severity
from kafkalog_source.verifying.verify import Verification, verify

__all__ = ["Finding", "Severity", "Verification", "verify"]
