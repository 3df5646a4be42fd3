"""A GiB of address space for each task is enough for batches of 32 MiB; where it is not, the error says what to do."""

from __future__ import annotations

import random
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from tests.builders import Record, partition_dir
from tests.builders.compress import gzip_members, zstd_frames
from tests.spark.cluster import Cluster, SparkFailure
from tests.spark.large_logs import CODECS, MIB, large_batch, wrapper_of_one

pytestmark = [
    pytest.mark.spark,
    pytest.mark.faults,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(sys.platform != "linux", reason="address space is limited by the system"),
]
LARGEST = 32 * MIB
Values = list[bytes]
IN_ONE_TASK = {"maxPartitionBytes": "2g"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    settings = {"spark.executor.pyspark.memory": "1g", "spark.task.maxFailures": "1"}
    # Of a record with millions of headers Spark makes a row of half a GiB, in a buffer that doubles as it grows.
    settings |= {"spark.master": "local-cluster[2,1,4096]", "spark.executor.memory": "4g"}
    with Cluster(tmp_path_factory.mktemp("memory"), **settings) as started:
        yield started


def encoded(values: Values) -> list[bytes]:
    return [Record(key=None, value=value).encode(index) for index, value in enumerate(values)]


def some_values(size: int, chance: random.Random) -> Values:
    """Values of `size` bytes, which no codec makes smaller, as many as the largest batch holds."""
    return [chance.randbytes(size) for _ in range(LARGEST // (size + 20))]


def sums_of(batches: list[Values]) -> list[int]:
    values = [value for batch in batches for value in batch]
    return [len(values), sum(map(len, values)), sum(map(zlib.crc32, values))]


def write(directory: Path, batches: list[bytes]) -> Path:
    (directory / f"{0:020d}.log").write_bytes(b"".join(batches))
    return directory


def largest_window(plain: bytes) -> bytes:
    """As zstd's highest levels write it: whoever reads it keeps a window of 128 MiB."""
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=27, write_content_size=0)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return stream.compress(plain) + stream.flush()


@pytest.mark.parametrize(
    "size", [LARGEST - 100, 10 * MIB, 1000, 90], ids=["32 MiB", "10 MiB", "1000 bytes", "90 bytes"]
)
def test_batches_of_every_codec(cluster: Cluster, tmp_path: Path, size: int) -> None:
    values = some_values(size, random.Random(size)) if size < 2**24 else [random.Random(size).randbytes(size)]
    records = encoded(values)
    count = len(records)
    batches = [large_batch(number * count, records, codec) for number, codec in enumerate(CODECS)]
    batches.append(large_batch(len(batches) * count, records, "zstd", largest_window))
    batches.append(large_batch(len(batches) * count, records, "gzip", lambda plain: gzip_members(plain, members=3)))
    assert sum(map(len, records)) <= LARGEST
    cluster.plan()
    sums = cluster.sums(write(partition_dir(tmp_path), batches), **IN_ONE_TASK)
    assert sums[:3] == sums_of([values] * len(batches))
    tell_peak(cluster)


def test_v1_wrappers_of_every_codec(cluster: Cluster, tmp_path: Path) -> None:
    values = [random.Random(1).randbytes(LARGEST - 100)]
    batches = [wrapper_of_one(offset, values[0], codec) for offset, codec in enumerate(("gzip", "snappy", "lz4"))]
    cluster.plan()
    sums = cluster.sums(write(partition_dir(tmp_path), batches), **IN_ONE_TASK)
    assert sums[:3] == sums_of([values] * len(batches))
    tell_peak(cluster)


def test_as_many_headers_as_a_batch_can_hold(cluster: Cluster, tmp_path: Path) -> None:
    """Two bytes of a header with nothing in it become more than eight in Arrow: nothing grows more."""
    count = (LARGEST - 64) // 2
    record = Record(key=None, value=b"", header_count=count, extra=b"\0\1" * count).encode(0)
    batches = [large_batch(offset, [record], codec) for offset, codec in enumerate(CODECS)]
    cluster.plan()
    sums = cluster.sums(write(partition_dir(tmp_path), batches), **IN_ONE_TASK)
    assert sums == [len(batches), 0, 0, len(batches) * count]
    tell_peak(cluster)


@pytest.mark.parametrize("mode", ["FAILFAST", "DROPMALFORMED"])
def test_too_little_memory_fails_the_job_and_names_the_setting(cluster: Cluster, tmp_path: Path, mode: str) -> None:
    record = Record(key=None, value=bytes(250 * MIB)).encode(0)
    packed = zstd_frames(record)
    batches = [large_batch(offset, [record], "zstd", lambda _: packed) for offset in range(3)]
    directory = write(partition_dir(tmp_path), batches)
    cluster.plan()
    with pytest.raises(SparkFailure) as caught:
        cluster.sums(directory, mode=mode)
    told = str(caught.value)
    segment = directory / f"{0:020d}.log"
    assert f"kafkalog_source.errors.LimitError: {segment}: a Python worker ran out of memory" in told
    assert "at most 1024 MiB of address space" in told
    assert "Raise spark.executor.pyspark.memory" in told


def tell_peak(cluster: Cluster) -> None:
    events = cluster.events()
    assert [event["what"] for event in events] == ["start", "end"]
    print(f"address space: {events[0]['VmSize'] // 1024} MiB before, {events[-1]['VmPeak'] // 1024} MiB at most")
