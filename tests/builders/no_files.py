"""What may stand in a file's place without being a file that can be read."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

__all__ = ["NO_FILES", "put_no_file"]


def put_no_file(kind: str, path: Path, elsewhere: Path) -> None:
    """Put one of `NO_FILES` in the place of `path`; `elsewhere` is the file that a ``link out`` leads to."""
    path.unlink(missing_ok=True)
    NO_FILES[kind](path, elsewhere)


def _socket(path: Path, _: Path) -> None:
    # The name of a socket is short, and has to be that of a file in the working directory.
    before = os.open(".", os.O_RDONLY)
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.fchdir(before)
        os.close(before)


NO_FILES: dict[str, Callable[[Path, Path], None]] = {
    "fifo": lambda path, _: os.mkfifo(path),
    "directory": lambda path, _: path.mkdir(),
    "device": lambda path, _: path.symlink_to("/dev/zero"),
    "socket": _socket,
    "dangling link": lambda path, _: path.symlink_to(path.parent / "nothing"),
    "link out": lambda path, elsewhere: path.symlink_to(elsewhere),
    "loop": lambda path, _: path.symlink_to(path),
}
"""How each is made."""
