"""Files that are written anew for every input: in memory, where the machine has a place for that."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path


class Folder:
    """A directory named like a partition's."""

    def __init__(self) -> None:
        shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        root = tempfile.mkdtemp(prefix="kafkalog-fuzz-", dir=shared)
        weakref.finalize(self, shutil.rmtree, root, ignore_errors=True)
        self.path = Path(root, "topic-0")
        self.path.mkdir()
        self._segment_path = os.path.join(root, "segment")
        self._segment = os.open(self._segment_path, os.O_RDWR | os.O_CREAT)

    def put(self, files: dict[str, bytes]) -> None:
        """Let the directory hold these files and no other."""
        for name in os.listdir(self.path):
            os.unlink(self.path / name)
        for name, content in files.items():
            (self.path / name).write_bytes(content)

    def put_segment(self, content: bytes) -> str:
        """Let a file outside of the directory hold `content`, and give its path."""
        os.ftruncate(self._segment, 0)
        os.pwrite(self._segment, content, 0)
        return self._segment_path
