from collections.abc import Iterable

class TransactionStates:
    def __init__(
        self,
        aborted: Iterable[tuple[int, int, int]] = (),
        open: Iterable[tuple[int, int]] = (),
        undecided: Iterable[tuple[int, int, int]] = (),
    ) -> None: ...
    @property
    def count(self) -> int: ...
    def look_up(self, producer_id: int, offset: int) -> int: ...
