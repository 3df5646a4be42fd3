"""Functions of C libraries: found, right, and never needed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import kafkalog_source._core.decode as decode_module
import kafkalog_source.batch.decoder as decoder_module
from kafkalog_source._core.native import CFunctions
from kafkalog_source.errors import CodecError, LimitError
from tests.builders import Batch, Message, Record, Wrapper
from tests.builders.compress import lz4_frame
from tests.builders.disk import Entry
from tests.unit.core.test_decode import decode

NAMES = {"crc32_iscsi", "crc32_gzip_refl", "LZ4_decompress_safe", "XXH32"}
RAW = b"".join(bytes([i % 7, i % 251]) * 3 for i in range(200))


@pytest.fixture(params=[True, False], ids=["c", "python"])
def functions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> CFunctions:
    """Those that were found, and none of them."""
    found = decoder_module.C_FUNCTIONS if request.param else CFunctions()
    monkeypatch.setattr(decoder_module, "C_FUNCTIONS", found)
    return found


def test_the_wheels_of_the_packages_have_them_all() -> None:
    assert set(decoder_module.C_FUNCTIONS.found) == NAMES


def test_where_nothing_is_found_nothing_is_there() -> None:
    assert CFunctions().found == ()
    assert CFunctions("/no/such/file", "", "\0").found == ()
    assert CFunctions(isal=decode_module.__file__).found == ()


def record(value: bytes = RAW) -> Record:
    return Record(b"k", value)


def with_changed(data: bytes, place: int, bits: int) -> bytes:
    changed = bytearray(data)
    changed[place] ^= bits
    return bytes(changed)


FRAMES: dict[str, Callable[[bytes], bytes]] = {
    "plain blocks": lambda data: lz4_frame(data, compress_blocks=False),
    "block checksums": lambda data: lz4_frame(data, block_checksums=True),
    "content checksum and size": lambda data: lz4_frame(data, content_checksum=True, content_size=True),
    "a tail behind the frame": lambda data: lz4_frame(data) + b"tail",
    "cut": lambda data: lz4_frame(data)[:-6],
    "no end mark": lambda data: lz4_frame(data)[:-4],
    "linked blocks": lambda data: lz4_frame(data, independent=False),
    "wrong header checksum": lambda data: lz4_frame(data, old_header_checksum=True),
    "wrong block checksum": lambda data: with_changed(lz4_frame(data, block_checksums=True), -5, 1),
    "damaged block": lambda data: lz4_frame(data)[:11] + b"\xff\xff\xff" + lz4_frame(data)[14:],
    "block too large": lambda data: lz4_frame(data)[:7] + b"\xff\xff\xff\x7f" + lz4_frame(data)[11:],
    "block larger than the frame": lambda data: lz4_frame(data)[:7] + b"\xff\xff\0\0" + lz4_frame(data)[11:],
    "no frame": lambda _: b"abcdefgh",
    "four bytes": lambda _: b"\x04\x22\x4d\x18",
    "empty": lambda _: lz4_frame(b""),
}


def outcome(content: list[Entry]) -> tuple[object, ...]:
    try:
        offsets, problems, found = decode(content)
    except (CodecError, LimitError) as error:
        return type(error), str(error)
    return offsets, problems, [batch.to_pydict() for batch in found]


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("repeat", [1, 300])
def test_lz4_frames_are_taken_and_refused_as_without_them(
    name: str, repeat: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b"".join(record(RAW * repeat).encode(delta) for delta in range(2))
    batch = Batch([record(), record()], base_offset=1, codec="lz4", payload=FRAMES[name](body))
    content: list[Entry] = [Batch(), batch, Batch(base_offset=9)]
    with_them = outcome(content)
    monkeypatch.setattr(decoder_module, "C_FUNCTIONS", CFunctions())
    assert outcome(content) == with_them


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", ["lz4", "gzip", "snappy"])
def test_a_wrong_checksum_inside_a_wrapper_is_found(functions: CFunctions, magic: int, codec: str) -> None:
    good = Wrapper([Message(value=b"a", offset=i, magic=magic) for i in range(3)], magic=magic, codec=codec)
    bad = Wrapper(
        [Message(value=b"a", offset=3 + i, magic=magic, crc=7 if i == 1 else None) for i in range(3)],
        magic=magic,
        codec=codec,
    )
    assert decode([good, bad])[:2] == ([0, 1, 2], ["inner_crc"])


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_wrong_checksum_is_found(functions: CFunctions, codec: str) -> None:
    content: list[Entry] = [Batch([record()], base_offset=i, codec=codec, crc=1 if i == 1 else None) for i in range(3)]
    assert decode(content)[:2] == ([0, 2], ["bad_crc"])


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("bad", [0, 1, 70, 199])
def test_a_payload_among_many_that_is_damaged_takes_only_its_own_rows_along(
    functions: CFunctions, codec: str, bad: int
) -> None:
    content: list[Entry] = [Batch([record()], base_offset=i, codec=codec) for i in range(200)]
    content[bad] = Batch([record()], base_offset=bad, codec=codec, payload=b"\xff" * 40)
    offsets, problems, _ = decode(content, errors=True)
    assert offsets == [i for i in range(200) if i != bad]
    assert len(problems) == 1


def test_payloads_over_the_limit_are_refused(functions: CFunctions) -> None:
    big = Batch([record(bytes(3_000_000))], codec="lz4")
    with pytest.raises(LimitError, match="lz4"):
        decode([big], limit=2_000_000)
    assert decode([big], limit=3_000_100)[0] == [0]
