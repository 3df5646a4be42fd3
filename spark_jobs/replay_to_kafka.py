r"""Write records of log directories to a Kafka cluster, with partition, key, value, headers and origin.

    kafkalog job replay_to_kafka --config conf/replay_to_kafka.toml
    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0 \
        spark_jobs/replay_to_kafka.py --bootstrap-servers localhost:9092 /backup/kafka-logs

The sink assigns new offsets and timestamps, so the old ones are added as headers. A
second run resumes where the first ended, after comparing what the target holds. Exit
codes: 0, 1 if the read or the write failed or the target does not fit, 2 if the config
or a flag is invalid or the connector is not installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from kafkalog_source.errors import counted, did_you_mean, printable
from spark_jobs.common.config import ConfigError, option_strings
from spark_jobs.common.input import JobInput, add_range_flags, input_with_flags
from spark_jobs.common.plan import ReadPlan, TopicPlan, print_notes, print_plan
from spark_jobs.common.reading import (
    committed_by_default,
    damaged_regions,
    hidden_by_open_transactions,
    left_out_before_errors,
    ranges_of,
    refuse_options,
)
from spark_jobs.common.run import JobError, config_file, job_parser, run_job, with_given
from spark_jobs.common.session import job_session
from spark_jobs.common.summary import print_json, size_text, table_text
from spark_jobs.replay.frame import SCHEMA, HeaderNames, extents, in_order, rows_to_write, with_milliseconds, within
from spark_jobs.replay.resume import Partitions, check_complete, check_found
from spark_jobs.replay.target import (
    TargetTopic,
    check_connector,
    check_settings,
    check_topic,
    read_target,
    target_topics,
    write_target,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Config", "Output", "main"]

WhenNotEmpty = Literal["resume", "fail", "append"]

_REFUSED = {
    "includeControlRecords": "the target cluster writes its own transaction markers",
    "includeHeaders": "headers are always replayed",
    "view": "only records can be replayed",
}
# A task that Spark retries would write its records twice.
_ONE_ATTEMPT = {"spark.task.maxFailures": "1"}


@dataclass(frozen=True)
class Output:
    """What is written, and where: the table ``[output]``."""

    topic: str = "{topic}-replay"
    when_not_empty: WhenNotEmpty = "resume"
    verify: bool = False
    tasks: int = 0


@dataclass(frozen=True)
class Config:
    """The whole config file; conf/replay_to_kafka.toml explains every key."""

    input: JobInput = field(default_factory=JobInput)
    output: Output = field(default_factory=Output)
    topics: dict[str, str] = field(default_factory=dict)
    headers: HeaderNames = field(default_factory=HeaderNames)
    kafka: dict[str, str] = field(default_factory=dict)
    spark: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Replay:
    """The work of a run, known without Spark and without a broker.

    Attributes
    ----------
    plan : ReadPlan
        What is read.
    topics : dict
        The target topic of each topic that is read.
    partitions : dict
        The partitions with something to read, by topic.
    """

    plan: ReadPlan
    topics: dict[str, str]
    partitions: dict[str, list[int]]

    @property
    def partition_count(self) -> int:
        """Partitions of all topics."""
        return sum(len(each) for each in self.partitions.values())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code. The arguments default to those of the process; see `run_job`."""
    return run_job(_parser(), _job, arguments)


def _job(flags: argparse.Namespace) -> None:
    config = _config(flags)
    replay = _replay(config)
    if flags.dry_run:
        _print_dry_run(config, replay, as_json=flags.json)
        return
    _run(config, replay, as_json=flags.json)


def _parser() -> argparse.ArgumentParser:
    parser = job_parser("replay_to_kafka", "Write records of log directories to a Kafka cluster.")
    add_range_flags(parser)
    add = parser.add_argument
    add("--bootstrap-servers", metavar="HOST:PORT", help="brokers to write to")
    add("--kafka", action="append", default=[], metavar="NAME=VALUE", help="property of the Kafka client")
    add("--topic", action="append", default=[], metavar="SOURCE=TARGET", help="target topic of a topic")
    add("--when-not-empty", choices=get_args(WhenNotEmpty), help="what to do if a target topic is not empty")
    add("--verify", action="store_true", default=None, help="read the target topics back and compare")
    add("--tasks", type=int, metavar="N", help="number of partitions written in parallel; 0 for all")
    return parser


def _config(flags: argparse.Namespace) -> Config:
    """Merge the config file and the flags, which take precedence, and check the result."""
    config = config_file(Config, flags)
    source = committed_by_default(input_with_flags(config.input, flags))
    refuse_options(source, _REFUSED)
    if source.option("mode", "").upper() == "PERMISSIVE":
        raise ConfigError("mode=PERMISSIVE returns rows for damaged regions, which are not records; use DROPMALFORMED")
    kafka = {**_dotted(config.kafka), **_pairs(flags.kafka, "--kafka")}
    if flags.bootstrap_servers:
        kafka["bootstrap.servers"] = flags.bootstrap_servers
    check_settings(kafka)
    output = with_given(config.output, when_not_empty=flags.when_not_empty, verify=flags.verify, tasks=flags.tasks)
    if output.tasks < 0:
        raise ConfigError("tasks must not be negative")
    names = [getattr(config.headers, each.name) for each in fields(HeaderNames)]
    if "" in names or len(set(names)) < len(names):
        raise ConfigError("the headers of origin need different names")
    topics = {**config.topics, **_pairs(flags.topic, "--topic")}
    return Config(source, output, topics, config.headers, kafka, config.spark)


def _pairs(pairs: Sequence[str], flag: str) -> dict[str, str]:
    for pair in pairs:
        if "=" not in pair:
            raise ConfigError(f"{flag} takes NAME=VALUE")
    return dict(pair.split("=", 1) for pair in pairs)


def _dotted(settings: Mapping[str, str]) -> dict[str, str]:
    """Flatten nested tables: TOML turns an unquoted name with a dot into a table, passed here as JSON."""
    flat: dict[str, str] = {}
    for name, value in settings.items():
        inner = json.loads(value) if value.startswith("{") and "." not in name else None
        if isinstance(inner, dict):
            below = _dotted(option_strings(inner, f"kafka.{name}"))
            flat.update({f"{name}.{key}": each for key, each in below.items()})
        else:
            flat[name] = value
    return flat


def _replay(config: Config) -> Replay:
    plan = config.input.plan()
    plan = replace(plan, warnings=(*plan.warnings, *hidden_by_open_transactions(config.input)))
    partitions: dict[str, list[int]] = {}
    for topic, number in ranges_of(config.input):
        if topic is None or number is None:
            raise ConfigError("a segment outside of any topic-partition directory has no partition to be replayed to")
        partitions.setdefault(topic, []).append(number)
    unknown = sorted(set(config.topics) - set(partitions))
    if unknown:
        question = did_you_mean(unknown[0], partitions)
        problem = f"topics names {printable(unknown[0])}, but the input holds no records of it"
        raise ConfigError(f"{problem}. {question}" if question else problem)
    topics = {topic: config.topics.get(topic, config.output.topic.replace("{topic}", topic)) for topic in partitions}
    for source, target in topics.items():
        check_topic(target)
        if sum(target == other for other in topics.values()) > 1:
            raise ConfigError(
                f"{source} and another topic would both be written to {target}; set different targets in topics"
            )
    return Replay(plan, topics, partitions)


def _print_dry_run(config: Config, replay: Replay, *, as_json: bool) -> None:
    if as_json:
        plan = replay.plan.as_dict()
        print_json({"input": list(config.input.paths), "plan": plan, "targets": replay.topics})
        return
    lines = [f"{topic} would go to {target}" for topic, target in replay.topics.items()]
    brokers = printable(config.kafka["bootstrap.servers"])
    outcome = "\n".join([*lines, f"Nothing was written, and the brokers at {brokers} were not contacted"])
    print_plan(config.input.paths, replay.plan, outcome, as_json=False)


def _run(config: Config, replay: Replay, *, as_json: bool) -> None:
    at_start = {**_ONE_ATTEMPT, **config.spark}
    with job_session("replay_to_kafka", at_start=at_start, plan=replay.plan, verb="Replaying") as spark:
        check_connector(spark)
        if spark.sparkContext.getConf().get("spark.speculation", "false") == "true":
            raise ConfigError("spark.speculation must be off: it would write records twice")
        started = time.monotonic()
        targets = target_topics(spark, config.kafka, list(replay.topics.values()))
        _check_targets(replay, targets)
        with left_out_before_errors(spark, config.input, "replay_to_kafka"):
            whole, found = _replayed(spark, config, replay, targets)
        damage = damaged_regions(spark, config.input)
    summary = _summary(config, replay, whole, found, damage, time.monotonic() - started)
    if as_json:
        print_json(summary)
    else:
        _print_summary(replay, summary)


def _replayed(
    spark: SparkSession, config: Config, replay: Replay, targets: Mapping[str, TargetTopic]
) -> tuple[Partitions, Partitions]:
    """Write the records, and verify them if configured; return what is on disk and what the targets held before."""
    records = with_milliseconds(config.input.frame(spark, SCHEMA))
    whole = extents(config.input.frame(spark, "topic string, partition int, offset long"))
    found = _found(spark, config, replay, records, whole, targets)
    _write(config, replay, records, whole, found)
    if config.output.verify and replay.topics:
        target = read_target(spark, config.kafka, list(replay.topics.values()))
        check_complete(records, target, whole, replay.topics, config.headers)
    return whole, found


def _check_targets(replay: Replay, targets: Mapping[str, TargetTopic]) -> None:
    """Reject targets that do not exist or have too few partitions, before anything is read."""
    for source, target in replay.topics.items():
        needed = max(replay.partitions[source]) + 1
        if target not in targets:
            raise JobError(
                f"topic {target}, the target of {source}, does not exist; create it: kafka-topics --create"
                f" --topic {target} --partitions {needed}"
            )
        if targets[target].partitions < needed:
            partitions = counted(targets[target].partitions, "partition")
            raise JobError(
                f"topic {target} has {partitions}, and partition {needed - 1} of {source}"
                f" has records; it needs at least {needed}"
            )


def _found(
    spark: SparkSession,
    config: Config,
    replay: Replay,
    records: DataFrame,
    whole: Partitions,
    targets: Mapping[str, TargetTopic],
) -> Partitions:
    """Return what the targets already hold of the records, according to `when_not_empty`."""
    full = {source: target for source, target in replay.topics.items() if not targets[target].is_empty}
    if not full or config.output.when_not_empty == "append":
        return {}
    if config.output.when_not_empty == "fail":
        names = ", ".join(full.values())
        raise JobError(f"not empty: {names}; set when_not_empty to resume a replay, or to append")
    target = read_target(spark, config.kafka, list(full.values()))
    within_full = {place: each for place, each in whole.items() if place[0] in full}
    return check_found(records, target, within_full, full, config.headers)


def _write(config: Config, replay: Replay, records: DataFrame, whole: Partitions, found: Partitions) -> None:
    # Up to the counted end only: a log that has grown since must not make the summary wrong.
    ranges = {
        place: (found[place].last + 1 if place in found else each.first, each.last + 1) for place, each in whole.items()
    }
    ranges = {place: (low, high) for place, (low, high) in ranges.items() if low < high}
    if ranges:
        tasks = config.output.tasks or len(ranges)
        ordered = in_order(within(records, ranges), tasks)
        write_target(rows_to_write(ordered, replay.topics, config.headers), config.kafka)


def _summary(
    config: Config, replay: Replay, whole: Partitions, found: Partitions, damage: int, seconds: float
) -> dict[str, Any]:
    topics = [_topic_summary(each, replay, whole, found) for each in replay.plan.topics]
    summed = ("partitions", "bytes", "records", "there", "written")
    totals = {name: sum(topic[name] for topic in topics) for name in summed}
    return {
        "input": list(config.input.paths),
        "brokers": config.kafka["bootstrap.servers"],
        "topics": topics,
        **totals,
        "verified": config.output.verify,
        "damage": damage,
        "warnings": list(replay.plan.warnings),
        "skipped": list(replay.plan.skipped),
        "seconds": round(seconds, 3),
    }


def _topic_summary(each: TopicPlan, replay: Replay, whole: Partitions, found: Partitions) -> dict[str, Any]:
    def count(partitions: Partitions) -> int:
        return sum(part.count for (topic, _), part in partitions.items() if topic == each.topic)

    return {
        "topic": each.topic,
        "target": replay.topics[str(each.topic)],
        "partitions": each.partitions,
        "bytes": each.bytes,
        "records": count(whole),
        "there": count(found),
        "written": count(whole) - count(found),
    }


def _print_summary(replay: Replay, summary: dict[str, Any]) -> None:
    heads = ("topic", "target", "partitions", "size", "records", "there before", "written")
    rows = [_row(printable(topic["topic"]), topic["target"], topic) for topic in summary["topics"]]
    print(table_text(heads, [*rows, _row("total", "", summary)]))
    print_notes(replay.plan)
    print(f"Damage: {summary['damage'] or 'none'}")
    verified = ", read back and compared" if summary["verified"] else ""
    print(f"Kafka: {printable(summary['brokers'])}, in {summary['seconds']:.1f} s{verified}")


def _row(name: str, target: str, counts: dict[str, Any]) -> tuple[object, ...]:
    size = size_text(counts["bytes"])
    return name, target, counts["partitions"], size, counts["records"], counts["there"], counts["written"]


if __name__ == "__main__":
    sys.exit(main())
