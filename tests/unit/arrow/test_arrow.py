"""Schemas as Spark demands them, and Arrow batches over the core's buffers."""

from __future__ import annotations

import pyarrow as pa
import pytest

from kafkalog_source._core.columns import NAMES
from kafkalog_source._core.memory import BlockPool
from kafkalog_source.arrow.batches import ArrowBatches
from kafkalog_source.arrow.schema import COLUMN_TYPES, arrow_schema, check_columns
from kafkalog_source.columns import default_columns
from kafkalog_source.errors import OptionError

CONSTANT = {"topic", "partition", "file"}


def test_default_columns_are_those_of_sparks_kafka_source() -> None:
    found = default_columns("records", "FAILFAST", headers=True)
    assert found == ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")


def test_all_columns_can_be_null() -> None:
    assert all(field.nullable for field in arrow_schema(list(COLUMN_TYPES)))


def test_times_are_microseconds_in_utc_and_headers_a_list_of_pairs() -> None:
    assert COLUMN_TYPES["timestamp"] == pa.timestamp("us", tz="UTC")
    pair = COLUMN_TYPES["headers"].value_type
    assert [(field.name, field.type) for field in pair] == [("key", pa.string()), ("value", pa.binary())]


def test_every_column_of_the_core_has_a_type() -> None:
    assert set(NAMES) <= set(COLUMN_TYPES)


@pytest.mark.parametrize("columns", [["nothing"], ["offset", "offset"], ["Offset"], [""], ["a\x1b[31m"]])
def test_columns_that_cannot_be_are_refused(columns: list[str]) -> None:
    with pytest.raises(OptionError) as caught:
        check_columns(columns)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(CONSTANT | set(NAMES)))
def test_no_rows_make_no_batch_and_an_exact_schema(name: str) -> None:
    batches = ArrowBatches([name], BlockPool())
    assert batches.finish() is None
    assert batches.set_place("topic", 1, "file") is None
    assert batches.schema == arrow_schema([name])
