"""Batch queries of the data source: planned once on the driver, decoded split by split in the tasks."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, InputPartition

from kafkalog_source.errors import OptionError
from kafkalog_source.spark.address_space import give_large_blocks_back
from kafkalog_source.spark.own_errors import OwnErrorsOnly

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

    from kafkalog_source.options.read_options import ReadOptions

__all__ = ["KafkaLogReader"]

_log = logging.getLogger("kafkalog")


class KafkaLogReader(DataSourceReader):
    """Reader of one batch query. Holds plain data only, because Spark sends a copy to every task.

    Parameters
    ----------
    options : ReadOptions
    columns : tuple of str
        The columns to build, in the order of the schema.
    schema : StructType
        The schema of the query: names as the user spelled them, some columns perhaps ``NOT NULL``.
    """

    def __init__(self, options: ReadOptions, columns: tuple[str, ...], schema: StructType) -> None:
        self.options = options
        self.columns = columns
        self.names = tuple(schema.names)
        self.required = tuple(field.name for field in schema.fields if not field.nullable)

    def partitions(self) -> list[InputPartition]:
        """Plan the read on the driver: one Spark partition for each split."""
        from kafkalog_source.planning.plan import plan_read

        with OwnErrorsOnly():
            plan = plan_read(self.options)
        for warning in plan.report.warnings:
            _log.warning("kafkalog: %s", warning)
        return [InputPartition(split) for split in plan.splits]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Decode one split. If there is none, Spark passes a partition of None, which has no rows."""
        if partition.value is None:
            return
        give_large_blocks_back()
        with OwnErrorsOnly(partition.value):
            from kafkalog_source.reading.read import read_split

            for arrow_batch in read_split(partition.value, self.options, self.columns):
                renamed = _renamed(arrow_batch, self.names) if self.names != self.columns else arrow_batch
                yield _with_required(renamed, self.required) if self.required else renamed


def _renamed(arrow_batch: pa.RecordBatch, names: tuple[str, ...]) -> pa.RecordBatch:
    """Rename the columns as the user spelled them."""
    schema = arrow_batch.schema
    for index, name in enumerate(names):
        schema = schema.set(index, schema.field(index).with_name(name))
    return type(arrow_batch).from_arrays(arrow_batch.columns, schema=schema)


def _with_required(arrow_batch: pa.RecordBatch, required: tuple[str, ...]) -> pa.RecordBatch:
    """Mark columns as NOT NULL, as Spark expects of such a schema, after checking that they hold no null."""
    schema = arrow_batch.schema
    for name in required:
        index = schema.get_field_index(name)
        if arrow_batch.column(index).null_count:
            raise OptionError(
                f"column {name} is NOT NULL in the schema, but a record has a null there",
                remedy="Remove NOT NULL from the schema",
            )
        schema = schema.set(index, schema.field(index).with_nullable(False))
    return type(arrow_batch).from_arrays(arrow_batch.columns, schema=schema)
