"""Records of ``__consumer_offsets``."""

from __future__ import annotations

import struct

from tests.builders.v2 import Record


def _string(text: str | None) -> bytes:
    if text is None:
        return struct.pack(">h", -1)
    content = text.encode()
    return struct.pack(">h", len(content)) + content


def _bytes(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


def commit(
    group: str,
    topic: str,
    partition: int,
    offset: int | None,
    *,
    legacy: bool = False,
    committed_ms: int = 0,
    expires_ms: int | None = None,
) -> Record:
    """Build an OFFSET_COMMIT, or a tombstone if `offset` is None.

    With `expires_ms` it is of version 1, else of 3; `legacy` makes a LEGACY_OFFSET_COMMIT, which has version 0.
    """
    key = struct.pack(">h", 0 if legacy else 1) + _string(group) + _string(topic) + struct.pack(">i", partition)
    if offset is None:
        return Record(key, None)
    if legacy:
        value = struct.pack(">hq", 0, offset) + _string("") + struct.pack(">q", committed_ms)
    elif expires_ms is None:
        value = struct.pack(">hqi", 3, offset, -1) + _string("") + struct.pack(">q", committed_ms)
    else:
        value = struct.pack(">hq", 1, offset) + _string("") + struct.pack(">qq", committed_ms, expires_ms)
    return Record(key, value)


def group_metadata(
    group: str, *, protocol_type: str = "consumer", generation: int = 1, members: tuple[str, ...] = ()
) -> Record:
    """Build a GROUP_METADATA of version 3, whose members have neither a subscription nor an assignment."""
    value = struct.pack(">h", 3) + _string(protocol_type) + struct.pack(">i", generation)
    value += _string("range" if members else None) + _string(members[0] if members else None)
    value += struct.pack(">qi", -1, len(members))
    for member in members:
        value += _string(member) + _string(None) + _string(f"client-{member}") + _string("/10.0.0.1")
        value += struct.pack(">ii", 1000, 1000) + _bytes(b"") + _bytes(b"")
    return Record(struct.pack(">h", 2) + _string(group), value)
