"""Options are read, checked and refused as Spark's own Kafka source does, and as the documentation says."""

from __future__ import annotations

import dataclasses
import json
import pickle
from pathlib import Path

import pytest

from kafkalog_source.errors import OptionError
from kafkalog_source.options.read_options import OPTION_NAMES, ReadOptions, check_batch_options, parse_options

PATH = "/data/kafka-logs"


def parse(**options: object) -> ReadOptions:
    return parse_options(options, PATH)


def refusal(**options: object) -> str:
    with pytest.raises(OptionError) as caught:
        parse(**options)
    return str(caught.value)


# Names


def test_no_options_gives_the_documented_defaults() -> None:
    options = parse()
    assert options == ReadOptions(paths=(PATH,))
    assert options.max_partition_bytes == 128 << 20
    assert options.open_cost_in_bytes == 4 << 20
    assert options.max_decompressed_batch_bytes == 256 << 20
    assert options.max_trigger_delay == 15 * 60 * 1000


def test_every_option_has_a_field_in_snake_case() -> None:
    names = {field.name.replace("_", "") for field in dataclasses.fields(ReadOptions)}
    assert names == {name.lower() for name in OPTION_NAMES} - {"path"}


@pytest.mark.parametrize("name", ["INCLUDEHEADERS", "includeheaders", "includeHeaders"])
def test_names_are_case_insensitive(name: str) -> None:
    assert parse(**{name: "false"}).include_headers is False


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("startingOffset", "startingOffsets"),
        ("subscribes", "subscribe"),
        ("max_partition_bytes", "maxPartitionBytes"),
        ("includeHeader", "includeHeaders"),
    ],
)
def test_an_unknown_option_suggests_the_nearest(wrong: str, right: str) -> None:
    assert f"Did you mean {right}?" in refusal(**{wrong: "1"})


def test_an_unknown_option_like_none_lists_what_exists_and_hides_its_value() -> None:
    message = refusal(qqqq="hunter2")
    assert "unknown option qqqq" in message
    assert "subscribePattern" in message
    assert "hunter2" not in message


def test_the_name_of_an_unknown_option_is_escaped() -> None:
    assert "\x1b" not in refusal(**{"\x1b[31mred": "1"})


@pytest.mark.parametrize(
    "name",
    [
        "kafka.bootstrap.servers",
        "kafka.sasl.jaas.config",
        "kafka.group.id",
        "groupIdPrefix",
        "kafkaConsumer.pollTimeoutMs",
        "fetchOffset.numRetries",
        "fetchOffset.retryIntervalMs",
        "topic",
    ],
)
def test_a_broker_option_says_what_to_use_instead_and_hides_its_value(name: str) -> None:
    message = refusal(**{name: "hunter2"})
    assert "no broker" in message
    assert ". " in message
    assert "hunter2" not in message


def test_bootstrap_servers_points_to_the_path() -> None:
    assert "load('/path/to/kafka-logs')" in refusal(**{"kafka.bootstrap.servers": "localhost:9092"})


def test_an_option_given_in_two_spellings_must_have_one_value() -> None:
    assert parse(minPartitions="3", minpartitions=3).min_partitions == 3
    assert "different values" in refusal(minPartitions="3", minpartitions="4")


def test_none_counts_as_not_given() -> None:
    assert parse(subscribe=None) == parse()


# Plain values


@pytest.mark.parametrize(("text", "value"), [("true", True), ("FALSE", False), (" True ", True), (False, False)])
def test_booleans_are_true_or_false_in_any_case(text: object, value: bool) -> None:
    assert parse(failOnDataLoss=text).fail_on_data_loss is value


@pytest.mark.parametrize("value", ["yes", "1", "", 1, 0, "truee"])
def test_other_booleans_are_refused(value: object) -> None:
    assert "true or false" in refusal(verifyChecksums=value)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("128m", 128 << 20),
        ("4M", 4 << 20),
        ("1g", 1 << 30),
        ("1gb", 1 << 30),
        ("512k", 512 << 10),
        ("512kb", 512 << 10),
        ("100b", 100),
        ("1", 1),
        (" 7 ", 7),
        (4096, 4096),
        ("2t", 2 << 40),
    ],
)
def test_sizes_are_written_as_spark_writes_them(text: object, size: int) -> None:
    assert parse(maxPartitionBytes=text).max_partition_bytes == size


@pytest.mark.parametrize(
    "value",
    ["", "0", "-1", "1.5g", "12x", "m", "1 2", "8Gi", "9" * 40, "9000p", 0, 1.5, True],
)
def test_other_sizes_are_refused(value: object) -> None:
    assert "maxPartitionBytes" in refusal(maxPartitionBytes=value)


def test_the_opening_cost_may_be_zero() -> None:
    assert parse(openCostInBytes="0").open_cost_in_bytes == 0


@pytest.mark.parametrize("name", ["minPartitions", "maxRecordsPerPartition"])
@pytest.mark.parametrize("value", ["0", "-3", "", "1.0", "x", "1_000", True, 2**63, "9" * 5000])
def test_counts_must_be_positive_whole_numbers(name: str, value: object) -> None:
    assert name in refusal(**{name: value})


def test_min_partitions_is_an_int32_as_in_spark() -> None:
    assert parse(minPartitions=2**31 - 1).min_partitions == 2**31 - 1
    assert "out of range" in refusal(minPartitions=2**31)
    assert parse(maxRecordsPerPartition=str(2**63 - 1)).max_records_per_partition == 2**63 - 1


def test_long_values_are_cut_in_messages() -> None:
    assert len(refusal(minPartitions="9" * 100_000)) < 400


# Topics


@pytest.mark.parametrize(
    ("value", "topics"),
    [
        ("a", ("a",)),
        (" a , b,,a ", ("a", "b")),
        (["a", "b"], ("a", "b")),
        (("__consumer_offsets",), ("__consumer_offsets",)),
    ],
)
def test_subscribe_trims_and_drops_empty_parts(value: object, topics: tuple[str, ...]) -> None:
    assert parse(subscribe=value).subscribe == topics


@pytest.mark.parametrize("value", ["", " , ", [], "a b", "a/b", "..", "x" * 250, 5, [1], {"a": 1}])
def test_subscribe_refuses_what_names_no_topic(value: object) -> None:
    assert "subscribe" in refusal(subscribe=value)


@pytest.mark.parametrize("value", ["", "  ", "(", "[", "[a&&[^b]]", "\\p{Alpha}", 3])
def test_subscribe_pattern_refuses_what_is_no_pattern(value: object) -> None:
    assert "subscribePattern" in refusal(subscribePattern=value)


def test_subscribe_pattern_matches_the_whole_name() -> None:
    options = parse(subscribePattern=" orders|pay.* ")
    assert options.wants("orders", 0)
    assert options.wants("payments", 0)
    assert not options.wants("orders-2", 0)
    assert not options.wants("my-orders", 0)


def test_kafkas_own_topics_are_left_out_unless_chosen() -> None:
    assert not parse().wants("__consumer_offsets", 0)
    assert parse().wants("orders", 7)
    assert parse(subscribe="__consumer_offsets").wants("__consumer_offsets", 0)
    assert parse(subscribePattern="__.*").wants("__transaction_state", 0)
    assert parse(assign={"__cluster_metadata": [0]}).wants("__cluster_metadata", 0)


def test_assign_chooses_partitions() -> None:
    options = parse(assign='{"a":[1,0,1],"b":[2]}')
    assert options.assign == {"a": (0, 1), "b": (2,)}
    assert options.wants("a", 1)
    assert not options.wants("a", 2)
    assert not options.wants("c", 0)
    assert parse(assign={"a": [0, 1], "b": (2,)}).assign == options.assign


@pytest.mark.parametrize(
    "value",
    [
        "",
        "a",
        "[]",
        "{}",
        '{"a":[]}',
        '{"a":0}',
        '{"a":"01"}',
        '{"a":["0"]}',
        '{"a":[-1]}',
        '{"a":[true]}',
        '{"a":[1.0]}',
        '{"a":[2147483648]}',
        '{"a":[0],"a":[1]}',
        '{"a b":[0]}',
        7,
        {"a": [None]},
        {3: [0]},
    ],
)
def test_assign_refuses_anything_but_lists_of_partitions(value: object) -> None:
    assert "assign" in refusal(assign=value)


@pytest.mark.parametrize(
    "pair", [{"subscribe": "a", "assign": '{"a":[0]}'}, {"subscribe": "a", "subscribePattern": "a"}]
)
def test_at_most_one_way_to_choose_topics(pair: dict[str, object]) -> None:
    assert "only one of subscribe, subscribePattern, assign" in refusal(**pair)


# Offsets and timestamps


def test_offsets_are_words_or_json_or_mappings() -> None:
    assert parse(startingOffsets=" EARLIEST ").starting_offsets == "earliest"
    options = parse(startingOffsets='{"t":{"0":23,"1":-2}}', endingOffsets={"t": {0: 24, "1": -1}})
    assert options.starting_offsets == {"t": {0: 23, 1: -2}}
    assert options.ending_offsets == {"t": {0: 24, 1: -1}}


BAD_OFFSETS = [
    "",
    "soonest",
    "12",
    "{",
    '{"t":{"0":}}',
    '{"t":{"0":1}',
    '{"t":{"0":1}}x',
    "{'t':{'0':1}}",
    '{"t":5}',
    '{"t":[0]}',
    '{"t":{"x":1}}',
    '{"t":{"-1":1}}',
    '{"t":{"00":1}}',
    '{"t":{"1.0":1}}',
    '{"t":{"2147483648":1}}',
    '{"t":{"0":1.0}}',
    '{"t":{"0":true}}',
    '{"t":{"0":null}}',
    '{"t":{"0":"1"}}',
    '{"t":{"0":NaN}}',
    '{"t":{"0":-3}}',
    '{"t":{"0":9223372036854775808}}',
    '{"t":{"0":' + "9" * 10_000 + "}}",
    '{"t":{"0":1,"0":2}}',
    '{"t":{"0":1},"t":{"1":2}}',
    '{"bad topic":{"0":1}}',
    '{"":{"0":1}}',
    '{"t":' * 100_000,
]


@pytest.mark.parametrize("value", BAD_OFFSETS, ids=range(len(BAD_OFFSETS)))
@pytest.mark.parametrize("name", ["startingOffsets", "endingOffsets"])
def test_malformed_offsets_are_refused(name: str, value: str) -> None:
    message = refusal(**{name: value})
    assert f"option {name} " in message
    assert len(message) < 500


@pytest.mark.parametrize("value", [{"t": {True: 1}}, {"t": {0: True}}, {"t": {0: 1, "0": 2}}, 5, [1]])
def test_malformed_python_offsets_are_refused(value: object) -> None:
    assert "startingOffsets" in refusal(startingOffsets=value)


def test_bad_json_shows_the_fragment_and_its_place() -> None:
    text = '{"a-topic-with-a-long-name":{"0":12345,"1":oops,"2":6},"and-more-of-the-same":{"0":1}}'
    message = refusal(startingOffsets=text)
    assert f"character {text.index('oops')}" in message
    assert '"1":oops,"2":6}' in message
    assert "a-topic-with" not in message


def test_a_wrong_offset_names_its_topic_and_partition() -> None:
    assert 'topic "t", partition 3' in refusal(endingOffsets='{"t":{"3":"x"}}')


def test_a_batch_refuses_to_start_at_latest() -> None:
    assert "startingOffsets cannot be latest" in refusal(startingOffsets="latest")
    assert "for t-4" in refusal(startingOffsets='{"t":{"0":5,"4":-1}}')


def test_a_batch_refuses_to_end_at_earliest() -> None:
    assert "endingOffsets cannot be earliest" in refusal(endingOffsets="earliest")
    assert "for t-4" in refusal(endingOffsets='{"t":{"0":5,"4":-2}}')


def test_a_stream_may_start_at_latest() -> None:
    options = parse_options({"startingOffsets": "latest"}, PATH, streaming=True)
    assert options.starting_offsets == "latest"
    with pytest.raises(OptionError, match="cannot be latest"):
        check_batch_options(options)


@pytest.mark.parametrize("kind", ["Offsets", "OffsetsByTimestamp"])
def test_starts_and_ends_name_the_same_partitions_in_order(kind: str) -> None:
    def both(start: str, end: str) -> dict[str, object]:
        return {f"starting{kind}": start, f"ending{kind}": end}

    parse(**both('{"t":{"0":5}}', '{"t":{"0":5}}'))
    assert "does not" in refusal(**both('{"t":{"0":5}}', '{"t":{"1":6}}'))
    assert "ends before it starts" in refusal(**both('{"t":{"0":5}}', '{"t":{"0":4}}'))


def test_an_end_at_latest_is_after_every_start() -> None:
    parse(startingOffsets='{"t":{"0":5,"1":-2}}', endingOffsets='{"t":{"0":-1,"1":0}}')


def test_timestamp_wins_over_timestamps_win_over_offsets() -> None:
    by_partition = '{"t":{"0":7}}'
    options = parse(
        startingTimestamp="5",
        startingOffsetsByTimestamp=by_partition,
        startingOffsets="latest",
        endingOffsetsByTimestamp=by_partition,
        endingOffsets="earliest",
    )
    assert options.starting_limit.timestamp_ms == 5
    assert options.starting_limit.option == "startingTimestamp"
    assert options.ending_limit.timestamps_ms == {"t": {0: 7}}
    assert options.ending_limit.option == "endingOffsetsByTimestamp"
    assert parse().starting_limit.keyword == "earliest"
    assert parse().ending_limit.keyword == "latest"
    assert parse(endingOffsets='{"t":{"0":9}}').ending_limit.offsets == {"t": {0: 9}}


@pytest.mark.parametrize("value", ["", "-1", "soon", "1.5", "2024-13-01", "1969-12-31", str(2**63), True])
@pytest.mark.parametrize("name", ["startingTimestamp", "endingTimestamp"])
def test_what_is_no_time_since_1970_is_refused(name: str, value: object) -> None:
    assert f"option {name} is " in refusal(**{name: value})


def test_timestamps_by_partition_take_no_marks() -> None:
    assert "out of range" in refusal(startingOffsetsByTimestamp='{"t":{"0":-1}}')


def test_strategy_is_error_or_latest() -> None:
    assert parse(startingOffsetsByTimestampStrategy="LATEST").starting_offsets_by_timestamp_strategy == "latest"
    assert "one of error, latest" in refusal(startingOffsetsByTimestampStrategy="earliest")


# What is not built yet


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("filterPushdown", "true"),
    ],
)
def test_what_is_not_built_yet_is_refused(name: str, value: str) -> None:
    assert "not supported yet" in refusal(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mode", "failfast"),
        ("view", "records"),
        ("maxTriggerDelay", "15m"),
        ("maxTriggerDelay", "900s"),
        ("filterPushdown", False),
    ],
)
def test_the_default_of_what_is_not_built_yet_is_taken(name: str, value: object) -> None:
    assert parse(**{name: value}) == parse()


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("mode", "DROPMALFORMED"),
        ("view", "segments"),
        ("isolationLevel", "read_committed"),
        ("readUpTo", "logEnd"),
    ],
)
def test_a_value_that_does_not_exist_lists_those_that_do(name: str, listed: str) -> None:
    message = refusal(**{name: "FOO"})
    assert "not supported yet" not in message
    assert listed in message


def test_both_names_of_the_isolation_level_must_agree() -> None:
    both = parse(**{"isolationLevel": "read_committed", "kafka.isolation.level": "READ_COMMITTED"})
    assert both.isolation_level == "read_committed"
    message = refusal(**{"isolationLevel": "read_uncommitted", "kafka.isolation.level": "read_committed"})
    assert "different values" in message


def test_trigger_bounds_must_not_cross() -> None:
    assert "above maxOffsetsPerTrigger" in refusal(minOffsetsPerTrigger="5", maxOffsetsPerTrigger="4")


@pytest.mark.parametrize("value", ["", "soon", "-5m", "1.5h", "5 m m", "3w"])
def test_a_duration_needs_a_number_and_a_unit(value: str) -> None:
    assert "duration" in refusal(maxTriggerDelay=value)


# Paths


def paths(value: object = None, **options: object) -> tuple[str, ...]:
    return parse_options(options, value).paths


def test_no_path_is_an_error() -> None:
    with pytest.raises(OptionError, match="no path"):
        parse_options({})
    with pytest.raises(OptionError, match="no path"):
        parse_options({}, [])


def test_paths_come_from_the_option_from_sparks_array_and_from_python() -> None:
    assert paths(path="/a") == ("/a",)
    assert paths(paths=json.dumps(["/a", "/b,c"])) == ("/a", "/b,c")
    assert paths(["/a", Path("/b")]) == ("/a", "/b")
    assert paths(Path("/a")) == ("/a",)
    assert paths("/a", path="/b", paths='["/c","/a"]') == ("/a", "/b", "/c")


def test_a_comma_list_is_several_paths() -> None:
    assert paths("/a, /b,,") == ("/a", "/b")
    assert paths(path="file:///a,/b") == ("/a", "/b")


def test_a_comma_in_a_glob_does_not_cut() -> None:
    assert paths("/x/{a,b}-0,/y/[c,d]") == ("/x/{a,b}-0", "/y/[c,d]")
    assert paths("/x/{a,/b") == ("/x/{a", "/b")


def test_a_path_with_a_comma_that_exists_is_one_path(tmp_path: Path) -> None:
    odd = tmp_path / "a,b"
    odd.mkdir()
    assert paths(str(odd)) == (str(odd),)
    assert paths(path=f"file://{odd}") == (str(odd),)


@pytest.mark.parametrize("uri", ["file:/x/y", "file:///x/y", "FILE:///x/y", "file://localhost/x/y", "file:////x/y"])
def test_file_uris_are_paths(uri: str) -> None:
    assert paths(uri) == ("/x/y",)


def test_a_percent_sign_in_a_uri_is_decoded_only_when_that_is_what_exists(tmp_path: Path) -> None:
    spaced = tmp_path / "a b"
    spaced.mkdir()
    assert paths(spaced.as_uri()) == (str(spaced),)
    literal = tmp_path / "c%20d"
    literal.mkdir()
    assert paths(f"file://{literal}") == (str(literal),)


@pytest.mark.parametrize("uri", ["s3://key:hunter2@bucket/x", "s3a://hunter2/x", "hdfs://n:8020/x", "dbfs:/x"])
def test_object_stores_are_not_supported_yet_and_their_uri_is_not_shown(uri: str) -> None:
    with pytest.raises(OptionError, match="object stores are not supported yet") as caught:
        paths(uri)
    assert "hunter2" not in str(caught.value)


def test_a_file_on_another_machine_is_refused() -> None:
    with pytest.raises(OptionError, match="another machine"):
        paths("file://server/x")


@pytest.mark.parametrize("value", ["", "  ", [""], [None], 5, b"/a", "/a\0b"])
def test_what_is_no_path_is_refused(value: object) -> None:
    with pytest.raises(OptionError):
        paths(value)


@pytest.mark.parametrize("value", ["/a", "{}", "[1]", "[", "[" * 100_000])
def test_sparks_array_of_paths_must_be_one(value: str) -> None:
    with pytest.raises(OptionError, match="JSON array"):
        paths(paths=value)


# The whole


def test_options_survive_pickling() -> None:
    options = parse(assign={"a": [0]}, startingOffsets='{"a":{"0":1}}', minPartitions=4)
    assert pickle.loads(pickle.dumps(options)) == options


def test_options_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        parse().mode = "RECOVER"  # type: ignore[misc]
