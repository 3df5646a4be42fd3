"""The ``.snapshot`` at the log's end, from which a broker restores its producer state on startup."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crc32c import crc32c

from kafkalog_source.format import SNAPSHOT_CHECKED_FROM, SNAPSHOT_ENTRY, SNAPSHOT_HEADER, SNAPSHOT_VERSION
from kafkalog_source.segment.side_files.producer_snapshot import parse_producer_snapshot
from kafkalog_source.segment.side_files.side_file import SideFileError, read_side_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_source._core.producers import Producer


def noted_snapshot(directory: str, offset: int) -> tuple[bytes, int] | None:
    """The snapshot that a clean shutdown left at `offset` and its number of open transactions; None without.

    It holds more than the batches: also producers whose batches compaction removed, and the end of transactions whose
    markers are lost.
    """
    path = os.path.join(directory, f"{offset:020d}.snapshot")
    if os.path.islink(path) or not os.path.isfile(path):
        return None
    try:
        content = read_side_file(path)
        return content, len(parse_producer_snapshot(content, offset))
    except SideFileError:
        return None


def encode_snapshot(producers: Sequence[Producer]) -> bytes:
    """Encode the content of a snapshot."""
    entries = b"".join(
        SNAPSHOT_ENTRY.pack(
            each.producer_id,
            each.epoch,
            each.last_sequence,
            each.last_offset,
            each.offset_delta,
            each.timestamp,
            each.coordinator_epoch,
            each.transaction_start,
        )
        for each in producers
    )
    header = SNAPSHOT_HEADER.pack(SNAPSHOT_VERSION, 0, len(producers))
    checksum = crc32c((header + entries)[SNAPSHOT_CHECKED_FROM:])
    return SNAPSHOT_HEADER.pack(SNAPSHOT_VERSION, checksum, len(producers)) + entries
