"""Batches of records to batches of a view: columns, slices, files, and secrets."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest

from kafkalog_source.internal_topics.columns import COMMON_TYPES, TYPED_COLUMNS, view_types
from kafkalog_source.internal_topics.secrets import is_secret
from kafkalog_source.internal_topics.view import TopicView
from tests.unit.internal_topics.values import COMMIT_KEY, TOPIC_ID, commit, compact, decode, decoded, records, text

SCRAM = b"\1\x0b\0" + compact(b"user") + b"\1" + compact(b"s" * 20) + compact(b"t" * 32) + compact(b"v" * 32) + bytes(5)


def config(name: bytes, value: bytes | None, resource: int = 4) -> bytes:
    return b"\1\4\0" + bytes([resource]) + compact(b"1") + compact(name) + compact(value) + b"\0"


@pytest.mark.parametrize("view", TYPED_COLUMNS)
def test_no_rows_are_a_batch_of_the_schema(view: str) -> None:
    pieces = list(TopicView(view, tuple(view_types(view))).decode(records([])))
    assert [len(piece) for piece in pieces] == [0]
    assert dict(zip(pieces[0].schema.names, pieces[0].schema.types, strict=True)) == view_types(view)


def test_only_the_columns_that_are_wanted_in_their_order() -> None:
    columns = ("committedOffset", "offset", "group")
    view = TopicView("consumer_offsets", columns)
    assert view.record_columns == ("key", "value", "isControl", "offset")
    batch = next(view.decode(records([(COMMIT_KEY, commit())]).select(view.record_columns)))
    assert batch.to_pylist() == [{"committedOffset": 42, "offset": 0, "group": "g"}]


def test_a_slice_of_a_batch_gives_its_rows() -> None:
    rows = [(b"\0\1" + text(b"g%d" % n) + text(b"t") + struct.pack(">i", n), commit()) for n in range(40)]
    rows[20] = (rows[20][0], None)
    rows[21] = (None, None)
    whole = decoded("consumer_offsets", records(rows))
    assert [row["group"] for row in whole] == [f"g{n}" if n != 21 else None for n in range(40)]
    assert decoded("consumer_offsets", records(rows).slice(17, 9)) == whole[17:26]


def test_a_view_decodes_one_batch_after_another() -> None:
    view = TopicView("consumer_offsets", ("group", "valueJson", "members"))
    one = [piece.to_pylist() for piece in view.decode(records([(COMMIT_KEY, commit())] * 3))]
    kept = list(view.decode(records([(COMMIT_KEY, commit(b"other"))] * 5)))
    assert one == [piece.to_pylist() for piece in view.decode(records([(COMMIT_KEY, commit())] * 3))]
    assert '"other"' in kept[0].to_pylist()[4]["valueJson"]


def test_a_damaged_region_is_neither_a_tombstone_nor_undecodable() -> None:
    corrupt = pa.array([None, "{}", None], pa.string())
    batch = records([(COMMIT_KEY, None), (None, None), (None, None)], _corrupt_record=corrupt)
    rows = decoded("consumer_offsets", batch, ("isTombstone", "decodeError", "_corrupt_record"))
    assert [row["isTombstone"] for row in rows] == [True, None, True]
    assert [row["decodeError"] is None for row in rows] == [True, True, False]
    assert [row["_corrupt_record"] for row in rows] == [None, "{}", None]


def test_a_column_that_no_view_has() -> None:
    with pytest.raises(KeyError):
        TopicView("consumer_offsets", ("producerId",))


def test_where_a_metadata_record_lies() -> None:
    files = ["/d/00000000000000000007.log", "/d/00000000000000000042-0000000003.checkpoint", "/d/bootstrap.checkpoint"]
    batch = records([(None, config(b"retention.ms", b"1", 2))] * 3, file=pa.array(files))
    rows = decoded("cluster_metadata", batch, ("source", "snapshotOffset", "snapshotEpoch"))
    assert [tuple(row.values()) for row in rows] == [
        ("log", None, None),
        ("snapshot", 42, 3),
        ("bootstrap", None, None),
    ]


def test_the_epoch_of_a_share_snapshot_is_the_records() -> None:
    key = b"\0\0" + text(b"g") + TOPIC_ID + bytes(4)
    value = struct.pack(">hiiiqqq", 0, 5, 6, 7, 8, 9, 10) + b"\2" + struct.pack(">qqbh", 1, 2, 3, 4) + b"\0\0"
    row = decode("share_group_state", key, value)
    assert (row["snapshotEpoch"], row["stateEpoch"], row["shareLeaderEpoch"], row["startOffset"]) == (5, 6, 7, 8)
    batches = [{"firstOffset": 1, "lastOffset": 2, "deliveryState": 3, "deliveryCount": 4}]
    assert row["stateBatches"] == row["valueJson"]["stateBatches"] == batches


def test_times_that_microseconds_cannot_hold_are_null() -> None:
    for time in (-1, 2**63 - 1, -(2**63)):
        value = struct.pack(">hq", 0, 1) + text(b"") + struct.pack(">q", time)
        row = decode("consumer_offsets", COMMIT_KEY, value)
        assert row["commitTimestamp"] is None
        assert row["valueJson"]["commitTimestamp"] == time


def test_names_of_numbers_that_are_unknown_are_null() -> None:
    value = struct.pack(">hqhibi", 0, 1, 2, 3, 9, -1) + bytes(16)
    row = decode("transaction_state", b"\0\0" + text(b"tx"), value)
    assert row["state"] is None
    assert row["valueJson"]["transactionStatus"] == 9
    assert row["partitions"] is None
    assert row["valueJson"]["transactionPartitions"] is None


def test_scram_credentials_are_hidden() -> None:
    row = decode("cluster_metadata", None, SCRAM)
    hidden = {"salt": "(redacted)", "storedKey": "(redacted)", "serverKey": "(redacted)"}
    assert row["valueJson"] == {"name": "user", "mechanism": 1, **hidden, "iterations": 0}
    assert row["value"] is None
    assert row["decodeError"] is None
    assert not row["isTombstone"]
    shown = decode("cluster_metadata", None, SCRAM, include_secrets=True)
    assert shown["value"] == SCRAM
    assert shown["valueJson"]["salt"] == "c3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3M="


def test_passwords_are_hidden_in_every_column() -> None:
    value = config(b"listener.name.sasl.plain.sasl.jaas.config", b"top-secret")
    row = decode("cluster_metadata", None, value)
    assert (row["valueJson"]["value"], row["configValue"], row["value"]) == ("(redacted)", "(redacted)", None)
    assert "top-secret" not in str(row)
    shown = decode("cluster_metadata", None, value, include_secrets=True)
    assert (shown["configValue"], shown["value"]) == ("top-secret", value)


@pytest.mark.parametrize("column", ["valueJson", "configValue", "value"])
def test_a_secret_is_hidden_whichever_column_is_asked_for(column: str) -> None:
    batch = records([(None, config(b"ssl.key.password", b"top-secret"))])
    assert "top-secret" not in str(decoded("cluster_metadata", batch, (column,))[0][column])


def test_what_is_plain_is_shown() -> None:
    values = [config(b"log.retention.ms", b"1"), config(b"ssl.key.password", b""), config(b"ssl.key.password", None)]
    for value in values:
        row = decode("cluster_metadata", None, value)
        assert row["value"] == value
        assert row["valueJson"]["value"] != "(redacted)"


@pytest.mark.parametrize("value", [SCRAM[:-1], SCRAM + b"x", b"\1\x0b\1" + SCRAM[3:], config(b"a", b"b")[:-2]])
def test_the_bytes_of_a_secret_that_cannot_be_decoded_are_hidden(value: bytes) -> None:
    row = decode("cluster_metadata", None, value)
    assert row["decodeError"] is not None
    assert row["value"] is None
    assert row["valueJson"] is None
    assert decode("cluster_metadata", None, value, include_secrets=True)["value"] == value


def test_the_bytes_of_an_unknown_version_that_are_too_short_for_a_secret_are_shown() -> None:
    value = b"\1\x0b\2" + bytes(10)
    assert decode("cluster_metadata", None, value)["value"] == value


@pytest.mark.parametrize(
    ("resource", "name", "secret"),
    [
        ("BROKER", "ssl.keystore.password", True),
        ("BROKER", "listener.name.a.ssl.keystore.key", True),
        ("BROKER", "listener.name.a.ssl.keystore.location", True),
        ("BROKER", "my.plugin.token", True),
        ("BROKER", "log.retention.ms", False),
        ("BROKER", "sasl.oauthbearer.client.credentials.client.secret", True),
        ("TOPIC", "retention.ms", False),
        ("TOPIC", "sasl.jaas.config", True),
        ("GROUP", "share.auto.offset.reset", False),
        (None, "anything", True),
    ],
)
def test_which_settings_are_secret(resource: str | None, name: str, secret: bool) -> None:
    assert is_secret(resource, name) is secret


def test_every_view_begins_with_the_same_columns() -> None:
    for view in TYPED_COLUMNS:
        assert list(view_types(view))[: len(COMMON_TYPES)] == list(COMMON_TYPES)
