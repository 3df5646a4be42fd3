from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import Batch, Header, Message, Record, Wrapper, encode, partition_dir, write_segment
from tests.builders.v07 import Message07, write_segment_07
from tests.unit.cli.conftest import Run

Kafkalog = Callable[..., Run]
TIME = 1_700_000_000_123
TIME_TEXT, DEFAULT_TIME = "2023-11-14T22:13:20.123Z", "2023-11-14T22:13:20.000Z"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two topics, one of them internal, and a directory that is no partition."""
    orders = partition_dir(tmp_path, "orders", 0)
    first = Batch(
        [
            Record(b"k", b"v", [Header(b"id", b"1"), Header(b"raw", b"\xff")]),
            Record(None, None),
            Record(b"", b""),
        ],
        base_timestamp=TIME,
    )
    write_segment(orders, [first])
    write_segment(orders, [Batch([Record(b"\xff", b"\x1b[31m")], base_offset=3, base_timestamp=TIME)], base_offset=3)
    write_segment(partition_dir(tmp_path, "orders", 1), b"", base_offset=40)
    write_segment(partition_dir(tmp_path, "__consumer_offsets", 7), [Batch()])
    (tmp_path / "lost+found").mkdir()
    return tmp_path


def test_ls_shows_partitions_with_their_first_and_last_offset(kafkalog: Kafkalog, logs: Path) -> None:
    run = kafkalog("ls", logs)
    assert (run.status, run.err) == (0, "")
    sizes = {
        path: sum(f.stat().st_size for f in (logs / path).iterdir()) for path in ("orders-0", "__consumer_offsets-7")
    }
    rows = [line.split() for line in run.out.splitlines()]
    assert rows[:4] == [
        ["TOPIC", "PARTITION", "SEGMENTS", "BYTES", "FIRST", "LAST", "FIRST", "TIME", "LAST", "TIME"],
        ["__consumer_offsets", "7", "1", str(sizes["__consumer_offsets-7"]), "0", "0", DEFAULT_TIME, DEFAULT_TIME],
        ["orders", "0", "2", str(sizes["orders-0"]), "0", "3", TIME_TEXT, TIME_TEXT],
        ["orders", "1", "1", "0", "-", "-", "-", "-"],
    ]
    assert run.out.splitlines()[4].startswith("2 topics, 3 partitions, 4 segments, ")
    assert run.out.splitlines()[5] == "1 skipped; --skipped lists them"


def test_ls_tells_what_was_skipped(kafkalog: Kafkalog, logs: Path) -> None:
    assert f"skipped: {logs}/lost+found: not a topic-partition directory" in kafkalog("ls", logs, "--skipped").out


def test_ls_shows_segments(kafkalog: Kafkalog, logs: Path) -> None:
    rows = [line.split() for line in kafkalog("ls", logs, "--segments", "--subscribe", "orders").out.splitlines()]
    assert rows[0] == ["TOPIC", "PARTITION", "BASE", "BYTES", "FIRST", "LAST", "FIRST", "TIME", "LAST", "TIME", "FILE"]
    assert [(row[2], row[4], row[5]) for row in rows[1:4]] == [
        ("0", "0", "2"),
        ("3", "3", "3"),
        ("40", "-", "-"),
    ]
    assert rows[1][8] == str(logs / "orders-0" / "00000000000000000000.log")


def test_ls_shows_sizes_for_people_and_sorts(kafkalog: Kafkalog, logs: Path) -> None:
    write_segment(partition_dir(logs, "large", 0), [Batch([Record(value=bytes(3000))], base_timestamp=5)])

    def topics(*flags: str) -> list[str]:
        return [line.split()[0] for line in kafkalog("ls", logs, *flags).out.splitlines()[1:5]]

    assert topics() == topics("--sort", "name") == ["__consumer_offsets", "large", "orders", "orders"]
    assert topics("--sort", "size") == ["large", "orders", "__consumer_offsets", "orders"]
    assert topics("--sort", "segments") == ["orders", "__consumer_offsets", "large", "orders"]
    assert topics("--sort", "time") == ["orders", "__consumer_offsets", "large", "orders"]
    rows = [line.split() for line in kafkalog("ls", logs, "-h", "--sort", "size").out.splitlines()]
    assert (rows[0][3], rows[1][3:5], rows[4][3:5]) == ("SIZE", ["3.0", "KiB"], ["0", "B"])
    size = sum(path.stat().st_size for path in logs.glob("*/*.log"))
    assert " ".join(rows[5][-2:]) == f"{size / 1024:.1f} KiB"
    run = kafkalog("ls", logs, "--sort", "sise")
    assert (run.status, run.out) == (2, "")
    assert "'size'" in run.err


@pytest.mark.parametrize(
    ("batch", "times"),
    [
        (Batch([Record(), Record(timestamp_delta=7)], base_timestamp=1000), ("00:00:01.000Z", "00:00:01.007Z")),
        (Batch([Record()], base_timestamp=1000, max_timestamp=9000, attributes=0x08), ("00:00:09.000Z",) * 2),
        (Batch([Record()], base_timestamp=1000, max_timestamp=9000, attributes=0x40), ("-", "00:00:09.000Z")),
        (Wrapper([Message(offset=0, timestamp=2000), Message(offset=1, timestamp=3000)]), ("00:00:02.000Z", "3.000Z")),
        (Message(timestamp=4000), ("00:00:04.000Z",) * 2),
        (Message(magic=0), ("-", "-")),
    ],
    ids=["producers", "the broker's", "a delete horizon", "a wrapper", "a message", "format 0"],
)
def test_ls_shows_the_time_of_the_first_record_and_the_last_batch(
    kafkalog: Kafkalog, tmp_path: Path, batch: Batch | Message | Wrapper, times: tuple[str, str]
) -> None:
    write_segment(partition_dir(tmp_path, "orders", 0), [batch])
    shown = kafkalog("ls", tmp_path).out.splitlines()[1].split()[6:]
    assert [time.endswith(end) for time, end in zip(shown, times, strict=True)] == [True, True]
    (found,) = json.loads(kafkalog("ls", tmp_path, "--json").out)["partitions"]
    assert [found["firstTimestamp"], found["lastTimestamp"]] == [None if time == "-" else time for time in shown]


def test_ls_tells_topic_ids_and_which_cannot_be_read(kafkalog: Kafkalog, logs: Path) -> None:
    topic_id = "0F8ErRbvS3aaKgTFBQzTpA"
    (logs / "orders-0" / "partition.metadata").write_text(f"version: 0\ntopic_id: {topic_id}\n")
    (logs / "orders-1" / "partition.metadata").write_text("version: 9\n")
    run = kafkalog("ls", logs, "--json", "--subscribe", "orders")
    document = json.loads(run.out)
    assert [each["topicId"] for each in document["partitions"]] == [topic_id, None]
    (warning,) = document["warnings"]
    assert "orders-1/partition.metadata: damaged checkpoint, in line 1" in warning
    assert warning in run.err


@pytest.mark.parametrize(
    "flags",
    [["--subscribe", "nope"], ["--subscribe", "orders,nope"], ["--assign", '{"orders":[0,7],"nope":[1]}']],
)
def test_ls_and_dump_refuse_what_is_not_there_alike(kafkalog: Kafkalog, logs: Path, flags: list[str]) -> None:
    ls, dump = kafkalog("ls", logs, *flags), kafkalog("dump", logs, *flags)
    assert ls == dump
    assert (ls.status, ls.out) == (2, "")
    assert "nope" in ls.err


def test_ls_says_if_nothing_was_chosen(kafkalog: Kafkalog, logs: Path) -> None:
    run = kafkalog("ls", logs, "--subscribe-pattern", "no such.*")
    assert run.status == 0
    assert run.err.startswith("kafkalog: warning: no partition was selected; without")


def test_ls_as_json(kafkalog: Kafkalog, logs: Path) -> None:
    document = json.loads(kafkalog("ls", logs, "--json", "--segments").out)
    assert [(each["topic"], each["partition"]) for each in document["partitions"]] == [
        ("__consumer_offsets", 7),
        ("orders", 0),
        ("orders", 1),
    ]
    orders = document["partitions"][1]
    assert (orders["firstOffset"], orders["lastOffset"], orders["logStartOffset"]) == (0, 3, None)
    assert [segment["baseOffset"] for segment in orders["segmentFiles"]] == [0, 3]
    assert [each["reason"] for each in document["skipped"]] == ["not a topic-partition directory"]


def test_ls_looks_into_a_wrapper_for_its_first_offset(kafkalog: Kafkalog, tmp_path: Path) -> None:
    wrapper = Wrapper([Message(offset=offset) for offset in (5, 6, 7)])
    write_segment(partition_dir(tmp_path, "old", 0), [wrapper], base_offset=5)
    (found,) = json.loads(kafkalog("ls", tmp_path, "--json").out)["partitions"]
    assert (found["firstOffset"], found["lastOffset"]) == (5, 7)


def test_ls_and_dump_show_kafka_0_7_by_positions(kafkalog: Kafkalog, tmp_path: Path) -> None:
    write_segment_07(partition_dir(tmp_path, "old", 0), [Message07(b"one"), Message07(b"two")], base_offset=100)
    (found,) = json.loads(kafkalog("ls", tmp_path, "--json").out)["partitions"]
    assert (found["firstOffset"], found["lastOffset"]) == (100, 113)
    lines = kafkalog("dump", tmp_path, "--json").out.splitlines()
    assert [(row["offset"], row["value"]) for row in map(json.loads, lines)] == [(100, "one"), (113, "two")]


def test_ls_tells_damage_and_goes_on(kafkalog: Kafkalog, logs: Path) -> None:
    content = bytearray(Wrapper([Message(offset=5)]).encode())
    content[-1] ^= 1
    segment = write_segment(partition_dir(logs, "old", 0), bytes(content), base_offset=5)
    run = kafkalog("ls", logs)
    assert run.status == 1
    assert run.err.startswith(f"kafkalog: {segment}")
    assert ["old", "0", "1", str(len(content)), "?", "5", "-", DEFAULT_TIME] in [
        line.split() for line in run.out.splitlines()
    ]


def test_ls_tells_damaged_checkpoints(kafkalog: Kafkalog, logs: Path) -> None:
    (logs / "log-start-offset-checkpoint").write_text("7\n0\n")
    run = kafkalog("ls", logs)
    assert run.status == 0
    assert run.err.startswith("kafkalog: warning: ")
    assert len(run.err.splitlines()) == 1


def test_dump_shows_records_as_lines(kafkalog: Kafkalog, logs: Path) -> None:
    run = kafkalog("dump", logs)
    assert (run.status, run.err) == (0, "")
    assert run.out.splitlines() == [
        'orders-0@0 2023-11-14T22:13:20.123Z CreateTime key="k" value="v" headers=[id="1", raw=base64:/w==]',
        "orders-0@1 2023-11-14T22:13:20.123Z CreateTime key=null value=null",
        'orders-0@2 2023-11-14T22:13:20.123Z CreateTime key="" value=""',
        "orders-0@3 2023-11-14T22:13:20.123Z CreateTime key=base64:/w== value=base64:G1szMW0=",
    ]


def test_dump_as_json_lines(kafkalog: Kafkalog, logs: Path) -> None:
    rows = [json.loads(line) for line in kafkalog("dump", logs / "orders-0", "--json").out.splitlines()]
    assert rows[0] == {
        "key": "k",
        "value": "v",
        "topic": "orders",
        "partition": 0,
        "offset": 0,
        "timestamp": "2023-11-14T22:13:20.123Z",
        "timestampType": 0,
        "headers": [{"key": "id", "value": "1"}, {"key": "raw", "value": {"base64": "/w=="}}],
    }
    assert (rows[1]["key"], rows[2]["key"], rows[1]["headers"]) == (None, "", None)
    assert rows[3]["value"] == {"base64": "G1szMW0="}


@pytest.mark.parametrize(
    ("flags", "offsets"),
    [
        (["--limit", "2"], [0, 1]),
        (["--limit", "0"], []),
        (["--limit", "99"], [0, 1, 2, 3]),
        (["--assign", '{"orders":[0]}', "--starting-offsets", '{"orders":{"0":2}}'], [2, 3]),
        (["--assign", '{"orders":[0]}', "--ending-offsets", '{"orders":{"0":1}}'], [0]),
        (["--assign", '{"orders":[1]}'], []),
        (["--assign", '{"orders":[0]}', "--starting-timestamp", str(TIME)], [0, 1, 2, 3]),
        (["--subscribe-pattern", "__.*"], [0]),
        (["-o", "subscribe=__consumer_offsets"], [0]),
    ],
)
def test_dump_takes_the_options_of_a_read(kafkalog: Kafkalog, logs: Path, flags: list[str], offsets: list[int]) -> None:
    run = kafkalog("dump", logs, "--json", *flags)
    assert run.err == ""
    assert [json.loads(line)["offset"] for line in run.out.splitlines()] == offsets


def test_dump_says_if_nothing_was_chosen(kafkalog: Kafkalog, logs: Path) -> None:
    run = kafkalog("dump", logs, "--subscribe-pattern", "no such.*")
    assert (run.status, run.out) == (0, "")
    assert run.err == "kafkalog: warning: no partition was selected; kafkalog ls lists all of them\n"


def test_dump_tells_a_batch_that_the_end_of_the_log_cuts(kafkalog: Kafkalog, logs: Path) -> None:
    segment = logs / "orders-0" / "00000000000000000003.log"
    segment.write_bytes(segment.read_bytes() + Batch([Record()] * 9, base_offset=4).encode()[:-1])
    run = kafkalog("dump", logs, "--columns", "offset")
    assert run.out.splitlines() == ["offset=0", "offset=1", "offset=2", "offset=3"]
    assert run.status == 0
    assert run.err.startswith(f"kafkalog: warning: {segment}, position ")


def test_dump_takes_places_and_shows_their_times_in_utc(kafkalog: Kafkalog, logs: Path) -> None:
    arguments = ("--place", "orders:0@1..3", "--place", "__consumer_offsets@1970-01-01T01:00+01:00..1")
    run = kafkalog("dump", logs, "--columns", "topic,partition,offset", *arguments)
    assert run.out.splitlines() == ["__consumer_offsets-7@0", "orders-0@1", "orders-0@2"]
    assert (run.status, run.err) == (0, "kafkalog: places=__consumer_offsets@1970-01-01T00:00:00Z..1\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--starting-timestamp", "1970-01-01T01:00+01:00"], ["startingTimestamp=1970-01-01T00:00:00Z"]),
        (
            ["--starting-timestamp", "1970-01-01T01:00", "--time-zone", "Europe/Berlin"],
            ["startingTimestamp=1970-01-01T00:00:00Z"],
        ),
        (["--starting-timestamp", "0", "--ending-timestamp", "9999-01-01"], ["endingTimestamp=9999-01-01T00:00:00Z"]),
        (["-o", "STARTINGTIMESTAMP=0"], []),
    ],
)
def test_dump_shows_what_times_stand_for(kafkalog: Kafkalog, logs: Path, arguments: list[str], said: list[str]) -> None:
    run = kafkalog("dump", logs / "orders-0", "--columns", "offset", *arguments)
    assert run.out.splitlines()[0] == "offset=0"
    assert run.err.splitlines() == [f"kafkalog: {each}" for each in said]


@pytest.mark.parametrize("command", ["ls", "verify"])
def test_whole_partitions_are_places_too(kafkalog: Kafkalog, logs: Path, command: str) -> None:
    run = kafkalog(command, logs, "--place", "orders:1", "--json")
    assert [(each["topic"], each["partition"]) for each in json.loads(run.out)["partitions"]] == [("orders", 1)]
    refused = kafkalog(command, logs, "--place", "orders:1@5..")
    assert (refused.status, refused.out) == (2, "")
    assert f"{command} takes whole partitions, and no range of a place" in refused.err


def test_dump_shows_the_columns_that_are_named(kafkalog: Kafkalog, logs: Path) -> None:
    run = kafkalog("dump", logs / "orders-0", "--columns", "offset,valueSize,compression", "--limit", "2")
    assert run.out.splitlines() == [
        "offset=0 valueSize=1 compression=none",
        "offset=1 valueSize=null compression=none",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing command"),
        (["ls"], "PATH"),
        (["dump", "{logs}", "--limit", "many"], "'--limit': 'many'"),
        (["dump", "{logs}", "--limit", "-1"], "'--limit': -1"),
        (["dump", "{logs}", "--nonsense"], "--nonsense"),
        (["dump", "{logs}", "--no\x1b]0;x"], "See kafkalog dump --help"),
        (["dump", "{logs}", "--colums", "offset"], "'--columns'"),
        (["dmup", "{logs}"], "Did you mean 'dump'?"),
        (["dump", "{logs}", "--limit"], "requires an argument"),
        (["dump", "{logs}", "-o", "nonsense"], "name=value"),
        (["dump", "{logs}", "-o", "startingOfsets=earliest"], "startingOffsets"),
        (["dump", "{logs}", "-o", "mode=FAILFAST", "-o", "MODE=FAILFAST"], "given twice"),
        (["dump", "{logs}", "--subscribe", "a", "-o", "SUBSCRIBE=b"], "given twice"),
        (["dump", "{logs}", "--assign", "{{"], "assign"),
        (["dump", "{logs}", "--columns", "offset,nonsense"], "nonsense"),
        (["dump", "{logs}/none"], "no such file or directory"),
        (["ls", "{logs}/none\x1b]0;x"], "no such file or directory"),
        (["ls", "{logs}/lost+found"], "holds no partition"),
    ],
)
def test_what_cannot_run_is_one_line_and_status_2(
    kafkalog: Kafkalog, logs: Path, arguments: list[str], said: str
) -> None:
    run = kafkalog(*(argument.replace("{logs}", str(logs)).replace("{{", "{") for argument in arguments))
    assert run.status == 2
    assert run.out == ""
    assert run.err.startswith("kafkalog: ")
    assert said in run.err
    assert len(run.err.splitlines()) == 1
    assert run.err.rstrip("\n").isprintable()


def test_damaged_data_is_one_line_and_status_1(kafkalog: Kafkalog, logs: Path) -> None:
    segment = logs / "orders-0" / "00000000000000000000.log"
    content = bytearray(segment.read_bytes())
    content[-1] ^= 1
    segment.write_bytes(content)
    run = kafkalog("dump", logs)
    assert run.status == 1
    assert run.err.startswith(f"kafkalog: {segment}")
    assert len(run.err.splitlines()) == 1


def test_files_named_as_those_of_other_formats_are_status_2(kafkalog: Kafkalog, tmp_path: Path) -> None:
    (tmp_path / "0-1-v1.log").write_bytes(b"x")
    run = kafkalog("ls", tmp_path / "0-1-v1.log")
    assert run.status == 2
    assert "Redpanda" in run.err


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["ls", "--help"], ["dump", "--help"], ["dump", "-h"]])
def test_help_has_examples(kafkalog: Kafkalog, arguments: list[str]) -> None:
    run = kafkalog(*arguments)
    assert run.status == 0
    assert "examples:" in run.out


def test_a_reader_that_leaves_early_is_no_error(logs: Path) -> None:
    segment = write_segment(
        partition_dir(logs, "big", 0),
        [Batch([Record(value=b"x" * 1000)] * 100, base_offset=at) for at in range(0, 20_000, 100)],
    )
    command = [sys.executable, "-m", "kafkalog_source.cli", "dump", str(segment)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"big-0@0 ")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_nothing_is_written_below_the_path(kafkalog: Kafkalog, logs: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in logs.rglob("*")}
    kafkalog("ls", logs, "--segments")
    kafkalog("dump", logs)
    assert {path: path.stat().st_mtime_ns for path in logs.rglob("*")} == before


@pytest.fixture
def harmed(tmp_path: Path) -> Path:
    """A partition of three batches, of which the second is damaged and the third is cut."""
    content = bytearray(encode([Batch([Record(b"k", b"v")], base_offset=i) for i in range(3)])[:-2])
    content[len(content) // 2] ^= 1
    return write_segment(partition_dir(tmp_path, "orders", 0), bytes(content)).parent


def test_dump_ends_at_damage_and_says_where(kafkalog: Kafkalog, harmed: Path) -> None:
    run = kafkalog("dump", harmed)
    assert run.status == 1
    assert "base offset 1: the batch's checksum is wrong" in run.err


def test_dump_skips_damage_and_says_what_is_lost(kafkalog: Kafkalog, harmed: Path) -> None:
    run = kafkalog("dump", harmed, "--mode", "DROPMALFORMED", "--columns", "offset")
    assert (run.status, run.out) == (0, "offset=0\n")
    lines = run.err.splitlines()
    assert len(lines) == 2
    assert "bytes damaged, offsets from 1 on: the batch's checksum is wrong" in lines[0]
    assert "bytes torn, offsets from 1 on" in lines[1]


@pytest.mark.parametrize("mode", ["DROPMALFORMED", "PERMISSIVE"])
def test_dump_says_what_is_left_out_also_when_the_read_fails_later(
    kafkalog: Kafkalog, tmp_path: Path, mode: str
) -> None:
    directory = partition_dir(tmp_path, "orders", 0)
    damaged = bytearray(encode([Batch(base_offset=i) for i in range(3)]))
    damaged[len(damaged) // 2] ^= 1
    write_segment(directory, bytes(damaged))
    write_segment(directory, [Batch(base_offset=9)], base_offset=9)
    run = kafkalog("dump", directory, "--mode", mode, "--columns", "offset,_corrupt_record")
    assert run.status == 1
    left_out, error = run.err.splitlines()
    assert f"{0:020d}.log" in left_out
    assert "bytes damaged, offset 1: the batch's checksum is wrong" in left_out
    assert "offsets 3 to 8 are not on disk" in error


def test_dump_with_a_limit_says_what_it_left_out_until_then(kafkalog: Kafkalog, harmed: Path) -> None:
    run = kafkalog("dump", harmed, "--mode", "DROPMALFORMED", "--limit", "1")
    assert (run.status, len(run.out.splitlines())) == (0, 1)
    assert "bytes damaged" in run.err


def test_dump_shows_damage_among_the_records(kafkalog: Kafkalog, harmed: Path) -> None:
    run = kafkalog("dump", harmed, "--mode", "permissive")
    assert [line.split()[0] for line in run.out.splitlines()] == ["orders-0@0", "orders-0@1"]
    assert "_corrupt_record" not in run.out.splitlines()[0]
    assert '"first_offset": 1' in run.out.splitlines()[1]
    assert len(run.err.splitlines()) == 1
    rows = [json.loads(line) for line in kafkalog("dump", harmed, "--mode", "PERMISSIVE", "--json").out.splitlines()]
    assert [row["_corrupt_record"] is None for row in rows] == [True, False]


def test_dump_shows_what_a_broker_would_keep(kafkalog: Kafkalog, harmed: Path) -> None:
    run = kafkalog("dump", harmed, "--mode", "RECOVER", "--columns", "offset")
    assert (run.status, run.out) == (0, "offset=0\n")
    assert "a broker's recovery truncates the log here" in run.err


def test_dump_shows_damage_alone(kafkalog: Kafkalog, harmed: Path) -> None:
    run = kafkalog("dump", harmed, "--view", "damage", "--json")
    assert (run.status, run.err) == (0, "")
    assert [json.loads(line)["kind"] for line in run.out.splitlines()] == ["damaged", "torn"]


def test_dump_shows_batches(kafkalog: Kafkalog, harmed: Path) -> None:
    run = kafkalog("dump", harmed, "--view", "batches", "-o", "verifyChecksums=false")
    first, second = run.out.splitlines()
    assert (run.status, first.split()[0], second.split()[0]) == (0, "orders-0@0..0", "orders-0@1..1")
    assert "recordCount=1 magic=2" in first
    assert "torn" in run.err
