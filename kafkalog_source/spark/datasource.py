"""The data source ``kafkalog`` as Spark calls it: schema, plan on the driver, rows in the tasks.

Spark imports this module while it looks for data sources, so it imports little;
what reads files is imported where it is first needed.
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
_NO_OPTIONS = "when a table made by CREATE TABLE is read, Spark passes its options to no Python data source"


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
        from kafkalog_source.options.read_options import parse_options

        names = {name.lower() for name in self.options}
        if "owner" in names:
            # Spark puts this property of a table among the options.
            raise OptionError("CREATE TABLE cannot be used with kafkalog", remedy=f"{_USE_VIEW}: {_NO_OPTIONS}")
        if not names & {"path", "paths"}:
            raise OptionError("no path is given", remedy=f"{_GIVE_PATH}. In SQL: {_USE_VIEW}; {_NO_OPTIONS}")
        return parse_options(self.options, streaming=streaming)


def _rows(schema: StructType, options: ReadOptions) -> KafkaLogReader:
    from kafkalog_source.spark.reader import KafkaLogReader
    from kafkalog_source.spark.schema import projected_columns

    return KafkaLogReader(options, projected_columns(schema, options), schema)
