"""The tables of record schemas are what Kafka's own classes say."""

from __future__ import annotations

import pytest

from tests.broker import schemas

pytestmark = pytest.mark.broker


def test_the_tables_equal_kafkas_classes(jars: str) -> None:
    assert jars
    wanted = schemas.current()
    assert {path.name for path in schemas.SCHEMAS.iterdir()} == set(wanted)
    for name, text in wanted.items():
        assert (schemas.SCHEMAS / name).read_text(encoding="utf-8") == text, name
