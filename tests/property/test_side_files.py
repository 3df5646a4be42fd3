"""Views of files: whatever is in a file, there are its rows or an error of ours, and PERMISSIVE gives rows for both."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from kafkalog_source import scan
from kafkalog_source.errors import KafkaLogError
from tests.builders import Batch, Record, write_segment
from tests.builders.disk import offset_index, time_index
from tests.builders.index_files import write_partition

BASE = f"{0:020d}"
TIME = 1_700_000_000_000
SEGMENT = [Batch([Record()], base_offset=offset) for offset in range(8)]
SIZE = len(SEGMENT[0].encode())
PRODUCERS = struct.pack(">i", 2) + 2 * struct.pack(">qhiqiqiq", 7, 2, 9, 111, 4, TIME, 3, 105)
FILES = {
    f"topic-0/{BASE}.index": ("indexes", offset_index([(3, 3 * SIZE), (6, 6 * SIZE)]) + bytes(16)),
    f"topic-0/{BASE}.timeindex": ("indexes", time_index([(TIME, 3), (TIME + 1, 5)]) + bytes(24)),
    f"topic-0/{BASE}.txnindex": ("indexes", 2 * struct.pack(">hqqqq", 0, 7, 100, 102, 103)),
    f"topic-0/{BASE}.snapshot": ("producer_state", struct.pack(">hI", 1, crc32c(PRODUCERS)) + PRODUCERS),
    "topic-0/leader-epoch-checkpoint": ("checkpoints", b"0\n2\n0 0\n3 17\n"),
    "topic-0/partition.metadata": ("checkpoints", b"version: 0\ntopic_id: 0F8ErRbvS3aaKgTFBQzTpA"),
    "topic-0/quorum-state": ("checkpoints", b'{"leaderEpoch":3,"voters":[{"voterId":1}],"data_version":1}'),
    "recovery-point-offset-checkpoint": ("checkpoints", b"0\n2\ntopic 0 7\nother 3 9\n"),
    "meta.properties": ("checkpoints", b"#\nversion=1\ncluster.id=x\\u0041\\:y \\\n  z\n"),
    ".kafka_cleanshutdown": ("checkpoints", b'{"version":0,"brokerEpoch":-1}'),
}


@pytest.fixture(scope="module")
def log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a log dir with one partition, whose other files are sound."""
    root = tmp_path_factory.mktemp("logs")
    write_segment(write_partition(root), SEGMENT)
    for name, (_, content) in FILES.items():
        (root / name).write_bytes(content)
    return root


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """A file's content with a cut, a changed piece or more bytes; or any bytes."""
    at = draw(st.integers(0, len(content)))
    piece = draw(st.binary(max_size=12))
    return draw(
        st.sampled_from(
            [
                content[:at],
                content[:at] + piece + content[at + len(piece) :],
                content[:at] + piece + content[at:],
                content[:at] + content[at + len(piece) :],
                piece,
            ]
        )
    )


def rows(path: Path, view: str, mode: str) -> list[dict[str, Any]]:
    table = scan(path, view=view, mode=mode, threads=1).to_table()
    table.validate(full=True)
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(pa.int64()))
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def of_file(path: Path, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in found if row["file"] == str(path)]


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_any_content_is_rows_or_an_error(log_dir: Path, name: str) -> None:
    view, content = FILES[name]
    path = log_dir / name
    others = [row for row in rows(log_dir, view, "PERMISSIVE") if row["file"] != str(path)]

    @given(damaged(content))
    def check(data: bytes) -> None:
        path.write_bytes(data)
        found = rows(log_dir, view, "PERMISSIVE")
        mine = of_file(path, found)
        assert [row for row in found if row["file"] != str(path)] == others
        bad = [row for row in mine if row["_corrupt_record"] is not None]
        try:
            strict = of_file(path, rows(log_dir, view, "FAILFAST"))
        except KafkaLogError as error:
            assert error.file == str(path)
            assert len(bad) == 1
        else:
            assert bad == []
            assert strict == [{key: row[key] for key in row if key != "_corrupt_record"} for row in mine]

    try:
        check()
    finally:
        path.write_bytes(content)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith("index")])
def test_an_index_of_any_content_changes_nothing_about_the_ends_of_a_segment(log_dir: Path, name: str) -> None:
    path, content = log_dir / name, FILES[name][1]
    columns = ["lastOffset", "nextOffset", "end", "firstTimestamp"]
    read: Callable[[], Any] = lambda: scan(log_dir, view="segments", columns=columns).to_table().to_pylist()  # noqa: E731
    expected = read()

    @given(damaged(content))
    def check(data: bytes) -> None:
        path.write_bytes(data)
        assert read() == expected

    try:
        check()
    finally:
        path.write_bytes(content)
