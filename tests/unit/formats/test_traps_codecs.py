"""Traps of the compressed payloads: what other producers write, and what Kafka refuses."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable

import pytest

from kafkalog_source import KafkaLogError, LimitError
from tests.builders import Batch, Message, Record, Wrapper, write_segment
from tests.builders.compress import (
    XERIAL_HEADER,
    Compressor,
    gzip_members,
    lz4_frame,
    snappy_raw,
    snappy_xerial,
    zstd_frames,
    zstd_plain_frame,
)
from tests.builders.disk import Entry
from tests.comparing import scan_rows
from tests.unit.formats.conftest import Both

RECORDS = [Record(value=bytes([i]) * 9000) for i in range(20)]


def in_v2(codec: str, compress: Compressor) -> Batch:
    return Batch(RECORDS, codec=codec, compress=compress)


def in_v1(codec: str, compress: Compressor, magic: int = 1) -> Wrapper:
    messages = [Message(value=record.value, offset=i, magic=magic) for i, record in enumerate(RECORDS)]
    return Wrapper(messages, codec, magic, compress=compress)


def in_v0(codec: str, compress: Compressor) -> Wrapper:
    return in_v1(codec, compress, magic=0)


Build = Callable[[str, Compressor], Entry]
every_format = pytest.mark.parametrize("build", [in_v2, in_v1, in_v0])


def reads_all(both: Both, entry: Entry) -> None:
    assert [r.value for r in both.read([entry])] == [record.value for record in RECORDS]


@every_format
@pytest.mark.parametrize("code", [4, 5, 6, 7])
@pytest.mark.parametrize("stored", [False, True])
def test_lz4_blocks_of_every_legal_size_are_read(both: Both, build: Build, code: int, stored: bool) -> None:
    frame = functools.partial(
        lz4_frame, block_size_code=code, compress_blocks=not stored, old_header_checksum=build is in_v0
    )
    reads_all(both, build("lz4", frame))


@every_format
def test_lz4_checksums_and_content_size_are_understood(both: Both, build: Build) -> None:
    frame = functools.partial(lz4_frame, block_checksums=True, content_checksum=True, content_size=True)
    reads_all(both, build("lz4", functools.partial(frame, old_header_checksum=build is in_v0)))


@every_format
def test_lz4_content_checksum_is_not_verified(both: Both, build: Build) -> None:
    reads_all(both, build("lz4", lambda data: lz4_frame(data, content_checksum=True)[:-1] + b"!"))


@every_format
def test_what_follows_the_first_lz4_frame_is_ignored(both: Both, build: Build) -> None:
    reads_all(both, build("lz4", lambda data: lz4_frame(data) + lz4_frame(b"second")))
    reads_all(both, build("lz4", lambda data: lz4_frame(data) + b"junk"))


@every_format
def test_lz4_linked_blocks_are_refused(both: Both, build: Build) -> None:
    both.refuse([build("lz4", functools.partial(lz4_frame, independent=False))], position=0)


@every_format
def test_a_wrong_lz4_block_checksum_is_refused(both: Both, build: Build) -> None:
    def spoiled(data: bytes) -> bytes:
        frame = bytearray(lz4_frame(data, block_checksums=True))
        frame[-5] ^= 1
        return bytes(frame)

    both.refuse([build("lz4", spoiled)], position=0)


@pytest.mark.parametrize("build", [in_v2, in_v1])
def test_a_wrong_lz4_header_checksum_is_refused_in_v1_and_v2(both: Both, build: Build) -> None:
    both.refuse([build("lz4", functools.partial(lz4_frame, old_header_checksum=True))], position=0)


@pytest.mark.parametrize("old", [True, False])
def test_the_lz4_header_checksum_of_v0_may_be_the_old_or_the_right_one(both: Both, old: bool) -> None:
    reads_all(both, in_v0("lz4", functools.partial(lz4_frame, old_header_checksum=old)))


@every_format
@pytest.mark.parametrize(
    "spoil",
    [
        lambda f: f[:-4],
        lambda f: f[:-1],
        lambda f: f[: len(f) // 2],
        lambda f: f[:5],
        lambda f: b"",
        lambda f: b"\x05" + f[1:],
        lambda f: f[:7] + struct.pack("<I", 65537) + f[11:],
        lambda f: f[:7] + struct.pack("<I", 2**31 - 1) + f[11:],
    ],
    ids=[
        "no end mark",
        "half an end mark",
        "half",
        "half a header",
        "nothing",
        "magic",
        "large block",
        "huge block",
    ],
)
def test_a_broken_lz4_frame_is_refused(both: Both, build: Build, spoil: Compressor) -> None:
    old = build is in_v0
    both.refuse([build("lz4", lambda data: spoil(lz4_frame(data, old_header_checksum=old)))], position=0)


@every_format
@pytest.mark.parametrize(
    "compress",
    [
        snappy_raw,
        snappy_xerial,
        functools.partial(snappy_xerial, block=1024),
        functools.partial(snappy_xerial, streams=3),
        lambda data: snappy_xerial(data) + b"\0\0\0",
    ],
    ids=["raw", "xerial", "small blocks", "streams", "three bytes after"],
)
def test_snappy_is_read_raw_in_blocks_and_in_several_streams(both: Both, build: Build, compress: Compressor) -> None:
    reads_all(both, build("snappy", compress))


@every_format
@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: b"",
        lambda d: XERIAL_HEADER,
        lambda d: XERIAL_HEADER[:12],
        lambda d: XERIAL_HEADER + struct.pack(">i", -1) + d,
        lambda d: XERIAL_HEADER + struct.pack(">i", 2**31 - 1) + d,
        lambda d: XERIAL_HEADER + struct.pack(">i", len(d) + 1) + d,
        lambda d: b"\xff\xff\xff\xff\x07" + d,
        lambda d: d[:-1],
    ],
    ids=[
        "nothing",
        "header only",
        "half a header",
        "negative",
        "huge",
        "past the end",
        "claims 2 GiB",
        "cut",
    ],
)
def test_broken_snappy_is_refused(both: Both, build: Build, spoil: Compressor) -> None:
    both.refuse([build("snappy", lambda data: spoil(snappy_raw(data)))], position=0)


@every_format
@pytest.mark.parametrize("members", [1, 2, 7])
@pytest.mark.parametrize("level", [0, 9])
def test_gzip_members_are_read_to_the_last(both: Both, build: Build, members: int, level: int) -> None:
    reads_all(both, build("gzip", functools.partial(gzip_members, members=members, level=level)))


@every_format
@pytest.mark.parametrize(
    "spoil",
    [
        lambda f: f + b"junk after the last member",
        lambda f: f + bytes(20),
        lambda f: f[:-1],
        lambda f: f[:-8],
        lambda f: f[: len(f) // 2],
        lambda f: f[:-8] + b"\1\2\3\4" + f[-4:],
        lambda f: f[:-4] + b"\1\2\3\4",
        lambda f: b"",
    ],
    ids=["junk", "zeros", "cut trailer", "no trailer", "half", "trailer crc", "trailer size", "nothing"],
)
def test_broken_gzip_is_refused(both: Both, build: Build, spoil: Compressor) -> None:
    both.refuse([build("gzip", lambda data: spoil(gzip_members(data)))], position=0)


@pytest.mark.parametrize(
    "compress",
    [
        zstd_frames,
        functools.partial(zstd_frames, content_size=False),
        functools.partial(zstd_frames, frames=3),
        functools.partial(zstd_frames, frames=3, content_size=False, checksum=True),
        functools.partial(zstd_frames, frames=2, skippable=True),
        lambda data: zstd_frames(data) + struct.pack("<II", 0x184D2A50, 3) + b"end",
    ],
    ids=["size", "no size", "frames", "checked frames", "skippable frames", "skippable end"],
)
def test_zstd_frames_are_read_with_and_without_their_size(both: Both, compress: Compressor) -> None:
    reads_all(both, in_v2("zstd", compress))


def test_a_zstd_window_of_2_to_the_27_is_read_and_a_larger_one_refused(both: Both) -> None:
    small = [Record(), Record()]
    frame = functools.partial(zstd_plain_frame, window_log=27)
    assert len(both.read([Batch(small, codec="zstd", compress=frame)])) == 2
    for window_log in (28, 31):
        frame = functools.partial(zstd_plain_frame, window_log=window_log)
        both.refuse([Batch(small, codec="zstd", compress=frame)], position=0)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda f: f[:-1],
        lambda f: f[: len(f) // 2],
        lambda f: f[:3],
        lambda f: b"",
        lambda f: f + b"junk",
        lambda f: f[:-1] + bytes([f[-1] ^ 1]),
        lambda f: f + struct.pack("<II", 0x184D2A50, 100) + b"end",
    ],
    ids=["cut", "half", "half a header", "nothing", "junk", "checksum", "cut skippable"],
)
def test_broken_zstd_is_refused(both: Both, spoil: Compressor) -> None:
    both.refuse([in_v2("zstd", lambda data: spoil(zstd_frames(data, checksum=True)))], position=0)


@pytest.mark.parametrize(
    ("codec", "compress"),
    [
        ("gzip", gzip_members),
        ("snappy", snappy_raw),
        ("snappy", snappy_xerial),
        ("lz4", lz4_frame),
        ("zstd", zstd_frames),
        ("zstd", functools.partial(zstd_frames, content_size=False)),
    ],
)
@pytest.mark.parametrize("legacy", [False, True])
def test_a_batch_that_decompresses_past_the_limit_is_an_error_of_its_own(
    both: Both, codec: str, compress: Compressor, legacy: bool
) -> None:
    if legacy and codec == "zstd":
        pytest.skip("zstd is not legal in v1")
    value = bytes(1 << 20)
    wrapper = Wrapper([Message(value=value)], codec, compress=compress)
    entry: Entry = wrapper if legacy else Batch([Record(value=value)], codec=codec, compress=compress)
    log = write_segment(both.directory, [entry])
    with pytest.raises(LimitError) as raised:
        scan_rows(log, maxDecompressedBatchBytes=1 << 19)
    assert raised.value.position == 0
    assert len(scan_rows(log, maxDecompressedBatchBytes=1 << 21)) == 1


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_random_bytes_instead_of_a_stream_are_refused(both: Both, codec: str) -> None:
    junk = bytes(range(7, 250))
    error = both.refuse([Batch(codec=codec, payload=junk)], position=0)
    assert isinstance(error, KafkaLogError)
