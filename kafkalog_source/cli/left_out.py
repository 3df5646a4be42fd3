"""The warnings of a read: what it could not read or show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafkalog_source.cli.text import complain
from kafkalog_source.columns import CORRUPT_RECORD
from kafkalog_source.errors import counted, offsets_text

__all__ = ["print_left_out"]


def print_left_out(report: Mapping[str, Any], shown: Sequence[str] = ()) -> None:
    """Print the warnings of a report, and each damaged region that the columns in `shown` do not show."""
    for warning in report["warnings"]:
        complain(f"warning: {warning}")
    for region in report["damage"]:
        if "kind" in shown or (CORRUPT_RECORD in shown and region["kind"] == "damaged"):
            continue
        place = f"{region['file']}, position {region['position']}"
        lost = offsets_text(region["first_offset"], region["last_offset"])
        complain(f"warning: {place}: {counted(region['size'], 'byte')} {region['kind']}, {lost}: {region['reason']}")
    if report["partitions"] == report["without_segments"] == 0:
        complain("warning: no partition was selected; kafkalog ls lists all of them")
