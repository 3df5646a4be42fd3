"""A Spark source that yields a segment's Arrow batches ready made: the floor of any Python source's time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from tests.bench.cases import SPARK_TASKS

ROW = (
    "key binary, value binary, topic string, partition int, offset long, timestamp timestamp, "
    "timestampType int, headers array<struct<key:string,value:binary>>"
)


class ReadySource(DataSource):
    """``format("ready")``: ``path`` is a partition directory, ``times`` how often a task yields it."""

    @classmethod
    def name(cls) -> str:
        return "ready"

    def schema(self) -> str:
        return ROW

    def reader(self, schema: object) -> DataSourceReader:
        return ReadyReader(self.options["path"], int(self.options["times"]))


class ReadyReader(DataSourceReader):
    """As many tasks as the session has cores; each reads the segment once and yields it again and again."""

    def __init__(self, path: str, times: int) -> None:
        self.path = path
        self.times = times

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(number) for number in range(SPARK_TASKS)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        import kafkalog_source

        ready = list(kafkalog_source.scan(self.path, threads=1).to_reader())
        for _ in range(self.times):
            yield from ready
