# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Compare offset and time indexes with their batches, and rebuild such indexes.

Both classes take the valid entries of one window after another, in file order. The
rules are those of ``LogSegment``, ``OffsetIndex`` and ``TimeIndex``.
"""

from libc.stdint cimport INT32_MAX, int64_t, uint8_t
from libc.stdlib cimport free, malloc

from kafkalog_source._core.bytes cimport load_i32, load_i64
from kafkalog_source._core.layout cimport (
    CODEC_MASK, LEGACY_TIMESTAMP_OFFSET, NO_TIMESTAMP, TRANSACTIONAL_FLAG, V2_MAX_TIMESTAMP_OFFSET,
    V2_RECORDS_COUNT_OFFSET,
)
from kafkalog_source._core.memory cimport Scratch
from kafkalog_source._core.walk cimport Entries, Entry


cdef inline int64_t largest_timestamp(const uint8_t* p, const Entry* e) noexcept nogil:
    """The timestamp that a broker uses: the largest of a batch, the own one of a v1 message or wrapper."""
    if e.magic == 0:
        return NO_TIMESTAMP
    return load_i64(p + (V2_MAX_TIMESTAMP_OFFSET if e.magic == 2 else LEGACY_TIMESTAMP_OFFSET))


cdef int check_range(Scratch window, Entries entries, Py_ssize_t start, Py_ssize_t stop) except -1:
    if not 0 <= start <= stop <= entries.count:
        raise ValueError(f"entries [{start}, {stop}) of {entries.count}")
    if start < stop and entries.items[stop - 1].start + entries.items[stop - 1].size > window.capacity:
        raise ValueError("the entries exceed this window")
    return 0


cdef int64_t* copy_of(numbers) except NULL:
    cdef Py_ssize_t i
    cdef int64_t* copy = <int64_t*>malloc(max(len(numbers), 1) * sizeof(int64_t))
    if copy == NULL:
        raise MemoryError("out of memory for an index")
    for i, number in enumerate(numbers):
        copy[i] = number
    return copy


cdef class IndexCheck:
    """Compares the entries of a segment's two indexes with its batches.

    Parameters
    ----------
    offsets, positions : sequence of int
        The entries of the offset index, by increasing position.
    time_offsets : sequence of int
        The offsets of the time index's entries, increasing.

    Attributes
    ----------
    max_timestamp : int
        The largest timestamp of the batches so far; -1 if none has one.
    transactional : bool
        Whether one of the batches is transactional.
    untimed : bool
        Whether one of them has format v0, which has no timestamps.
    has_gaps : bool
        Whether offsets are missing inside or between them, as after compaction.
    """

    cdef int64_t* offsets
    cdef int64_t* positions
    cdef int64_t* time_offsets
    cdef int64_t* times_before
    cdef int64_t* times_with
    cdef Py_ssize_t count
    cdef Py_ssize_t time_count
    cdef Py_ssize_t at
    cdef Py_ssize_t time_at
    cdef list _astray
    cdef list _too_low
    cdef readonly int64_t max_timestamp
    cdef readonly bint transactional
    cdef readonly bint untimed
    cdef readonly bint has_gaps

    def __cinit__(self, offsets=(), positions=(), time_offsets=()):
        if len(offsets) != len(positions):
            raise ValueError("an offset index has as many offsets as positions")
        self.count = len(offsets)
        self.time_count = len(time_offsets)
        self.offsets = copy_of(offsets)
        self.positions = copy_of(positions)
        self.time_offsets = copy_of(time_offsets)
        self.times_before = copy_of([NO_TIMESTAMP] * self.time_count)
        self.times_with = copy_of([NO_TIMESTAMP] * self.time_count)
        self.at = 0
        self.time_at = 0
        self.max_timestamp = NO_TIMESTAMP
        self.transactional = False
        self.untimed = False
        self.has_gaps = False
        self._astray = []
        self._too_low = []

    def __dealloc__(self):
        free(self.offsets)
        free(self.positions)
        free(self.time_offsets)
        free(self.times_before)
        free(self.times_with)

    def take(self, Scratch window, int64_t window_position, Entries entries, Py_ssize_t start, Py_ssize_t stop):
        """Take the entries [start, stop) of a window, which begins at `window_position` of the file."""
        cdef Py_ssize_t i
        cdef const Entry* e
        cdef int64_t position
        check_range(window, entries, start, stop)
        for i in range(start, stop):
            e = &entries.items[i]
            position = window_position + e.start
            while self.at < self.count and self.positions[self.at] < position:
                self._astray.append(self.at)
                self.at += 1
            if self.at < self.count and self.positions[self.at] == position:
                if self.offsets[self.at] <= e.previous:
                    self._too_low.append(self.at)
                self.at += 1
            if e.first_offset > e.previous + 1 and (e.magic == 2 or e.attributes & CODEC_MASK == 0):
                self.has_gaps = True
            elif e.magic == 2 and load_i32(window.address + e.start + V2_RECORDS_COUNT_OFFSET) <= e.last_offset - e.first_offset:
                self.has_gaps = True
            self.take_time(window.address + e.start, e)

    cdef int take_time(self, const uint8_t* p, const Entry* e) except -1:
        cdef int64_t timestamp = largest_timestamp(p, e)
        cdef int64_t so_far = max(self.max_timestamp, timestamp)
        self.untimed = self.untimed or e.magic == 0
        self.transactional = self.transactional or (e.magic == 2 and e.attributes & TRANSACTIONAL_FLAG != 0)
        while self.time_at < self.time_count and self.time_offsets[self.time_at] <= e.last_offset:
            # Which of the batch's timestamps count depends on whether the entry's offset is the batch's last.
            self.times_with[self.time_at] = so_far if self.time_offsets[self.time_at] > e.previous else self.max_timestamp
            self.times_before[self.time_at] = (
                so_far if self.time_offsets[self.time_at] == e.last_offset else self.max_timestamp)
            self.time_at += 1
        self.max_timestamp = so_far
        return 0

    @property
    def astray(self):
        """The numbers of the offset entries where no batch begins, including those after the last batch."""
        return [*self._astray, *range(self.at, self.count)]

    @property
    def too_low(self):
        """The numbers of the offset entries whose offset is below that of their batch."""
        return list(self._too_low)

    @property
    def times(self):
        """For each time entry reached: the largest timestamp up to its offset, and with all of its batch."""
        return [(self.times_before[i], self.times_with[i]) for i in range(self.time_at)]


cdef class IndexBuilder:
    """Builds the indexes of a segment to which entries are appended.

    Parameters
    ----------
    base_offset : int
        The base offset of the segment.
    interval : int
        An index entry is written after more than this many bytes since the last one (``index.interval.bytes``).

    Attributes
    ----------
    size : int
        The size of the entries so far, in bytes.
    last_offset : int
        The last offset of the last entry; `base_offset` - 1 before the first.
    """

    cdef int64_t base_offset
    cdef int64_t interval
    cdef int64_t indexed_to
    cdef readonly int64_t size
    cdef readonly int64_t last_offset
    cdef readonly int64_t max_timestamp
    cdef int64_t offset_of_max
    cdef int64_t written_timestamp
    cdef list _offsets
    cdef list _times

    def __cinit__(self, int64_t base_offset, int64_t interval=4096):
        self.base_offset = base_offset
        self.interval = interval
        self.indexed_to = 0
        self.size = 0
        self.last_offset = base_offset - 1
        self.max_timestamp = NO_TIMESTAMP
        self.offset_of_max = base_offset
        self.written_timestamp = NO_TIMESTAMP
        self._offsets = []
        self._times = []

    def take(self, Scratch window, int64_t window_position, Entries entries, Py_ssize_t start, Py_ssize_t stop):
        """Append the entries [start, stop) of a window."""
        cdef Py_ssize_t i
        cdef const Entry* e
        cdef int64_t timestamp
        check_range(window, entries, start, stop)
        for i in range(start, stop):
            e = &entries.items[i]
            timestamp = largest_timestamp(window.address + e.start, e)
            if timestamp > self.max_timestamp:
                self.max_timestamp = timestamp
                self.offset_of_max = e.last_offset
            if self.size - self.indexed_to > self.interval and self.fits(e.last_offset):
                self._offsets.append((e.last_offset - self.base_offset, self.size))
                self.put_time()
                self.indexed_to = self.size
            self.size += e.size
            self.last_offset = e.last_offset

    cdef bint fits(self, int64_t offset) noexcept:
        """Whether the int32 fields of an index entry can hold `offset` and the current position."""
        return offset - self.base_offset <= INT32_MAX and self.size <= INT32_MAX

    cdef int put_time(self) except -1:
        if self.max_timestamp > self.written_timestamp and self.fits(self.offset_of_max):
            self._times.append((self.max_timestamp, self.offset_of_max - self.base_offset))
            self.written_timestamp = self.max_timestamp
        return 0

    def finish(self):
        """End the segment as a broker does, with the largest timestamp as the last entry of the time index.

        Returns
        -------
        tuple of (list, list)
            (relative offset, position) of the offset index, (timestamp, relative offset) of the time index.
        """
        self.put_time()
        return self._offsets, self._times
