"""An analyst in a notebook: each step is a cell, and what is asserted is what the cell shows."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source import DataLossError, LogDirError, scan
from tests.builders import Batch, Record, partition_dir, write_segment
from tests.users.conftest import SAMPLE


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a notebook, with a copy of the sample."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SAMPLE, tmp_path / "kafka-logs")
    return tmp_path


def write_orders(root: Path) -> None:
    """Three records, two of which have JSON as their value."""
    values = [b'{"id": 1, "amount": 9.5, "city": "Graz"}', b'{"id": 2, "amount": 3, "city": "Bonn"}', b"not JSON"]
    records = [Record(offset_delta=n, key=b"k%d" % n, value=value) for n, value in enumerate(values)]
    write_segment(partition_dir(root, "orders", 0), [Batch(records)])


def test_what_is_in_these_logs(notebook: Path) -> None:
    log = scan("kafka-logs")
    shown = repr(log).splitlines()
    assert shown[:3] == [
        "kafkalog scan of kafka-logs, view=records",
        "6 topics, 7 partitions, 22 segments, 254.5 KiB",
        "  topic          partition  segments      size  offsets",
    ]
    assert shown[-1] == "columns: key, value, topic, partition, offset, timestamp, timestampType, headers"

    tx = scan("kafka-logs", subscribe="tx-a")
    assert (len(tx), tx.count()) == (512, 512)
    assert tx.head(2)["offset"].to_pylist() == [0, 1]

    frame = tx.to_pandas()
    assert frame.shape == (512, 8)
    assert frame.groupby("partition").size().to_dict() == {0: 240, 1: 272}
    assert str(frame["timestamp"].dtype) == "datetime64[us, UTC]"


def test_a_query_names_the_scan(notebook: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    tx = scan("kafka-logs", subscribe="tx-a")
    query = 'SELECT partition, count(*), max("offset") FROM tx GROUP BY 1 ORDER BY 1'
    assert duckdb.sql(query).fetchall() == [(0, 240, 267), (1, 272, 300)]
    assert tx.to_duckdb().filter("partition = 1").count("*").fetchall() == [(272,)]


def answer(connection: Any, query: str) -> list[int]:
    return [row[0] for row in connection.sql(query).fetchall()]


def test_json_in_values(notebook: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    write_orders(notebook / "kafka-logs")
    here: dict[str, Any] = {"subscribe": "orders", "columns": ["key", "value"]}

    typed = scan("kafka-logs", decode={"value": "json", "key": "text"}, **here)
    with pytest.warns(UserWarning, match="1 value"):
        frame = typed.to_pandas()
    assert list(frame["key"]) == ["k0", "k1", "k2"]
    assert frame["value"][0] == {"id": 1, "amount": 9.5, "city": "Graz"}
    assert frame["value"][2] is None

    # The recipe of the page for values of which some are not JSON.
    text = scan("kafka-logs", decode={"value": "text"}, **here)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        connection = duckdb.connect()
        connection.register("orders", text.to_reader())
        query = "SELECT (TRY_CAST(value AS JSON)->>'$.id')::INT FROM orders ORDER BY 1 NULLS LAST"
        assert answer(connection, query) == [1, 2, None]


def test_slips_of_the_keyboard(notebook: Path) -> None:
    with pytest.raises(LogDirError, match=r"txa\. Did you mean tx-a\?"):
        scan("kafka-logs", subscribe="txa").head()
    with pytest.raises(ValueError, match=r"Did you mean value\?"):
        scan("kafka-logs", decode={"valeu": "json"})
    # Showing a scan never fails, so that the cell says what is wrong.
    assert "cannot be read: kafka-lgs: no such file or directory" in repr(scan("kafka-lgs"))


def test_a_hole_in_the_log(notebook: Path) -> None:
    for each in (notebook / "kafka-logs" / "tx-a-1").glob("00000000000000000120.*"):
        each.unlink()
    with pytest.raises(DataLossError, match="offsets 120 to 243 are not on disk: a segment is missing"):
        scan("kafka-logs").to_pandas()
    rest = scan("kafka-logs", subscribe="tx-a", failOnDataLoss=False)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert len(rest.to_pandas()) == 400
    assert [str(each.message) for each in warned] == []
    (warning,) = rest.report()["warnings"]
    assert "offsets 120 to 243 are not on disk" in warning
    assert "failOnDataLoss" not in warning
