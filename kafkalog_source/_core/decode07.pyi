from collections.abc import Callable

from typing_extensions import Buffer

from kafkalog_source._core.columns import Columns
from kafkalog_source._core.memory import Scratch, View
from kafkalog_source._core.walk import Entries

class Messages07:
    """The messages of a 0.7 set, used only by the core."""

    @property
    def count(self) -> int: ...
    @property
    def size(self) -> int: ...

class Decoder07:
    def __init__(
        self,
        columns: Columns,
        crc32: Callable[[Buffer], int],
        decompress: Callable[[int, View, bool], Buffer],
        low: int = ...,
        high: int = ...,
        verify: bool = True,
    ) -> None: ...
    @property
    def index(self) -> int: ...
    @property
    def body_position(self) -> int: ...
    @property
    def batches(self) -> int: ...
    def start(self) -> None: ...
    def skip(self) -> None: ...
    def decode(self, window: Scratch, window_position: int, entries: Entries) -> int: ...
