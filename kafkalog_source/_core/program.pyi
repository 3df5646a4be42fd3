from collections.abc import Sequence

KINDS: tuple[str, ...]

class Program:
    def __init__(
        self, fields: Sequence[tuple[object, ...]], structs: Sequence[tuple[int, int, int, bool]], text: bytes
    ) -> None: ...
    @property
    def field_count(self) -> int: ...
    @property
    def struct_count(self) -> int: ...
