"""Compressed payloads by themselves: any bytes give bounded output or a `KafkaLogError`."""

from __future__ import annotations

import random

from kafkalog_source._core.framing import view_of, zstd_frames
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import KafkaLogError
from tests.fuzz.case import Case, Outcome, Target, must, same
from tests.fuzz.layout import CODECS
from tests.fuzz.mutate import mutate_bytes
from tests.fuzz.seeds import COMPRESSORS
from tests.reference.compression import decompress
from tests.reference.cursor import Bad


def target(share: int) -> Target:
    return Target("payload", share, make, check)


def make(rng: random.Random) -> Case:
    codec = rng.choice(CODECS[1:])
    size = rng.choice((0, 1, 10, 100, 1000, 5000, 70_000))
    plain = rng.choice((rng.randbytes(size), rng.randbytes(7) * (size // 7), bytes(size)))
    data = bytearray(rng.choice(COMPRESSORS[codec])(plain))
    if rng.random() < 0.9:
        mutate_bytes(rng, data)
    if rng.random() < 0.1:
        data = data * 3
    config = {
        "codec": CODECS.index(codec) if rng.random() < 0.97 else rng.randrange(8),
        "magic": rng.randrange(3),
        "limit": rng.choice((0, 1, 100, size, size + 1, 1 << 20)),
        "reference": rng.random() < 0.2,
    }
    return Case("payload", bytes(data), config)


def check(case: Case) -> Outcome:
    one, other = (
        _decompress(case, Decompressor(case.config["limit"])),
        _decompress(case, _USED[case.config["limit"] > 5000]),
    )
    if case.config["limit"] in (100, 1 << 20):
        same("two decompressions", _kind(one), _kind(other))
    if case.config["codec"] == 4:
        _bound(case.data)
    if isinstance(one, str):
        return Outcome(0, (one.split(":")[0],))
    must(len(one) <= case.config["limit"], f"{len(one)} bytes, {case.config['limit']} are allowed")
    if case.config["reference"]:
        try:
            wanted = decompress(CODECS[case.config["codec"]], case.data, case.config["magic"])
        except (Bad, ValueError):
            return Outcome(len(one))
        same("plain bytes (here, reference)", one, wanted)
    return Outcome(len(one))


_USED = (Decompressor(100), Decompressor(1 << 20))
"""Decompressors that have seen other payloads before, good and bad."""


def _decompress(case: Case, decompressor: Decompressor) -> bytes | str:
    try:
        return bytes(decompressor(case.config["codec"], case.config["magic"], view_of(case.data)))
    except KafkaLogError as error:
        return f"{type(error).__name__}: {error}"


def _kind(result: bytes | str) -> bytes | str:
    """The bytes, or the name of the error; zstd words one error now so, now so."""
    return result.split(":")[0] if isinstance(result, str) else result


def _bound(data: bytes) -> None:
    try:
        frames, bound, _ = zstd_frames(view_of(data))
    except KafkaLogError:
        return
    must(0 <= frames <= len(data) and bound >= 0, f"{frames} frames, at most {bound} bytes")
