"""The sizes that kafkalog reads files by. Small ones let short inputs cross many borders."""

from __future__ import annotations

from types import ModuleType

from kafkalog_source.segment import entries, rows, tail

_FIRST = "FIRST_WINDOW_SIZE"
_WINDOW = "WINDOW_SIZE"


def set_windows(*, first: int, window: int, search: int = 1 << 20, headers: int = 1 << 18) -> None:
    """Choose the size of a span's first window, of later ones, of those in search of a batch and of header walks."""
    _set(rows, _FIRST, first)
    _set(rows, _WINDOW, window)
    _set(tail, _WINDOW, search)
    _set(entries, _WINDOW, headers)


def _set(module: ModuleType, name: str, size: int) -> None:
    for spelled in (name, f"_{name}"):
        if hasattr(module, spelled):
            setattr(module, spelled, size)
            return
    raise AttributeError(f"{module.__name__} has no {name} any more: say in {__name__} how to choose its windows")
