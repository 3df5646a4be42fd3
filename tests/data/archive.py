"""Packing a directory into one reproducible archive, and unpacking it.

Preallocated files end in megabytes of zeros. Those are not stored: the member
holds the bytes before them, its pax header says the whole size, and unpacking
extends the file by a hole, so that neither git nor the disk carries the zeros.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path

WHOLE_SIZE = "KAFKALOG.size"
"""The pax keyword for a file's size including the zeros that were left out."""
SHORTEST_HOLE = 4096
"""A zero tail shorter than this is stored as it is."""


def pack(files: dict[str, bytes], archive: Path) -> None:
    """Write `files` (path in the archive -> content) so that equal content gives equal bytes.

    A path that ends in a slash is an empty directory.
    """
    with (
        archive.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name in sorted(files):
            info, content = _member(name, files[name])
            tar.addfile(info, io.BytesIO(content))


def _member(name: str, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name.rstrip("/"))
    info.mode = 0o644
    if name.endswith("/"):
        info.type, info.mode = tarfile.DIRTYPE, 0o755
    kept = content.rstrip(b"\0")
    if len(content) - len(kept) >= SHORTEST_HOLE:
        info.pax_headers = {WHOLE_SIZE: str(len(content))}
        content = kept
    info.size = len(content)
    return info, content


def unpack(archive: Path, target: Path) -> None:
    """Unpack into the directory `target`, which must exist."""
    with tarfile.open(archive, "r:gz") as tar:
        for member in tar:
            tar.extract(member, target, filter="data")
            if WHOLE_SIZE in member.pax_headers:
                os.truncate(target / member.name, int(member.pax_headers[WHOLE_SIZE]))
