"""Small segments of each format and codec, four batches each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tests.builders import Batch, Header, Message, Record, Wrapper, encode
from tests.builders.disk import Entry

CODECS = {
    0: ("none", "gzip", "snappy", "lz4"),
    1: ("none", "gzip", "snappy", "lz4"),
    2: ("none", "gzip", "snappy", "lz4", "zstd"),
}
RECORDS = 3
BATCHES = 4
BASE_OFFSET = 100
OFFSET_SIZE = 8
LEADER_EPOCH = range(12, 16)


@dataclass(frozen=True)
class Sample:
    """One segment.

    Attributes
    ----------
    magic : int
    codec : str
    """

    magic: int
    codec: str

    @property
    def name(self) -> str:
        return f"v{self.magic}-{self.codec}"

    @cached_property
    def entries(self) -> list[Entry]:
        return [entry for number in range(BATCHES) for entry in self._batch(BASE_OFFSET + number * RECORDS)]

    @cached_property
    def data(self) -> bytes:
        return encode(self.entries)

    @cached_property
    def starts(self) -> list[int]:
        """Where each entry begins, and where the last one ends."""
        found = [0]
        for entry in self.entries:
            found.append(found[-1] + len(entry.encode()))
        return found

    def field(self, position: int) -> str:
        """What a byte is as far as checksums go: part of an offset, of the leader epoch, or the rest."""
        at = position - max(start for start in self.starts if start <= position)
        if at < OFFSET_SIZE:
            return "offset"
        return "leader epoch" if self.magic == 2 and at in LEADER_EPOCH else "rest"

    def _batch(self, base: int) -> list[Entry]:
        if self.magic == 2:
            headers = [Header(b"h", b"x")]
            records = [Record(b"k%d" % i, b"value %d" % (base + i), headers[: i % 2]) for i in range(RECORDS)]
            return [Batch(records, base_offset=base, codec=self.codec, leader_epoch=5)]
        messages = [Message(b"k%d" % i, b"value %d" % (base + i), base + i, self.magic) for i in range(RECORDS)]
        return [*messages] if self.codec == "none" else [Wrapper(messages, self.codec, self.magic)]


SAMPLES = [Sample(magic, codec) for magic, codecs in CODECS.items() for codec in codecs]
