from collections.abc import Sequence
from typing import Any

from typing_extensions import Buffer

from kafkalog_source._core.program import Program
from kafkalog_source._core.slots import Slots

FRAMES: tuple[str, ...]
FIRST_COLUMN: int

class Lent:
    def __init__(self, array: Sequence[Any] | None, rows: int) -> None: ...

class RecordDecoder:
    def __init__(
        self,
        program: Program,
        slots: Slots,
        frame: str,
        types: Sequence[tuple[int, int, int, int]],
        control: Sequence[tuple[int, int, int, int]],
        *,
        key_json: bool,
        value_json: bool,
        most_bytes: int | None = None,
    ) -> None: ...
    def decode(
        self,
        rows: int,
        start: int,
        keys: Sequence[Any] | None,
        values: Sequence[Any] | None,
        control: Buffer,
        redacted: Buffer,
    ) -> int: ...
