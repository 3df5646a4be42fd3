"""The audit: its numbers beside those of a scan, and its page beside what a browser takes."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest

from kafkalog_source import scan
from spark_jobs import topic_profile
from spark_jobs.audit.page.html import html_report
from spark_jobs.audit.page.style import SCRIPT
from spark_jobs.audit.result import Profile
from spark_jobs.audit.text import print_profile
from spark_jobs.common.config import build, load
from spark_jobs.topic_profile import Config, Output, Settings, main
from tests.builders import Batch, Header, Message, Record, Wrapper, encode, partition_dir, write_segment

if TYPE_CHECKING:
    pass

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "spark_jobs" / "sample" / "kafka-logs"
JOB = ROOT / "spark_jobs" / "topic_profile.py"
CONFIG = ROOT / "conf" / "topic_profile.toml"
HOSTILE = "<img src=x onerror=alert(1)>&\"' $x$ \N{RIGHT-TO-LEFT OVERRIDE}"
NEW_YEAR = 1_767_225_600
"""2026-01-01, in seconds since 1970."""
SECRET = b"nobody is to read this"


def test_the_shipped_config_shows_the_defaults() -> None:
    config = build(Config, load(CONFIG), "file")
    assert config.output == Output(html="build/audit.html", parquet="build/audit")
    assert config.input.options == {"mode": "PERMISSIVE", "failOnDataLoss": "false"}
    assert config == replace(Config(), input=config.input, output=config.output)
    text = CONFIG.read_text(encoding="utf-8")
    keys = [key for kind in (Output, Settings) for key in kind.__dataclass_fields__]
    assert [key for key in keys if f"\n{key} = " not in text] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no input"),
        ([str(SAMPLE), "--html", str(SAMPLE / "a.html")], "overlap"),
        ([str(SAMPLE), "--parquet", str(SAMPLE)], "overlap"),
        ([str(SAMPLE), "--plots", "-1"], "plots must not be negative"),
        ([str(SAMPLE), "--time-zone", "Nowhere"], "time zone 'Nowhere' does not exist"),
        ([str(SAMPLE), "--option", "view=damage"], "sets the option view itself"),
        ([str(SAMPLE), "--option", "subscrib=a"], "Did you mean subscribe?"),
    ],
)
def test_what_makes_no_sense_is_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_dry_run_reads_nothing_and_needs_no_spark(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "spark_jobs.topic_profile", "--dry-run", "--html", str(tmp_path / "a.html")]
    done = subprocess.run([*command, str(SAMPLE)], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "tx-a" in done.stdout
    assert f"the audit would go to the terminal and {tmp_path / 'a.html'}" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["-m", "spark_jobs.topic_profile"], [str(JOB)]])
def test_help_says_what_there_is(command: list[str]) -> None:
    done = subprocess.run([sys.executable, *command, "--help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "kafkalog job init --job topic_profile writes one" in " ".join(done.stdout.split())


@dataclass(frozen=True)
class Audit:
    """What one run of the job left."""

    logs: list[Path]
    found: dict[str, Any]
    page: str
    tables: Path

    def rows(self, table: str, *key: str) -> dict[Any, dict[str, Any]]:
        """The rows of a table by some of their columns."""
        return {tuple(row[name] for name in key): row for row in self.found[table]}


def made_logs(root: Path) -> list[Path]:
    """A log dir with hostile names, damage and a lost segment, and a segment outside of any topic."""
    many = [Record(key=b"k%d" % (i % 7), value=SECRET * 20, headers=(Header(HOSTILE.encode()),) * 2) for i in range(40)]
    logs = root / "logs <b>&'"
    write_segment(
        partition_dir(logs, "zipped"), [Batch(many, codec="gzip"), Batch([Record(None, None)], base_offset=40)]
    )
    damaged = bytearray(encode([Batch([Record(value=SECRET)], base_offset=i) for i in range(5)]))
    damaged[len(damaged) // 2] ^= 1
    write_segment(partition_dir(logs, "damaged", 3), bytes(damaged))
    gapped = partition_dir(logs, "gapped")
    write_segment(gapped, [Batch([Record(), Record(offset_delta=3)]), Batch(base_offset=6)])
    write_segment(gapped, [Batch(base_offset=20)], base_offset=20)
    # Its offsets 3, 5, 6 and 20; nothing but the messages inside say where it begins.
    inner = [Message(offset=place, value=SECRET, timestamp=1000 - place) for place in (0, 2, 3)]
    outer = [Message(offset=0, value=SECRET, timestamp=1000)]
    wrappers = [Wrapper(inner, codec="gzip", offset=6), Wrapper(outer, codec="gzip", offset=20)]
    write_segment(partition_dir(logs, "made-of-wrappers"), wrappers)
    far = 2**60
    write_segment(partition_dir(logs, "far-future"), [Batch(base_timestamp=far, max_timestamp=far)])
    alone = root / "alone"
    alone.mkdir()
    return [SAMPLE, logs, write_segment(alone, [Batch([Record(), Record()])])]


@pytest.fixture(scope="module")
def audit(job_spark: object, tmp_path_factory: pytest.TempPathFactory) -> Audit:
    root = tmp_path_factory.mktemp("audit")
    logs = made_logs(root)
    out = root / "out"
    arguments = [*map(str, logs), "--html", str(out / "a.html"), "--parquet", str(out / "tables")]
    with pytest.MonkeyPatch.context() as patch:
        printed: list[Any] = []
        patch.setattr(topic_profile, "print_json", printed.append)
        assert main([*arguments, "--json"]) == 0
    found = json.loads(json.dumps(printed[0], default=str))
    return Audit(logs, found, (out / "a.html").read_text(encoding="utf-8"), out / "tables")


def records_of(logs: list[Path], *columns: str) -> list[dict[str, Any]]:
    chosen = ["topic", "partition", *columns]
    options = {"mode": "DROPMALFORMED", "failOnDataLoss": False}
    rows: list[dict[str, Any]] = scan(logs, columns=chosen, **options).to_table().to_pylist()
    return rows


def quantile(values: list[int], share: float) -> float:
    """As SQL's ``percentile_cont``."""
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore::kafkalog_source.errors.DamageWarning")
@pytest.mark.usefixtures("job_spark")
class TestNumbers:
    def test_topics_equal_a_scan(self, audit: Audit) -> None:
        rows = records_of(audit.logs, "key", "keySize", "valueSize", "timestamp")
        found = audit.rows("topics", "topic")
        by_topic = defaultdict(list)
        for row in rows:
            by_topic[row["topic"]].append(row)
        assert set(found) == {(topic,) for topic in by_topic}
        for topic, mine in by_topic.items():
            told = found[topic,]
            assert told["records"] == len(mine)
            assert told["partitions"] == len({row["partition"] for row in mine})
            assert told["null_keys"] == sum(row["keySize"] is None for row in mine)
            assert told["tombstones"] == sum(row["valueSize"] is None for row in mine)
            assert told["value_bytes"] == sum(row["valueSize"] or 0 for row in mine)
            for kind in ("key", "value"):
                sizes = sorted(row[f"{kind}Size"] for row in mine if row[f"{kind}Size"] is not None)
                assert (told[f"{kind}_min"], told[f"{kind}_max"]) == (sizes[0], sizes[-1])
                for name, share in (("median", 0.5), ("p99", 0.99)):
                    assert told[f"{kind}_{name}"] == pytest.approx(quantile(sizes, share), rel=0.01, abs=1)
            distinct = len({row["key"] for row in mine if row["key"] is not None})
            assert told["distinct_keys"] == pytest.approx(distinct, rel=0.06, abs=1)
            times = [row["timestamp"] for row in mine if row["timestamp"] is not None]
            if topic == "far-future":
                assert told["first_time"] is None
            else:
                first = datetime.fromisoformat(told["first_time"]) if times else None
                assert first == (min(times).replace(tzinfo=None) if times else None)

    def test_partitions_and_codecs_equal_the_files(self, audit: Audit) -> None:
        rows = scan(
            audit.logs,
            view="batches",
            columns=["topic", "partition", "compression", "batchSize", "batchLastOffset"],
            mode="DROPMALFORMED",
            verifyChecksums=True,
            failOnDataLoss=False,
        )
        batches = rows.to_table().to_pylist()
        places = Counter((row["topic"], row["partition"]) for row in batches)
        found = audit.rows("partitions", "topic", "partition")
        assert {place: row["batches"] for place, row in found.items()} == places
        for place, row in found.items():
            mine = [each for each in batches if (each["topic"], each["partition"]) == place]
            assert row["bytes"] == sum(each["batchSize"] for each in mine)
            assert row["last_offset"] == max(each["batchLastOffset"] for each in mine)
        sizes: Counter[tuple[str | None, str]] = Counter()
        for row in batches:
            sizes[row["topic"], row["compression"]] += row["batchSize"]
        codecs = audit.rows("codecs", "topic", "compression")
        assert {place: row["bytes"] for place, row in codecs.items()} == sizes
        gzipped = codecs["zipped", "gzip"]
        content = 40 * (2 + len(SECRET) * 20 + 2 * len(HOSTILE.encode() + b"value"))
        assert gzipped["content_bytes"] == content
        assert gzipped["ratio"] == pytest.approx(content / gzipped["bytes"])

    def test_what_headers_of_old_formats_do_not_tell_is_taken_from_records(self, audit: Audit) -> None:
        rows = records_of(audit.logs, "magic", "offset")
        formats = Counter((row["topic"], row["magic"]) for row in rows)
        found = audit.rows("formats", "topic", "magic")
        assert {place: row["records"] for place, row in found.items() if row["records"]} == formats
        assert found["v1-lat-gzip", 1]["records"] == 220
        assert {magic for _, magic in formats} == {0, 1, 2}
        partitions = audit.rows("partitions", "topic", "partition")
        for topic in ("v0-mixcodec", "v1-lat-gzip", "up-all-codecs"):
            row = partitions[topic, 0]
            assert row["first_offset"] == min(row["offset"] for row in rows if row["topic"] == topic) == 0
            assert (row["uncounted_batches"], row["missing_inside_batches"], row["gaps"]) == (0, 0, 0)
        clock = partitions["made-of-wrappers", 0]
        assert [clock[name] for name in ("first_offset", "last_offset", "records")] == [3, 20, 4]
        missing = [clock[f"missing_{where}"] for where in ("inside_batches", "between_batches", "between_segments")]
        assert missing == [1, 13, 0]
        assert (clock["gaps"], clock["largest_gap"]) == (1, 13)

    def test_hours_add_up(self, audit: Audit) -> None:
        hours: Counter[tuple[str | None, object]] = Counter()
        for row in records_of([SAMPLE], "timestamp"):
            time = row["timestamp"]
            hour = None if time is None else str(time.replace(minute=0, second=0, microsecond=0, tzinfo=None))
            hours[row["topic"], hour] += 1
        told = {
            (row["topic"], row["hour"]): row["records"]
            for row in audit.found["hours"]
            if row["records"] and (SAMPLE / f"{row['topic']}-0").is_dir()
        }
        assert told == hours

    def test_headers_are_counted_by_record_and_by_occurrence(self, audit: Audit) -> None:
        records: Counter[tuple[str | None, str]] = Counter()
        occurrences: Counter[tuple[str | None, str]] = Counter()
        for row in records_of(audit.logs, "headers"):
            names = [header["key"] for header in row["headers"] or ()]
            occurrences.update((row["topic"], name) for name in names)
            records.update((row["topic"], name) for name in set(names))
        found = audit.rows("headers", "topic", "name")
        assert {place: row["records"] for place, row in found.items()} == records
        assert {place: row["occurrences"] for place, row in found.items()} == occurrences

    def test_missing_offsets_are_told_by_where_they_are(self, audit: Audit) -> None:
        row = audit.rows("partitions", "topic", "partition")["gapped", 0]
        missing = [row[f"missing_{where}"] for where in ("inside_batches", "between_batches", "between_segments")]
        assert missing == [2, 2, 13]
        assert (row["gaps"], row["largest_gap"]) == (2, 13)

    def test_damage_is_counted_and_told(self, audit: Audit) -> None:
        (region,) = audit.found["damage"]
        assert (region["topic"], region["partition"], region["first_offset"], region["last_offset"]) == (
            "damaged",
            3,
            2,
            2,
        )
        topic = audit.rows("topics", "topic")["damaged",]
        assert (topic["records"], topic["damaged_regions"], topic["damaged_bytes"]) == (4, 1, region["size"])

    def test_producers_equal_the_batches(self, audit: Audit) -> None:
        columns = ["topic", "producerId", "isTransactional", "isControl"]
        rows = scan([SAMPLE], view="batches", columns=columns).to_table().to_pylist()
        mine = [row for row in rows if row["producerId"] is not None]
        batches = Counter((row["topic"], row["producerId"]) for row in mine)
        markers = Counter((row["topic"], row["producerId"]) for row in mine if row["isControl"])
        found = audit.rows("producers", "topic", "producer_id")
        assert {place: row["batches"] for place, row in found.items()} == batches
        assert {place: row["control_batches"] for place, row in found.items() if row["control_batches"]} == markers

    def test_parquet_has_every_table(self, audit: Audit) -> None:
        for name in ("topics", "partitions", "codecs", "formats", "headers", "producers", "damage"):
            assert pq.read_table(audit.tables / name).num_rows == len(audit.found[name]), name
        sizes = pq.read_table(audit.tables / "sizes").to_pylist()
        assert sum(row["records"] for row in sizes if row["of"] == "value" and row["topic"] == "zipped") == 40

    def test_no_content_is_told_but_names_of_headers(self, audit: Audit) -> None:
        words = SECRET.decode()
        assert words not in audit.page
        assert words not in json.dumps(audit.found)
        assert all(SECRET not in file.read_bytes() for file in audit.tables.rglob("*.parquet"))

    def test_headers_alone_give_sizes_counts_and_times(self, audit: Audit, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([str(SAMPLE), "--depth", "headers", "--json", "--option", "subscribe=tx-a,v0-mixcodec"]) == 0
        printed = capsys.readouterr().out
        found = {row["topic"]: row for row in json.loads(printed)["topics"]}
        deep = audit.rows("topics", "topic")
        assert {topic: row["bytes"] for topic, row in found.items()} == {
            topic: deep[topic,]["bytes"] for topic in ("tx-a", "v0-mixcodec")
        }
        assert (found["tx-a"]["records"], found["v0-mixcodec"]["uncounted_batches"]) == (512, 19)
        assert "distinct_keys" not in found["tx-a"]
        assert found["tx-a"]["gaps"] == 0
        assert {found["v0-mixcodec"][name] for name in ("records", "gaps", "missing_inside_batches")} == {None}
        told = json.loads(printed)
        assert told["totals"]["records"] is None
        (partition,) = (row for row in told["partitions"] if row["topic"] == "v0-mixcodec")
        assert (partition["first_offset"], partition["last_offset"], partition["largest_gap"]) == (None, 249, None)
        assert any("19 compressed messages of formats 0 and 1" in warning for warning in told["warnings"])

    def test_names_of_headers_can_be_left_out(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([str(SAMPLE / "c-zstd-0"), "--no-header-names"]) == 0
        printed = capsys.readouterr().out
        assert "trace-id" not in printed
        assert "c-zstd" in printed
        assert "Damage: none" in printed


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def parsed(page: str) -> ElementTree.Element:
    """The page as XML, which it is too."""
    return ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>"))


def assert_is_safe_and_accessible(page: str) -> None:
    root = parsed(page)
    assert {each.tag for each in root.iter()} & {"iframe", "object", "link", "form", "svg"} == set()
    (script,) = root.iter("script")
    allowed = base64.b64encode(hashlib.sha256((script.text or "").encode()).digest()).decode()
    assert (script.text, script.attrib) == (SCRIPT, {})
    assert f"script-src 'sha256-{allowed}'\"" in page
    attributes = [(name, value) for each in root.iter() for name, value in each.attrib.items()]
    assert [name for name, _ in attributes if name.startswith("on")] == []
    ids = [value for name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert all(value.removeprefix("#") in ids for name, value in attributes if name == "href")
    for image in root.iter("img"):
        assert image.attrib["src"].startswith("data:image/svg+xml;base64,")
        assert len(image.attrib["alt"]) > 20
    assert all(each.attrib.get("scope") for each in root.iter("th"))
    assert root.attrib["lang"] == "en"
    assert "default-src 'none'" in page


class TestPage:
    @pytest.mark.spark
    @pytest.mark.xdist_group("spark")
    def test_the_page_of_a_run_is_well_formed_and_escaped(self, audit: Audit) -> None:
        assert_is_safe_and_accessible(audit.page)
        texts = [text for each in parsed(audit.page).iter() for text in [each.text or ""]]
        # A mark that would turn the text around is written out.
        shown = HOSTILE.replace("\N{RIGHT-TO-LEFT OVERRIDE}", "\\u202e")
        assert shown in texts
        assert "(no topic)" in texts
        assert any("logs <b>&'" in text for text in texts)
        assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in audit.page

    def test_without_matplotlib_the_page_has_tables_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(topic_profile, "can_plot", lambda: False)
        config = Config(output=Output(html=str(tmp_path / "new" / "a.html")))
        topic_profile._write_html(some_profile(), config)
        page = (tmp_path / "new" / "a.html").read_text(encoding="utf-8")
        assert_is_safe_and_accessible(page)
        assert "<img" not in page
        assert "pip install 'kafkalog[report]'" in capsys.readouterr().err
        assert "kafkalog[report]" in page
        assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.html"]

    def test_many_topics_are_all_in_the_tables_and_the_largest_are_drawn(self) -> None:
        pytest.importorskip("matplotlib")
        profile = some_profile(topics=300)
        profile.plotted = [row["topic"] for row in profile.topics[:2]]
        page = html_report(profile, plots=True)
        assert_is_safe_and_accessible(page)
        assert all(page.count(f">topic {number}<") >= 1 for number in range(300))
        # The topics together, and two of them with their throughput, sizes and partitions.
        assert page.count("<img") == 1 + 2 * 3
        assert "298 more are only in the tables" in page

    def test_what_nothing_tells_is_called_unknown_and_not_drawn(self, capsys: pytest.CaptureFixture[str]) -> None:
        pytest.importorskip("matplotlib")
        profile = some_profile(topics=1)
        (topic,) = profile.topics
        topic.update({"records": None, "batches": 3, "gaps": None, "missing_inside_batches": None})
        topic.update({"first_time": None, "last_time": datetime(2026, 1, 1)})
        for row in profile.timeline:
            row.update(records=None, uncounted_batches=1)
        page = html_report(profile, plots=True)
        assert_is_safe_and_accessible(page)
        assert page.count(">unknown<") == 5  # records, also in the overview, both counts of offsets, the first time
        (image,) = (each.attrib["alt"] for each in parsed(page).iter("img") if "Throughput" in each.attrib["alt"])
        assert "records" not in image
        assert "from 2026-01-01 00:00:00 to 2026-01-01 23:00:00: at most 22.5 KiB in an interval of one hour" in image
        print_profile(profile)
        assert capsys.readouterr().out.count("unknown") == 5  # and in the verdict
        assert profile.as_dict()["totals"]["records"] is None

    def test_a_time_that_no_record_has_is_not_unknown(self, capsys: pytest.CaptureFixture[str]) -> None:
        profile = some_profile(topics=1)
        profile.topics[0].update({"batches": 3, "first_time": None, "last_time": None})
        print_profile(profile)
        assert "unknown" not in capsys.readouterr().out

    def test_equal_audits_give_equal_pages(self) -> None:
        pytest.importorskip("matplotlib")
        assert html_report(some_profile(), plots=True) == html_report(some_profile(), plots=True)

    def test_hostile_names_of_topics_are_text(self) -> None:
        pytest.importorskip("matplotlib")
        profile = some_profile()
        for rows in (profile.topics, profile.timeline, profile.sizes, profile.partitions):
            for row in rows:
                row["topic"] = {"topic 0": HOSTILE, "topic 1": None}.get(row["topic"], row["topic"])
        profile.plotted = [row["topic"] for row in profile.topics]
        page = html_report(profile, plots=True)
        assert_is_safe_and_accessible(page)
        assert HOSTILE[:-1] + "\\u202e" in [each.text for each in parsed(page).iter("h3")]

    def test_whatever_is_put_in_is_printable_and_escaped(self) -> None:
        pytest.importorskip("matplotlib")
        profile = some_profile()
        profile.input, profile.time_zone = [HOSTILE, "/b"], HOSTILE
        profile.warnings, profile.skipped = [HOSTILE], [HOSTILE]
        profile.headers = [{"topic": HOSTILE, "name": HOSTILE, "records": 1, "occurrences": 1}]
        profile.damage = [{"topic": HOSTILE, "partition": 0, "file": HOSTILE, "reason": f"{HOSTILE}\n\x1b[31m"}]
        for rows in (profile.topics, profile.timeline, profile.sizes, profile.partitions):
            for row in rows:
                row["topic"] = HOSTILE
        profile.plotted = [HOSTILE]
        page = html_report(profile, plots=True)
        assert_is_safe_and_accessible(page)
        assert "{" not in page.partition("</style>")[2].partition("<script>")[0]
        assert page.replace("\n", "").isprintable()
        shown = HOSTILE.replace("\N{RIGHT-TO-LEFT OVERRIDE}", "\\u202e")
        texts = [text for each in parsed(page).iter() for text in (each.text, each.tail) if text]
        found = [text for text in texts if "onerror" in text]
        # The inputs with the zone, two notes, each row of a table, the name above the plots, and the next commands.
        assert len(found) > 10
        assert all(shown in text for text in found if not text.startswith("kafkalog verify"))

    def test_what_is_cut_is_said(self) -> None:
        profile = some_profile()
        profile.cut = {"topics": 12_345}
        assert "The first 3 of 12,345 rows; the Parquet tables have all." in html_report(profile, plots=False)


def some_profile(topics: int = 3) -> Profile:
    """An audit that no run has made, with throughput, sizes and partitions of each topic."""
    profile = Profile(["/logs/<b>"], "records")
    for number in range(topics):
        name = f"topic {number}"
        profile.topics.append({"topic": name, "bytes": (topics - number) << 20, "records": 5, "codecs": ["<x>"]})
        for hour in range(24):
            start = (NEW_YEAR + hour * 3600) * 1_000_000
            counts = {"records": hour, "bytes": 1000 * hour}
            profile.timeline.append({"topic": name, "step": 3600 * 1_000_000, "start": start, **counts})
        for size in (0, 1, 300, 70_000):
            profile.sizes.append({"topic": name, "of": "value", "size": size, "records": 9})
        for partition in range(3):
            profile.partitions.append({"topic": name, "partition": partition, "bytes": 1 << 19, "records": 1})
    profile.plotted = [row["topic"] for row in profile.topics]
    return profile
