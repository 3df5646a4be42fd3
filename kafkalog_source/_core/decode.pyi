from collections.abc import Callable

from typing_extensions import Buffer

from kafkalog_source._core.columns import Columns
from kafkalog_source._core.memory import Scratch, View
from kafkalog_source._core.native import CFunctions
from kafkalog_source._core.outcomes import TransactionStates
from kafkalog_source._core.walk import Entries

FindTransactions = Callable[[Scratch, int, int, int, int, int], tuple[TransactionStates, int]]

class Decoder:
    def __init__(
        self,
        columns: Columns,
        crc32c: Callable[[Buffer], int],
        crc32: Callable[[Buffer], int],
        decompress: Callable[[int, int, View, Scratch], Buffer],
        rooms: list[Scratch],
        functions: CFunctions,
        limit: int,
        low: int = ...,
        high: int = ...,
        verify: bool = True,
        include_control: bool = False,
        transactions: TransactionStates | None = None,
        find_transactions: FindTransactions | None = None,
        committed_only: bool = False,
    ) -> None: ...
    @property
    def index(self) -> int: ...
    @property
    def body_position(self) -> int: ...
    @property
    def batches(self) -> int: ...
    @property
    def looks_ahead(self) -> bool: ...
    def start(self) -> None: ...
    def give_back(self) -> None: ...
    def skip(self) -> None: ...
    def decode(self, window: Scratch, window_position: int, entries: Entries) -> int: ...
