"""What reads of a damaged segment give, in every mode, and what they must not give."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kafkalog_source
from kafkalog_source.errors import DamageWarning, KafkaLogError
from tests.comparing import Row, table_rows

COLUMNS = ("offset", "timestamp", "timestampType", "key", "value", "headers")
DAMAGE = ("position", "size", "kind", "reason", "expected", "found", "first_offset", "last_offset")
Region = dict[str, Any]


@dataclass(frozen=True)
class Reading:
    """Rows, and the regions that gave none."""

    rows: list[Row]
    damage: list[Region]


def failfast(path: Path, **options: Any) -> Reading | KafkaLogError:
    """What the default mode gives; an error of any other kind is for nobody to catch."""
    try:
        scan = kafkalog_source.scan(path, columns=COLUMNS, threads=1, **options)
        return Reading(table_rows(scan.to_table()), scan.report()["damage"])
    except KafkaLogError as error:
        return error


def skipping(path: Path, **options: Any) -> Reading:
    """What DROPMALFORMED gives, which is what PERMISSIVE and the view of damage say, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        scan = kafkalog_source.scan(path, columns=COLUMNS, threads=1, mode="DROPMALFORMED", **options)
        found = Reading(table_rows(scan.to_table()), scan.report()["damage"])
        absent = scan.report()["missing"]
    _check_permissive(path, found, options)
    view = kafkalog_source.scan(path, view="damage", threads=1, **options).to_table()
    shown = view.select(DAMAGE).to_pylist()
    assert [row for row in shown if row["kind"] != "missing"] == _rows(found.damage)
    assert [row for row in shown if row["kind"] == "missing"] == _rows(absent)
    return found


def _rows(regions: list[Region]) -> list[dict[str, object]]:
    return [{name: each[name] for name in DAMAGE} for each in regions]


def _check_permissive(path: Path, dropped: Reading, options: dict[str, Any]) -> None:
    columns = [*COLUMNS, "_corrupt_record"]
    table = kafkalog_source.scan(path, columns=columns, threads=1, mode="PERMISSIVE", **options).to_table()
    rows = table_rows(table)
    assert [row[:-1] for row in rows if row[-1] is None] == dropped.rows
    corrupt = [(row[0], json.loads(row[-1])) for row in rows if row[-1] is not None]
    told = [each for each in dropped.damage if each["kind"] == "damaged"]
    assert [text for _, text in corrupt] == [{k: v for k, v in each.items() if v is not None} for each in told]
    assert [offset for offset, _ in corrupt] == [each["first_offset"] for each in told]
    assert all(set(row[1:-1]) == {None} for row in rows if row[-1] is not None)


def missing(found: Reading, right: list[Row]) -> list[Row]:
    """The right rows that did not come and lie in no region that was told."""
    came = {row[0] for row in found.rows}
    return [row for row in right if row[0] not in came and not any(_covers(each, row[0]) for each in found.damage)]


def invented(found: Reading, right: list[Row]) -> list[Row]:
    """Rows that are no right rows, or that come twice or in the wrong order."""
    allowed = iter(right)
    return [row for row in found.rows if not any(row == each for each in allowed)]


def _covers(region: Region, offset: int) -> bool:
    first, last = region["first_offset"], region["last_offset"]
    return first <= offset and (last is None or offset <= last)
