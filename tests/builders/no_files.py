"""Directory entries that are in the place of a file but are not readable regular files."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

__all__ = ["NO_FILES", "put_no_file"]


def put_no_file(kind: str, path: Path, elsewhere: Path) -> None:
    """Replace `path` by one of `NO_FILES`; `elsewhere` is the target of a ``link out``."""
    path.unlink(missing_ok=True)
    NO_FILES[kind](path, elsewhere)


def _socket(path: Path, _: Path) -> None:
    # The path of a socket is limited in length, so the socket is created by its name in the working directory.
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
"""How each is created."""
