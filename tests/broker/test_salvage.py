"""A log dir written by a broker, damaged, salvaged, and served by a broker again."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import kafkalog_source
from kafkalog_source.salvage import SalvageReport, parse_topic_ids, salvage
from kafkalog_source.segment.entries import walk_headers
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.verifying import verify
from tests.broker.broker import NO_LOG, Broker, running

pytestmark = [pytest.mark.broker, pytest.mark.slow]

COMPLAINTS = re.compile(
    r"[Ff]ound (an? )?(invalid|orphan)|[Cc]orrupt|[Tt]runcat|[Dd]eleting segment|[Rr]ecovering (unflushed )?segment"
    r"|[Rr]ebuilding index|[Cc]ould not find|[Ss]tray|[Ff]ailed to load|\] ERROR "
)
"""What a broker says of a log dir that is not as it left it."""
ALWAYS_SAID = re.compile(r"partition=__cluster_metadata-0,.*Recovering unflushed segment")
"""The metadata log is recovered at every start, after a clean stop too."""

CONTROL_FLAG = 32
PRODUCED = ("plain", "gzip", "lz4", "snappy", "zstd", "transactions")

Row = tuple[str, int, int, bytes, bytes]


class Clients:
    """The Java program that fills and reads a broker's topics."""

    def __init__(self, jars: str) -> None:
        self._command = ["java", "-Xmx300m", NO_LOG, "-cp", jars, str(Path(__file__).with_name("Filled.java"))]

    def run(self, what: str, broker: Broker, *arguments: str) -> list[list[str]]:
        command = [*self._command, what, broker.bootstrap, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
        assert done.returncode == 0, done.stderr[-2000:]
        return [line.split(" ") for line in done.stdout.splitlines()]

    def read(self, broker: Broker, isolation: str) -> tuple[list[Row], dict[tuple[str, int], int]]:
        """The records that a broker serves, and where it says that each partition ends."""
        rows, ends = [], {}
        for fields in self.run("read", broker, isolation):
            if fields[0] == "end":
                ends[fields[1], int(fields[2])] = int(fields[3])
            else:
                topic, partition, offset, key, value = fields
                rows.append((topic, int(partition), int(offset), bytes.fromhex(key), bytes.fromhex(value[:-1])))
        return sorted(rows), ends


@dataclass
class Filled:
    """A log dir that a broker has left, and what it served."""

    log_dir: Path
    rows: list[Row]
    committed: list[Row]

    def copy(self, path: Path) -> Path:
        shutil.copytree(self.log_dir, path, copy_function=shutil.copyfile)
        return path


@pytest.fixture(scope="module")
def clients(jars: str) -> Clients:
    return Clients(jars)


@pytest.fixture(scope="module")
def stopped(clients: Clients, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return fill(tmp_path_factory.mktemp("stopped"), clients, kill=False)


@pytest.fixture(scope="module")
def killed(clients: Clients, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    return fill(tmp_path_factory.mktemp("killed"), clients, kill=True)


def fill(home: Path, clients: Clients, *, kill: bool) -> Filled:
    with running(home, {}) as broker:
        clients.run("fill", broker)
        rows, _ = clients.read(broker, "read_uncommitted")
        committed, _ = clients.read(broker, "read_committed")
        # As it lies there while the broker is at work on it, it is sound.
        live = verify([str(broker.log_dir)])
        assert live.is_sound, [str(finding) for finding in live.all_findings]
        if kill:
            broker.kill()
        else:
            broker.stop()
    assert len(rows) == 8301
    assert len(committed) < len(rows)
    return Filled(home / "data", rows, committed)


def damage(log_dir: Path, topics: tuple[str, ...] = PRODUCED) -> set[tuple[str, int, int]]:
    """Damage a batch of data in the middle of each partition's first segment; gives the offsets that are lost."""
    lost = set()
    for directory in sorted(log_dir.glob("*-*")):
        topic, _, partition = directory.name.rpartition("-")
        if topic not in topics:
            continue
        first = min(directory.glob("*.log"))
        with LocalFile(str(first)) as source:
            headers = list(walk_headers(source, 0, 0, 2**63 - 1))
        # Without a marker nothing would tell how its transaction ended, once the indexes are damaged too.
        data = first.read_bytes()
        header = next(each for each in headers[len(headers) // 2 :] if not data[each.position + 22] & CONTROL_FLAG)
        with first.open("r+b") as file:
            file.seek(header.position + header.size - 3)
            file.write(b"\xff\xfe\xfd")
        lost |= {(topic, int(partition), offset) for offset in range(header.first_offset, header.last_offset + 1)}
        for index in directory.glob("*index"):
            index.write_bytes(b"\x01" * 24)
    return lost


def check_sound(path: Path) -> None:
    found = verify([str(path)])
    assert found.all_findings == []


def complaints(broker: Broker) -> list[str]:
    lines = broker.log.read_text(errors="replace").splitlines()
    assert any("Loading logs" in line or "Loaded" in line for line in lines), "the broker's log is not there to look at"
    return [line for line in lines if COMPLAINTS.search(line) and not ALWAYS_SAID.search(line)]


def contents(directory: Path) -> dict[str, bytes]:
    """The files that a broker would change if it made indexes anew."""
    return {
        str(path.relative_to(directory)): path.read_bytes().rstrip(b"\0")
        for path in directory.rglob("*")
        if path.suffix in (".log", ".index", ".timeindex", ".txnindex") and "__" not in str(path.relative_to(directory))
    }


def check_served(
    broker: Broker, clients: Clients, rows: list[Row], committed: list[Row], report: SalvageReport
) -> None:
    served, _ = clients.read(broker, "read_uncommitted")
    assert served == rows
    served, _ = clients.read(broker, "read_committed")
    assert served == committed
    ends = {(each.topic, each.partition): each.end_offset for each in report.partitions}
    for topic, partition, offset in clients.run("append", broker):
        # Meanwhile the coordinator may have aborted the transaction that was left open.
        markers = int(offset) - ends[topic, int(partition)]
        assert markers == 0 or (markers == 1 and topic == "transactions")


def without(rows: list[Row], lost: set[tuple[str, int, int]]) -> list[Row]:
    return [row for row in rows if row[:3] not in lost]


@pytest.mark.parametrize("left", ["stopped", "killed"])
@pytest.mark.parametrize("damaged", [False, True], ids=["whole", "damaged"])
def test_with_the_metadata_of_its_cluster(
    clients: Clients, tmp_path: Path, request: pytest.FixtureRequest, left: str, damaged: bool
) -> None:
    filled: Filled = request.getfixturevalue(left)
    source = filled.copy(tmp_path / "old")
    found = verify([str(source)])
    assert found.is_sound, [str(finding) for finding in found.all_findings]
    lost = damage(source) if damaged else set()
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    target = tmp_path / "new"
    report = salvage(str(source), str(target))
    assert {path: path.read_bytes() for path in source.rglob("*") if path.is_file()} == before
    assert report.is_complete != damaged
    check_sound(target)
    written = contents(target)
    (tmp_path / "home").mkdir()
    with running(tmp_path / "home", {}, target) as broker:
        assert complaints(broker) == []
        now = contents(target)
        assert now.keys() == written.keys()
        # The coordinator may have ended the transaction that was left open, so that there is a marker more.
        assert all(now[name].startswith(content) for name, content in written.items())
        check_served(broker, clients, without(filled.rows, lost), without(filled.committed, lost), report)
        broker.stop()
        assert complaints(broker) == []
    after = verify([str(target)])
    assert after.is_sound, [str(finding) for finding in after.all_findings]


def test_a_group_goes_on_where_a_segment_is_lost(clients: Clients, tmp_path: Path, stopped: Filled) -> None:
    """What it had committed lies in the segment; the log has to begin where it began, or the rest would be skipped."""
    source = stopped.copy(tmp_path / "old")
    with running(tmp_path, {}, source) as broker:
        clients.run("commit", broker, "lz4", "7")
        broker.stop()
    first, second, *_ = sorted((source / "lz4-0").glob("*.log"))
    following = int(second.stem)
    assert following > 7
    first.write_bytes(bytes(range(1, 201)) * 50)
    (home := tmp_path / "home").mkdir()
    target = tmp_path / "new"
    report = salvage(str(source), str(target))
    (lz4,) = [each for each in report.partitions if each.topic == "lz4"]
    assert lz4.start_offset == 0
    written = contents(target)
    lost = {("lz4", 0, offset) for offset in range(following)}
    with running(home, {}, target) as broker:
        assert complaints(broker) == []
        assert contents(target) == written
        assert clients.run("resume", broker, "lz4") == [[str(following)]]
        served, _ = clients.read(broker, "read_uncommitted")
        assert served == without(stopped.rows, lost)
        broker.stop()
        assert complaints(broker) == []


def test_for_another_cluster_by_topic_ids(clients: Clients, tmp_path: Path, killed: Filled) -> None:
    source = killed.copy(tmp_path / "old")
    lost = damage(source)
    shutil.rmtree(source / "__cluster_metadata-0")
    home = tmp_path / "home"
    home.mkdir()
    with running(home, {}) as broker:
        ids = tmp_path / "ids"
        ids.write_text("".join(f"{topic} {topic_id}\n" for topic, topic_id in clients.run("create", broker)))
        broker.stop()
    target = tmp_path / "partitions"
    report = salvage(str(source), str(target), topic_ids=parse_topic_ids(str(ids)))
    check_sound(target)
    for partition in report.partitions:
        place = home / "data" / Path(partition.path).name
        shutil.rmtree(place)
        Path(partition.path).rename(place)
    with running(home, {}, home / "data") as broker:
        assert complaints(broker) == []
        check_served(broker, clients, without(killed.rows, lost), without(killed.committed, lost), report)


def test_what_a_broker_serves_is_what_scan_reads(clients: Clients, tmp_path: Path, stopped: Filled) -> None:
    source = stopped.copy(tmp_path / "old")
    damage(source)
    target = tmp_path / "new"
    salvage(str(source), str(target))
    table = kafkalog_source.scan(target, columns=["topic", "partition", "offset", "key", "value"]).to_table()
    scanned = sorted(tuple(row.values()) for row in table.to_pylist())
    assert len(scanned) < len(stopped.rows)
    (tmp_path / "home").mkdir()
    with running(tmp_path / "home", {}, target) as broker:
        served, _ = clients.read(broker, "read_uncommitted")
    assert served == scanned
