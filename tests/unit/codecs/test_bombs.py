"""A few bytes that decompress to very many: refused, and no more memory is taken than the limit allows."""

from __future__ import annotations

import struct
import subprocess
import sys
import textwrap

import pytest

from kafkalog_source._core.framing import view_of
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import CodecError, LimitError
from tests.builders.compress import CODEC_NUMBERS, XERIAL_HEADER, compressor, lz4_frame, snappy_raw

MIB = 1 << 20


def zstd_bomb(blocks: int) -> bytes:
    """A frame of run-length blocks: four bytes stand for 128 KiB."""
    block = struct.pack("<I", (128 * 1024) << 3 | 1 << 1)[:3] + b"x"
    last = struct.pack("<I", 1)[:3]
    return b"\x28\xb5\x2f\xfd\x00\x50" + block * blocks + last


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_a_payload_of_64_mib_is_refused_at_1_mib(codec: str) -> None:
    payload = compressor(codec, 2)(bytes(64 * MIB))
    with pytest.raises(LimitError):
        Decompressor(MIB)(CODEC_NUMBERS[codec], 2, view_of(payload))


def test_a_zstd_bomb_of_run_length_blocks_is_refused() -> None:
    with pytest.raises(LimitError):
        Decompressor(MIB)(4, 2, view_of(zstd_bomb(100_000)))


def test_a_snappy_block_that_claims_more_than_its_bytes_can_hold_is_refused() -> None:
    with pytest.raises(CodecError, match="claims more"):
        Decompressor(1 << 40)(2, 2, view_of(b"\xff\xff\xff\xff\x0f" + bytes(1000)))


def test_snappy_blocks_that_are_too_much_together_take_no_memory() -> None:
    block = snappy_raw(bytes(MIB))
    payload = XERIAL_HEADER + (struct.pack(">i", len(block)) + block) * 64
    decompressor = Decompressor(63 * MIB)
    with pytest.raises(LimitError):
        decompressor(2, 2, view_of(payload))
    assert decompressor.rooms[0].capacity == 0


def test_lz4_blocks_of_4_mib_are_refused_before_the_second() -> None:
    with pytest.raises(LimitError):
        Decompressor(MIB)(3, 2, view_of(lz4_frame(bytes(64 * MIB), block_size_code=7)))


def test_no_bomb_takes_much_more_memory_than_the_limit() -> None:
    """In a process of its own, whose peak is that of the bombs alone. Each would be 1 GiB."""
    program = """
        import gzip, resource, struct, sys, zlib
        from kafkalog_source._core.framing import view_of
        from kafkalog_source.codecs import Decompressor
        from kafkalog_source.errors import LimitError
        from tests.builders.compress import lz4_frame, snappy_raw, XERIAL_HEADER
        from tests.unit.codecs.test_bombs import zstd_bomb

        MIB = 1 << 20
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        zipped = b"".join(packer.compress(bytes(MIB)) for _ in range(1024)) + packer.flush()
        chunk = snappy_raw(bytes(MIB))
        framed = XERIAL_HEADER + (struct.pack(">i", len(chunk)) + chunk) * 1024
        one = lz4_frame(bytes(4 * MIB), block_size_code=7)
        block = one[7:-4]
        frame = one[:7] + block * 256 + bytes(4)
        del one, block, chunk
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for codec, payload in ((1, zipped), (2, framed), (3, frame), (4, zstd_bomb(8192))):
            try:
                Decompressor(8 * MIB)(codec, 2, view_of(payload))
            except LimitError:
                continue
            sys.exit(f"codec {codec} was read")
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    kibibytes = 1 if sys.platform != "darwin" else 1024
    assert int(run.stdout) // kibibytes < 48 * 1024
