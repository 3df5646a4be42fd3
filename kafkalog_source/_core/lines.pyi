from collections.abc import Sequence
from typing import Any, final

KINDS: tuple[str, ...]

@final
class Lines:
    """Writes lines of one layout."""

    def __init__(
        self, cells: Sequence[tuple[str, bytes, bool, bytes | None]], before: bytes, between: bytes, after: bytes
    ) -> None: ...
    def write(self, arrays: Sequence[tuple[Any, ...]], start: int, stop: int) -> bytes: ...
