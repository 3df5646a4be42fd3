"""A query to be killed: what is in a growing log directory goes into a table, micro-batch by micro-batch.

``python stream_driver.py LOGS CHECKPOINT OUTPUT FORMAT (forever | to-end) JARS``; it writes ``started`` when the query
runs.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession


def main(logs: str, checkpoint: str, output: str, sink: str, how: str, jars: str) -> None:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2")
    if jars:
        builder = builder.config("spark.jars", jars)
    if sink == "delta":
        builder = builder.config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        builder = builder.config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    reader = spark.readStream.format("kafkalog").schema("topic string, partition int, offset long, value binary")
    if spark.version >= "4.2":
        reader = reader.option("maxOffsetsPerTrigger", 2000)
    writer = reader.load(logs).writeStream.format(sink).option("checkpointLocation", checkpoint)
    trigger = {"availableNow": True} if how == "to-end" else {"processingTime": "50 milliseconds"}
    # Before 4.2 a run to the end is one micro-batch, which after a kill is the one that was not finished.
    for _ in range(2 if how == "to-end" and spark.version < "4.2" else 1):
        query = writer.trigger(**trigger).start(output)  # type: ignore[arg-type]
        print("started", flush=True)
        query.awaitTermination()
    if how == "to-end":
        table = spark.read.format(sink).load(output)
        table.selectExpr("partition", "offset", "cast(value as string) value").write.mode("overwrite").parquet(
            f"{output}.rows"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
