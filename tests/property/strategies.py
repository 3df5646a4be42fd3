"""Hypothesis strategies for valid segments, built entry by entry with rising offsets."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from hypothesis import strategies as st

from tests.builders import Batch, Header, Message, Record, Wrapper, control_record
from tests.builders.compress import (
    Compressor,
    gzip_members,
    lz4_frame,
    snappy_raw,
    snappy_xerial,
    zstd_frames,
)
from tests.builders.disk import Entry

INT64 = st.integers(-(2**63), 2**63 - 1)
TIMES = st.one_of(st.integers(0, 2**42), st.just(-1), INT64)
CONTENT = st.one_of(
    st.none(), st.binary(max_size=20), st.builds(bytes.__mul__, st.binary(max_size=3), st.integers(0, 3000))
)
GAPS = st.one_of(st.just(0), st.integers(0, 5))
HEADERS = st.lists(st.builds(Header, st.binary(max_size=5), st.none() | st.binary(max_size=5)), max_size=3)

COMPRESSORS: dict[str, Sequence[Compressor]] = {
    "none": [bytes],
    "gzip": [gzip_members, functools.partial(gzip_members, members=3)],
    "snappy": [
        snappy_raw,
        snappy_xerial,
        functools.partial(snappy_xerial, block=64),
        functools.partial(snappy_xerial, streams=2),
    ],
    "lz4": [
        lz4_frame,
        functools.partial(lz4_frame, block_checksums=True, content_size=True),
        functools.partial(lz4_frame, compress_blocks=False, block_size_code=5),
    ],
    "zstd": [
        zstd_frames,
        functools.partial(zstd_frames, content_size=False),
        functools.partial(zstd_frames, frames=2, skippable=True),
    ],
}


@st.composite
def rising(draw: st.DrawFn, *, least: int = 0, most: int = 6) -> list[int]:
    """Offsets relative to a base: rising, with gaps."""
    at, found = -1, []
    for gap in draw(st.lists(GAPS, min_size=least, max_size=most)):
        at += gap + 1
        found.append(at)
    return found


@st.composite
def batches(draw: st.DrawFn, base_offset: int) -> Batch:
    """A v2 batch that starts at `base_offset`."""
    deltas = draw(rising())
    control = draw(st.booleans()) and draw(st.booleans())
    codec = draw(st.sampled_from(sorted(COMPRESSORS)))
    base_timestamp = draw(TIMES)
    log_append_time = draw(st.booleans())
    horizon = draw(st.none() | TIMES)
    return Batch(
        records=[draw(_control_records(delta) if control else _records(delta)) for delta in deltas],
        base_offset=base_offset,
        codec=codec,
        compress=draw(st.sampled_from(COMPRESSORS[codec])),
        base_timestamp=base_timestamp,
        max_timestamp=draw(TIMES if log_append_time else _largest_timestamps(base_timestamp, horizon)),
        log_append_time=log_append_time,
        delete_horizon=horizon,
        transactional=draw(st.booleans()),
        control=control,
        leader_epoch=draw(st.integers(-1, 2**31 - 1)),
        producer_id=draw(st.integers(-1, 2**63 - 1)),
        producer_epoch=draw(st.integers(-1, 2**15 - 1)),
        base_sequence=draw(st.integers(-1, 2**31 - 1)),
        last_offset_delta=(deltas[-1] if deltas else 0) + draw(GAPS),
    )


def _largest_timestamps(base_timestamp: int, horizon: int | None) -> st.SearchStrategy[int | None]:
    """The true one, or what real producers wrote instead: -1, or less than the base timestamp.

    Only a broker's cleaner sets a delete horizon, and it leaves the true one.
    """
    lies = [-1, 0 if base_timestamp > 0 else -1] if horizon is None else []
    return st.sampled_from([None, None, *lies])


def _records(delta: int) -> st.SearchStrategy[Record]:
    return st.builds(
        Record,
        key=CONTENT,
        value=CONTENT,
        headers=HEADERS,
        timestamp_delta=st.integers(-1000, 1000) | INT64,
        offset_delta=st.just(delta),
        attributes=st.integers(-128, 127),
    )


def _control_records(delta: int) -> st.SearchStrategy[Record]:
    return st.builds(
        lambda kind, value: Record(key=control_record(kind).key, value=value, offset_delta=delta),
        st.integers(-1, 8),
        CONTENT,
    )


def messages(offset: int, magic: int) -> st.SearchStrategy[Message]:
    """A v0 or v1 entry at `offset`."""
    return st.builds(
        Message,
        key=CONTENT,
        value=CONTENT,
        offset=st.just(offset),
        magic=st.just(magic),
        timestamp=TIMES,
        log_append_time=st.booleans() if magic else st.just(False),
    )


@st.composite
def wrappers(draw: st.DrawFn, base_offset: int, magic: int) -> Wrapper:
    """A compressed set of entries of either magic."""
    inner_magics = st.sampled_from([magic, magic, magic, 1 - magic])
    inner = [draw(messages(base_offset + delta, draw(inner_magics))) for delta in draw(rising(least=1, most=5))]
    codec = draw(st.sampled_from(["gzip", "snappy", "lz4"]))
    return Wrapper(
        inner,
        codec,
        magic,
        timestamp=draw(TIMES),
        log_append_time=bool(magic) and draw(st.booleans()),
        compress=draw(st.none() | st.sampled_from(COMPRESSORS[codec])),
    )


@st.composite
def entries(draw: st.DrawFn, base_offset: int) -> Entry:
    """An entry of any kind; v1 wrappers do not end at offset 0, where readers take another rule."""
    kind = draw(st.sampled_from(["v2", "v2", "v2", "v1", "v0", "wrapper 1", "wrapper 0"]))
    if kind == "v2":
        return draw(batches(base_offset))
    if kind.startswith("wrapper"):
        return draw(wrappers(base_offset, int(kind[-1])))
    return draw(messages(base_offset, int(kind[-1])))


@st.composite
def segments(draw: st.DrawFn, *, base_offset: int | None = None, most: int = 8) -> list[Entry]:
    """The entries of one segment that starts at or after `base_offset`."""
    at = draw(st.sampled_from([0, 7, 2**40])) if base_offset is None else base_offset
    found: list[Entry] = []
    for _ in range(draw(st.integers(0, most))):
        entry = draw(entries(at + draw(GAPS)))
        found.append(entry)
        at = entry.last_offset + 1
    return found


@st.composite
def partitions(draw: st.DrawFn) -> list[tuple[int, list[Entry]]]:
    """Segments of one partition as (base offset, entries)."""
    at, found = draw(st.sampled_from([0, 7, 2**40])), []
    for _ in range(draw(st.integers(1, 4))):
        content = draw(segments(base_offset=at, most=5))
        found.append((at, content))
        at = (content[-1].last_offset if content else at) + 1 + draw(GAPS)
    return found
