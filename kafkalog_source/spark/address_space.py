"""The address space limit of a Python worker, which runs many tasks one after another."""

from __future__ import annotations

import sys

__all__ = ["address_space_limit", "give_large_blocks_back"]

_LARGE = 4 << 20
"""In bytes. The column buffers of ordinary batches are smaller, and are reused for the next ones."""
_M_MMAP_THRESHOLD = -3


def address_space_limit() -> int | None:
    """Return the limit in bytes that ``spark.executor.pyspark.memory`` sets, or None."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def give_large_blocks_back() -> None:
    """If address space is limited, make the C library map each large block, so that freeing it returns all of it.

    Otherwise glibc, after it has freed one such block, allocates blocks of up to 32 MiB from its heap, where
    fragmentation keeps freed memory from being returned.
    """
    if sys.platform != "linux" or address_space_limit() is None:
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE)
