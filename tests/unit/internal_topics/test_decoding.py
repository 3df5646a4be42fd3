"""Keys and values byte by byte: versions, tags, nulls, lengths, frames, and what is wrong with them."""

from __future__ import annotations

import datetime
import json
import struct

import pytest

from kafkalog_source._core.json_text import java_double
from tests.unit.internal_topics.values import (
    COMMIT_KEY,
    COMMIT_TIME,
    TOPIC_ID,
    commit,
    compact,
    decode,
    decoded,
    records,
    tagged,
    text,
    varint,
)

AT = datetime.datetime.fromtimestamp(COMMIT_TIME / 1000, datetime.UTC)
TOPIC_ID_TEXT = "AAECAwQFBgcICQoLDA0ODw"


def metadata(number: int, version: int, content: bytes, frame: int = 1) -> bytes:
    return varint(frame) + varint(number) + varint(version) + content


def test_a_commit_of_each_version() -> None:
    old = struct.pack(">q", 42)
    time = struct.pack(">q", COMMIT_TIME)
    values = {
        0: old + text(b"m") + time,
        1: old + text(b"m") + time + struct.pack(">q", COMMIT_TIME + 5),
        2: old + text(b"m") + time,
        3: old + struct.pack(">i", 3) + text(b"m") + time,
        4: old + struct.pack(">i", 3) + compact(b"m") + time + tagged((0, TOPIC_ID)),
    }
    rows = decoded("consumer_offsets", records([(COMMIT_KEY, struct.pack(">h", v) + values[v]) for v in values]))
    assert [row["version"] for row in rows] == [0, 1, 2, 3, 4]
    assert {row["recordType"] for row in rows} == {"OFFSET_COMMIT"}
    assert {row["keyJson"] for row in rows} == {'{"group":"g","topic":"orders","partition":7}'}
    plain = f'"offset":42,"metadata":"m","commitTimestamp":{COMMIT_TIME}'
    epoch = f'"offset":42,"leaderEpoch":3,"metadata":"m","commitTimestamp":{COMMIT_TIME}'
    assert [row["valueJson"] for row in rows] == [
        f"{{{plain}}}",
        f'{{{plain},"expireTimestamp":{COMMIT_TIME + 5}}}',
        f"{{{plain}}}",
        f"{{{epoch}}}",
        f'{{{epoch},"topicId":"{TOPIC_ID_TEXT}"}}',
    ]
    assert [row["committedLeaderEpoch"] for row in rows] == [None, None, None, 3, 3]
    assert [row["expireTimestamp"] is None for row in rows] == [True, False, True, True, True]
    assert [row["committedTopicId"] for row in rows] == [None] * 4 + [TOPIC_ID_TEXT]
    for row in rows:
        shown = (row["group"], row["committedTopic"], row["committedPartition"], row["committedOffset"])
        assert shown == ("g", "orders", 7, 42)
        assert (row["metadata"], row["commitTimestamp"], row["decodeError"]) == ("m", AT, None)


def test_a_tombstone_keeps_what_its_key_says() -> None:
    row = decode("consumer_offsets", COMMIT_KEY, None)
    assert row["isTombstone"]
    assert row["version"] is None
    assert row["valueJson"] is None
    assert row["decodeError"] is None
    assert (row["recordType"], row["group"], row["committedTopic"]) == ("OFFSET_COMMIT", "g", "orders")


@pytest.mark.parametrize("size", range(len(commit()) - 1))
def test_a_cut_value_keeps_the_key_and_says_so(size: int) -> None:
    row = decode("consumer_offsets", COMMIT_KEY, commit()[:size])
    assert "cut short" in row["decodeError"]
    assert (row["valueJson"], row["committedOffset"], row["metadata"]) == (None, None, None)
    assert (row["group"], row["committedPartition"]) == ("g", 7)
    assert row["version"] == (4 if size >= 2 else None)
    assert row["value"] == commit()[:size]


def test_bytes_after_a_coordinators_value_are_ignored() -> None:
    assert decode("consumer_offsets", COMMIT_KEY + b"x", commit() + b"junk")["decodeError"] is None


@pytest.mark.parametrize(
    ("key", "number", "error"),
    [
        (None, None, "has no key"),
        (b"", None, "too short"),
        (b"\0", None, "too short"),
        (b"\0\x63", 99, "unknown type 99"),
        (b"\xff\xfb\0", -5, "unknown type -5"),
    ],
)
def test_a_key_without_a_type_that_is_known(key: bytes | None, number: int | None, error: str) -> None:
    row = decode("consumer_offsets", key, commit())
    assert error in row["decodeError"]
    assert row["recordTypeId"] == number
    assert (row["recordType"], row["keyJson"], row["valueJson"], row["version"]) == (None, None, None, 4)


def test_the_value_of_a_key_that_is_cut_is_not_decoded() -> None:
    row = decode("consumer_offsets", COMMIT_KEY[:-1], commit())
    assert row["decodeError"].startswith("key: cut short in partition")
    assert (row["recordType"], row["group"], row["committedOffset"]) == ("OFFSET_COMMIT", None, None)


@pytest.mark.parametrize("version", [5, -1, 32767])
def test_an_unknown_version(version: int) -> None:
    row = decode("consumer_offsets", COMMIT_KEY, struct.pack(">h", version) + commit()[2:])
    assert (row["decodeError"], row["version"]) == (f"unknown version {version}", version)
    assert (row["group"], row["valueJson"]) == ("g", None)


def test_tags_that_are_unknown_are_left_out() -> None:
    row = decode("consumer_offsets", COMMIT_KEY, commit(tags=tagged((9, b"abc"), (0, TOPIC_ID), (2**31 - 1, b""))))
    assert row["decodeError"] is None
    assert list(row["valueJson"])[-1] == "topicId"
    assert len(row["valueJson"]) == 5


def test_a_tag_at_its_default_is_left_out_of_the_json() -> None:
    row = decode("consumer_offsets", COMMIT_KEY, commit(tags=tagged((0, bytes(16)))))
    assert "topicId" not in row["valueJson"]


def test_of_a_tag_that_comes_twice_the_last_counts() -> None:
    row = decode("consumer_offsets", COMMIT_KEY, commit(tags=tagged((0, bytes(16)), (0, TOPIC_ID))))
    assert (row["valueJson"]["topicId"], row["committedTopicId"]) == (TOPIC_ID_TEXT, TOPIC_ID_TEXT)


@pytest.mark.parametrize(
    ("tags", "error"),
    [
        (b"\x01\x09\x05abc", "cut short"),
        (b"\x01\x09\xff\xff\xff\xff\x0f", "cut short"),
        (b"\xff\xff\xff\xff\x0f", "more tags than bytes"),
        (b"\xff\xff\xff\xff\xff\xff", "varint is longer"),
        (b"\x05\x09\x00", "more tags than bytes"),
        (b"", "cut short"),
    ],
)
def test_tags_that_are_invalid(tags: bytes, error: str) -> None:
    assert error in decode("consumer_offsets", COMMIT_KEY, commit(tags=tags))["decodeError"]


def test_a_tag_of_another_version_is_an_error_as_for_kafka() -> None:
    content = struct.pack(">i", 1) + TOPIC_ID + b"\1" * 4 + struct.pack(">iii", 1, 2, 3)
    assert decode("cluster_metadata", None, metadata(3, 0, content + b"\0"))["decodeError"] is None
    row = decode("cluster_metadata", None, metadata(3, 0, content + tagged((1, b"\1"))))
    assert "does not belong to this version" in row["decodeError"]


def test_json_stands_in_the_order_of_the_fields_though_tags_come_last() -> None:
    content = struct.pack(">i", 1) + TOPIC_ID + b"\1" * 4 + struct.pack(">iii", 1, 2, 3) + b"\1"
    tags = tagged((2, varint(2) + struct.pack(">i", 8)), (0, b"\1"), (1, b"\0"))
    row = decode("cluster_metadata", None, metadata(3, 2, content + tags))
    names = list(row["valueJson"])
    assert names.index("leader") < names.index("leaderRecoveryState") < names.index("leaderEpoch")
    assert row["valueJson"]["lastKnownElr"] == [8]
    assert "eligibleLeaderReplicas" not in row["valueJson"]


def test_null_where_it_cannot_be() -> None:
    row = decode("consumer_offsets", COMMIT_KEY, struct.pack(">hq", 0, 42) + text(None) + bytes(8))
    assert "null in a field that cannot be null in metadata" in row["decodeError"]


def test_a_text_longer_than_kafka_writes() -> None:
    assert decode("consumer_offsets", COMMIT_KEY, commit(b"x" * 32767))["decodeError"] is None
    assert "longer than 32767" in decode("consumer_offsets", COMMIT_KEY, commit(b"x" * 32768))["decodeError"]


def test_an_array_longer_than_what_is_left() -> None:
    value = struct.pack(">hqhibi", 0, 1, 2, 3, 1, 1 << 30)
    assert "more elements than bytes" in decode("transaction_state", b"\0\0\0\1t", value)["decodeError"]


def test_text_is_escaped_and_mended_as_java_does() -> None:
    content = b'a"\\\b\t\n\f\r\x01\x1f\x7f/\xe6\xb3\xa8\xff\xed\xa0\x80\xf0\x9f\x91\x8d\xe6\xb3'
    row = decoded("consumer_offsets", records([(COMMIT_KEY, commit(content))]))[0]
    plain = 'a"\\\b\t\n\f\r\x01\x1f\x7f/注��👍�'
    assert row["metadata"] == plain
    assert json.loads(row["valueJson"])["metadata"] == plain
    assert r'"a\"\\\b\t\n\f\r\u0001\u001F' in row["valueJson"]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (-2.5, "-2.5"),
        (100.0, "100.0"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (123456789.5, "1.234567895E8"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (-1.5e300, "-1.5E300"),
        (5e-324, "5.0E-324"),
        (float("nan"), '"NaN"'),
        (float("inf"), '"Infinity"'),
        (float("-inf"), '"-Infinity"'),
    ],
)
def test_numbers_with_a_point_are_javas(value: float, wanted: str) -> None:
    assert java_double(value) == wanted
    quota = b"\1" + compact(b"k") + struct.pack(">d", value) + b"\0\0"
    row = decoded("cluster_metadata", records([(None, metadata(14, 0, quota))]))[0]
    assert f'"value":{wanted},' in row["valueJson"]


def test_unsigned_numbers_and_nested_structs() -> None:
    endpoint = compact(b"CONTROLLER") + compact(b"h") + b"\xff\xfe" + b"\xff\xfe\0"
    content = struct.pack(">i", 1) + TOPIC_ID + struct.pack(">q", 5) + varint(2) + endpoint + varint(1) + b"\0\1\0"
    row = decode("cluster_metadata", None, metadata(0, 0, content))
    assert row["decodeError"] is None
    assert row["brokerId"] == 1
    assert row["valueJson"]["endPoints"] == [{"name": "CONTROLLER", "host": "h", "port": 65534, "securityProtocol": -2}]


@pytest.mark.parametrize(
    ("value", "number", "error"),
    [
        (b"", None, "cut short before the type"),
        (b"\1", None, "cut short before the type"),
        (b"\1\2", 2, "cut short before the type"),
        (b"\0\2\0", None, "unknown frame"),
        (b"\2\2\0", None, "unknown frame"),
        (metadata(99, 0, b""), 99, "unknown type 99"),
        (metadata(40000, 0, b""), 40000, "above 32767"),
        (metadata(9, 1, TOPIC_ID + b"\0"), 9, "unknown version 1"),
        (b"\1\x09\xff\xff\xff\xff\x0f", 9, "unknown version: above 2147483647"),
        (metadata(9, 0, TOPIC_ID + b"\0x"), 9, "left over"),
        (b"\xff\xff\xff\xff\xff\xff", None, "cut short before the type"),
    ],
)
def test_metadata_records_that_are_invalid(value: bytes, number: int | None, error: str) -> None:
    row = decode("cluster_metadata", None, value)
    assert error in row["decodeError"]
    assert row["recordTypeId"] == number
    assert row["valueJson"] is None


def test_a_metadata_record_without_a_value_is_a_tombstone() -> None:
    row = decode("remote_log_metadata", None, None)
    assert row["isTombstone"]
    assert row["recordType"] is None
    assert row["decodeError"] is None


def test_markers_of_a_newer_version_are_read_as_the_newest() -> None:
    for version in (0, 1, 32767):
        row = decode("consumer_offsets", b"\0\0\0\1", struct.pack(">hi", version, 7), control=True)
        assert (row["recordType"], row["valueJson"], row["keyJson"]) == ("COMMIT", {"coordinatorEpoch": 7}, None)
        assert row["version"] == version
        assert row["decodeError"] is None
        assert row["committedOffset"] is None
    assert "unknown version -1" in decode("consumer_offsets", b"\0\0\0\0", b"\xff\xff\0\0\0\0", True)["decodeError"]


def test_control_records_of_the_metadata_log() -> None:
    voters = b"\2" + struct.pack(">i", 3) + TOPIC_ID + b"\0"
    leader = struct.pack(">hi", 1, 3) + voters + b"\1\0"
    row = decode("cluster_metadata", b"\0\0\0\2", leader, control=True)
    assert (row["recordType"], row["version"], row["decodeError"]) == ("LEADER_CHANGE", 1, None)
    assert row["valueJson"]["voters"] == [{"voterId": 3, "voterDirectoryId": TOPIC_ID_TEXT}]
    unknown = decode("cluster_metadata", b"\0\0\0\x09", b"\0\0", control=True)
    assert (unknown["recordType"], unknown["recordTypeId"]) == (None, 9)
    assert "unknown type" in unknown["decodeError"]


def member(subscription: bytes, assignment: bytes, protocol_type: bytes) -> bytes:
    parts = (subscription, assignment)
    blobs = b"".join(struct.pack(">i", len(each)) + each for each in parts)
    fields = text(b"m-1") + text(None) + text(b"c") + text(b"/h") + struct.pack(">ii", 1, 2) + blobs
    head = struct.pack(">h", 3) + text(protocol_type) + struct.pack(">i", 5) + text(b"range") + text(b"m-1")
    return head + struct.pack(">q", 9) + struct.pack(">i", 1) + fields


GROUP_KEY = b"\0\2\0\1g"
SUBSCRIPTION = b"\0\0\0\0\0\1" + text(b"orders") + b"\xff\xff\xff\xff"
ASSIGNMENT = b"\0\0\0\0\0\1" + text(b"orders") + struct.pack(">iii", 2, 0, 1) + b"\xff\xff\xff\xff"


def test_members_of_a_consumer_group_with_what_they_hold() -> None:
    row = decode("consumer_offsets", GROUP_KEY, member(SUBSCRIPTION, ASSIGNMENT, b"consumer"))
    assert row["members"] == [
        {
            "memberId": "m-1",
            "instanceId": None,
            "clientId": "c",
            "clientHost": "/h",
            "subscribedTopics": ["orders"],
            "assignedPartitions": [{"topic": "orders", "partitions": [0, 1]}],
        }
    ]
    shown = row["valueJson"]["members"][0]
    assert shown["subscription"] == {"topics": ["orders"], "userData": None}
    assert shown["assignment"]["assignedPartitions"] == [{"topic": "orders", "partitions": [0, 1]}]
    assert (row["epoch"], row["protocol"], row["leader"], row["protocolType"]) == (5, "range", "m-1", "consumer")


def test_a_subscription_of_a_newer_version_is_read_as_the_newest() -> None:
    newest = SUBSCRIPTION[2:] + struct.pack(">ii", 0, 4) + text(b"rack") + b"whatever follows"
    row = decode("consumer_offsets", GROUP_KEY, member(b"\0\x63" + newest, ASSIGNMENT, b"consumer"))
    assert row["valueJson"]["members"][0]["subscription"]["rackId"] == "rack"


@pytest.mark.parametrize("subscription", [b"", b"\0", b"\xff\xff" + SUBSCRIPTION[2:], SUBSCRIPTION[:-1]])
def test_bytes_that_are_no_subscription_stay_base64(subscription: bytes) -> None:
    row = decode("consumer_offsets", GROUP_KEY, member(subscription, ASSIGNMENT, b"consumer"))
    assert row["decodeError"] is None
    assert isinstance(row["valueJson"]["members"][0]["subscription"], str)
    assert row["members"][0]["subscribedTopics"] is None
    assert len(row["members"][0]["assignedPartitions"]) == 1


def test_members_of_other_protocols_stay_base64() -> None:
    row = decode("consumer_offsets", GROUP_KEY, member(SUBSCRIPTION, ASSIGNMENT, b"connect"))
    assert isinstance(row["valueJson"]["members"][0]["assignment"], str)
    assert row["members"][0]["subscribedTopics"] is None
    assert row["members"][0]["assignedPartitions"] is None


def test_a_nullable_struct_in_a_tag() -> None:
    fields = b"\0\0" + compact(b"c") + compact(b"/h") + b"\1" + b"\0" + struct.pack(">i", 5) + b"\0"
    key = b"\0\5" + text(b"g") + text(b"m")
    for tags, wanted in (
        (b"\0", "left out"),
        (tagged((0, b"\0")), None),
        (tagged((0, b"\x80\x80\x80\x80\x08")), None),
        (tagged((0, b"\1" + bytes(4) + b"\1\0")), "left out"),
        (tagged((0, b"\1" + struct.pack(">i", 6) + b"\1\0")), {"sessionTimeoutMs": 6, "supportedProtocols": []}),
    ):
        row = decode("consumer_offsets", key, b"\0\0" + fields + tags)
        assert row["decodeError"] is None
        assert row["valueJson"].get("classicMemberMetadata", "left out") == wanted
