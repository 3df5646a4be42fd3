"""Whatever a user misspells, the error suggests the nearest name that exists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

import kafkalog_source
from kafkalog_source.cli.main import main
from kafkalog_source.errors import KafkaLogError, did_you_mean, nearest
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.spark.schema import projected_columns
from spark_jobs import compacted_table, log_to_parquet, replay_to_kafka, topic_profile
from tests.builders import Batch, Record, partition_dir, write_segment

JOBS = {
    "compacted_table": compacted_table.main,
    "log_to_parquet": log_to_parquet.main,
    "replay_to_kafka": replay_to_kafka.main,
    "topic_profile": topic_profile.main,
}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A log dir with the topics orders and payments."""
    for topic in ("orders", "payments"):
        write_segment(partition_dir(tmp_path / "logs", topic, 0), [Batch([Record()])])
    return tmp_path / "logs"


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[[Callable[[list[str]], int], list[str]], str]:
    """Run a command or a job that cannot run, and return what it printed on standard error."""

    def run(entry: Callable[[list[str]], int], arguments: list[str]) -> str:
        try:
            status = entry(arguments)
        except SystemExit as left:
            status = left.code  # type: ignore[assignment]
        assert status == 2
        return capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        (["dmup", "LOGS"], "'dump'"),
        (["verfy", "LOGS"], "'verify'"),
        (["dump", "LOGS", "--colums", "offset"], "'--columns'"),
        (["dump", "LOGS", "--plac", "orders"], "'--place'"),
        (["ls", "LOGS", "--segment"], "'--segments'"),
        (["verify", "LOGS", "--thread", "2"], "'--threads'"),
        (["salvage", "LOGS", "OUT", "--topic-id", "x"], "'--topic-ids'"),
        (["dump", "LOGS", "--mode", "FAILFST"], "FAILFAST"),
        (["dump", "LOGS", "--mode", "drop-malformed"], "DROPMALFORMED"),
        (["dump", "LOGS", "--view", "batchs"], "batches"),
        (["dump", "LOGS", "--view", "consumer-offsets"], "consumer_offsets"),
        (["dump", "LOGS", "--isolation-level", "read_commited"], "read_committed"),
        (["dump", "LOGS", "-o", "kafka.isolation.level=read_comitted"], "read_committed"),
        (["dump", "LOGS", "-o", "readUpTo=highwatermrk"], "highWatermark"),
        (["dump", "LOGS", "-o", "startingOffsetsByTimestampStrategy=latst"], "latest"),
        (["dump", "LOGS", "-o", "maxdecompressedbatchbyte=1g"], "maxDecompressedBatchBytes"),
        (["dump", "LOGS", "--starting-offsets", "earlist"], "earliest"),
        (["dump", "LOGS", "--ending-timestamp", "yesteday"], "yesterday"),
        (["dump", "LOGS", "--time-zone", "Europe/Berln"], "Europe/Berlin"),
        (["dump", "LOGS", "--columns", "ofset"], "offset"),
        (["dump", "LOGS", "--columns", "ValueSize"], "valueSize"),
        (["dump", "LOGS", "--view", "batches", "--columns", "recordCont"], "recordCount"),
        (["dump", "LOGS", "--subscribe", "order"], "orders"),
        (["dump", "LOGS", "--subscribe", "order,paiments"], "orders, payments"),
        (["dump", "LOGS", "--assign", '{"Orders":[0]}'], "orders"),
        (["dump", "LOGS", "--place", "ordres:0@5.."], "orders"),
        (["ls", "LOGS", "--subscribe", "order"], "orders"),
        (["verify", "LOGS", "--subscribe", "order"], "orders"),
        (["verify", "LOGS", "--place", "orders,paymnts:0"], "payments"),
        (["verify", "LOGS", "-o", "subscribePatern=x"], "subscribePattern"),
        (["salvage", "LOGS", "OUT", "--subscribe", "order"], "orders"),
        (["salvage", "LOGS", "OUT", "--topic-ids", "order=0F8ErRbvS3aaKgTFBQzTpA"], "orders"),
    ],
)
def test_the_command_suggests(
    logs: Path,
    printed: Callable[[Callable[[list[str]], int], list[str]], str],
    arguments: list[str],
    right: str,
) -> None:
    places = {"LOGS": str(logs), "OUT": str(logs.parent / "out")}
    assert f"Did you mean {right}?" in printed(main, [places.get(each, each) for each in arguments])
    assert not (logs.parent / "out").exists()


@pytest.mark.parametrize(
    ("job", "arguments", "right"),
    [
        ("log_to_parquet", ["--outptu", "x"], "--output"),
        ("log_to_parquet", ["--compresion", "zstd"], "--compression"),
        ("log_to_parquet", ["--compression", "zstandard"], "zstd"),
        ("log_to_parquet", ["--mode", "incrementel"], "incremental"),
        ("log_to_parquet", ["--option", "subscribe=order"], "orders"),
        ("log_to_parquet", ["--option", "subscrib=orders"], "subscribe"),
        ("compacted_table", ["--as-off", "now"], "--as-of"),
        ("compacted_table", ["--as-of", "yesteday"], "yesterday"),
        ("compacted_table", ["--when-exists", "replaceall"], "replace-all"),
        ("replay_to_kafka", ["--when-not-empty", "resme"], "resume"),
        ("replay_to_kafka", ["--bootstrap-servers", "b", "--topic", "order=x"], "orders"),
        ("topic_profile", ["--depth", "header"], "headers"),
        ("compacted_table", ["--option", "places=paymets"], "payments"),
        ("topic_profile", ["--option", "isolationLevel=readcommited"], "read_committed"),
    ],
)
def test_the_jobs_suggest(
    logs: Path,
    printed: Callable[[Callable[[list[str]], int], list[str]], str],
    job: str,
    arguments: list[str],
    right: str,
) -> None:
    output = [] if job in ("replay_to_kafka", "topic_profile") else ["--output", str(logs.parent / "out")]
    text = printed(JOBS[job], [str(logs), "--dry-run", *output, *arguments])
    assert f"Did you mean {right}?" in text


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("[inptu]", "input"),
        ("[input]\npath = 'x'", "paths"),
        ("[run]\nmode = 'batsh'", "batch"),
        ("[output]\ncompresion = 'zstd'", "compression"),
        ("[output]\nformat = 'parqet'", "parquet"),
        ("[output]\npath = 'out'\n[input.options]\nsubscribe = ['order']", "orders"),
        ("[output]\npath = 'out'\n[input.options]\nmode = 'PERMISIVE'", "PERMISSIVE"),
        ("[output]\npath = 'out'\n[input.options]\nstartingTimestamp = 'yesteday'", "yesterday"),
    ],
)
def test_the_configs_of_jobs_suggest(
    logs: Path, printed: Callable[[Callable[[list[str]], int], list[str]], str], line: str, right: str
) -> None:
    config = logs.parent / "job.toml"
    config.write_text(line)
    text = printed(log_to_parquet.main, ["--config", str(config), "--dry-run", str(logs)])
    assert f"did you mean {right}?" in text.lower().replace("'", "").replace(right.lower(), right)


@pytest.mark.parametrize(
    ("schema", "right"),
    [
        (StructType([StructField("ofset", LongType())]), "offset"),
        (StructType([StructField("value_size", BinaryType())]), "valueSize"),
    ],
)
def test_a_schema_of_spark_suggests(schema: StructType, right: str) -> None:
    with pytest.raises(KafkaLogError) as caught:
        projected_columns(schema, parse_options({}, "/data"))
    assert f"Did you mean {right}?" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "right"),
    [
        ({"subscribe": "order"}, "orders"),
        ({"startingOfsets": "earliest"}, "startingOffsets"),
        ({"columns": ["offset", "partitoin"]}, "partition"),
        ({"view": "segmets"}, "segments"),
    ],
)
def test_scan_suggests(logs: Path, options: dict[str, object], right: str) -> None:
    with pytest.raises(KafkaLogError) as caught:
        kafkalog_source.scan(logs, **options).splits()  # type: ignore[arg-type]
    assert f"Did you mean {right}?" in str(caught.value)


def test_what_is_like_nothing_gets_no_suggestion(logs: Path) -> None:
    with pytest.raises(KafkaLogError) as caught:
        kafkalog_source.scan(logs, subscribe="zzz").splits()
    assert "Did you mean" not in str(caught.value)
    assert nearest("zzz", ["orders"]) is None
    assert did_you_mean("", ["orders"]) is None


def test_a_suggested_name_is_escaped() -> None:
    assert did_you_mean("order", ["orders\x1b[31m"]) == r"Did you mean orders\x1b[31m?"
