"""Transaction indexes and producer snapshots, as written by a broker."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from tests.reference.checksums import crc32c


def txn_index(entries: Iterable[tuple[int, int, int, int]], *, version: int = 0) -> bytes:
    """Encode a ``.txnindex`` of (producer id, first offset, marker offset, last stable offset)."""
    return b"".join(struct.pack(">hqqqq", version, *entry) for entry in entries)


def producer_snapshot(open_transactions: dict[int, int], others: Iterable[int] = (), *, version: int = 1) -> bytes:
    """Encode a ``.snapshot`` of producers with an open transaction (id, first offset), and of others."""
    firsts = open_transactions | {other: -1 for other in others if other not in open_transactions}
    entries = b"".join(
        struct.pack(">qhiqiqiq", producer_id, 0, 0, max(first, 0), 0, 1_700_000_000_000, 0, first)
        for producer_id, first in firsts.items()
    )
    covered = struct.pack(">i", len(firsts)) + entries
    return struct.pack(">hI", version, crc32c(covered)) + covered
