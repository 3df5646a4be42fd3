"""Lines that are made in bulk equal those made row by row, for any values of any view."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafkalog_source.arrow.schema import VIEW_TYPES
from kafkalog_source.cli.layouts import json_layout, text_layouts
from kafkalog_source.columns import VIEWS
from tests.property.dump_rows import json_lines, text_lines

_TEXT = st.text(max_size=8) | st.text(
    st.sampled_from('a"\\\n\t\r\b\x00\x1b\x7f\x85\xa0é€\u202e😀\U000e0001'), max_size=8
)
_BYTES = (
    st.binary(max_size=9) | _TEXT.map(str.encode) | st.builds(bytes.__mul__, st.binary(max_size=2), st.integers(0, 400))
)
_VALUES = {
    pa.string(): _TEXT,
    pa.int32(): st.integers(-2, 2) | st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.bool_(): st.booleans(),
    pa.binary(): _BYTES,
    pa.timestamp("us", tz="UTC"): st.integers(0, 2**51) | st.integers(-(2**63), 2**63 - 1),
}


def _values(kind: pa.DataType) -> st.SearchStrategy[object]:
    if pa.types.is_list(kind):
        return st.lists(_values(kind.value_type), max_size=3)
    if pa.types.is_struct(kind):
        fields = (kind.field(number) for number in range(kind.num_fields))
        # A record header always has a name.
        return st.fixed_dictionaries(
            {field.name: _VALUES[field.type] if field.name == "key" else _or_null(field.type) for field in fields}
        )
    return _VALUES[kind]


def _or_null(kind: pa.DataType) -> st.SearchStrategy[object]:
    return _values(kind) | st.none()


@st.composite
def _batches(draw: st.DrawFn, view: str) -> pa.RecordBatch:
    """Some columns of a view, of which a slice is taken."""
    types = VIEW_TYPES[view]
    names = draw(st.lists(st.sampled_from(sorted(types)), min_size=1, max_size=6, unique=True) | st.just(list(types)))
    count = draw(st.integers(0, 4))
    arrays = [
        _array(draw(st.lists(_or_null(types[name]), min_size=count, max_size=count)), types[name]) for name in names
    ]
    whole = pa.RecordBatch.from_arrays(arrays, schema=pa.schema([(name, types[name]) for name in names]))
    return whole.slice(draw(st.integers(0, count)), draw(st.integers(0, count)))


def _array(values: list[object], kind: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).cast(kind)
    return pa.array(values, kind)


@pytest.mark.parametrize("view", VIEWS)
@given(data=st.data())
def test_lines_in_bulk_equal_those_of_single_rows(view: str, data: st.DataObject) -> None:
    rows = data.draw(_batches(view))
    assert json_layout(rows.schema).lines(rows).decode() == json_lines(rows)
    assert b"".join(text_layouts(rows.schema, view)(rows)).decode() == text_lines(rows, view)


@given(st.lists(st.characters(), max_size=30).map("".join))
@example("".join(map(chr, range(0x250))))
@example("".join(map(chr, range(0xFF0, 0x1010))) + "\ufffe\uffff\U00010000\U0010ffff")
def test_every_character_is_written_as_python_writes_it(text: str) -> None:
    names = VIEW_TYPES["records"]
    content = {"topic": text, "key": text.encode(), "value": (text * 40).encode(), "headers": [(text, text.encode())]}
    columns = [pa.array([value], names[name]) for name, value in content.items()]
    rows = pa.RecordBatch.from_arrays(columns, names=list(content))
    assert json_layout(rows.schema).lines(rows).decode() == json_lines(rows)
    assert b"".join(text_layouts(rows.schema, "records")(rows)).decode() == text_lines(rows, "records")
