"""Splits read by several threads: order, errors, an early end, and bounded memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest

from kafkalog_source.errors import CorruptBatchError
from kafkalog_source.reading import parallel
from kafkalog_source.reading.parallel import read_in_order


@dataclass
class Reader:
    """Gives what its splits list; an exception in a list is raised."""

    given: list[Any] = field(default_factory=list)
    delay: float = 0

    def read(self, split: list[Any]) -> Iterator[pa.RecordBatch]:
        for item in split:
            time.sleep(self.delay)
            if isinstance(item, BaseException):
                raise item
            self.given.append(item)
            yield pa.record_batch({"n": [item]})


def numbers(batches: Iterator[pa.RecordBatch]) -> list[int]:
    return [batch["n"][0].as_py() for batch in batches]


def running() -> set[threading.Thread]:
    return set(threading.enumerate())


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_batches_come_in_the_order_of_the_splits(threads: int) -> None:
    splits = [[10 * i + j for j in range(i % 4)] for i in range(50)]
    readers = [Reader(delay=0.001 * (i % 2)) for i in range(threads)]
    assert numbers(read_in_order(splits, readers)) == [n for split in splits for n in split]  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [0, 1, 7, 19])
def test_an_error_comes_after_all_that_is_before_it(bad: int) -> None:
    before = running()
    splits: list[list[Any]] = [[i] for i in range(20)]
    splits[bad] = [100, CorruptBatchError("broken", file="f", position=3), 101]
    batches = read_in_order(splits, [Reader(), Reader()])  # type: ignore[arg-type]
    for wanted in [*range(bad), 100]:
        assert numbers(iter([next(batches)])) == [wanted]
    with pytest.raises(CorruptBatchError, match="broken"):
        next(batches)
    assert running() <= before


def test_errors_of_all_threads_at_once_end_the_reading() -> None:
    splits = [[ValueError(i)] for i in range(8)]
    with pytest.raises(ValueError, match="0"):
        list(read_in_order(splits, [Reader() for _ in range(4)]))  # type: ignore[arg-type]


def test_closing_early_ends_the_threads() -> None:
    before = running()
    batches = read_in_order([list(range(1000)) for _ in range(10)], [Reader(), Reader()])  # type: ignore[arg-type]
    next(batches)
    assert len(running() - before) == 2
    batches.close()  # type: ignore[attr-defined]
    assert running() <= before


@pytest.mark.parametrize("per_split", [1, 3, 16, 500])
def test_threads_do_not_run_ahead_of_a_slow_reader(per_split: int) -> None:
    """Small splits never fill a queue of their own: without a bound over all the whole log would be in memory."""
    readers = [Reader(), Reader()]
    splits = [list(range(per_split)) for _ in range(300)]
    batches = read_in_order(splits, readers)  # type: ignore[arg-type]
    for _ in range(5):
        next(batches)
    time.sleep(0.3)
    ahead = sum(len(reader.given) for reader in readers) - 5
    most = (len(readers) + parallel._SPLITS_AHEAD) * min(per_split, parallel._BATCHES_AHEAD + 1)
    assert ahead <= most
    batches.close()  # type: ignore[attr-defined]


def test_a_thread_that_cannot_start_leaves_none_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    before = running()
    started = 0
    start = threading.Thread.start

    def start_once(thread: threading.Thread) -> None:
        nonlocal started
        started += 1
        if started == 2:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_once)
    with pytest.raises(RuntimeError):
        list(read_in_order([[1], [2]], [Reader(), Reader()]))  # type: ignore[arg-type]
    assert running() <= before
