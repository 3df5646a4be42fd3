"""The checkpoint of a job that reads what is new: where it stands, and which output it belongs to.

A checkpoint tells what was written, so it is worth nothing with another output, and
an output would get records twice from another checkpoint. Both therefore hold the
same name, made up when they first meet, and a run in which they differ is refused.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_jobs.common.config import ConfigError
from spark_jobs.common.sink import JobOutput

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["claim", "has_unfinished", "owner_properties", "positions_in", "refuse_claimed"]

# Its name begins with an underscore, so readers of Parquet and Delta pass it by.
_MARK = "_kafkalog_stream.json"

_OWNER_PROPERTY = "kafkalog.owner"


def positions_in(checkpoint: str) -> object | None:
    """Look up the offsets behind the last micro-batch that was finished, without Spark.

    Parameters
    ----------
    checkpoint : str
        A local directory, which may be missing.

    Returns
    -------
    object or None
        Offsets as the checkpoint holds them; None if nothing was finished yet.
    """
    place = Path(checkpoint.removeprefix("file:"))
    finished = [int(path.name) for path in (place / "commits").glob("*") if path.name.isdigit()]
    if not finished:
        return None
    # The file holds its version, facts about the micro-batch, and the offsets of each source.
    lines = (place / "offsets" / str(max(finished))).read_text(encoding="utf-8").splitlines()
    positions: object = json.loads(lines[2])
    return positions


def has_unfinished(spark: SparkSession, checkpoint: str) -> bool:
    """Tell whether a run ended between planning a micro-batch and noting that it was written."""
    planned, finished = (
        max((int(name) for name in _names(spark, f"{checkpoint}/{each}") if name.isdigit()), default=-1)
        for each in ("offsets", "commits")
    )
    return planned > finished


def claim(spark: SparkSession, checkpoint: str, output: JobOutput, shape: Mapping[str, str]) -> str:
    """Tie a checkpoint and an output together, or see that they are.

    Parameters
    ----------
    spark : SparkSession
        Its Hadoop file systems hold both.
    checkpoint : str
        The directory.
    output : JobOutput
        The output.
    shape : mapping
        What must stay as it is for all rows to have the same columns, by the key of the config.

    Returns
    -------
    str
        The name that both hold, by which the output knows the checkpoint again.

    Raises
    ------
    ConfigError
        If one of them belongs to another, or the output holds rows of no checkpoint.
    """
    wanted = {"format": output.format, "output": output.place, **shape}
    known = _read_mark(spark, checkpoint)
    owner = _owner_of(spark, output)
    if known is None:
        _refuse_used(spark, checkpoint, output, owner)
        known = {"owner": str(uuid.uuid4()), **wanted}
        _write_mark(spark, checkpoint, known)
    for key, value in wanted.items():
        if known.get(key) != value:
            raise ConfigError(f"checkpoint {checkpoint} belongs to {key} {known.get(key)}, not {value}; use another")
    if owner is None:
        _refuse_lost(spark, checkpoint, output)
        if output.format != "iceberg":
            _write_mark(spark, output.path, {"owner": known["owner"], "checkpoint": checkpoint})
    elif owner != known["owner"]:
        raise ConfigError(f"output {output.place} belongs to another checkpoint than {checkpoint}")
    return str(known["owner"])


def owner_properties(owner: str) -> dict[str, str]:
    """Give the properties of an Iceberg table that belongs to a checkpoint."""
    return {_OWNER_PROPERTY: owner}


def refuse_claimed(spark: SparkSession, output: JobOutput) -> None:
    """Refuse to write over what a stream writes into.

    Raises
    ------
    ConfigError
        If the output belongs to a checkpoint.
    """
    if _owner_of(spark, output) is not None:
        raise ConfigError(f'output {output.place} belongs to runs with mode = "incremental"; choose another')


def _refuse_used(spark: SparkSession, checkpoint: str, output: JobOutput, owner: str | None) -> None:
    """Refuse a first meeting where one of the two is not new."""
    if _names(spark, checkpoint):
        raise ConfigError(f"checkpoint {checkpoint} was made by something else; choose an empty one")
    if owner is not None:
        raise ConfigError(
            f"output {output.place} belongs to another checkpoint than {checkpoint}, which is new;"
            " all records would be there twice"
        )


def _refuse_lost(spark: SparkSession, checkpoint: str, output: JobOutput) -> None:
    """Refuse an output that does not know the checkpoint, unless both are before their first micro-batch."""
    if _has_rows(spark, output):
        raise ConfigError(f"output {output.place} holds rows of other runs; choose an empty one")
    if "offsets" in _names(spark, checkpoint) and _names(spark, f"{checkpoint}/commits"):
        raise ConfigError(
            f"checkpoint {checkpoint} tells of rows that output {output.place} does not have;"
            " to start anew choose an empty checkpoint"
        )


def _owner_of(spark: SparkSession, output: JobOutput) -> str | None:
    if output.format != "iceberg":
        mark = _read_mark(spark, output.path)
        return None if mark is None else str(mark["owner"])
    if not spark.catalog.tableExists(output.table):
        return None
    rows = spark.sql(f"SHOW TBLPROPERTIES {output.table}").collect()
    return next((row["value"] for row in rows if row["key"] == _OWNER_PROPERTY), None)


def _has_rows(spark: SparkSession, output: JobOutput) -> bool:
    if output.format == "iceberg":
        return spark.catalog.tableExists(output.table)
    return bool(_names(spark, output.path))


def _read_mark(spark: SparkSession, directory: str) -> dict[str, Any] | None:
    jvm, system, path = _hadoop(spark, f"{directory}/{_MARK}")
    if not system.exists(path):
        return None
    stream = system.open(path)
    try:
        mark: dict[str, Any] = json.loads(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
    finally:
        stream.close()
    return mark


def _write_mark(spark: SparkSession, directory: str, mark: Mapping[str, str]) -> None:
    """Write a mark so that it is there as a whole or not at all."""
    jvm, system, path = _hadoop(spark, f"{directory}/{_MARK}")
    unfinished = jvm.org.apache.hadoop.fs.Path(f"{directory}/{_MARK}.{uuid.uuid4()}")
    stream = system.create(unfinished)
    try:
        stream.write(bytearray(json.dumps(mark, indent=2).encode()))
    finally:
        stream.close()
    system.rename(unfinished, path)


def _names(spark: SparkSession, directory: str) -> set[str]:
    _, system, path = _hadoop(spark, directory)
    return {each.getPath().getName() for each in system.listStatus(path)} if system.exists(path) else set()


def _hadoop(spark: SparkSession, path: str) -> tuple[Any, Any, Any]:
    """Give the JVM, and a path with the file system that it is on: it need not be a local one."""
    context = spark.sparkContext
    jvm: Any = context._jvm
    where = jvm.org.apache.hadoop.fs.Path(path)
    return jvm, where.getFileSystem(context._jsc.hadoopConfiguration()), where
