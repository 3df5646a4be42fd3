from __future__ import annotations

import pytest

from kafkalog_source.logdir.names import (
    is_redpanda_segment,
    is_topic_name,
    parse_log_file,
    parse_partition,
)

HEX = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("orders-0", ("orders", 0, None)),
        ("0-1-2-1", ("0-1-2", 1, None)),
        ("my-topic.v1_x-3-0", ("my-topic.v1_x-3", 0, None)),
        ("--0", ("-", 0, None)),
        ("t-2147483647", ("t", 2147483647, None)),
        ("n" * 249 + "-0", ("n" * 249, 0, None)),
        (f"gone-7.{HEX}-delete", ("gone", 7, "delete")),
        (f"a-b-1.{HEX}-future", ("a-b", 1, "future")),
        (f"t.x-1.{HEX}-stray", ("t.x", 1, "stray")),
    ],
)
def test_partition_follows_the_last_dash(name: str, expected: object) -> None:
    assert parse_partition(name) == expected


@pytest.mark.parametrize(
    "name",
    [
        "lost+found",
        "not_a_partition",
        "topic-without-number-",
        "-0",
        ".-0",
        "..-0",
        "t-00",
        "t-01",
        "t-+1",
        "t--",
        "t-1 ",
        "t-1\n",
        "t-\u0661",
        "t-2147483648",
        "t-99999999999",
        "töpic-0",
        "a b-0",
        "n" * 250 + "-0",
        f"t-1.{HEX}-deleted",
        f"t-1.{HEX[:-1]}-delete",
        f"t-1.{HEX.upper()}-delete",
        f"t-x.{HEX}-delete",
        "",
    ],
)
def test_a_broker_gives_no_such_name(name: str) -> None:
    assert parse_partition(name) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("00000000000000000000.log", (0, "log", None)),
        ("00000000000000000042.index", (42, "index", None)),
        ("00000000000000000042.timeindex", (42, "timeindex", None)),
        ("00000000000000000042.txnindex", (42, "txnindex", None)),
        ("00000000000000000042.snapshot", (42, "snapshot", None)),
        ("00000000000000000042.log.deleted", (42, "log", "deleted")),
        ("00000000000000000042.log.swap", (42, "log", "swap")),
        ("00000000000000000042.timeindex.cleaned", (42, "timeindex", "cleaned")),
        ("09223372036854775807.log", (2**63 - 1, "log", None)),
        ("00000000000000020046.kafka", (20046, "kafka", None)),
    ],
)
def test_log_file_names(name: str, expected: object) -> None:
    assert parse_log_file(name) == expected


@pytest.mark.parametrize(
    "name",
    [
        "0.log",
        "000000000000000000000.log",
        "00000000000000000000.log.tmp",
        "00000000000000000000.log\n",
        "00000000000000000000.LOG",
        "00000000000000000000-0000000001.checkpoint",
        "09223372036854775808.log",
        "\u0660" * 20 + ".log",
        "leader-epoch-checkpoint",
        "x.kafka",
        "00000000000000020046.kafka.deleted",
    ],
)
def test_other_files(name: str) -> None:
    assert parse_log_file(name) is None


def test_formats_of_other_systems_and_times() -> None:
    assert is_redpanda_segment("0-1-v1.log")
    assert not is_redpanda_segment("00000000000000000000.log")


def test_dots_alone_are_no_topic() -> None:
    assert is_topic_name("...")
    assert not is_topic_name(".")
    assert not is_topic_name("..")
    assert not is_topic_name("a/b")
