"""The verdict of an audit: right words, and the next command, for what the tables say."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from spark_jobs.audit.page.html import html_report
from spark_jobs.audit.result import Profile
from spark_jobs.audit.text import print_profile
from spark_jobs.audit.verdict import verdict_of


def profile_of(*topics: dict[str, Any], **others: Any) -> Profile:
    usual = {
        "batches": 2,
        "records": 600_000,
        "bytes": 1 << 20,
        "gaps": 0,
        "first_time": datetime(2026, 1, 1),
        "last_time": datetime(2026, 2, 1, 12, 30),
        **{f"missing_{place}": 0 for place in ("inside_batches", "between_batches", "between_segments")},
    }
    rows = [{"topic": f"t{number}", **usual, **topic} for number, topic in enumerate(topics)]
    return Profile(["/a b/logs"], **{"depth": "records", "topics": rows, **others})


def test_sound_logs_are_called_sound() -> None:
    verdict = verdict_of(profile_of({}, {"first_time": None, "last_time": None}))
    assert verdict.words == (
        "Sound. 2 topics, 1,200,000 records, 2.0 MiB, from 2026-01-01 00:00 to 2026-02-01 12:30; no damage, no missing"
        " offsets."
    )
    assert (verdict.findings, verdict.commands) == ((), ())


def test_compaction_is_no_fault() -> None:
    verdict = verdict_of(profile_of({"gaps": 3, "missing_inside_batches": 5, "missing_between_batches": 1}))
    assert verdict.state == "sound"
    assert "6 offsets without a record, as compaction leaves them" in verdict.summary


def test_damage_is_told_with_what_to_run() -> None:
    damage = [
        {"topic": "t1", "first_offset": 10, "last_offset": 19},
        {"topic": "t1", "first_offset": 30, "last_offset": 30},
    ]
    verdict = verdict_of(profile_of({}, {"damaged_regions": 2, "damaged_bytes": 300}, damage=damage))
    assert verdict.state == "damaged"
    assert "2 damaged regions" in verdict.summary
    (finding,) = verdict.findings
    assert finding.startswith("2 regions of 300 B cannot be read, in t1; at most 11 offsets may be lost.")
    assert verdict.commands == ("kafkalog verify '/a b/logs'", "kafkalog salvage '/a b/logs' DESTINATION")


def test_offsets_that_are_lost_are_only_counted_where_they_are_known() -> None:
    damage = [{"topic": "t0", "first_offset": 10, "last_offset": None}]
    (finding,) = verdict_of(profile_of({"damaged_regions": 1, "damaged_bytes": 3}, damage=damage)).findings
    assert "may be lost" not in finding


def test_offsets_missing_between_segments_make_logs_incomplete() -> None:
    topics = [{"missing_between_segments": 1000, "gaps": 1}] * 5
    verdict = verdict_of(profile_of(*topics))
    assert verdict.state == "incomplete"
    (finding,) = verdict.findings
    assert finding.startswith("5,000 offsets between two segments of t0, t1, t2 and 2 other topics: a segment may be")
    assert verdict.commands == ("kafkalog verify '/a b/logs'",)


def test_headers_alone_do_not_prove_soundness() -> None:
    verdict = verdict_of(profile_of({"records": None, "gaps": None}, depth="headers"))
    assert "2 batches" in verdict.summary
    assert "no damage in headers, missing offsets unknown" in verdict.summary
    assert "no checksum was compared" in verdict.findings[0]


def test_nothing_is_empty() -> None:
    assert verdict_of(profile_of()).words == "Empty. 0 topics, 0 records, 0 B; no damage, no missing offsets."


def test_the_page_opens_with_it_and_the_terminal_ends_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    profile = profile_of({"damaged_regions": 1, "damaged_bytes": 9}, damage=[{"topic": "<b>"}])
    verdict = verdict_of(profile)
    page = html_report(profile, plots=False)
    assert page.index("<strong>Damaged.</strong>") < page.index("<dl") < page.index("<table")
    assert "kafkalog verify &#x27;/a b/logs&#x27;" in page
    print_profile(profile)
    printed = capsys.readouterr().out
    assert printed.endswith(f"{verdict.findings[0]}\nNext: {verdict.commands[0]}\nNext: {verdict.commands[1]}\n")
