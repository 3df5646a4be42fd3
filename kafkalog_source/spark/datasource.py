"""The data source ``kafkalog`` as Spark calls it: schema and plan on the driver, rows in the tasks.

Spark imports this module when it looks for data sources, so it imports little;
modules that read files are imported when they are first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceStreamReader
from pyspark.sql.types import StructType

from kafkalog_source.errors import KafkaLogError, OptionError
from kafkalog_source.spark.own_errors import OwnErrorsOnly

if TYPE_CHECKING:
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.spark.reader import KafkaLogReader

__all__ = ["KafkaLogDataSource"]

_GIVE_PATH = "Give a log directory: load('/path/to/kafka-logs')"
_USE_VIEW = "CREATE TEMPORARY VIEW v USING kafkalog OPTIONS (path '/path/to/kafka-logs')"
_NO_OPTIONS = "Spark does not pass the options of a table made by CREATE TABLE to a Python data source"


class KafkaLogDataSource(DataSource):
    """Kafka's log directories as rows, without a broker: ``spark.read.format("kafkalog").load(path)``.

    ``spark.readStream`` follows them as they grow. The rows are those of Spark's own Kafka source. A schema given with
    ``.schema(...)`` is the projection: other columns are never built.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name that ``format()`` takes."""
        return "kafkalog"

    def schema(self) -> StructType:
        """Return the columns of a read without a schema."""
        from kafkalog_source.spark.schema import default_schema

        with OwnErrorsOnly():
            return default_schema(self._parsed(streaming=None))

    def reader(self, schema: StructType) -> KafkaLogReader:
        """Check options and schema, and return the reader of a batch query."""
        with OwnErrorsOnly():
            options = self._parsed()
            return _rows(schema, options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Check options and schema, and return the reader of a streaming query."""
        from kafkalog_source.spark.stream import RefusedStream, stream_reader

        try:
            options = self._parsed(streaming=True)
            return stream_reader(options, _rows(schema, options))
        except KafkaLogError as error:
            return RefusedStream(error)

    def _parsed(self, *, streaming: bool | None = False) -> ReadOptions:
        from kafkalog_source.options.read_options import parse_options

        names = {name.lower() for name in self.options}
        if "owner" in names:
            # Spark passes this table property as an option.
            raise OptionError("CREATE TABLE cannot be used with kafkalog", remedy=f"{_USE_VIEW}: {_NO_OPTIONS}")
        if not names & {"path", "paths"}:
            raise OptionError("no path is given", remedy=f"{_GIVE_PATH}. In SQL: {_USE_VIEW}; {_NO_OPTIONS}")
        return parse_options(self.options, streaming=streaming)


def _rows(schema: StructType, options: ReadOptions) -> KafkaLogReader:
    from kafkalog_source.spark.reader import KafkaLogReader
    from kafkalog_source.spark.schema import projected_columns

    return KafkaLogReader(options, projected_columns(schema, options), schema)
