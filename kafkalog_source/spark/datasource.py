"""The data source ``kafkalog`` as Spark calls it: schema, plan on the driver, rows in the tasks.

Spark imports this module while it looks for data sources, so it imports little;
what reads files is imported where it is first needed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from kafkalog_source.errors import KafkaLogError, OptionError
from kafkalog_source.spark.address_space import give_large_blocks_back
from kafkalog_source.spark.own_errors import OwnErrorsOnly

if TYPE_CHECKING:
    import pyarrow as pa

    from kafkalog_source.reading.options import ReadOptions

__all__ = ["KafkaLogDataSource", "KafkaLogReader"]

_GIVE_PATH = "Give a log directory: load('/path/to/kafka-logs')"
_USE_VIEW = "CREATE TEMPORARY VIEW v USING kafkalog OPTIONS (path '/path/to/kafka-logs')"
_NO_OPTIONS = "when a table made by CREATE TABLE is read, Spark passes its options to no Python data source"
_log = logging.getLogger("kafkalog")


class KafkaLogDataSource(DataSource):
    """Kafka's log directories as rows, with no broker: ``spark.read.format("kafkalog").load(path)``.

    ``spark.readStream`` follows them as they grow. The rows are those of Spark's own Kafka source. A schema given with
    ``.schema(...)`` is the projection: what it does not name is never built.
    """

    @classmethod
    def name(cls) -> str:
        """Give the word that ``format()`` takes."""
        return "kafkalog"

    def schema(self) -> StructType:
        """Give the columns of a read that names none."""
        from kafkalog_source.spark.schema import default_schema

        with OwnErrorsOnly():
            return default_schema(self._parsed(streaming=None))

    def reader(self, schema: StructType) -> KafkaLogReader:
        """Check options and schema, and give what plans and reads."""
        with OwnErrorsOnly():
            options = self._parsed()
            return _rows(schema, options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Check options and schema, and give what follows a log that grows."""
        from kafkalog_source.spark.stream import RefusedStream, stream_reader

        try:
            options = self._parsed(streaming=True)
            return stream_reader(options, _rows(schema, options))
        except KafkaLogError as error:
            return RefusedStream(error)

    def _parsed(self, *, streaming: bool | None = False) -> ReadOptions:
        from kafkalog_source.reading.options import parse_options

        names = {name.lower() for name in self.options}
        if "owner" in names:
            # Spark puts this property of a table among the options.
            raise OptionError("CREATE TABLE cannot be used with kafkalog", remedy=f"{_USE_VIEW}: {_NO_OPTIONS}")
        if not names & {"path", "paths"}:
            raise OptionError("no path is given", remedy=f"{_GIVE_PATH}. In SQL: {_USE_VIEW}; {_NO_OPTIONS}")
        return parse_options(self.options, streaming=streaming)


def _rows(schema: StructType, options: ReadOptions) -> KafkaLogReader:
    from kafkalog_source.spark.schema import projected_columns

    return KafkaLogReader(options, projected_columns(schema, options), schema)


class KafkaLogReader(DataSourceReader):
    """One batch read. Plain data, since Spark carries a copy to every task.

    Parameters
    ----------
    options : ReadOptions
        What was asked for.
    columns : tuple of str
        What to build, in the order of the rows.
    schema : StructType
        The columns as Spark knows them: spelled as the user did, and some perhaps ``NOT NULL``.
    """

    def __init__(self, options: ReadOptions, columns: tuple[str, ...], schema: StructType) -> None:
        self.options = options
        self.columns = columns
        self.names = tuple(schema.names)
        self.required = tuple(field.name for field in schema.fields if not field.nullable)

    def partitions(self) -> list[InputPartition]:
        """Plan the read, once, on the driver: one partition of Spark's for each split."""
        from kafkalog_source.reading.plan import plan_read

        with OwnErrorsOnly():
            plan = plan_read(self.options)
        for warning in plan.report.warnings:
            _log.warning("kafkalog: %s", warning)
        return [InputPartition(split) for split in plan.splits]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Decode one split. Spark makes a partition of None when there is none, and it has no rows."""
        if partition.value is None:
            return
        give_large_blocks_back()
        with OwnErrorsOnly(partition.value):
            from kafkalog_source.reading.read import read_split

            for arrow_batch in read_split(partition.value, self.options, self.columns):
                renamed = _renamed(arrow_batch, self.names) if self.names != self.columns else arrow_batch
                yield _with_required(renamed, self.required) if self.required else renamed


def _renamed(arrow_batch: pa.RecordBatch, names: tuple[str, ...]) -> pa.RecordBatch:
    """Spell the columns as the user did."""
    schema = arrow_batch.schema
    for index, name in enumerate(names):
        schema = schema.set(index, schema.field(index).with_name(name))
    return type(arrow_batch).from_arrays(arrow_batch.columns, schema=schema)


def _with_required(arrow_batch: pa.RecordBatch, required: tuple[str, ...]) -> pa.RecordBatch:
    """Mark columns as without nulls, which Spark demands of a schema that says so, after making sure."""
    schema = arrow_batch.schema
    for name in required:
        index = schema.get_field_index(name)
        if arrow_batch.column(index).null_count:
            raise OptionError(
                f"the schema says {name} is NOT NULL, and a record has null there",
                remedy="Leave NOT NULL out of the schema",
            )
        schema = schema.set(index, schema.field(index).with_nullable(False))
    return type(arrow_batch).from_arrays(arrow_batch.columns, schema=schema)
