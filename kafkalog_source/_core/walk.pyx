# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Where the entries of a window begin and end, from their headers alone.

An entry is a v2 batch or a v0/v1 message-set entry. All formats keep offset,
length and magic in the same places (``Records``, ``DefaultRecordBatch`` and
``LegacyRecord``), so that the format is chosen entry by entry.
"""

from libc.stdint cimport INT32_MAX, INT64_MAX, int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc

from kafkalog_source._core.bytes cimport load_i32, load_i64
from kafkalog_source._core.checksums cimport has_right_crc
from kafkalog_source._core.codes cimport Code
from kafkalog_source._core.layout cimport (
    HEADER_SIZE_UP_TO_MAGIC, LEGACY_ATTRIBUTES_OFFSET, LOG_OVERHEAD, MAGIC_OFFSET, MAX_OFFSET, OFFSET_OFFSET,
    SIZE_OFFSET, V0_MIN_LENGTH, V1_MIN_LENGTH, V2_FLAGS_OFFSET, V2_HEADER_SIZE, V2_LAST_OFFSET_DELTA_OFFSET,
    V2_MIN_LENGTH,
)
from kafkalog_source._core.memory cimport Scratch
from kafkalog_source._core.native cimport CFunctions

cdef Py_ssize_t COST_OF_ASKING = 1 << 15  # bytes that could be compared while Python looks at one header


cdef int parse_header(const uint8_t* p, Py_ssize_t left, Entry* entry) noexcept nogil:
    """Read the header at `p` into `entry` (all but `start`).

    INCOMPLETE when fewer bytes are left than the header has; `entry.size` is then what is needed to go on.
    Only what the header says is judged: whether the body is there is for the caller to ask.
    """
    cdef int32_t length, delta
    cdef Py_ssize_t least
    # No more is asked for than the next fields have: how a header is judged must not depend on where a window ends.
    entry.size = LOG_OVERHEAD
    if left < LOG_OVERHEAD:
        return Code.INCOMPLETE
    length = load_i32(p + SIZE_OFFSET)
    if length < V0_MIN_LENGTH:
        return Code.BAD_LENGTH
    entry.size = HEADER_SIZE_UP_TO_MAGIC
    if left < HEADER_SIZE_UP_TO_MAGIC:
        return Code.INCOMPLETE
    entry.magic = <int8_t>p[MAGIC_OFFSET]
    if entry.magic < 0 or entry.magic > 2:
        return Code.BAD_MAGIC
    least = V2_MIN_LENGTH if entry.magic == 2 else (V1_MIN_LENGTH if entry.magic == 1 else V0_MIN_LENGTH)
    if length < least:
        return Code.BAD_LENGTH
    entry.size = LOG_OVERHEAD + <Py_ssize_t>length
    entry.first_offset = load_i64(p + OFFSET_OFFSET)
    entry.last_offset = entry.first_offset
    entry.checked = False
    if entry.magic < 2:
        if left < LEGACY_ATTRIBUTES_OFFSET + 1:
            entry.size = LEGACY_ATTRIBUTES_OFFSET + 1
            return Code.INCOMPLETE
        entry.attributes = <int8_t>p[LEGACY_ATTRIBUTES_OFFSET]
        return Code.OK
    if left < V2_HEADER_SIZE:
        entry.size = V2_HEADER_SIZE
        return Code.INCOMPLETE
    entry.attributes = <int8_t>p[V2_FLAGS_OFFSET]
    delta = load_i32(p + V2_LAST_OFFSET_DELTA_OFFSET)
    if delta < 0 or entry.first_offset > MAX_OFFSET - delta:
        return Code.BAD_LAST_OFFSET_DELTA
    entry.last_offset = entry.first_offset + delta
    return Code.OK


cdef class Entries:
    """The entries of one window after another of a range of one file.

    Parameters
    ----------
    least : int
        No entry's offset lies below this (the file's base offset).
    bound : int
        Every entry's last offset lies below this (the next file's base offset).
    stop : int
        Walking ends at the first v2 batch that starts at or above this offset, and at the first
        v0/v1 entry after one that ends there.
    """

    def __cinit__(self, int64_t least=0, int64_t bound=MAX_OFFSET, int64_t stop=MAX_OFFSET):
        self.items = NULL
        self.count = 0
        self.capacity = 0
        self.least = least
        self.bound = bound
        self.stop = stop
        self.last_offset = least - 1

    def __dealloc__(self):
        free(self.items)

    cdef bint push(self, const Entry* entry) noexcept nogil:
        cdef Entry* moved
        if self.count == self.capacity:
            moved = <Entry*>realloc(self.items, max(self.capacity * 2, 256) * sizeof(Entry))
            if moved == NULL:
                return False
            self.items = moved
            self.capacity = max(self.capacity * 2, 256)
        self.items[self.count] = entry[0]
        self.count += 1
        return True

    cdef int walk_window(self, const uint8_t* data, Py_ssize_t size) noexcept nogil:
        """Walk [0, size) of a window; see `walk`."""
        cdef Entry entry
        cdef int code
        self.count = 0
        self.walked = 0
        self.next_size = 0
        while self.walked < size:
            if self.last_offset >= self.stop - 1:
                return Code.PAST_OFFSETS
            code = parse_header(data + self.walked, size - self.walked, &entry)
            if code == Code.INCOMPLETE:
                self.next_size = entry.size
                return code
            if code != Code.OK:
                return code
            if entry.magic == 2 and entry.first_offset >= self.stop and entry.first_offset > self.last_offset:
                return Code.PAST_OFFSETS
            if entry.size > size - self.walked:
                self.next_size = self.needed_of(&entry, size - self.walked)
                if self.next_size:
                    return Code.INCOMPLETE
            if entry.first_offset <= self.last_offset:
                return Code.OFFSET_BELOW_FILE if self.last_offset < self.least else Code.OFFSET_NOT_RISING
            if entry.last_offset >= self.bound:
                return Code.OFFSET_ABOVE_FILE
            entry.start = self.walked
            entry.previous = self.last_offset
            if not self.push(&entry):
                return Code.NO_MEMORY
            self.walked += entry.size
            self.last_offset = entry.last_offset
        return Code.END

    cdef Py_ssize_t needed_of(self, const Entry* entry, Py_ssize_t there) noexcept nogil:
        """Bytes that the window has to hold of an entry larger than what is `there`; 0 if its header is enough."""
        if entry.size > self.reach - self.walked:
            return entry.size
        # One rule for all formats: the longest header there is.
        return 0 if there >= V2_HEADER_SIZE else min(entry.size, V2_HEADER_SIZE)

    def walk(self, Scratch window, Py_ssize_t size, Py_ssize_t left=0):
        """Find the entries of the first `size` bytes of `window`.

        Parameters
        ----------
        window : Scratch
        size : int
        left : int, optional
            Bytes from the window's first one up to which the last entry may reach, if only headers are of interest:
            its header is in the window, its payload need not be. By default every entry lies in the window whole.

        Returns
        -------
        int
            A code: END (`walked`, which may lie after the window, is where the next entry begins), INCOMPLETE
            (`next_size` bytes are needed from `walked` on), PAST_OFFSETS, or what is wrong with the header at `walked`.
        """
        cdef int code
        if size > window.capacity:
            raise ValueError(f"a window of {window.capacity} bytes does not hold {size}")
        self.reach = max(size, left)
        with nogil:
            code = self.walk_window(window.address, size)
        return code

    def skip_to(self, int64_t last_offset):
        """Go on as if `last_offset` were that of the last entry, even if one that was found lies above it."""
        self.last_offset = last_offset

    def entry(self, Py_ssize_t index):
        """(start, size, magic, attributes, first offset, last offset) of an entry of this window."""
        if not 0 <= index < self.count:
            raise IndexError(index)
        e = self.items[index]
        return e.start, e.size, e.magic, e.attributes, e.first_offset, e.last_offset


cdef class EntryFinder:
    """Looks for places where an entry may begin, in windows of arbitrary bytes.

    A file can be crafted to look like one header after another, each with a large length. So the number of bytes
    compared is limited; the caller may set what is left before each window.

    Parameters
    ----------
    functions : CFunctions
        Their checksums are compared at once for an entry that the window holds whole.
    largest : int
        Larger entries are passed over.

    Attributes
    ----------
    left : int
        Bytes that may still be compared, here or by the caller; below zero nothing is found.
    """

    def __cinit__(self, CFunctions functions, Py_ssize_t largest=INT32_MAX):
        self.functions = functions
        self.largest = largest
        self.left = INT64_MAX

    def find(self, Scratch window, Py_ssize_t start, Py_ssize_t size, Py_ssize_t beyond, int64_t above, int64_t bound):
        """The first place in [start, size) of `window` where a plausible entry begins, or -1.

        An entry is plausible if its header is valid, it ends within `beyond` bytes after the window, its offsets are
        above `above` and below `bound`, and its checksum is right. Where it cannot be compared here, the caller has to.
        """
        cdef const uint8_t* data = window.address
        cdef Entry entry
        cdef Py_ssize_t at
        cdef Py_ssize_t found = -1
        if size > window.capacity or start < 0:
            raise ValueError(f"[{start}, {size}) is outside of {window.capacity} bytes")
        with nogil:
            for at in range(start, size - HEADER_SIZE_UP_TO_MAGIC):
                if data[at + MAGIC_OFFSET] > 2 or parse_header(data + at, size - at, &entry) != Code.OK:
                    continue
                if entry.size - beyond > size - at or entry.size > self.largest:
                    continue
                if entry.first_offset <= above or entry.last_offset >= bound:
                    continue
                if self.left < 0:
                    break
                if self.is_right(data + at, &entry, size - at):
                    found = at
                    break
        return found

    cdef bint is_right(self, const uint8_t* p, const Entry* e, Py_ssize_t there) noexcept nogil:
        """Whether the checksum is right, or not all bytes are there for it."""
        self.left -= e.size
        if e.size > there or not self.functions.has_checksums():
            self.left -= COST_OF_ASKING
            return True
        return has_right_crc(self.functions, p, e.size, e.magic)
