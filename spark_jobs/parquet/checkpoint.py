"""The checkpoint of incremental runs: its current offsets, and the output that it belongs to.

A checkpoint records what was written to one output; with another checkpoint that output
would get records twice. The first run therefore stores the same random id in both, and a
run with different ids is rejected.
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

__all__ = ["claim", "has_unfinished", "is_up_to_date", "owner_properties", "positions_in", "refuse_claimed"]

# Readers of Parquet and Delta ignore names that begin with an underscore.
_MARK = "_kafkalog_stream.json"

_OWNER_PROPERTY = "kafkalog.owner"


def positions_in(checkpoint: str) -> object | None:
    """Return the end offsets of the last committed micro-batch, without Spark.

    Parameters
    ----------
    checkpoint : str
        A local directory, which may be missing.

    Returns
    -------
    object or None
        Offsets as in the checkpoint; None if nothing was committed yet.
    """
    place = _local(checkpoint)
    finished = _newest(place / "commits")
    if finished is None:
        return None
    # Line by line, the file holds its version, metadata of the micro-batch, and the offsets of each source.
    lines = (place / "offsets" / str(finished)).read_text(encoding="utf-8").splitlines()
    positions: object = json.loads(lines[2])
    return positions


def is_up_to_date(checkpoint: str, output: JobOutput, shape: Mapping[str, str]) -> bool:
    """Return whether every micro-batch in a checkpoint was committed to this output, without Spark.

    Parameters
    ----------
    checkpoint : str
        The directory.
    output : JobOutput
        The output. If it is not on a local path, only the checkpoint is compared with it.
    shape : mapping
        As for `claim`.

    Returns
    -------
    bool
        False also if Spark is needed to know: it reports what does not belong together.
    """
    if "://" in checkpoint:
        return False
    place = _local(checkpoint)
    finished = _newest(place / "commits")
    known = _local_mark(place)
    if finished is None or finished != _newest(place / "offsets") or known is None:
        return False
    if any(known.get(key) != value for key, value in _wanted(output, shape).items()):
        return False
    if output.format == "iceberg" or "://" in output.path:
        return True
    mark = _local_mark(_local(output.path))
    return mark is not None and mark["owner"] == known["owner"]


def _local(path: str) -> Path:
    return Path(path.removeprefix("file:"))


def _newest(directory: Path) -> int | None:
    """Return the highest number that is the name of a file; None if there is none."""
    return max((int(path.name) for path in directory.glob("*") if path.name.isdigit()), default=None)


def _local_mark(directory: Path) -> dict[str, Any] | None:
    try:
        mark: dict[str, Any] = json.loads((directory / _MARK).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return mark


def has_unfinished(spark: SparkSession, checkpoint: str) -> bool:
    """Return whether a run ended after planning a micro-batch and before committing it."""
    planned, finished = (
        max((int(name) for name in _names(spark, f"{checkpoint}/{each}") if name.isdigit()), default=-1)
        for each in ("offsets", "commits")
    )
    return planned > finished


def claim(spark: SparkSession, checkpoint: str, output: JobOutput, shape: Mapping[str, str]) -> str:
    """Tie a checkpoint and an output together, or check that they belong together.

    Parameters
    ----------
    spark : SparkSession
        Gives access to the Hadoop file systems of both.
    checkpoint : str
        The directory.
    output : JobOutput
        The output.
    shape : mapping
        Config values that determine the columns and must not change between runs, by key.

    Returns
    -------
    str
        The id that both hold.

    Raises
    ------
    ConfigError
        If either belongs to another one, or the output holds other rows.
    """
    wanted = _wanted(output, shape)
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


def _wanted(output: JobOutput, shape: Mapping[str, str]) -> dict[str, str]:
    return {"format": output.format, "output": output.place, **shape}


def owner_properties(owner: str) -> dict[str, str]:
    """Return the properties of an Iceberg table that belongs to a checkpoint."""
    return {_OWNER_PROPERTY: owner}


def refuse_claimed(spark: SparkSession, output: JobOutput) -> None:
    """Reject a batch run into the output of incremental runs.

    Raises
    ------
    ConfigError
        If the output belongs to a checkpoint.
    """
    if _owner_of(spark, output) is not None:
        raise ConfigError(f'output {output.place} belongs to runs with mode = "incremental"; choose another')


def _refuse_used(spark: SparkSession, checkpoint: str, output: JobOutput, owner: str | None) -> None:
    """Reject a new pair of which either one is already in use."""
    if _names(spark, checkpoint):
        raise ConfigError(f"checkpoint {checkpoint} was not written by this job; choose an empty directory")
    if owner is not None:
        raise ConfigError(
            f"output {output.place} belongs to another checkpoint than {checkpoint}, which is new;"
            " all records would be written twice"
        )


def _refuse_lost(spark: SparkSession, checkpoint: str, output: JobOutput) -> None:
    """Reject an output without the id of the checkpoint, unless nothing was committed yet."""
    if _has_rows(spark, output):
        raise ConfigError(f"output {output.place} holds rows of other runs; choose an empty one")
    if "offsets" in _names(spark, checkpoint) and _names(spark, f"{checkpoint}/commits"):
        raise ConfigError(
            f"checkpoint {checkpoint} records rows that output {output.place} does not have;"
            " to start over, choose an empty checkpoint"
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
    """Write the mark atomically."""
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
    """Return the JVM, the Hadoop file system of a path, and the path."""
    context = spark.sparkContext
    jvm: Any = context._jvm
    where = jvm.org.apache.hadoop.fs.Path(path)
    return jvm, where.getFileSystem(context._jsc.hadoopConfiguration()), where
