"""Reads splits in several threads and returns their Arrow batches in the order of the splits."""

from __future__ import annotations

import threading
from collections import deque
from queue import Full, Queue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    import pyarrow as pa

    from kafkalog_source.partition.splits import Split
    from kafkalog_source.reading.read import Reader

    Results: TypeAlias = "Queue[pa.RecordBatch | _End]"

_BATCHES_AHEAD = 16
"""Arrow batches that a thread may read ahead of the consumer."""
_SPLITS_AHEAD = 2
"""Splits that may be started or wait for the consumer, in addition to one for each thread."""
_POLL_SECONDS = 0.1


class _End:
    """The last item in a split's queue, with the error if reading it failed."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def read_in_order(
    splits: Sequence[Split], readers: Sequence[Reader], finished: Callable[[Split], None] = lambda split: None
) -> Iterator[pa.RecordBatch]:
    """Yield the Arrow batches of all splits in order, read by one thread for each reader.

    Calls `finished` with each split whose batches have all been yielded.

    Memory is bounded: a thread waits while it is `_BATCHES_AHEAD` batches ahead of the consumer, or while
    `_SPLITS_AHEAD` splits wait for the consumer. Threads end when all splits are read, when a split fails, or when the
    iterator is closed.
    """
    queue = _SplitQueue(splits, len(readers) + _SPLITS_AHEAD)
    threads = [threading.Thread(target=queue.work, args=(reader,), daemon=True) for reader in readers]
    try:
        for thread in threads:
            thread.start()
        for split, results in zip(splits, queue.results(), strict=True):
            yield from _until_end(results)
            finished(split)
    finally:
        queue.stop()
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


class _SplitQueue:
    """The splits that are not started yet, and a queue of results for each split, in order.

    At most `ahead` splits are started and not yet fully consumed: this bounds memory also for small splits, which
    never fill their queues.
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

    def work(self, reader: Reader) -> None:
        """Read splits until none is left."""
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
            except BaseException as error:  # re-raised in the consumer's thread
                self._put(results, _End(error))
                return

    def stop(self) -> None:
        self._stopped.set()

    def _wait_for_place(self) -> bool:
        """Wait until another split may be started; False if reading was stopped."""
        while not self._stopped.is_set():
            if self._places.acquire(timeout=_POLL_SECONDS):
                return True
        return False

    def _put(self, results: Results, item: pa.RecordBatch | _End) -> bool:
        """Put an item when there is space in the queue; False if reading was stopped."""
        while not self._stopped.is_set():
            try:
                results.put(item, timeout=_POLL_SECONDS)
            except Full:
                continue
            return True
        return False
