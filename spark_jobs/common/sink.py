"""The output of a job: Parquet files, a Delta table or an Iceberg table; writing is idempotent.

Delta and Iceberg are not part of Spark. If they are missing, `check_sink` says in one
line what to add, before anything is read.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from spark_jobs.common.config import ConfigError, refuse_output_over_input
from spark_jobs.common.run import JobError, with_given
from spark_jobs.common.session import set_for_now

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, DataFrameWriterV2, SparkSession

__all__ = [
    "MICRO_BATCH",
    "Compression",
    "Format",
    "JobOutput",
    "WhenExists",
    "add_output_flags",
    "append_once",
    "check_sink",
    "has_class",
    "iceberg_table",
    "output_with_flags",
    "read_sink",
    "sink_settings",
    "write_sink",
]

Format = Literal["parquet", "delta", "iceberg"]
WhenExists = Literal["replace-partitions", "replace-all", "fail"]
Compression = Literal["zstd", "snappy", "lz4", "gzip", "none"]

MICRO_BATCH = "micro_batch"
"""The partition column that separates the micro-batches of a stream in plain Parquet."""

# Settings of a new session for Delta tables.
_DELTA_SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}

# A class that shows whether a package is present, and the package as --packages takes it.
_MARKERS = {
    "delta": "io.delta.sql.DeltaSparkSessionExtension",
    "iceberg": "org.apache.iceberg.spark.SparkCatalog",
}
_PACKAGES = {
    "delta": "io.delta:delta-spark_{spark}_2.13:VERSION",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-{spark}_2.13:VERSION",
}


@dataclass(frozen=True)
class JobOutput:
    """Where rows are written: the keys that every table ``[output]`` has.

    Attributes
    ----------
    format : str
        ``parquet``, ``delta`` or ``iceberg``.
    path : str
        The directory of Parquet or Delta.
    table : str
        The name of an Iceberg table, in a catalog that Spark's configuration names.
    when_exists : str
        What happens to existing rows.
    compression : str
        Codec of the Parquet files, which all three formats use.
    max_records_per_file : int
        Limit for one file; 0 for none.
    target_file_bytes : int
        Approximate size of a file, measured as shuffle bytes; 0 leaves it to the splits.
    """

    format: Format = "parquet"
    path: str = ""
    table: str = ""
    when_exists: WhenExists = "replace-partitions"
    compression: Compression = "zstd"
    max_records_per_file: int = 0
    target_file_bytes: int = 0

    @property
    def place(self) -> str:
        """The path or the table, for display."""
        return self.table if self.format == "iceberg" else self.path


O = TypeVar("O", bound=JobOutput)  # noqa: E741


def add_output_flags(parser: argparse.ArgumentParser) -> None:
    """Add a flag for each key of `JobOutput`."""
    add = parser.add_argument
    add("--output", metavar="DIR", help="output directory of Parquet or Delta")
    add("--table", metavar="NAME", help="output table of Iceberg: catalog.namespace.table")
    add("--format", choices=get_args(Format), help="output format")
    add("--when-exists", choices=get_args(WhenExists), help="what to do with existing rows")
    add("--compression", choices=get_args(Compression), help="codec of the Parquet files")
    add("--max-records-per-file", type=int, metavar="N", help="limit for one file; 0 for none")
    add(
        "--target-file-bytes",
        type=int,
        metavar="N",
        help="approximate size of a file; 0 leaves it to the splits",
    )


def output_with_flags(output: O, flags: argparse.Namespace, inputs: Sequence[str]) -> O:
    """Apply the flags on top of the config file, and check the result.

    Raises
    ------
    ConfigError
        If there is no output, it lies in an input, or a number is negative.
    """
    output = with_given(
        output,
        path=flags.output,
        table=flags.table,
        format=flags.format,
        when_exists=flags.when_exists,
        compression=flags.compression,
        max_records_per_file=flags.max_records_per_file,
        target_file_bytes=flags.target_file_bytes,
    )
    _check_place(output)
    if output.max_records_per_file < 0 or output.target_file_bytes < 0:
        raise ConfigError("max_records_per_file and target_file_bytes must not be negative")
    if output.path:
        refuse_output_over_input(inputs, output.path)
    return output


def _check_place(output: JobOutput) -> None:
    if output.format == "iceberg":
        if not output.table:
            raise ConfigError("no output: format iceberg needs --table, or output.table in the config file")
        if output.path:
            raise ConfigError("format iceberg takes a table, not a path")
        return
    if output.table:
        raise ConfigError(f"format {output.format} takes a path, not a table")
    if not output.path:
        raise ConfigError("no output: give --output, or output.path in the config file")


def sink_settings(output: JobOutput) -> dict[str, str]:
    """Return the settings that a new session needs for this output."""
    return dict(_DELTA_SETTINGS) if output.format == "delta" else {}


def check_sink(spark: SparkSession, output: JobOutput) -> None:
    """Reject a format whose package is missing, or for which the session is not configured.

    Raises
    ------
    ConfigError
        With what to add.
    """
    if output.format not in _PACKAGES:
        return
    marker = _MARKERS[output.format]
    if not has_class(spark, marker):
        raise ConfigError(
            f"format {output.format} needs a package that is missing; add the release for this version of Spark with"
            f" spark-submit --packages {_PACKAGES[output.format].format(spark='.'.join(spark.version.split('.')[:2]))}"
        )
    if output.format == "iceberg":
        _check_catalog(spark, output.table)
    elif marker not in (spark.conf.get("spark.sql.extensions", None) or ""):
        wanted = " ".join(f"--conf {key}={value}" for key, value in _DELTA_SETTINGS.items())
        raise ConfigError(f"format delta needs a session started with {wanted}")


def has_class(spark: SparkSession, name: str) -> bool:
    """Return whether a Java class can be loaded, which shows whether its package was added."""
    from py4j.protocol import Py4JJavaError

    jvm = spark.sparkContext._jvm
    assert jvm is not None
    try:
        # The context class loader has the jars of --packages; that of Py4J itself does not.
        jvm.java.lang.Class.forName(name, False, jvm.java.lang.Thread.currentThread().getContextClassLoader())
    except Py4JJavaError:
        return False
    return True


def _check_catalog(spark: SparkSession, table: str) -> None:
    catalog = table.split(".", 1)[0]
    if spark.conf.get(f"spark.sql.catalog.{catalog}", None) is None:
        raise ConfigError(
            f"table {table} is in catalog {catalog}, which is not configured in Spark;"
            f" set spark.sql.catalog.{catalog}=org.apache.iceberg.spark.SparkCatalog and its type"
        )


def write_sink(frame: DataFrame, output: JobOutput, partition_by: Sequence[str], order_by: Sequence[str] = ()) -> None:
    """Write rows, partitioned by columns. Writing the same rows again gives the same result.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    output : JobOutput
        Where and how. With ``replace-partitions``, each partition that `frame` has rows of
        is replaced, and the others are kept.
    partition_by : sequence of str
        Columns; if empty, the whole table is one partition.
    order_by : sequence of str
        Order of rows within a file if ``target_file_bytes`` repartitions them.

    Raises
    ------
    JobError
        If the output exists, and ``when_exists`` is ``fail``.
    """
    from pyspark.errors import AnalysisException

    try:
        _write(frame, output, partition_by, order_by)
    except AnalysisException as error:
        if output.when_exists == "fail" and "ALREADY_EXISTS" in (error.getCondition() or ""):
            raise JobError(f'output {output.place} exists, and when_exists is "fail"') from error
        raise


def _write(frame: DataFrame, output: JobOutput, partition_by: Sequence[str], order_by: Sequence[str]) -> None:
    with _sized(frame, output, partition_by, order_by) as sized:
        if output.format == "iceberg":
            _write_iceberg(sized, output, partition_by)
            return
        overwrite = "dynamic" if output.when_exists == "replace-partitions" and partition_by else "static"
        writer = _with_file_options(sized.write.format(output.format), output).partitionBy(*partition_by)
        # This option takes precedence over the session's configuration.
        writer = writer.option("partitionOverwriteMode", overwrite)
        if output.format == "delta" and output.when_exists == "replace-all":
            writer = writer.option("overwriteSchema", "true")
        writer.mode("error" if output.when_exists == "fail" else "overwrite").save(output.path)


@contextmanager
def _sized(
    frame: DataFrame, output: JobOutput, partition_by: Sequence[str], order_by: Sequence[str]
) -> Iterator[DataFrame]:
    """Repartition rows by output partition, in pieces of the target file size."""
    # Iceberg does this itself, according to a table property.
    if not output.target_file_bytes or output.format == "iceberg":
        yield frame
        return
    settings = {
        # It is off in micro-batches of a stream.
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": f"{output.target_file_bytes}b",
        "spark.sql.adaptive.coalescePartitions.minPartitionSize": f"{min(output.target_file_bytes, 1 << 20)}b",
    }
    with set_for_now(frame.sparkSession, settings):
        rebalanced = frame.hint("rebalance", *partition_by)
        order = [*partition_by, *order_by]
        yield rebalanced.sortWithinPartitions(*order) if order else rebalanced


def _with_file_options(writer: DataFrameWriter, output: JobOutput) -> DataFrameWriter:
    writer = writer.option("compression", output.compression)
    if output.max_records_per_file:
        writer = writer.option("maxRecordsPerFile", output.max_records_per_file)
    return writer


def _write_iceberg(frame: DataFrame, output: JobOutput, partition_by: Sequence[str]) -> None:
    there = frame.sparkSession.catalog.tableExists(output.table)
    if output.when_exists == "replace-partitions" and there:
        frame.writeTo(output.table).overwritePartitions()
        return
    writer = iceberg_table(frame, output, partition_by, {})
    if output.when_exists == "replace-all":
        writer.createOrReplace()
    else:
        writer.create()


def iceberg_table(
    frame: DataFrame, output: JobOutput, partition_by: Sequence[str], properties: Mapping[str, str]
) -> DataFrameWriterV2:
    """Return a writer that creates an Iceberg table."""
    from pyspark.sql import functions as F

    codec = {"none": "uncompressed"}.get(output.compression, output.compression)
    properties = {**properties, "write.parquet.compression-codec": codec}
    if output.target_file_bytes:
        properties = {**properties, "write.target-file-size-bytes": str(output.target_file_bytes)}
    writer = frame.writeTo(output.table).using("iceberg")
    for name, value in properties.items():
        writer = writer.tableProperty(name, value)
    return writer.partitionedBy(*(F.col(name) for name in partition_by)) if partition_by else writer


def append_once(
    frame: DataFrame, output: JobOutput, partition_by: Sequence[str], order_by: Sequence[str], owner: str, number: int
) -> None:
    """Append a micro-batch of a stream; one that is repeated after a crash is not appended twice.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    output : JobOutput
        Where and how. Parquet has one more partition column, `MICRO_BATCH`, so that each
        micro-batch has its own directories, which are replaced as a whole.
    partition_by, order_by : sequence of str
        As for `write_sink`.
    owner : str
        Identifies the stream in all its runs.
    number : int
        Number of the micro-batch, which increases.
    """
    from pyspark.sql import functions as F

    if output.format == "parquet":
        frame = frame.withColumn(MICRO_BATCH, F.lit(number).cast("bigint"))
        write_sink(frame, output, [*partition_by, MICRO_BATCH], order_by)
    elif output.format == "delta":
        with _sized(frame, output, partition_by, order_by) as sized:
            writer = _with_file_options(sized.write.format("delta"), output).partitionBy(*partition_by)
            writer = writer.option("txnAppId", owner).option("txnVersion", number)
            writer.mode("append").save(output.path)
    elif number > _newest_in_iceberg(frame.sparkSession, output.table, owner):
        properties = {"snapshot-property.kafkalog-owner": owner, "snapshot-property.kafkalog-batch": str(number)}
        frame.writeTo(output.table).options(**properties).append()


def _newest_in_iceberg(spark: SparkSession, table: str, owner: str) -> int:
    """Return the number of the last micro-batch in the snapshots of a table, or -1."""
    from pyspark.sql import functions as F

    _fresh_iceberg(spark, table)
    snapshots = spark.table(f"{table}.snapshots").where(F.col("summary")["kafkalog-owner"] == owner)
    number = F.max(F.col("summary")["kafkalog-batch"].cast("bigint"))
    newest = snapshots.agg(number).collect()[0][0]
    return -1 if newest is None else int(newest)


def read_sink(spark: SparkSession, output: JobOutput) -> DataFrame:
    """Read the output."""
    if output.format == "iceberg":
        return _fresh_iceberg(spark, output.table)
    return spark.read.format(output.format).load(output.path)


def _fresh_iceberg(spark: SparkSession, table: str) -> DataFrame:
    """Return the current state of a table: a session caches tables, and a stream writes in a session of its own."""
    spark.sql(f"REFRESH TABLE {table}")
    return spark.table(table)
