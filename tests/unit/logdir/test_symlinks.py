from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_source.errors import LogDirError
from tests.unit.logdir.conftest import Write, listed, log, places


def test_the_path_given_is_always_resolved(write: Write, tmp_path: Path) -> None:
    write(f"real/t-0/{log(0)}")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "other").symlink_to(tmp_path / "real" / "t-0")
    (tmp_path / "segment").symlink_to(tmp_path / "real" / "t-0" / log(0))
    for name in ("link", "other", "segment"):
        assert places(listed(tmp_path / name)) == [("t", 0)]


def test_a_name_given_says_more_than_the_one_it_links_to(write: Write, tmp_path: Path) -> None:
    write(f"blobs/x/{log(0)}")
    (tmp_path / "t-4").symlink_to(tmp_path / "blobs" / "x")
    assert places(listed(tmp_path / "t-4")) == [("t", 4)]


def test_a_partition_that_leads_out_of_the_log_dir_is_refused(write: Write, tmp_path: Path) -> None:
    write(f"logs/t-0/{log(0)}", f"elsewhere/t-1/{log(0)}")
    (tmp_path / "logs" / "t-1").symlink_to(tmp_path / "elsewhere" / "t-1")
    for path in (tmp_path / "logs", f"{tmp_path}/logs/*"):
        with pytest.raises(LogDirError, match=r"leads out of .*followSymlinks=true"):
            listed(path)
        assert places(listed(path, follow=True)) == [("t", 0), ("t", 1)]


def test_links_that_are_not_wanted_are_left_alone(write: Write, tmp_path: Path) -> None:
    write(f"logs/t-0/{log(0)}", f"elsewhere/u-1/{log(0)}")
    (tmp_path / "logs" / "u-1").symlink_to(tmp_path / "elsewhere" / "u-1")
    (tmp_path / "logs" / "u-2").symlink_to(tmp_path / "nowhere")
    assert places(listed(tmp_path / "logs", wanted=lambda topic, partition: topic == "t")) == [("t", 0)]


@pytest.mark.parametrize("kind", ["log", "index", "txnindex"])
def test_a_file_that_leads_out_of_the_root_is_refused(write: Write, tmp_path: Path, kind: str) -> None:
    write(f"t-0/{log(0)}", "elsewhere")
    link = tmp_path / "t-0" / f"00000000000000000009.{kind}"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LogDirError, match="leads out of"):
        listed(tmp_path / "t-0")
    # The log dir is the root here, and the link stays within it.
    assert places(listed(tmp_path)) == [("t", 0)]
    assert places(listed(tmp_path / "t-0", follow=True)) == [("t", 0)]


def test_a_checkpoint_that_leads_out_of_the_log_dir_is_refused(write: Write, tmp_path: Path) -> None:
    write(f"logs/t-0/{log(0)}")
    write("checkpoint", content=b"0\n1\nt 0 4\n")
    (tmp_path / "logs" / "log-start-offset-checkpoint").symlink_to(tmp_path / "checkpoint")
    with pytest.raises(LogDirError, match="leads out of"):
        listed(tmp_path / "logs")
    assert listed(tmp_path / "logs", follow=True).partitions[0].log_start_offset == 4


@pytest.mark.parametrize("follow", [True, False])
def test_links_to_nothing_would_lose_rows(write: Write, tmp_path: Path, follow: bool) -> None:
    write(f"logs/t-0/{log(0)}")
    (tmp_path / "logs" / "t-1").symlink_to(tmp_path / "logs" / "gone")
    with pytest.raises(LogDirError, match="does not exist"):
        listed(tmp_path / "logs", follow=follow)
    (tmp_path / "logs" / "t-1").unlink()
    (tmp_path / "logs" / "t-0" / log(9)).symlink_to(tmp_path / "logs" / "gone")
    with pytest.raises(LogDirError, match="does not exist"):
        listed(tmp_path / "logs", follow=follow)


def test_a_loop_of_links_is_an_error(write: Write, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(LogDirError):
        listed(tmp_path / "a")
