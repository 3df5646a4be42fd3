"""The tables of schemas, and the words for what is wrong with a record."""

from __future__ import annotations

import pytest

from kafkalog_source._core.fields import FAULTS
from kafkalog_source.internal_topics import problems, table
from kafkalog_source.internal_topics.columns import TYPED_COLUMNS, AnyColumn, Column, ListColumn, sources
from kafkalog_source.internal_topics.table import Versions, record_types


@pytest.mark.parametrize("view", [*TYPED_COLUMNS, "control", "embedded"])
def test_every_table_can_be_read(view: str) -> None:
    types = record_types(view)
    assert len({each.number for each in types}) == len(types) > 0
    for each in types:
        assert (each.key is not None) == (view in ("consumer_offsets", "transaction_state", "share_group_state"))
        paths = [field.path for field in each.value.fields]
        assert len(set(paths)) == len(paths)
        assert {field.parent for field in each.value.fields} <= {"", *paths}


def test_a_row_with_all_that_it_can_say() -> None:
    found = table._field("a.b []int32 1+ nullable 2+ tag 5 default null", Versions(0, 3))
    assert (found.path, found.name, found.parent, found.kind, found.is_array) == ("a.b", "b", "a", "int32", True)
    assert (found.versions, found.nullable, found.tag, found.default) == (Versions(1, 3), Versions(2, 3), 5, "null")
    assert [version in found.versions for version in range(5)] == [False, True, True, True, False]


def test_a_row_that_says_little() -> None:
    found = table._field("a uuid 1", Versions(0, 3))
    assert (found.versions, found.tag, found.default) == (Versions(1, 1), None, '"AAAAAAAAAAAAAAAAAAAAAA"')
    assert 0 not in found.nullable
    assert table._field("a bool 0-2", Versions(0, 3)).versions == Versions(0, 2)


@pytest.mark.parametrize("row", ["a int128 0+", "a int32 0+ nullable", "a int32 0+ limit 5"])
def test_a_row_that_is_none(row: str) -> None:
    with pytest.raises(ValueError, match=r"no row of a schema|is shorter than"):
        table._field(row, Versions(0, 3))


def test_every_column_is_made_of_fields_that_are_there() -> None:
    for view, columns in TYPED_COLUMNS.items():
        for column in columns:
            assert sources(view, column), f"{view}.{column.name}"
            for inner in _inside(column):
                _check(view, inner)


def _inside(column: AnyColumn) -> tuple[AnyColumn, ...]:
    return () if isinstance(column, Column) or isinstance(column.element, Column) else column.element


def _check(view: str, column: AnyColumn) -> None:
    for name in sources(view, column):
        record, part, path = name.split(".", 2)
        message = next(each for each in record_types(view) if each.name == record).value
        paths = {field.path for field in message.fields}
        for each in record_types("embedded"):
            paths |= {f"members.{each.name.lower()}.{field.path}" for field in each.value.fields}
        assert part == "value", name
        assert path in paths, name
    if isinstance(column, ListColumn):
        for inner in _inside(column):
            _check(view, inner)


def test_every_fault_has_words() -> None:
    assert set(problems._WORDS) == set(FAULTS) - {"sound"}
