"""A partition to write one segment into and to read it with kafkalog and the reference."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source import KafkaLogError
from tests.builders import partition_dir, write_segment
from tests.builders.disk import Entry
from tests.comparing import assert_same_rows, reference_rows, scan_rows
from tests.reference import RefCorrupt, RefRecord, decode_segment


class Both:
    """Reads a segment with kafkalog and with the reference; they must agree."""

    def __init__(self, root: Path) -> None:
        self.directory = partition_dir(root)

    def read(self, content: bytes | Iterable[Entry], *, base_offset: int = 0, **options: Any) -> list[RefRecord]:
        """The records of a segment that both can read."""
        log = write_segment(self.directory, content, base_offset=base_offset)
        records = decode_segment(log.read_bytes(), base_offset=base_offset)
        wanted = reference_rows(records, log, topic="topic", partition=0)
        assert_same_rows(scan_rows(log, **options), wanted)
        return records

    def refuse(
        self, content: bytes | Iterable[Entry], *, position: int, base_offset: int = 0, **options: Any
    ) -> KafkaLogError:
        """The error that kafkalog raises for a segment, which the reference refuses at the same position."""
        log = write_segment(self.directory, content, base_offset=base_offset)
        with pytest.raises(RefCorrupt) as reference:
            decode_segment(log.read_bytes(), base_offset=base_offset)
        assert reference.value.position == position
        with pytest.raises(KafkaLogError) as raised:
            scan_rows(log, **options)
        assert raised.value.file == str(log)
        assert raised.value.position == position
        return raised.value


@pytest.fixture
def both(tmp_path: Path) -> Both:
    return Both(tmp_path)
