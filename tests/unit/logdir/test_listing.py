from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafkalog_source.errors import LogDirError, UnsupportedFormatError
from kafkalog_source.logdir import list_logs
from tests.unit.logdir.conftest import Write, listed, log, places

HEX = "0123456789abcdef0123456789abcdef"


def test_a_log_dir_gives_its_partitions_in_order_of_topic_and_number(write: Write, tmp_path: Path) -> None:
    write(f"b-10/{log(0)}", f"b-9/{log(0)}", f"a-0/{log(100)}", f"a-0/{log(20)}", "meta.properties")
    listing = listed(tmp_path)
    assert places(listing) == [("a", 0), ("b", 9), ("b", 10)]
    assert [segment.base_offset for segment in listing.partitions[0].segments] == [20, 100]
    assert not listing.skipped
    assert not listing.warnings


def test_a_segment_comes_with_its_stat_and_the_side_files_that_are_there(write: Write, tmp_path: Path) -> None:
    path = write(f"t-0/{log(5)}", content=b"12345")
    write("t-0/00000000000000000005.index", "t-0/00000000000000000005.txnindex")
    segment = listed(tmp_path).partitions[0].segments[0]
    found = path.stat()
    assert segment.path == str(path)
    assert (segment.size, segment.mtime_ns, segment.inode) == (5, found.st_mtime_ns, found.st_ino)
    assert segment.offset_index == str(path.with_suffix(".index"))
    assert segment.txn_index == str(path.with_suffix(".txnindex"))
    assert segment.time_index is None
    assert segment.snapshot is None


def test_wanted_is_asked_before_a_partition_is_looked_into(write: Write, tmp_path: Path) -> None:
    write(f"a-0/{log(0)}", "b-0/0-1-v1.log", "c-0")
    asked: list[tuple[str, int]] = []

    def wanted(topic: str, partition: int) -> bool:
        asked.append((topic, partition))
        return topic == "a"

    assert places(listed(tmp_path, wanted=wanted)) == [("a", 0)]
    assert sorted(asked) == [("a", 0), ("b", 0)]


def test_nothing_wanted_is_an_empty_listing(write: Write, tmp_path: Path) -> None:
    write(f"a-0/{log(0)}")
    assert listed(tmp_path, wanted=lambda topic, partition: False).partitions == ()


def test_a_partition_directory_given_by_path_is_taken_without_asking(write: Write, tmp_path: Path) -> None:
    write(f"__consumer_offsets-3/{log(0)}")
    listing = listed(tmp_path / "__consumer_offsets-3", wanted=lambda topic, partition: False)
    assert places(listing) == [("__consumer_offsets", 3)]
    assert not listing.partitions[0].is_single_file


def test_variants_are_skipped_unless_a_path_names_them(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", f"t-1.{HEX}-future/{log(0)}", f"u-0.{HEX}-delete/{log(0)}")
    listing = listed(tmp_path)
    assert places(listing) == [("t", 0)]
    assert {skipped.reason[:15] for skipped in listing.skipped} == {"marked -future:", "marked -delete:"}
    assert places(listed(tmp_path / f"t-1.{HEX}-future")) == [("t", 1)]
    assert places(listed(f"{tmp_path}/*")) == [("t", 0)]
    assert places(listed(f"{tmp_path}/*-delete")) == [("u", 0)]


def test_checkpoints_speak_of_live_partitions_only(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", f"t-1/{log(0)}", f"u-0.{HEX}-delete/{log(0)}")
    write("log-start-offset-checkpoint", content=b"0\n2\nt 0 12\nu 0 3\n")
    write("cleaner-offset-checkpoint", content=b"0\n1\nt 1 50\n")
    first, second = listed(tmp_path).partitions
    assert (first.log_start_offset, first.cleaned) == (12, False)
    assert (second.log_start_offset, second.cleaned) == (None, True)
    assert listed(tmp_path / "t-0").partitions[0].log_start_offset == 12
    assert listed(tmp_path / f"u-0.{HEX}-delete").partitions[0].log_start_offset is None
    assert listed(tmp_path / "t-0" / log(0)).partitions[0].log_start_offset is None


def test_a_damaged_checkpoint_counts_as_absent_and_is_told(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}")
    write("log-start-offset-checkpoint", content=b"7\n0\n")
    listing = listed(tmp_path)
    assert listing.partitions[0].log_start_offset is None
    assert len(listing.warnings) == 1
    assert "log-start-offset-checkpoint" in listing.warnings[0]
    assert "It is treated as absent" in listing.warnings[0]


def test_log_starts_that_a_copy_left_out_are_a_warning(write: Write, tmp_path: Path) -> None:
    write(f"a-0/{log(0)}", f"b-1/{log(0)}", "b-1/leader-epoch-checkpoint")
    (warning,) = listed(tmp_path).warnings
    assert "log-start-offset-checkpoint: no such file" in warning
    assert listed(tmp_path / "a-0", tmp_path / "b-1").warnings == (warning,)
    assert not listed(tmp_path / "b-1" / log(0)).warnings
    write("log-start-offset-checkpoint", content=b"0\n0\n")
    assert not listed(tmp_path).warnings


def test_log_starts_are_not_missed_where_no_broker_wrote_them(write: Write, tmp_path: Path) -> None:
    write(f"a-0/{log(0)}", "recovery-point-offset-checkpoint", "replication-offset-checkpoint", content=b"0\n0\n")
    assert not listed(tmp_path).warnings


def test_what_is_no_partition_is_skipped(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", "lost+found/x", "not_a_partition/x", "topic-without-number-/x", log(0), "file-0")
    listing = listed(tmp_path)
    assert places(listing) == [("t", 0)]
    assert sorted(os.path.basename(skipped.path) for skipped in listing.skipped) == [
        log(0),
        "lost+found",
        "not_a_partition",
        "topic-without-number-",
    ]


def test_files_in_a_partition_that_are_no_segments(write: Write, tmp_path: Path) -> None:
    write(
        *(f"t-0/{log(0)}{suffix}" for suffix in ("", ".deleted", ".tmp")),
        *("t-0/notes.txt", "t-0/leader-epoch-checkpoint", "t-0/partition.metadata", "t-0/server.log"),
        *(f"t-0/subdir/{log(0)}", "t-0/00000000000000000000-0000000001.checkpoint"),
    )
    listing = listed(tmp_path)
    assert [segment.path for segment in listing.partitions[0].segments] == [str(tmp_path / "t-0" / log(0))]
    assert sorted(os.path.basename(skipped.path) for skipped in listing.skipped) == [
        log(0) + ".deleted",
        log(0) + ".tmp",
        "notes.txt",
        "server.log",
        "subdir",
    ]
    assert {os.path.basename(skipped.path) for skipped in listing.skipped if skipped.is_foreign} == {
        log(0) + ".tmp",
        "notes.txt",
        "server.log",
    }


@pytest.mark.parametrize("suffix", ["", ".deleted", ".cleaned", ".swap"])
def test_a_segment_given_by_its_path_is_shown_as_it_is(write: Write, suffix: str) -> None:
    path = write(f"t-3/{log(7)}{suffix}", content=b"1")
    index = write(f"t-3/{7:020d}.index{suffix}")
    (found,) = listed(path, wanted=lambda topic, partition: False).partitions
    assert (found.topic, found.partition, found.is_single_file, found.path) == ("t", 3, True, str(path))
    assert found.segments[0].base_offset == 7
    assert found.segments[0].offset_index == str(index)


def test_a_segment_outside_any_partition_has_no_topic(write: Write) -> None:
    (found,) = listed(write(f"somewhere/{log(7)}")).partitions
    assert (found.topic, found.partition, found.is_single_file) == (None, None, True)


def test_what_is_given_twice_is_read_once(write: Write, tmp_path: Path) -> None:
    segment = write(f"t-0/{log(0)}")
    (tmp_path / "link").symlink_to(tmp_path)
    listing = listed(tmp_path, tmp_path / "link", tmp_path / "t-0", segment, f"{tmp_path}/t-*")
    assert places(listing) == [("t", 0)]
    assert places(listed(segment, segment)) == [("t", 0)]


def test_several_segments_of_one_partition(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", f"t-0/{log(9)}", f"t-0/{log(9)}.deleted", "t-0/00000000000000000009.index")
    listing = listed(f"{tmp_path}/t-0/*")
    assert [found.segments[0].base_offset for found in listing.partitions] == [0, 9]
    assert len(listing.skipped) == 1


@pytest.mark.parametrize("inside", ["", f"/{log(0)}"])
def test_one_partition_in_two_log_dirs_names_both(write: Write, tmp_path: Path, inside: str) -> None:
    write(f"disk1/t-0/{log(0)}", f"disk2/t-0/{log(0)}")
    with pytest.raises(LogDirError, match="partition 0 of topic t was found in two places") as caught:
        listed(tmp_path / f"disk1/t-0{inside}", tmp_path / "disk2")
    assert str(tmp_path / "disk1") in str(caught.value)
    assert str(tmp_path / "disk2") in str(caught.value)


def test_log_dirs_together_and_by_glob(write: Write, tmp_path: Path) -> None:
    write(f"disk1/t-0/{log(0)}", f"disk2/t-1/{log(0)}")
    assert places(listed(tmp_path / "disk1", tmp_path / "disk2")) == [("t", 0), ("t", 1)]
    assert places(listed(f"{tmp_path}/disk?")) == [("t", 0), ("t", 1)]
    assert places(listed(f"{tmp_path}/*/t-[1]")) == [("t", 1)]


def test_a_directory_of_log_dirs_suggests_them(write: Write, tmp_path: Path) -> None:
    write(f"disk1/t-0/{log(0)}", f"disk2/t-1/{log(0)}")
    with pytest.raises(LogDirError, match="contains log dirs") as caught:
        listed(tmp_path)
    assert str(tmp_path / "disk1") in str(caught.value)


@pytest.mark.parametrize("wanted", [True, False])
def test_log_dirs_named_like_partitions_are_told_apart(write: Write, tmp_path: Path, wanted: bool) -> None:
    write(f"kafka-logs-1/t-0/{log(0)}", "kafka-logs-1/meta.properties")
    assert places(listed(tmp_path / "kafka-logs-1")) == [("t", 0)]
    with pytest.raises(LogDirError, match="kafka-logs-1"):
        listed(tmp_path, wanted=lambda topic, partition: wanted)


def test_a_glob_asks_what_is_wanted_but_for_internal_topics_that_it_names(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", f"u-0/{log(0)}", f"__consumer_offsets-0/{log(0)}", "lost+found/x", "meta.properties")

    def wanted(topic: str, partition: int) -> bool:
        return topic == "t"

    assert places(listed(f"{tmp_path}/*", wanted=wanted)) == [("t", 0)]
    assert places(listed(f"{tmp_path}/__consumer*", wanted=wanted)) == [("__consumer_offsets", 0)]


def test_a_path_that_exists_is_no_glob(write: Write, tmp_path: Path) -> None:
    write(f"logs[1]/t-0/{log(0)}")
    assert places(listed(tmp_path / "logs[1]")) == [("t", 0)]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("none", "no such file or directory"),
        ("none/deeper/t-0", "no such file or directory"),
        ("none-*/t-0", "matches this glob"),
        ("none/*", "no such file or directory"),
        ("empty", "holds no partition"),
        ("e*", "no path that matches this glob"),
        ("moved/*", "no path that matches this glob"),
        ("dead-0/*", "no path that matches this glob"),
        ("file-*", "no path that matches this glob"),
        ("t-9", "holds no segment"),
        ("odd", "holds segments, but its name"),
        ("moved", "marked -delete, -future or -stray"),
        ("dead-0", "holds no live segment"),
        ("a\0b", "null character"),
    ],
)
def test_a_path_with_nothing_to_read(write: Write, tmp_path: Path, given: str, problem: str) -> None:
    write("empty/x", "file-0", f"odd/{log(0)}", f"moved/t-0.{HEX}-delete/{log(0)}", f"dead-0/{log(0)}.deleted")
    (tmp_path / "t-9").mkdir()
    with pytest.raises(LogDirError, match=problem):
        listed(tmp_path / given)


def test_no_path_at_all() -> None:
    with pytest.raises(LogDirError, match="no path"):
        list_logs([], wanted=lambda topic, partition: True)
    with pytest.raises(LogDirError, match="empty"):
        listed("")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("t-0/00000000000000000000.index", "00000000000000000000.log"),
        ("t-0/notes.txt", "does not have the name of a segment"),
        ("t-0/0.log", "does not have the name of a segment"),
        ("t-0/99999999999999999999.log", "does not have the name of a segment"),
        ("t-0/0-1-v1.log", "Redpanda"),
        ("red-0", "Redpanda"),
        ("redpanda/orders", "Redpanda"),
        ("redpanda/orders/0_24", "Redpanda"),
    ],
)
def test_files_of_other_formats_are_refused_by_name(write: Write, tmp_path: Path, given: str, problem: str) -> None:
    names = ("00000000000000000000.index", "notes.txt", "0.log", "99999999999999999999.log")
    write(*(f"t-0/{name}" for name in (*names, "0-1-v1.log")))
    write("red-0/0-1-v1.log", "redpanda/orders/0_24/0-1-v1.log")
    with pytest.raises(UnsupportedFormatError, match=problem) as caught:
        listed(tmp_path / given)
    assert str(tmp_path) in str(caught.value)


def test_segments_of_kafka_0_7_make_a_partition_of_their_own(write: Write, tmp_path: Path) -> None:
    write(f"new-0/{log(0)}", "old-0/x.kafka", "old-0/00000000000000000000.index")
    path = write("old-0/00000000000000000000.kafka", "old-0/00000000000000000100.kafka", content=b"12")
    listing = listed(tmp_path)
    assert places(listing) == [("new", 0), ("old", 0)]
    assert [segment.is_07 for partition in listing.partitions for segment in partition.segments] == [False, True, True]
    last = listing.partitions[1].segments[1]
    assert (last.path, last.base_offset, last.size, last.offset_index) == (str(path), 100, 2, None)
    assert [os.path.basename(each.path) for each in listing.skipped] == ["x.kafka"]
    assert places(listed(tmp_path / "old-0")) == [("old", 0)]


def test_a_segment_of_kafka_0_7_may_be_given_by_its_path_or_a_glob(write: Write, tmp_path: Path) -> None:
    path = write("old-0/00000000000000000000.kafka", f"old-0/{log(0)}", "old-0/00000000000000000100.kafka")
    (lone,) = listed(path).partitions
    assert (lone.topic, lone.is_single_file, lone.segments[0].is_07, lone.segments[0].offset_index) == (
        "old",
        True,
        True,
        None,
    )
    assert [each.segments[0].base_offset for each in listed(f"{tmp_path}/*/*.kafka").partitions] == [0, 100]


def test_segments_of_kafka_0_7_beside_later_ones_are_an_error(write: Write, tmp_path: Path) -> None:
    write("t-0/00000000000000000000.kafka", f"t-0/{log(7)}")
    for path in (tmp_path, tmp_path / "t-0"):
        with pytest.raises(LogDirError, match=r"and of a later version.*\*\.kafka"):
            listed(path)


def test_a_fifo_named_as_a_segment_is_an_error_and_never_opened(tmp_path: Path) -> None:
    (tmp_path / "t-0").mkdir()
    os.mkfifo(tmp_path / "t-0" / log(0))
    for path in (tmp_path, tmp_path / "t-0", tmp_path / "t-0" / log(0), f"{tmp_path}/t-0/*"):
        with pytest.raises(LogDirError, match="is a FIFO"):
            listed(path)


def test_a_directory_named_as_a_segment_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "t-0" / log(0)).mkdir(parents=True)
    with pytest.raises(LogDirError, match="is a directory"):
        listed(tmp_path)


def test_side_files_that_are_no_files(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", f"u-0/{log(0)}")
    os.mkfifo(tmp_path / "t-0" / "00000000000000000000.index")
    assert listed(tmp_path).partitions[0].segments[0].offset_index is None
    os.mkfifo(tmp_path / "u-0" / "00000000000000000000.txnindex")
    with pytest.raises(LogDirError, match="transaction index"):
        listed(tmp_path)


def test_devices_are_no_logs() -> None:
    with pytest.raises(LogDirError, match="character device"):
        listed("/dev/null")


def test_permission_denied_names_path_and_remedy(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(f"t-0/{log(0)}")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("t-0"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    # Root may read anything, so the refusal is played.
    monkeypatch.setattr(os, "scandir", refuse)
    for path in (tmp_path, f"{tmp_path}/*/*.log"):
        with pytest.raises(LogDirError, match=r"t-0: permission denied\. Read as the user"):
            listed(path)


def test_a_segment_that_may_not_be_read_is_told_at_once(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(f"t-0/{log(0)}").chmod(0o600)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(LogDirError, match="permission denied"):
        listed(tmp_path)


def test_names_are_escaped_in_errors(write: Write, tmp_path: Path) -> None:
    with pytest.raises(LogDirError) as caught:
        listed(tmp_path / "\x1b[31m")
    assert "\x1b" not in str(caught.value)


def test_one_stat_for_each_segment(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(*(f"t-0/{offset:020d}.{kind}" for offset in range(50) for kind in ("log", "index", "timeindex")))
    # In a directory that has just changed a broker may be at work, which has to be looked at twice.
    os.utime(tmp_path / "t-0", (0, 0))
    opened: list[str] = []
    monkeypatch.setattr("builtins.open", lambda path, *rest, **more: opened.append(path))
    stats: list[str] = []
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **more: stats.append(path) or stat(path, **more))
    assert len(listed(tmp_path).partitions[0].segments) == 50
    assert opened == []
    assert not [path for path in stats if str(path).endswith((".log", "index"))]
