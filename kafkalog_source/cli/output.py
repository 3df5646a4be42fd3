"""Many lines at once, as bytes, written to a text stream."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import TextIO

__all__ = ["line_writer"]


def line_writer(out: TextIO, *, is_text: bool = True) -> Callable[[bytes], None]:
    """Return a function that writes bytes to `out` at once.

    Parameters
    ----------
    out : text stream
    is_text : bool
        Whether the bytes are UTF-8, to be written in the encoding of `out`; others are written as they are.
    """
    out.flush()
    buffer = getattr(out, "buffer", None)
    if buffer is None or (is_text and codecs.lookup(out.encoding).name != "utf-8"):
        return lambda lines: _write_text(out, lines)

    def write(lines: bytes) -> None:
        buffer.write(lines)
        buffer.flush()

    return write


def _write_text(out: TextIO, lines: bytes) -> None:
    out.write(lines.decode("utf-8"))
    out.flush()
