"""The address space that Spark allows a Python worker, which is shared by all tasks that it runs one after another."""

from __future__ import annotations

import sys

__all__ = ["address_space_limit", "give_large_blocks_back"]

_LARGE = 4 << 20
"""Blocks of the columns of ordinary batches are smaller, and are kept for the next ones."""
_M_MMAP_THRESHOLD = -3


def address_space_limit() -> int | None:
    """The limit in bytes that ``spark.executor.pyspark.memory`` has set, or None."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def give_large_blocks_back() -> None:
    """Have the C library map large blocks one by one, if address space is limited: they go without leaving holes.

    Otherwise glibc takes blocks of up to 32 MiB from its heap once it has seen one, and keeps what is freed in between.
    """
    if sys.platform != "linux" or address_space_limit() is None:
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE)
