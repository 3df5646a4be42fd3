"""Segments made by hand, valid or with any field lying.

Every builder is a frozen dataclass with an `encode()`; leave a field out and it
is computed, give it and it is written as given. The CRC is computed last, over
the lies too, unless `crc` is given.
"""

from tests.builders.control import control_record, end_marker
from tests.builders.disk import encode, offset_index, partition_dir, time_index, write_segment
from tests.builders.legacy import Message, Wrapper
from tests.builders.v2 import Batch, Header, Record

__all__ = [
    "Batch",
    "Header",
    "Message",
    "Record",
    "Wrapper",
    "control_record",
    "encode",
    "end_marker",
    "offset_index",
    "partition_dir",
    "time_index",
    "write_segment",
]
