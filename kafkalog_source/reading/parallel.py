"""Splits read by several threads, their Arrow batches given in the order of the splits."""

from __future__ import annotations

import threading
from collections import deque
from queue import Full, Queue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    import pyarrow as pa

    from kafkalog_source.partition.splits import Split
    from kafkalog_source.reading.read import SplitReader
    from kafkalog_source.views.reader import FileReader

    Results: TypeAlias = "Queue[pa.RecordBatch | _End]"

_BATCHES_AHEAD = 16
"""Arrow batches that a thread may be ahead of the reader of its split."""
_SPLITS_AHEAD = 2
"""Splits that may be begun, or read and not yet taken, beside one for each thread."""
_POLL_SECONDS = 0.1


class _End:
    """What a split's queue ends with: nothing, or what went wrong."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def read_in_order(splits: Sequence[Split], readers: Sequence[SplitReader | FileReader]) -> Iterator[pa.RecordBatch]:
    """The Arrow batches of all splits, in order, read by one thread for each reader.

    Memory is bounded: a thread waits when it is `_BATCHES_AHEAD` batches ahead of whoever takes them, or when
    `_SPLITS_AHEAD` splits wait to be taken. Threads end when all is read, when a split fails, or when the iterator is
    closed.
    """
    crew = _Crew(splits, len(readers) + _SPLITS_AHEAD)
    threads = [threading.Thread(target=crew.work, args=(reader,), daemon=True) for reader in readers]
    try:
        for thread in threads:
            thread.start()
        for results in crew.results():
            yield from _until_end(results)
    finally:
        crew.stop()
        for thread in threads:
            if thread.ident is not None:
                thread.join()


def _until_end(results: Results) -> Iterator[pa.RecordBatch]:
    while True:
        item = results.get()
        if isinstance(item, _End):
            if item.error is not None:
                raise item.error
            return
        yield item


class _Crew:
    """The splits that wait, and a queue of results for each split, in order.

    At most `ahead` splits are begun and not yet taken whole: small splits never fill their queues.
    """

    def __init__(self, splits: Sequence[Split], ahead: int) -> None:
        self._all_results: list[Results] = [Queue(_BATCHES_AHEAD) for _ in splits]
        self._waiting = deque(zip(splits, self._all_results, strict=True))
        self._places = threading.Semaphore(ahead)
        self._stopped = threading.Event()

    def results(self) -> Iterator[Results]:
        for results in self._all_results:
            yield results
            self._places.release()

    def work(self, reader: SplitReader | FileReader) -> None:
        """Take splits until none waits."""
        while self._wait_for_place():
            try:
                split, results = self._waiting.popleft()
            except IndexError:
                return
            try:
                for batch in reader.read(split):
                    if not self._put(results, batch):
                        return
                self._put(results, _End())
            except BaseException as error:  # handed to the thread that takes the results
                self._put(results, _End(error))
                return

    def stop(self) -> None:
        self._stopped.set()

    def _wait_for_place(self) -> bool:
        """Wait until another split may be begun; False when reading was stopped."""
        while not self._stopped.is_set():
            if self._places.acquire(timeout=_POLL_SECONDS):
                return True
        return False

    def _put(self, results: Results, item: pa.RecordBatch | _End) -> bool:
        """Wait for room; False when reading was stopped."""
        while not self._stopped.is_set():
            try:
                results.put(item, timeout=_POLL_SECONDS)
            except Full:
                continue
            return True
        return False
