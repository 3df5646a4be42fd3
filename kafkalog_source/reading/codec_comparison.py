"""What the batches on disk would be with each codec and level of Kafka."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import cramjam
import lz4.frame
import pyarrow as pa
import pyarrow.compute as pc
import zstandard

from kafkalog_source._core.framing import view_of
from kafkalog_source.codecs.decompressor import DEFAULT_LIMIT, Decompressor
from kafkalog_source.errors import KafkaLogError, OptionError
from kafkalog_source.format import CODEC_NAMES, V2_HEADER_SIZE, Codec
from kafkalog_source.reading.scan import scan
from kafkalog_source.segment.source import LocalFile

if TYPE_CHECKING:
    import os

DEFAULT_LEVELS: dict[str, tuple[int | None, ...]] = {
    "gzip": (1, 6, 9),
    "snappy": (None,),
    "lz4": (3, 9, 17),
    "zstd": (1, 3, 9, 19),
}
"""Kafka's own defaults (gzip 6, lz4 9, zstd 3) and levels below and above them."""

_COLUMNS = ("topic", "file", "batchPosition", "batchSize", "magic", "compression", "isControl", "recordCount")
_SNAPPY_BLOCK, _SNAPPY_OVERHEAD = 32 << 10, 16
_LZ4_DEFAULT_LEVEL = 9
_LZ4_FRAME: dict[str, Any] = {"block_size": lz4.frame.BLOCKSIZE_MAX64KB, "block_linked": False, "store_size": False}
_SCHEMA = pa.schema(
    {
        "topic": pa.string(),
        "codec": pa.string(),
        "level": pa.int32(),
        "batches": pa.int64(),
        "storedBytes": pa.int64(),
        "plainBytes": pa.int64(),
        "compressedBytes": pa.int64(),
        "compressMs": pa.float64(),
    }
)


def compare_codecs(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    batches: int = 100,
    levels: Mapping[str, Sequence[int | None]] | None = None,
    **options: Any,
) -> pa.Table:
    """Compress a sample of the batches of each topic again, with each codec and level.

    A producer compresses batch by batch, so the batches stay as they are: only their payloads are compressed again, in
    the blocks and frames that Kafka's own producer writes. Batches of record format 2 are taken, without control
    batches, evenly spaced over all that are read.

    Parameters
    ----------
    path : str, path or sequence of these
        As for `scan`.
    batches : int
        The most batches to take of each topic.
    levels : mapping of str to sequence of int or None, optional
        The levels to try, by codec: ``gzip``, ``snappy``, ``lz4`` or ``zstd``. They are the numbers of Kafka's configs,
        such as ``compression.zstd.level``; None is Kafka's default. By default Kafka's default levels and some below
        and above.
    **options
        As for `scan` with ``view="batches"``.

    Returns
    -------
    pyarrow.Table
        A row for each topic, codec and level, in this order: ``topic``, ``codec``, ``level`` (null for Kafka's
        default), ``batches`` (how many were taken), their sizes in bytes with their headers, as ``storedBytes`` (on
        disk), ``plainBytes`` (without compression) and ``compressedBytes`` (with this codec), and ``compressMs``, the
        milliseconds of processor time that compressing took.

    Raises
    ------
    OptionError
        If a codec, its level, the number of batches or an option is invalid.
    KafkaLogError
        If a batch cannot be read.
    """
    if batches < 1:
        raise OptionError("batches has to be at least 1", found=batches)
    wanted = [(name, level, _compressor(name, level)) for name, level in _levels(levels or DEFAULT_LEVELS)]
    headers = scan(path, columns=_COLUMNS, view="batches", **options).to_table()
    rows: list[tuple[Any, ...]] = []
    for topic, sample in _samples(headers, batches):
        plain = overhead = V2_HEADER_SIZE * len(sample)
        sizes, times = [overhead] * len(wanted), [0.0] * len(wanted)
        for payload in _payloads(sample):
            plain += len(payload)
            for at, (_, _, compress) in enumerate(wanted):
                began = time.thread_time()
                sizes[at] += compress(payload)
                times[at] += (time.thread_time() - began) * 1000
        stored = sum(each["batchSize"] for each in sample)
        totals = (len(sample), stored, plain)
        rows += [(topic, *wanted[at][:2], *totals, sizes[at], times[at]) for at in range(len(wanted))]
    return pa.Table.from_pylist([dict(zip(_SCHEMA.names, row, strict=True)) for row in rows], schema=_SCHEMA)


def _levels(levels: Mapping[str, Sequence[int | None]]) -> Iterator[tuple[str, int | None]]:
    for name, numbers in levels.items():
        if name not in CODEC_NAMES[1:]:
            raise OptionError("this codec does not exist", found=repr(name), expected=", ".join(CODEC_NAMES[1:]))
        for level in numbers:
            yield name, level


def _samples(headers: pa.Table, most: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Give evenly spaced batches of each topic."""
    data = pc.and_(pc.equal(headers["magic"], 2), pc.invert(headers["isControl"]))
    headers = headers.filter(pc.and_(data, pc.greater(headers["recordCount"], 0)))
    for topic in sorted(set(headers["topic"].to_pylist()), key=str):
        # A segment outside of a partition directory has no topic.
        same = pc.is_null(headers["topic"]) if topic is None else pc.equal(headers["topic"], topic)
        rows = headers.filter(same)
        count = min(most, rows.num_rows)
        yield topic, rows.take([number * rows.num_rows // count for number in range(count)]).to_pylist()


def _payloads(sample: Sequence[dict[str, Any]]) -> Iterator[bytes]:
    decompressor = Decompressor(DEFAULT_LIMIT)
    for each in sample:
        source = LocalFile(each["file"])
        try:
            stored = source.read(each["batchPosition"] + V2_HEADER_SIZE, each["batchSize"] - V2_HEADER_SIZE)
        finally:
            source.close()
        codec = CODEC_NAMES.index(each["compression"])
        try:
            yield bytes(decompressor(codec, 2, view_of(stored))) if codec != Codec.NONE else stored
        except KafkaLogError as error:
            raise error.at(each["file"], each["batchPosition"]) from error


def _compressor(name: str, level: int | None) -> Callable[[bytes], int]:
    """Return what gives the size of a payload that Kafka's producer would write."""
    low, high, default = _RANGES[name]
    number = default if level is None else level
    if not low <= number <= high:
        raise OptionError(f"this level of {name} does not exist", found=number, expected=f"{low} to {high}")
    if name == "gzip":
        return lambda payload: len(gzip.compress(payload, number))
    if name == "zstd":
        packer = zstandard.ZstdCompressor(level=number, write_content_size=False)
        return lambda payload: len(packer.compress(payload))
    if name == "snappy":
        return _snappy_size
    # For its default level, Kafka takes the fast compressor, which is 0 here.
    number = 0 if number == _LZ4_DEFAULT_LEVEL else number
    return lambda payload: len(lz4.frame.compress(payload, compression_level=number, **_LZ4_FRAME))


_RANGES = {"gzip": (1, 9, 6), "snappy": (0, 0, 0), "lz4": (1, 17, _LZ4_DEFAULT_LEVEL), "zstd": (-131072, 22, 3)}
"""The lowest and the highest level, and Kafka's default."""


def _snappy_size(payload: bytes) -> int:
    whole = memoryview(payload)
    pieces = (whole[at : at + _SNAPPY_BLOCK] for at in range(0, len(payload), _SNAPPY_BLOCK))
    return _SNAPPY_OVERHEAD + sum(4 + len(cramjam.snappy.compress_raw(piece)) for piece in pieces)
