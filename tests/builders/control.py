"""Control records: transaction markers and others."""

from __future__ import annotations

import struct

from tests.builders.v2 import Record


def control_record(kind: int, *, version: int = 0, value: bytes | None = b"", key: bytes | None = None) -> Record:
    """Build a control record of any type and version; `key` replaces the whole key."""
    return Record(key=struct.pack(">hh", version, kind) if key is None else key, value=value)


def end_marker(*, commit: bool, coordinator_epoch: int = 0) -> Record:
    """Build the record that ends a transaction."""
    return control_record(int(commit), value=struct.pack(">hi", 0, coordinator_epoch))
