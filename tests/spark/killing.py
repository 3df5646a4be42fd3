"""Kills processes of a cluster at random times while it works."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence

from tests.spark.cluster import KINDS, Cluster

_WEIGHTS = (5, 2, 4)
_MOST = 3
_PAUSE_S = 0.01


def some_kinds(seed: int) -> list[str]:
    """What is to be killed in a run."""
    chance = random.Random(seed)
    return chance.choices(KINDS, _WEIGHTS, k=chance.randint(1, _MOST))


class Killer:
    """A context in which processes of `cluster` are killed.

    Parameters
    ----------
    cluster : Cluster
    kinds : sequence of str
        What is to be killed, one after the other.
    seed : int
        Says when, and which of several.
    seconds : float
        All is to be killed within about this time after the first read has begun.

    Attributes
    ----------
    killed : list of str
        The kinds of the processes that were killed.
    """

    def __init__(self, cluster: Cluster, kinds: Sequence[str], seed: int, seconds: float) -> None:
        # Another stream of numbers than the one that the kinds come from.
        self._chance = random.Random(~seed)
        self._times = sorted(self._chance.uniform(0, seconds) for _ in kinds)
        self._kinds = kinds
        self._cluster = cluster
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.killed: list[str] = []

    def __enter__(self) -> Killer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        while not (self._cluster.events() or self._is_over.wait(_PAUSE_S)):
            pass
        start = time.monotonic()
        for after, kind in zip(self._times, self._kinds, strict=True):
            self._is_over.wait(max(0.0, start + after - time.monotonic()))
            while not self._is_over.is_set():
                # After a kill it takes a while before there is one again.
                there = self._cluster.processes(kind)
                if there and self._cluster.kill(self._chance.choice(there)):
                    self.killed.append(kind)
                    break
                self._is_over.wait(_PAUSE_S)
