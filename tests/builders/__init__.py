"""Build segments by hand, valid or with any field wrong.

Every builder is a frozen dataclass with an `encode()`. A field that is not given is
computed; one that is given is written as it is. The CRC is computed last, over any
wrong fields too, unless `crc` is given.
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
