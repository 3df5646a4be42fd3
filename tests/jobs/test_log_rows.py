"""What log_to_parquet makes of records: decoded values, and headers as a map."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest

from spark_jobs.common.config import ConfigError
from spark_jobs.log_to_parquet import main
from spark_jobs.parquet.decode import Decode, check_decode, decoded_value
from tests.builders import Batch, Header, Record, partition_dir, write_segment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

on_spark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]
on_active_spark = [*on_spark, pytest.mark.usefixtures("job_spark")]

COLUMNS = "id bigint, name string"
GOOD: list[tuple[bytes | None, dict[str, Any] | None]] = [
    (b'{"id": 1, "name": "a"}', {"id": 1, "name": "a"}),
    (b' {"id": 2, "more": [1]}', {"id": 2, "name": None}),
    (b"{}", {"id": None, "name": None}),
    (None, None),
]
BAD = [b"", b"7", b"null", b"no json", b'{"id": 1', b'{"id": "x"}', b'[{"id": 1}, {"id": 2}]', b"\xff\xfe"]


@pytest.mark.parametrize(
    ("decode", "message"),
    [
        (Decode(schema="id int"), 'decode.format is "none"'),
        (Decode("json"), "needs decode.schema"),
        (Decode("avro", "id int"), "not an Avro schema"),
        (Decode("avro", '"string"'), "an Avro record schema"),
    ],
)
def test_a_schema_that_makes_no_sense_is_refused(decode: Decode, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_decode(decode)


def decoded(spark: SparkSession, decode: Decode, values: list[bytes | None]) -> list[dict[str, Any] | None]:
    rows = [(value, "t", 0, offset) for offset, value in enumerate(values)]
    frame = spark.createDataFrame(rows, "value binary, topic string, partition int, offset long").coalesce(1)
    result = frame.select("offset", decoded_value(spark, decode).alias("decoded")).orderBy("offset").collect()
    return [None if row["decoded"] is None else row["decoded"].asDict() for row in result]


class TestJson:
    pytestmark = on_spark

    @pytest.mark.parametrize("schema", ["columns", "json"])
    def test_values_become_columns_and_others_null(self, job_spark: SparkSession, schema: str) -> None:
        from pyspark.sql.types import StructType

        text = COLUMNS if schema == "columns" else StructType.fromDDL(COLUMNS).json()
        values = [value for value, _ in GOOD] + BAD
        expected = [row for _, row in GOOD] + [None] * len(BAD)
        assert decoded(job_spark, Decode("json", text), values) == expected

    def test_the_header_of_a_registry_is_passed_by(self, job_spark: SparkSession) -> None:
        decode = Decode("json", COLUMNS, schema_registry_header=True)
        header, value = b"\x00\x00\x00\x00\x07", b'{"id": 1, "name": "a"}'
        values = [header + value, value, b"\x01" + header[1:] + value, header[:4], header]
        assert decoded(job_spark, decode, values) == [{"id": 1, "name": "a"}, None, None, None, None]

    @pytest.mark.parametrize("schema", ["id notatype", "int", "{}"])
    def test_a_schema_that_spark_does_not_know_is_refused(self, job_spark: SparkSession, schema: str) -> None:
        with pytest.raises(ConfigError, match=r"decode\.schema"):
            decoded_value(job_spark, Decode("json", schema))

    def test_avro_without_its_package_is_refused(self, job_spark: SparkSession) -> None:
        schema = '{"type": "record", "name": "r", "fields": [{"name": "id", "type": "long"}]}'
        with pytest.raises(ConfigError, match=r"--packages org\.apache\.spark:spark-avro_2\.13"):
            decoded_value(job_spark, Decode("avro", schema))


class TestTheJob:
    pytestmark = on_active_spark

    def job(self, tmp_path: Path, decode: str, *more: str) -> int:
        records = [
            Record(value=b'{"id": 1}', headers=[Header(b"a", b"1"), Header(b"b", None), Header(b"a", b"2")]),
            Record(value=b"secret", headers=[Header(b"c", b"")]),
            Record(value=None),
        ]
        write_segment(partition_dir(tmp_path / "logs", "t", 0), [Batch(records)])
        config = tmp_path / "job.toml"
        config.write_text(f"[decode]\nformat = 'json'\nschema = 'id int'\n{decode}\n", encoding="utf-8")
        output = ["--output", str(tmp_path / "out"), "--config", str(config), "--headers", "map"]
        return main([str(tmp_path / "logs"), *output, *more])

    def test_what_is_lost_is_counted(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.job(tmp_path, "keep_value = false", "--json") == 0
        summary = json.loads(capsys.readouterr().out)
        assert (summary["records"], summary["undecodable"], summary["headers_dropped"]) == (3, 1, 1)
        rows = ds.dataset(tmp_path / "out", partitioning="hive").to_table().sort_by("offset")
        assert rows["decoded"].to_pylist() == [{"id": 1}, None, None]
        assert rows["headers"].to_pylist() == [[("a", b"2"), ("b", None)], [("c", b"")], None]
        assert not {"value", "_kafkalog_header_count"} & set(rows.column_names)
        assert self.job(tmp_path, "") == 0
        printed = capsys.readouterr().out
        assert "could not be decoded: 1\n" in printed
        assert "of the same name: 1\n" in printed

    def test_a_value_may_end_the_job_and_is_not_shown(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.job(tmp_path, "on_error = 'fail'") == 1
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.count("\n") == 1
        assert "a value is not json of decode.schema: topic t partition 0 offset 1" in printed.err
        assert "secret" not in printed.err
