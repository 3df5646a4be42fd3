"""What is mutated: short runs of entries from the packed log directories, and entries built by hand."""

from __future__ import annotations

import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.builders import Batch, Header, Message, Record, Wrapper, end_marker
from tests.builders.compress import gzip_members, lz4_frame, snappy_raw, snappy_xerial, zstd_frames
from tests.builders.disk import Entry
from tests.data.cases import CASES
from tests.fuzz.layout import codec_of, magic_of, split_entries

DATA = Path(__file__).resolve().parents[1] / "data"
LARGEST = 6000
LARGEST_OF_FEW = 60_000
OF_EACH_KIND = 2


@dataclass(frozen=True)
class Seed:
    """Entries in a row, from a segment with this base offset."""

    name: str
    base_offset: int
    entries: tuple[bytes, ...]

    @property
    def size(self) -> int:
        return sum(len(entry) for entry in self.entries)


@cache
def all_seeds(cases: tuple[str, ...] | None = None) -> tuple[Seed, ...]:
    """What is built and what the named cases hold (all by default), in an order that does not change."""
    chosen = sorted(set(CASES) - {"log-0.7"}) if cases is None else cases
    return (*_built(), *(seed for case in chosen for seed in _archived(case)))


def _archived(case: str) -> Iterator[Seed]:
    """Runs of one, two and five entries; of each kind (magic, codec, flags, length of run) a few."""
    seen: Counter[tuple[int, ...]] = Counter()
    for name, content in archived_files(case, ".log"):
        entries = split_entries(content)
        for start in range(len(entries)):
            for count in (1, 2, 5):
                run = tuple(entries[start : start + count])
                seed = Seed(f"{case}/{name}[{start}:{start + count}]", int(Path(name).name.split(".")[0]), run)
                kind = (count, seed.size > LARGEST, *_kind(run[0]))
                most = LARGEST if seen[kind] or count > 1 else LARGEST_OF_FEW
                if seen[kind] < OF_EACH_KIND and len(run) == count and seed.size <= most:
                    seen[kind] += 1
                    yield seed


def archived_files(case: str, suffix: str) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the segments in an archive."""
    with tarfile.open(DATA / f"{case}.tar.gz", "r:gz") as tar:
        for member in tar:
            if member.isfile() and member.name.endswith(suffix) and Path(member.name).stem.isdigit():
                content = tar.extractfile(member)
                if content is not None:
                    yield member.name, content.read()


def _kind(entry: bytes) -> tuple[int, ...]:
    flags = entry[22] >> 3 if magic_of(entry) == 2 and len(entry) > 22 else 0
    return magic_of(entry), codec_of(entry), flags


HEADERS = (
    Header(b"name", b"value"),
    Header(b"name", None),
    Header(b"\xff\xed\xa0\x80\xe2\x82", b""),
    Header(b"", b"\0"),
)
RECORDS = (
    Record(),
    Record(key=None, value=None, headers=HEADERS),
    Record(key=b"", value=b"", timestamp_delta=-5),
    Record(key=b"k" * 200, value=b"v" * 1500, headers=HEADERS * 3, timestamp_delta=2**62),
    *(Record(key=b"%d" % i, value=None if i % 5 == 0 else b"x" * (i * 7 % 40)) for i in range(30)),
)
COMPRESSORS = {
    "none": (bytes,),
    "gzip": (gzip_members, lambda data: gzip_members(data, members=3)),
    "snappy": (snappy_raw, lambda data: snappy_xerial(data, block=100), lambda data: snappy_xerial(data, streams=2)),
    "lz4": (
        lz4_frame,
        lambda data: lz4_frame(data, old_header_checksum=True),
        lambda data: lz4_frame(data, block_checksums=True, content_size=True),
        lambda data: lz4_frame(data, compress_blocks=False, content_checksum=True, block_size_code=7),
    ),
    "zstd": (
        zstd_frames,
        lambda data: zstd_frames(data, content_size=False),
        lambda data: zstd_frames(data, frames=3, skippable=True, checksum=True),
    ),
}
"""Compressed forms by codec."""


def _built() -> Iterator[Seed]:
    for codec, compressors in COMPRESSORS.items():
        for number, compress in enumerate(compressors):
            name = f"built {codec} {number}"
            yield _seed(f"{name} v2", [Batch(RECORDS, 7, codec, compress), Batch((), 50), Batch(base_offset=60)])
            if codec not in ("none", "zstd"):
                for magic in (0, 1):
                    yield _seed(f"{name} v{magic}", [_wrapper(codec, magic, compress), Message(offset=40, magic=magic)])
    small = [Record(key=None, value=None, offset_delta=2 * i) for i in range(3000)]
    yield _seed("built many small", [Batch(small, 7, "zstd"), Batch(small, 7000)])
    yield _seed("built markers", [Batch([end_marker(commit=bool(i % 2)) for i in range(20)], 7, control=True)])
    yield _seed(
        "built producer",
        [Batch(RECORDS[:3], 7, transactional=True, producer_id=5, producer_epoch=1, base_sequence=2**31 - 2)],
    )
    yield _seed("built append time", [Batch(RECORDS, 7, "lz4", log_append_time=True, delete_horizon=99)])
    yield _seed("built messages", [Message(offset=i, magic=i % 2, log_append_time=i % 3 == 0) for i in range(7, 60)])
    yield _seed("built large", [Message(value=b"m" * 20_000, offset=7), Batch([Record(value=b"r" * 20_000)], 8)])


def _wrapper(codec: str, magic: int, compress: object) -> Wrapper:
    messages = [Message(record.key, record.value, 7 + i, magic) for i, record in enumerate(RECORDS[:20])]
    return Wrapper(messages, codec, magic, compress=compress)  # type: ignore[arg-type]


def _seed(name: str, entries: list[Entry]) -> Seed:
    return Seed(name, 7, tuple(entry.encode() for entry in entries))
