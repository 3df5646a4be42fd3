# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The headers of large batches, one after another, with a short read for each."""

from libc.stdint cimport int64_t
from posix.unistd cimport pread

from kafkalog_source._core.codes cimport Code
from kafkalog_source._core.memory cimport Scratch


def peek_headers(int descriptor, Scratch memory not None, walker, int64_t position, int64_t end, Py_ssize_t most,
                 Py_ssize_t size, Py_ssize_t least):
    """Walk headers from `position` on, as long as each batch has at least `least` bytes and no read fails.

    Parameters
    ----------
    descriptor : int
        Of an open file.
    memory : Scratch
    walker : Walker
        See `kafkalog_source.segment.header_walk`.
    position, end : int
        Positions in the file: where the first header is, and where the range ends.
    most : int
        Reads at most.
    size : int
        Bytes of each read.
    least : int

    Returns
    -------
    position, reads : int
        Where the next header is, which may be unread because reading failed, and how many reads were successful.
    """
    cdef Py_ssize_t walked, got, reads = 0
    cdef int code
    memory.reserve(size)
    while reads < most and end - position >= size:
        with nogil:
            got = pread(descriptor, memory.address, size, position)
        if got != size:
            # Whoever reads on from here meets the same error, or the end of the file, and reports it.
            break
        reads += 1
        code = walker.walk(memory, size, end - position)
        walked = walker.walked
        position += walked
        if code != Code.END or walked < least:
            break
    return position, reads
