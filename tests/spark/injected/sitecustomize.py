"""Faults inside the Python workers of a cluster, for the tests alone: Python runs this when it is on the path.

A plan, JSON in the file that an environment variable names, says what befalls the reads. Without a
plan nothing does. Every read leaves a line in the file beside it when it starts and when it ends.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

TARGET = "kafkalog_source.reading.read"
FOLDER = os.environ.get("KAFKALOG_TEST_FAULTS")


def _address_space() -> dict[str, int]:
    """What this process has of address space, and the most that it had, in KiB."""
    with open("/proc/self/status") as status:
        fields = dict(line.split(":", 1) for line in status)
    return {name: int(fields[name].split()[0]) for name in ("VmSize", "VmPeak")}


def _tell(what: str, **more: object) -> None:
    from pyspark import TaskContext

    task = TaskContext.get()
    place = {"stage": task.stageId(), "task": task.partitionId(), "attempt": task.attemptNumber()}
    line = json.dumps({"what": what, **place, "pid": os.getpid(), **_address_space(), **more})
    descriptor = os.open(f"{FOLDER}/events", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, line.encode() + b"\n")
    os.close(descriptor)


def _plan() -> dict[str, Any]:
    """The plan, if it is for this task and this attempt, by default for the first attempt of every task."""
    from pyspark import TaskContext

    try:
        with open(f"{FOLDER}/plan.json") as file:
            plan: dict[str, Any] = json.load(file)
    except FileNotFoundError:
        return {}
    task = TaskContext.get()
    applies = task.attemptNumber() < plan.get("attempts", 1) and task.partitionId() % plan.get("every", 1) == 0
    return plan if applies else {}


def _end_of_read(plan: dict[str, Any]) -> None:
    """What the plan has in store for a read that is in the middle."""
    if "replace" in plan:
        # Another file of the same content takes the place of the one that was planned to be read.
        shutil.copy(plan["replace"], plan["replace"] + ".copy")
        os.rename(plan["replace"] + ".copy", plan["replace"])
    if "cut" in plan:
        os.truncate(plan["cut"], os.path.getsize(plan["cut"]) // 2)
    if "remove" in plan:
        os.unlink(plan["remove"])
    if plan.get("kill"):
        os.kill(os.getpid(), signal.SIGKILL)
    raise RuntimeError("this attempt was to fail")


def _slow_files(seconds: float) -> Callable[[], None]:
    """Make every access to a file take this long, until what is returned is called."""
    from kafkalog_source.segment.source import LocalFile

    fast = LocalFile.read_into

    def slow(self: LocalFile, position: int, buffer: memoryview) -> int:
        time.sleep(seconds)
        return fast(self, position, buffer)

    def restore() -> None:
        LocalFile.read_into = fast  # type: ignore[method-assign]

    LocalFile.read_into = slow  # type: ignore[method-assign]
    return restore


def _faulty(read_split: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    def read(*arguments: Any) -> Iterator[Any]:
        plan = _plan()
        _tell("start")
        restore = _slow_files(plan["slow"]) if "slow" in plan else None
        batches = 0
        try:
            for batches, batch in enumerate(read_split(*arguments), 1):
                if batches > plan.get("batches", sys.maxsize):
                    _tell("fault", batches=batches - 1)
                    _end_of_read(plan)
                yield batch
            _tell("end", batches=batches)
        finally:
            if restore is not None:
                restore()

    return read


class Finder:
    """Finds the one module that is patched once it is there; all others are left to those behind."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != TARGET:
            return None
        spec = PathFinder.find_spec(name, path, target)
        assert spec is not None
        assert spec.loader is not None
        run = spec.loader.exec_module

        def run_and_patch(module: ModuleType) -> None:
            run(module)
            module.read_split = _faulty(module.read_split)  # type: ignore[attr-defined]

        spec.loader.exec_module = run_and_patch  # type: ignore[method-assign]
        return spec


if FOLDER is not None:
    sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]
