"""Payloads as each codec's writers make them, and damaged ones."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pyarrow as pa
import pytest

from kafkalog_source._core.framing import view_of
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import CodecError, LimitError, UnsupportedFormatError
from tests.builders.compress import (
    CODEC_NUMBERS,
    XERIAL_HEADER,
    Compressor,
    compressor,
    gzip_members,
    lz4_frame,
    snappy_raw,
    snappy_xerial,
    zstd_frames,
    zstd_plain_frame,
)
from tests.reference.checksums import xxh32

TEXT = b"".join(b"record %d, " % number for number in range(30_000))
CODECS = ["gzip", "snappy", "lz4", "zstd"]


def unpack(codec: str, payload: bytes, *, limit: int = 1 << 24, magic: int = 2) -> bytes:
    return bytes(Decompressor(limit)(CODEC_NUMBERS[codec], magic, view_of(payload)))


def zstd_claiming(size: int, content: bytes) -> bytes:
    """A frame of one stored block whose header claims `size` bytes of content."""
    header = b"\x28\xb5\x2f\xfd" + bytes([0xE0]) + struct.pack("<Q", size)
    return header + struct.pack("<I", len(content) << 3 | 1)[:3] + content


@pytest.mark.parametrize("size", [0, 1, 100, 65_536, len(TEXT)])
@pytest.mark.parametrize("codec", CODECS)
def test_content_of_any_size_comes_back(codec: str, size: int) -> None:
    assert unpack(codec, compressor(codec, 2)(TEXT[:size])) == TEXT[:size]


@pytest.mark.parametrize("codec", CODECS)
def test_a_large_payload_leaves_nothing_in_the_next(codec: str) -> None:
    decompress = Decompressor()
    for content in (TEXT, b"short", TEXT[::-1], b"x"):
        payload = view_of(compressor(codec, 2)(content))
        assert bytes(decompress(CODEC_NUMBERS[codec], 2, payload)) == content


@pytest.mark.parametrize("codec", CODECS)
def test_the_limit_is_the_last_size_that_is_read(codec: str) -> None:
    payload = compressor(codec, 2)(TEXT)
    assert unpack(codec, payload, limit=len(TEXT)) == TEXT
    with pytest.raises(LimitError, match=f"at most {len(TEXT) - 1} bytes.*maxDecompressedBatchBytes"):
        unpack(codec, payload, limit=len(TEXT) - 1)


@pytest.mark.parametrize("codec", CODECS)
def test_a_stream_cut_at_any_place_is_damaged(codec: str) -> None:
    payload = compressor(codec, 2)(TEXT[:200])
    for size in range(1, len(payload)):
        if codec == "snappy" and size in (16, 17, 18, 19):
            # A header of the block stream with nothing or less than a block's length behind it is an empty stream.
            assert unpack(codec, payload[:size]) == b""
            continue
        with pytest.raises(CodecError):
            unpack(codec, payload[:size])


@pytest.mark.parametrize("codec", CODECS)
def test_a_changed_byte_gives_an_error_of_ours_or_other_bytes(codec: str) -> None:
    payload = compressor(codec, 2)(TEXT[:300])
    for position in range(len(payload)):
        for bit in (0, 3, 7):
            changed = bytearray(payload)
            changed[position] ^= 1 << bit
            try:
                unpack(codec, bytes(changed), limit=4096)
            except (CodecError, LimitError):
                continue


@pytest.mark.parametrize("number", [5, 6, 7])
def test_a_codec_that_does_not_exist_is_refused(number: int) -> None:
    with pytest.raises(UnsupportedFormatError, match=f"found {number}"):
        Decompressor()(number, 2, view_of(b"x"))


@pytest.mark.parametrize("members", [2, 3, 50, 5000])
def test_gzip_members_follow_each_other(members: int) -> None:
    assert unpack("gzip", gzip_members(TEXT, members=members)) == TEXT


def test_gzip_members_may_be_empty() -> None:
    assert unpack("gzip", gzip_members(b"") * 1000 + gzip_members(TEXT) + gzip_members(b"")) == TEXT


def test_many_gzip_members_are_not_copied_once_for_each() -> None:
    """Each member once copied all that follow it: the time of this one would be minutes."""
    assert unpack("gzip", gzip_members(b"") * 400_000) == b""


def test_the_limit_holds_for_all_gzip_members_together() -> None:
    payload = gzip_members(TEXT, members=7)
    assert unpack("gzip", payload, limit=len(TEXT)) == TEXT
    with pytest.raises(LimitError):
        unpack("gzip", payload, limit=len(TEXT) - 1)


@pytest.mark.parametrize("behind", [b"x", b"\0", b"\x1f\x8b", bytes(100), gzip_members(TEXT)[:-1]])
@pytest.mark.parametrize("members", [1, 2])
def test_what_follows_the_last_gzip_member_must_be_a_member(members: int, behind: bytes) -> None:
    with pytest.raises(CodecError, match="gzip"):
        unpack("gzip", gzip_members(TEXT, members=members) + behind)


def test_zstd_frames_may_have_skippable_ones_between_them() -> None:
    for frames in (1, 2, 9):
        for sized in (True, False):
            payload = zstd_frames(TEXT, frames=frames, skippable=True, content_size=sized, checksum=True)
            assert unpack("zstd", payload) == TEXT


@pytest.mark.parametrize("behind", [b"x", bytes(8), b"\x28\xb5\x2f\xfd", struct.pack("<II", 0x184D2A50, 99)])
def test_what_follows_a_zstd_frame_must_be_a_frame(behind: bytes) -> None:
    with pytest.raises(CodecError, match=r"zstd payload is damaged: (a frame is truncated|no frame begins at byte )"):
        unpack("zstd", zstd_frames(TEXT) + behind)


@pytest.mark.parametrize("wrong", [0, -1])
def test_a_wrong_zstd_checksum_is_refused(wrong: int) -> None:
    for frames in (1, 3):
        payload = bytearray(zstd_frames(TEXT, frames=frames, checksum=True))
        payload[wrong or len(payload) // 2] ^= 0xFF
        with pytest.raises(CodecError):
            unpack("zstd", bytes(payload))


def test_a_zstd_window_may_be_128_mib_and_no_more() -> None:
    assert unpack("zstd", zstd_plain_frame(b"content", window_log=27)) == b"content"
    with pytest.raises(CodecError, match="window"):
        unpack("zstd", zstd_plain_frame(b"content", window_log=28) * 2)


@pytest.mark.parametrize("claim", [6, 2**20, 2**31, 2**40, 2**63 - 1, 2**63, 2**64 - 2])
def test_a_zstd_content_size_that_lies_is_damage_and_no_room_is_made_for_it(claim: int) -> None:
    """The library made room for the claim: 2^40 was a MemoryError, 2^31 two GiB of address space."""
    with pytest.raises(CodecError):
        unpack("zstd", zstd_claiming(claim, b"hello"))


def test_a_zstd_content_size_that_is_right_is_read() -> None:
    assert unpack("zstd", zstd_claiming(5, b"hello")) == b"hello"
    assert unpack("zstd", zstd_claiming(0, b"")) == b""


def test_a_zstd_frame_that_claims_to_be_empty_and_is_not_is_damage() -> None:
    with pytest.raises(CodecError):
        unpack("zstd", zstd_claiming(0, b"hello"))


def test_zstd_of_skippable_frames_alone_is_empty() -> None:
    assert unpack("zstd", struct.pack("<II", 0x184D2A53, 5) + b"aside") == b""


def xerial_block(length: int, block: bytes) -> bytes:
    return XERIAL_HEADER + struct.pack(">i", length) + block


@pytest.mark.parametrize(
    "compress",
    [
        snappy_raw,
        snappy_xerial,
        lambda data: snappy_xerial(data, block=100),
        lambda data: snappy_xerial(data, streams=3),
        lambda data: snappy_xerial(data) + b"\1\2\3",
    ],
    ids=["raw", "xerial", "small blocks", "streams joined", "up to three bytes behind"],
)
def test_snappy_in_all_of_its_forms(compress: Compressor) -> None:
    assert unpack("snappy", compress(TEXT)) == TEXT


@pytest.mark.parametrize(
    "payload",
    [
        xerial_block(-1, b""),
        xerial_block(-(2**31), b"x" * 50),
        xerial_block(2**31 - 1, b"x" * 50),
        xerial_block(5, b"x"),
        xerial_block(3, b"\xff\xff\xff"),
        b"\xff\xff\xff\xff\x07" + b"x" * 50,
        b"\xff\xff\xff\xff\xff\x01",
        b"\xff",
        b"\x06\x10hello",
        snappy_raw(TEXT)[:-1],
        snappy_raw(TEXT) + b"x",
    ],
    ids=[
        "negative chunk",
        "most negative chunk",
        "chunk of 2 GiB",
        "chunk past the end",
        "chunk without its length",
        "block that claims 2 GiB",
        "varint of six bytes",
        "varint without an end",
        "block of another size",
        "block cut",
        "byte behind a raw block",
    ],
)
def test_broken_snappy_is_refused(payload: bytes) -> None:
    with pytest.raises(CodecError, match="snappy"):
        unpack("snappy", payload)


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (xerial_block(-7, b"x" * 50), r"a block's length is invalid \(found -7, expected 0 to 50\)"),
        (xerial_block(51, b"x" * 50), r"a block's length is invalid \(found 51, expected 0 to 50\)"),
        (b"\xff\xff\x07" + b"x" * 7, r"claims more .*\(found 131071 bytes, expected at most 240\)"),
        (b"\xff" * 6, r"no valid length \(expected a varint of at most 5 bytes\)"),
    ],
)
def test_broken_snappy_shows_the_length_and_what_is_allowed(payload: bytes, words: str) -> None:
    with pytest.raises(CodecError, match=words):
        unpack("snappy", payload)


LZ4: dict[str, Callable[[bytes], bytes]] = {
    "stored blocks": lambda data: lz4_frame(data, compress_blocks=False),
    "blocks of 4 MiB": lambda data: lz4_frame(data, block_size_code=7),
    "block checksums": lambda data: lz4_frame(data, block_checksums=True),
    "content size": lambda data: lz4_frame(data, content_size=True),
    "content checksum": lambda data: lz4_frame(data, content_checksum=True),
    "all of these": lambda data: lz4_frame(data, block_checksums=True, content_size=True, content_checksum=True),
    "bytes behind": lambda data: lz4_frame(data) + b"behind",
}


@pytest.mark.parametrize("form", LZ4)
@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, len(TEXT)])
def test_lz4_in_all_of_its_forms(form: str, size: int) -> None:
    assert unpack("lz4", LZ4[form](TEXT[:size])) == TEXT[:size]


OLD_HEADER = lz4_frame(b"", old_header_checksum=True)
RIGHT = xxh32(OLD_HEADER[4:6]) >> 8 & 0xFF
HEADER_CHECKSUM = f"header checksum is wrong .found stored 0x{OLD_HEADER[6]:02x}, computed 0x{RIGHT:02x}"


@pytest.mark.parametrize(
    ("spoiled", "words"),
    [
        (lambda: lz4_frame(TEXT, independent=False), "linked"),
        (lambda: lz4_frame(TEXT, old_header_checksum=True), HEADER_CHECKSUM),
        (lambda: lz4_frame(TEXT, block_size_code=3), "block size"),
        (lambda: b"\0" + lz4_frame(TEXT)[1:], "begin"),
        (lambda: struct.pack("<II", 0x184D2A50, 0) + lz4_frame(TEXT), "begin"),
        (lambda: lz4_frame(b"")[:-1], "truncated before its end mark"),
        (
            lambda: lz4_frame(b"")[:7] + struct.pack("<I", 9) + b"12345678",
            r"a block is truncated \(found 8 bytes, expected 9 bytes\)",
        ),
        (lambda: lz4_frame(TEXT, block_checksums=True)[:-5], "a block is truncated"),
        (
            lambda: lz4_frame(b"")[:7] + struct.pack("<I", 65_537) + bytes(70_000),
            "larger than .*found 65537 bytes, expected at most 65536",
        ),
        (lambda: lz4_frame(b"")[:7] + struct.pack("<I", 5) + b"\xff" * 5 + bytes(4), "decompress"),
    ],
)
def test_broken_lz4_is_refused(spoiled: Callable[[], bytes], words: str) -> None:
    with pytest.raises(CodecError, match=words):
        unpack("lz4", spoiled())


def test_the_old_lz4_header_checksum_is_taken_in_v0_alone() -> None:
    payload = lz4_frame(TEXT, old_header_checksum=True)
    assert unpack("lz4", payload, magic=0) == TEXT
    with pytest.raises(CodecError):
        unpack("lz4", payload, magic=1)


def test_a_wrong_lz4_block_checksum_is_refused() -> None:
    payload = bytearray(lz4_frame(TEXT[:100], block_checksums=True))
    stored = int.from_bytes(payload[-8:-4], "little")
    payload[-5] ^= 1
    found = f"found stored 0x{stored ^ 1 << 24:08x}, computed 0x{stored:08x}"
    with pytest.raises(CodecError, match=f"a block's checksum is wrong .{found}"):
        unpack("lz4", bytes(payload))


@pytest.mark.parametrize("plain", [b"", b"x", TEXT, bytes(100_000)], ids=["empty", "one byte", "text", "zeros"])
def test_snappy_agrees_with_an_implementation_that_shares_no_code_with_it(plain: bytes) -> None:
    # pyarrow has Google's, in C++; python-snappy, which writes for the tests, and the reader use one in Rust.
    assert unpack("snappy", pa.compress(plain, codec="snappy", asbytes=True)) == plain
    assert pa.decompress(snappy_raw(plain), decompressed_size=len(plain), codec="snappy", asbytes=True) == plain
