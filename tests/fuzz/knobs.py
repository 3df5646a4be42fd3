"""The sizes that kafkalog reads files by, and what it calls. Small ones let short inputs cross many borders."""

from __future__ import annotations

from types import ModuleType

from kafkalog_source._core.native import CFunctions
from kafkalog_source.batch import decoder
from kafkalog_source.segment import header_walk, reader
from kafkalog_source.segment.damage import tail

_FIRST = "FIRST_WINDOW_SIZE"
_WINDOW = "WINDOW_SIZE"
_BEFORE: dict[tuple[ModuleType, str], int] = {}
"""What the constants were that have been changed."""
_C_FUNCTIONS = (CFunctions(), decoder.C_FUNCTIONS)


def set_windows(*, first: int, window: int, search: int = 1 << 20, headers: int = 1 << 18) -> None:
    """Choose the size of a span's first window, of later ones, of those in search of a batch and of header walks."""
    set_constant(reader, _FIRST, first)
    set_constant(reader, _WINDOW, window)
    set_constant(tail, _WINDOW, search)
    set_constant(header_walk, _WINDOW, headers)


def set_c_functions(found: bool) -> None:
    """Choose whether checksums and LZ4 blocks go without Python, which must not matter."""
    decoder.C_FUNCTIONS = _C_FUNCTIONS[found]


def set_constant(module: ModuleType, name: str, size: int) -> None:
    """Set a module's constant, which has to be there, with or without a leading underscore."""
    for spelled in (name, f"_{name}"):
        if hasattr(module, spelled):
            _BEFORE.setdefault((module, spelled), getattr(module, spelled))
            setattr(module, spelled, size)
            return
    raise AttributeError(f"{module.__name__} has no {name} any more: tell the fuzzer what took its place")


def restore() -> None:
    """Let all constants be what they were."""
    set_c_functions(True)
    for (module, name), size in _BEFORE.items():
        setattr(module, name, size)
