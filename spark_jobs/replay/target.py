"""The target cluster of a replay: client settings, topics, and Spark's Kafka connector."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafkalog_source.errors import printable
from spark_jobs.common.config import ConfigError
from spark_jobs.common.run import JobError
from spark_jobs.common.sink import has_class

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["TargetTopic", "check_connector", "check_settings", "read_target", "target_topics", "write_target"]

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_PROVIDER = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
_SECONDS = 60

# Without these, a retry could repeat or reorder records.
_IN_ORDER = {"enable.idempotence": ("true",), "acks": ("all", "-1")}
_REFUSED = {
    "transactional.id": "Spark's sink writes without transactions",
    "key.serializer": "keys are written as bytes",
    "value.serializer": "values are written as bytes",
}


@dataclass(frozen=True)
class TargetTopic:
    """A topic on the target cluster.

    Attributes
    ----------
    partitions : int
        Number of partitions.
    is_empty : bool
        Whether all partitions are empty.
    """

    partitions: int
    is_empty: bool


def check_settings(settings: Mapping[str, str]) -> None:
    """Reject client settings with which records could be lost or reordered.

    Raises
    ------
    ConfigError
        With the name of the setting; not with its value, which may be a secret.
    """
    if not settings.get("bootstrap.servers"):
        raise ConfigError("no broker: give --bootstrap-servers, or set kafka.bootstrap.servers in the config file")
    for name, reason in _REFUSED.items():
        if name in settings:
            raise ConfigError(f"kafka.{name} cannot be given: {reason}")
    for name, good in _IN_ORDER.items():
        if settings.get(name, good[0]).lower() not in good:
            raise ConfigError(f"kafka.{name} must be {good[0]}: otherwise records may be reordered or lost")


def check_topic(name: str) -> None:
    """Reject an invalid topic name."""
    if _TOPIC.fullmatch(name) is None or name in (".", ".."):
        raise ConfigError(f"{printable(name)!r} is not a valid topic name; in the config, quote names with dots")


def check_connector(spark: SparkSession) -> None:
    """Check that Spark's Kafka connector is present; it is not part of pyspark.

    Raises
    ------
    ConfigError
        With what to add.
    """
    if not has_class(spark, _PROVIDER):
        package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{spark.version}"
        raise ConfigError(
            f"Spark's Kafka connector is missing; add it with spark-submit --packages {package},"
            " or with spark.jars.packages if Spark is started otherwise"
        )


def target_topics(spark: SparkSession, settings: Mapping[str, str], names: Sequence[str]) -> dict[str, TargetTopic]:
    """Look up topics on the brokers; one that does not exist is omitted.

    Raises
    ------
    JobError
        If the brokers cannot be reached or reject the request.
    """
    from py4j.protocol import Py4JJavaError

    jvm: Any = spark.sparkContext._jvm
    properties = jvm.java.util.Properties()
    for name, value in settings.items():
        properties.setProperty(name, value)
    try:
        admin = jvm.org.apache.kafka.clients.admin.Admin.create(properties)
        try:
            counts = _partition_counts(jvm, admin, names)
            return {name: TargetTopic(count, _is_empty(jvm, admin, name, count)) for name, count in counts.items()}
        finally:
            admin.close()
    except Py4JJavaError as error:
        raise JobError(f"the brokers at {settings['bootstrap.servers']} cannot be queried: {_reason(error)}") from error


def _partition_counts(jvm: Any, admin: Any, names: Sequence[str]) -> dict[str, int]:
    from py4j.protocol import Py4JJavaError

    wanted = jvm.java.util.ArrayList()
    for name in names:
        wanted.add(name)
    counts = {}
    answers = admin.describeTopics(wanted).topicNameValues()
    for name in names:
        try:
            counts[name] = answers[name].get(_SECONDS, jvm.java.util.concurrent.TimeUnit.SECONDS).partitions().size()
        except Py4JJavaError as error:
            if "UnknownTopicOrPartitionException" not in _reason(error):
                raise
    return counts


def _is_empty(jvm: Any, admin: Any, name: str, partitions: int) -> bool:
    """Return whether the first and the last offset of each partition are equal."""
    kinds = jvm.org.apache.kafka.clients.admin.OffsetSpec
    return _offsets(jvm, admin, name, partitions, kinds.earliest()) == _offsets(
        jvm, admin, name, partitions, kinds.latest()
    )


def _offsets(jvm: Any, admin: Any, name: str, partitions: int, kind: Any) -> list[int]:
    places = [jvm.org.apache.kafka.common.TopicPartition(name, number) for number in range(partitions)]
    wanted = jvm.java.util.HashMap()
    for place in places:
        wanted.put(place, kind)
    answers = admin.listOffsets(wanted)
    seconds = jvm.java.util.concurrent.TimeUnit.SECONDS
    return [int(answers.partitionResult(place).get(_SECONDS, seconds).offset()) for place in places]


def _reason(error: Any) -> str:
    """Return the cause of a Java exception, without its stack trace."""
    raised = error.java_exception
    return printable(str((raised.getCause() or raised).toString()))


def read_target(spark: SparkSession, settings: Mapping[str, str], names: Sequence[str]) -> DataFrame:
    """Read all records of topics with Spark's Kafka source."""
    reader = spark.read.format("kafka").options(**_spark_options(settings))
    reader = reader.option("subscribe", ",".join(names)).option("includeHeaders", "true")
    return reader.option("startingOffsets", "earliest").option("endingOffsets", "latest").load()


def write_target(frame: DataFrame, settings: Mapping[str, str]) -> None:
    """Write rows of key, value, headers, topic and partition with Spark's Kafka sink."""
    in_order = {name: good[0] for name, good in _IN_ORDER.items()}
    frame.write.format("kafka").options(**_spark_options({**in_order, **settings})).save()


def _spark_options(settings: Mapping[str, str]) -> dict[str, str]:
    return {f"kafka.{name}": value for name, value in settings.items()}
