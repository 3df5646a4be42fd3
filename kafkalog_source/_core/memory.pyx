# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Reusable memory, because fresh pages cost more than decoding does.

The memory of Arrow buffers is allocated in blocks of few capacities, see
`rounded`. A block returns to its pool when the last Arrow buffer over it is
released. All methods of the pool need the interpreter lock.
"""

cimport cython
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_FillInfo
from libc.stdint cimport uint8_t, uintptr_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memmove

cdef Py_ssize_t SMALLEST_BLOCK = 4096
cdef Py_ssize_t LARGEST_DOUBLED = 8 << 20
cdef Py_ssize_t MOST_FREE_BYTES = 64 << 20


cdef Py_ssize_t rounded(Py_ssize_t capacity) noexcept nogil:
    """Round `capacity` up to that of a block: a power of two, or above 8 MiB a multiple of an eighth of the next one.

    Large blocks would waste most, and a Spark task may have a limited address space.
    """
    cdef Py_ssize_t size = SMALLEST_BLOCK
    cdef Py_ssize_t step
    while size < capacity:
        size *= 2
    if size > LARGEST_DOUBLED:
        step = size // 8
        size = (capacity + step - 1) // step * step
    return size


@cython.no_gc_clear
cdef class BlockPool:
    """Free blocks by capacity, at most 64 MiB in total."""

    def __cinit__(self):
        self._free = {}
        self.free_bytes = 0

    def __dealloc__(self):
        for addresses in self._free.values():
            for address in addresses:
                free(<void*><uintptr_t>address)

    cdef uint8_t* take(self, Py_ssize_t capacity) except NULL:
        """Return a block of exactly `capacity` bytes, a result of `rounded`."""
        cdef uint8_t* address
        cdef list addresses = self._free.get(capacity)
        if addresses:
            self.free_bytes -= capacity
            return <uint8_t*><uintptr_t>addresses.pop()
        address = <uint8_t*>malloc(capacity)
        if address == NULL:
            raise MemoryError(f"out of memory: a block of {capacity} bytes")
        return address

    cdef void give(self, uint8_t* address, Py_ssize_t capacity) noexcept:
        if self.free_bytes + capacity > MOST_FREE_BYTES:
            free(address)
            return
        self._free.setdefault(capacity, []).append(<uintptr_t>address)
        self.free_bytes += capacity


@cython.no_gc_clear  # the pool must still exist when the block returns to it
cdef class Block:
    """The memory of one Arrow buffer, exposed as a read-only buffer of the bytes in use."""

    def __dealloc__(self):
        if self._address != NULL:
            self._pool.give(self._address, self._capacity)

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self._address, self._size, 1, flags)

    def __len__(self):
        return self._size


cdef Block block_of(BlockPool pool, uint8_t* address, Py_ssize_t capacity, Py_ssize_t size):
    """Pass ownership of `address` to a new Block, which returns it to `pool`."""
    cdef Block block = Block.__new__(Block)
    block._pool = pool
    block._address = address
    block._capacity = capacity
    block._size = size
    return block


cdef class Scratch:
    """Growing working memory that is kept during a scan, for input windows and decompressed payloads."""

    def __cinit__(self):
        self.address = NULL
        self.capacity = 0
        self._exports = 0

    def __dealloc__(self):
        free(self.address)

    cdef int ensure(self, Py_ssize_t capacity, Py_ssize_t keep) except -1:
        """Grow to at least `capacity` bytes; the first `keep` bytes are preserved."""
        cdef uint8_t* address
        if capacity <= self.capacity:
            return 0
        if self._exports:
            raise BufferError("scratch memory cannot grow while a view of it exists")
        if keep == 0:
            free(self.address)
            self.address = NULL
            self.capacity = 0
        address = <uint8_t*>realloc(self.address, capacity)
        if address == NULL:
            raise MemoryError(f"out of memory: {capacity} bytes of scratch space")
        self.address = address
        self.capacity = capacity
        return 0

    def reserve(self, Py_ssize_t capacity, Py_ssize_t keep=0):
        """Grow to at least `capacity` bytes; the first `keep` bytes are preserved."""
        self.ensure(capacity, keep)

    cdef bint try_grow(self, Py_ssize_t keep, Py_ssize_t needed, Py_ssize_t limit) noexcept nogil:
        """Grow to `needed` bytes or more, within `limit`, without the interpreter lock; False if that is impossible."""
        cdef uint8_t* address
        cdef Py_ssize_t capacity = max(needed, min(2 * self.capacity, limit))
        if needed <= self.capacity and self.capacity > 0:
            return True
        if self._exports:
            return False
        if keep == 0:
            free(self.address)
            self.address = NULL
            self.capacity = 0
        address = <uint8_t*>realloc(self.address, max(capacity, SMALLEST_BLOCK))
        if address == NULL:
            return False
        self.address = address
        self.capacity = max(capacity, SMALLEST_BLOCK)
        return True

    cpdef void shrink(self, Py_ssize_t most, Py_ssize_t keep=0):
        """Free memory if there are more than `most` bytes and no view exists.

        All of it is freed, or with `keep` what exceeds both numbers; the first `keep` bytes are preserved.
        """
        cdef uint8_t* address
        if self.capacity <= max(most, keep) or self._exports:
            return
        if keep == 0:
            free(self.address)
            self.address = NULL
            self.capacity = 0
            return
        address = <uint8_t*>realloc(self.address, max(most, keep))
        if address != NULL:
            self.address = address
            self.capacity = max(most, keep)

    def move(self, Py_ssize_t start, Py_ssize_t stop):
        """Move the bytes [start, stop) to the start."""
        if not 0 <= start <= stop <= self.capacity:
            raise ValueError(f"[{start}, {stop}) is not a range within {self.capacity} bytes")
        if self._exports:
            raise BufferError("scratch memory cannot move while a view of it exists")
        memmove(self.address, self.address + start, stop - start)

    def view(self, Py_ssize_t start, Py_ssize_t stop):
        """Return a writable memoryview of the bytes [start, stop). While it exists, the memory cannot grow or move."""
        if not 0 <= start <= stop <= self.capacity:
            raise ValueError(f"[{start}, {stop}) is not a range within {self.capacity} bytes")
        cdef Loan loan = Loan.__new__(Loan)
        loan.scratch = self
        loan.start = start
        loan.size = stop - start
        return memoryview(loan)


cdef class Loan:
    """A part of scratch memory behind a view. While a buffer over it exists, the memory is not moved."""

    cdef Scratch scratch
    cdef Py_ssize_t start
    cdef Py_ssize_t size

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.scratch.address + self.start, self.size, 0, flags)
        self.scratch._exports += 1

    def __releasebuffer__(self, Py_buffer* buffer):
        self.scratch._exports -= 1


cdef class View:
    """A buffer over memory owned by something else; the core points one at each batch in turn."""

    cdef void set(self, const uint8_t* address, Py_ssize_t size) noexcept:
        self.address = address
        self.size = size

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        if flags & PyBUF_WRITABLE and not self.writable:
            raise BufferError("this view is read-only")
        PyBuffer_FillInfo(buffer, self, <void*>self.address, self.size, not self.writable, flags)

    def __len__(self):
        return self.size
