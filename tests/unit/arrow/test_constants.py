from __future__ import annotations

import pyarrow as pa
import pytest

from kafkalog_source.arrow.constants import repeated


@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("orders", pa.string()),
        ("é", pa.string()),
        ("", pa.string()),
        (None, pa.string()),
        (-1, pa.int32()),
        (2**31 - 1, pa.int32()),
        (-(2**63), pa.int64()),
        (None, pa.int32()),
    ],
)
def test_an_array_of_one_value(value: str | int | None, kind: pa.DataType, count: int) -> None:
    found = repeated(value, kind, count)
    found.validate(full=True)
    assert found.equals(pa.array([value] * count, kind))
