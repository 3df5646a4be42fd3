"""A client of Spark Connect with a server of its own on the loopback; prints what it read as JSON.

Run by ``test_connect.py`` in a process of its own: a process has either a session of Connect or a classic one.

    python connect_driver.py PARTITION CHECKPOINT
"""

from __future__ import annotations

import json
import socket
import sys
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.connect.client import DefaultChannelBuilder


def main(partition: str, checkpoint: str) -> dict[str, Any]:
    port = free_port()
    # A client of a local server looks for it at Spark's own port, which another server may have.
    DefaultChannelBuilder.default_port = staticmethod(lambda: port)
    spark = (
        SparkSession.builder.remote("local[2]")
        .config("spark.connect.grpc.binding.address", "127.0.0.1")
        .config("spark.connect.grpc.binding.port", str(port))
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )
    try:
        return {"session": type(spark).__module__, **read(spark, partition, checkpoint)}
    finally:
        spark.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def read(spark: SparkSession, partition: str, checkpoint: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    loaded = spark.read.format("kafkalog").load(partition)
    found["columns"] = loaded.columns
    found["load"] = offsets(loaded)
    ranged = spark.read.format("kafkalog").option("startingOffsets", '{"v2-none":{"0":300}}')
    found["options"] = offsets(ranged.option("endingOffsets", '{"v2-none":{"0":305}}').load(partition))
    typed = spark.read.format("kafkalog").schema("OFFSET long, value binary").load(partition)
    found["schema"] = typed.columns
    spark.sql(f"CREATE TEMPORARY VIEW v USING kafkalog OPTIONS (path '{partition}')")
    found["view"] = [row[0] for row in spark.sql("SELECT offset FROM v ORDER BY offset").collect()]
    stream = spark.readStream.format("kafkalog").load(partition)
    writer = stream.writeStream.format("memory").queryName("streamed").option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination(120)
    found["stream"] = offsets(spark.table("streamed"))
    return found


def offsets(frame: Any) -> list[int]:
    return sorted(row["offset"] for row in frame.select("offset").collect())


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
