# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Columns of numbers, texts and lists under construction, in Arrow's memory layout once they are handed over."""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from kafkalog_source._core.columns cimport grow
from kafkalog_source._core.json_text cimport put_raw
from kafkalog_source._core.memory cimport Block, BlockPool, block_of

HOLDS = ("numbers", "texts", "lists")


cdef bint new_entry(Slot* s, bint valid) noexcept nogil:
    """Count an entry whose data is there, and note where it ends."""
    cdef Py_ssize_t width = sizeof(int32_t)
    if s.count >= INT32_MAX // 8 or not grow(&s.valid, &s.valid_capacity, s.count + 1):
        return False
    if s.holds != NUMBERS:
        if not grow(&s.offsets, &s.offsets_capacity, (s.count + 2) * width):
            return False
        if s.count == 0:
            (<int32_t*>s.offsets)[0] = 0
        (<int32_t*>s.offsets)[s.count + 1] = <int32_t>(s.data.size if s.holds == TEXTS else s.elements)
    s.valid[s.count] = valid
    s.nulls += not valid
    s.count += 1
    return True


cdef bint put_number(Slot* s, int64_t value) noexcept nogil:
    return put_raw(&s.data, &value, sizeof(int64_t)) and new_entry(s, True)


cdef bint put_none(Slot* s) noexcept nogil:
    """Null; what was written of an entry since the last one is forgotten by `cut_slot` before."""
    cdef int64_t zero = 0
    if s.holds == NUMBERS and not put_raw(&s.data, &zero, sizeof(int64_t)):
        return False
    return new_entry(s, False)


cdef bint end_text(Slot* s) noexcept nogil:
    """What was written to `data` since the last entry is one."""
    return new_entry(s, True)


cdef bint end_list(Slot* s) noexcept nogil:
    """The elements since the last entry are one list."""
    return new_entry(s, True)


cdef bint end_element(Slot* items, Slot* s) noexcept nogil:
    """An element is complete; what it had no field for is null."""
    cdef int32_t i
    s.elements += 1
    for i in range(s.child, s.child + s.children):
        while items[i].count < s.elements:
            if not put_none(&items[i]):
                return False
    return True


cdef void cut_slot(Slot* items, Slot* s, Py_ssize_t count) noexcept nogil:
    """Forget the entries from `count` on, and what was written since."""
    cdef int32_t i
    while s.count > count:
        s.count -= 1
        s.nulls -= not s.valid[s.count]
    if s.holds == NUMBERS:
        s.data.size = s.count * sizeof(int64_t)
    elif s.holds == TEXTS:
        s.data.size = (<int32_t*>s.offsets)[s.count] if s.count else 0
    else:
        s.elements = (<int32_t*>s.offsets)[s.count] if s.count else 0
        for i in range(s.child, s.child + s.children):
            cut_slot(items, &items[i], s.elements)


cdef class Slots:
    """A number of slots.

    Parameters
    ----------
    described : sequence of tuple
        (what it holds, first child, number of children) for each; children come after their list.
    roots : int
        How many of the first hold one entry a row.
    pool : BlockPool
        Where the blocks go when nothing uses them any more.
    """

    def __cinit__(self, described, int32_t roots, BlockPool pool):
        cdef int32_t i
        self.count = len(described)
        self.roots = roots
        self.pool = pool
        self.items = <Slot*>calloc(max(self.count, 1), sizeof(Slot))
        if self.items == NULL:
            raise MemoryError("no memory for columns")
        if not 0 <= roots <= self.count:
            raise ValueError(f"{roots} of {self.count} slots cannot hold rows")
        for i, (holds, child, children) in enumerate(described):
            if children and not (roots <= child and i < child < child + children <= self.count):
                raise ValueError(f"slot {i} has children that do not come after it")
            self.items[i].holds = <Holds><int>HOLDS.index(holds)
            self.items[i].child = child
            self.items[i].children = children

    def __dealloc__(self):
        cdef int32_t i
        if self.items == NULL:
            return
        for i in range(self.count):
            free(self.items[i].valid)
            free(self.items[i].offsets)
            free(self.items[i].data.data)
        free(self.items)

    cdef bint pad(self, Py_ssize_t rows) noexcept nogil:
        """Give every column `rows` rows; those it lacks are null."""
        cdef int32_t i
        for i in range(self.roots):
            while self.items[i].count < rows:
                if not put_none(&self.items[i]):
                    return False
        return True

    cdef void cut(self, Py_ssize_t rows) noexcept nogil:
        """Forget the rows from `rows` on."""
        cdef int32_t i
        for i in range(self.roots):
            cut_slot(self.items, &self.items[i], rows)

    def take(self):
        """Hand the columns over and start anew.

        Returns
        -------
        list of tuple
            For each slot (entries, nulls, validity, offsets, data), None for a buffer that it does not have.
        """
        cdef int32_t i
        return [take_slot(self.pool, &self.items[i]) for i in range(self.count)]


cdef tuple take_slot(BlockPool pool, Slot* s):
    cdef Py_ssize_t count = s.count
    cdef Py_ssize_t nulls = s.nulls
    pack_validity(s)
    validity = taken(pool, &s.valid, &s.valid_capacity, (count + 7) // 8) if nulls else None
    if s.holds != NUMBERS and s.offsets == NULL:
        if not grow(&s.offsets, &s.offsets_capacity, sizeof(int32_t)):
            raise MemoryError("no memory for an empty column")
        (<int32_t*>s.offsets)[0] = 0
    offsets = None if s.holds == NUMBERS else taken(pool, &s.offsets, &s.offsets_capacity, (count + 1) * sizeof(int32_t))
    data = taken(pool, &s.data.data, &s.data.capacity, s.data.size) if s.data.data != NULL else None
    s.count = s.nulls = s.elements = s.data.size = 0
    return count, nulls, validity, offsets, data


cdef void pack_validity(Slot* s) noexcept nogil:
    """A bit for each byte, in place: a bit's byte is written after the eight that it comes from were read."""
    cdef Py_ssize_t row
    cdef uint8_t bits = 0
    for row in range(s.count):
        bits |= <uint8_t>(s.valid[row] << (row & 7))
        if row & 7 == 7 or row == s.count - 1:
            s.valid[row >> 3] = bits
            bits = 0


cdef Block taken(BlockPool pool, uint8_t** address, Py_ssize_t* capacity, Py_ssize_t size):
    cdef Block block = block_of(pool, address[0], capacity[0], size)
    address[0] = NULL
    capacity[0] = 0
    return block
