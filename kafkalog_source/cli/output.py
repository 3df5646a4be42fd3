"""Lines that are UTF-8 already, written to a text stream in one piece."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import TextIO

__all__ = ["line_writer"]


def line_writer(out: TextIO) -> Callable[[bytes], None]:
    """Return a function that writes UTF-8 to `out`, past its encoder if it encodes as UTF-8 too."""
    out.flush()
    buffer = getattr(out, "buffer", None)
    if buffer is None or codecs.lookup(out.encoding or "ascii").name != "utf-8":
        return lambda lines: _write_text(out, lines)

    def write(lines: bytes) -> None:
        buffer.write(lines)
        buffer.flush()

    return write


def _write_text(out: TextIO, lines: bytes) -> None:
    out.write(lines.decode("utf-8"))
    out.flush()
