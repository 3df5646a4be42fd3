# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Decompressed payloads, several at once.

Codecs are libraries called through Python. The records of a run of payloads are
read without the interpreter lock, so the whole run is decompressed before its first
record is read. Threads that acquire the lock for every batch would wait for each
other most of the time.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint8_t

from kafkalog_source._core.bytes cimport load_i32
from kafkalog_source._core.checksums cimport has_right_crc_by
from kafkalog_source._core.layout cimport LEGACY_MAGIC_OFFSET, LOG_OVERHEAD, SIZE_OFFSET
from kafkalog_source._core.memory cimport Scratch, View

cdef Py_ssize_t ENOUGH = 1 << 19         # decompressed bytes in a run, approximately, so that they stay in the cache
cdef Py_ssize_t LARGEST_SMALL = 1 << 16  # compressed; a larger payload can only be the first in its run
cdef Py_ssize_t LARGEST_KEPT = 1 << 20
cdef Py_ssize_t LARGEST_KEPT_BEHIND = 1 << 18  # of each buffer after the first, of which there are many


cdef class Payloads:
    """A run of decompressed payloads, each valid until `clear`.

    Each thread reuses a fixed set of decompression buffers; at most one is large. A payload above about 1 MiB is kept
    in the first buffer, or in one that is freed after use, so that large ones do not add up.

    Parameters
    ----------
    decompress : callable
        ``f(codec, magic, bytes_like, scratch) -> bytes_like``; raises for a payload that is not valid for its codec.
        The result may be a view of `scratch`.
    crc32 : callable
        ``f(bytes_like) -> int``.
    rooms : list of Scratch
        The buffers: at least one, and at most 64 are used. A run has at most this many payloads.
    """

    def __cinit__(self, decompress, crc32, list rooms):
        self.decompress = decompress
        self.crc32 = crc32
        self.count = 0
        self.size = 0
        self.largest = 0
        self.rooms = rooms
        self.first_room = rooms[0]
        self.view = View.__new__(View)

    def __dealloc__(self):
        cdef int i
        for i in range(self.count):
            PyBuffer_Release(&self.items[i].buffer)

    cdef bint holds_much(self) noexcept nogil:
        """Whether the first buffer still has the memory that a large payload needed."""
        return self.first_room.capacity > LARGEST_KEPT

    cdef bint takes(self, Py_ssize_t compressed_size):
        """Whether a payload of this size can join the run; the first always can."""
        if self.count == 0:
            return True
        if self.count == MOST_PAYLOADS or self.count == len(self.rooms) or self.size >= ENOUGH or compressed_size > LARGEST_SMALL:
            return False
        return not self.holds_much()

    cdef int add(self, int codec, int magic, const uint8_t* p, Py_ssize_t size) except -1:
        """Decompress the `size` bytes at `p`, and return the number of the payload."""
        cdef int number = self.count
        cdef Payload* payload = &self.items[number]
        cdef Scratch room = self.rooms[number]
        self.view.set(p, size)
        try:
            PyObject_GetBuffer(self.decompress(codec, magic, self.view, room), &payload.buffer, PyBUF_SIMPLE)
        except Exception:
            # It may have grown to the limit before the payload proved too large.
            room.shrink(LARGEST_KEPT)
            raise
        self.count += 1
        payload.data = <const uint8_t*>payload.buffer.buf
        payload.size = payload.buffer.len
        payload.bad_message = -1
        self.size += payload.size
        self.largest = max(self.largest, payload.size)
        return number

    cdef int check_messages(self, int number) except -1:
        """Verify the checksum of every message in a wrapper's payload, as Kafka's consumer does.

        Stop at the first invalid length, which is reported when the messages are read.
        """
        cdef Payload* payload = &self.items[number]
        cdef const uint8_t* p
        cdef Py_ssize_t at = 0
        cdef Py_ssize_t size
        while payload.size - at > LEGACY_MAGIC_OFFSET:
            p = payload.data + at
            size = LOG_OVERHEAD + <Py_ssize_t>load_i32(p + SIZE_OFFSET)
            if size < LEGACY_MAGIC_OFFSET or size > payload.size - at:
                return 0
            # v0 and v1 have the same rule; an invalid magic is reported when the messages are read.
            if not has_right_crc_by(None, self.crc32, self.view, p, size, 0):
                payload.bad_message = at
                return 0
            at += size
        return 0

    cdef void clear(self):
        """Release all payloads, and the memory that only a large one needed."""
        cdef int i
        cdef int count = self.count
        self.count = 0
        for i in range(count):
            PyBuffer_Release(&self.items[i].buffer)
            if i:
                (<Scratch>self.rooms[i]).shrink(LARGEST_KEPT_BEHIND)
            elif self.largest <= LARGEST_KEPT:
                self.first_room.shrink(LARGEST_KEPT)
        self.size = 0
        self.largest = 0

    cdef void give_back(self):
        """Free the memory of payloads that were released by `clear`."""
        cdef Scratch room
        for room in self.rooms:
            room.shrink(0)
