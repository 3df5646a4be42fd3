"""The slow, readable decoder that kafkalog is compared with. It shares no code with kafkalog."""

from tests.reference.model import RefBatch, RefCorrupt, RefRecord, RefSegment, TailKind
from tests.reference.segment import decode_file, decode_segment

__all__ = [
    "RefBatch",
    "RefCorrupt",
    "RefRecord",
    "RefSegment",
    "TailKind",
    "decode_file",
    "decode_segment",
]
