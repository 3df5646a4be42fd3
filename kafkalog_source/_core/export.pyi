from collections.abc import Sequence
from typing import Any

class ExportedBatch:
    """A record batch in the structs of Arrow's C data interface."""

    @property
    def address(self) -> int: ...

def export_batch(rows: int, columns: Sequence[tuple[Any, ...]]) -> ExportedBatch: ...
