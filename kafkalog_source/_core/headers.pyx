# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The numbers in the headers of entries, a row for each: the content of ``view=batches``."""

from libc.stdint cimport INT64_MAX, INT64_MIN, int8_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memmove

from kafkalog_source._core.bytes cimport load_i16, load_i32, load_i64
from kafkalog_source._core.checksums cimport stored_crc, stored_crc_07
from kafkalog_source._core.codes cimport Code
from kafkalog_source._core.layout cimport (
    CODEC_MASK, CONTROL_FLAG, DELETE_HORIZON_FLAG, LEGACY_TIMESTAMP_OFFSET, MAX_OFFSET, NO_TIMESTAMP,
    NO_TIMESTAMP_TYPE, TIMESTAMP_TYPE_MASK, TRANSACTIONAL_FLAG, V2_BASE_SEQUENCE_OFFSET, V2_BASE_TIMESTAMP_OFFSET,
    V2_HEADER_SIZE, V2_MAX_TIMESTAMP_OFFSET, V2_PARTITION_LEADER_EPOCH_OFFSET, V2_PRODUCER_EPOCH_OFFSET,
    V2_PRODUCER_ID_OFFSET, V2_RECORDS_COUNT_OFFSET, V07_CODEC_MASK,
)
from kafkalog_source._core.memory cimport Scratch
from kafkalog_source._core.walk cimport Entries, Entry, codec_exists

# The numbers of a row, in the order of `HeaderRow`.
HEADER_NUMBERS = (
    "position", "size", "first_offset", "last_offset", "record_count", "magic", "codec", "timestamp_type",
    "first_timestamp", "max_timestamp", "delete_horizon", "producer_id", "producer_epoch", "base_sequence",
    "leader_epoch", "crc", "transactional", "control",
)
cdef int64_t NULL_NUMBER = INT64_MIN


cdef struct HeaderRow:
    # What one header says, NULL_NUMBER where it says nothing; times in microseconds.
    int64_t position, size, first_offset, last_offset, record_count, magic, codec, timestamp_type
    int64_t first_timestamp, max_timestamp, delete_horizon, producer_id, producer_epoch, base_sequence
    int64_t leader_epoch, crc, transactional, control


cdef inline int64_t or_null(int64_t number) noexcept nogil:
    return NULL_NUMBER if number == -1 else number


cdef class HeaderTable:
    """The headers of entries with offsets in [low, high), a row for each.

    A wrapper of v0 or v1, which says only how far it reaches, may hold all offsets from the entry before it on.
    `is_full` when there are `row_target` rows besides the last `held` ones, which `finish` keeps back.
    `times_out_of_range` counts times that microseconds cannot hold.
    """

    cdef HeaderRow* items
    cdef readonly Py_ssize_t rows
    cdef public Py_ssize_t held
    cdef Py_ssize_t capacity, row_target
    cdef int64_t low, high
    cdef bint is_07
    cdef readonly int64_t times_out_of_range

    def __cinit__(self, Py_ssize_t row_target=1 << 13):
        self.row_target = row_target
        self.low, self.high, self.is_07 = INT64_MIN, MAX_OFFSET, False

    def __dealloc__(self):
        free(self.items)

    @property
    def is_full(self):
        """Whether there are as many rows as are enough at once."""
        return self.rows - self.held >= self.row_target

    def set_range(self, int64_t low, int64_t high, bint is_07=False):
        """Say which offsets of the next entries are wanted, and whether they are messages of Kafka 0.7."""
        self.low, self.high, self.is_07 = low, high, is_07

    def take(self, Scratch window, int64_t window_position, Entries entries, Py_ssize_t start, Py_ssize_t stop):
        """Add the entries [start, stop) of a window, whose first byte is that at `window_position`."""
        cdef Py_ssize_t i
        cdef const Entry* last
        if not 0 <= start <= stop <= entries.count:
            raise ValueError(f"entries [{start}, {stop}) of {entries.count}")
        if start < stop:
            # Only the header of the last one need be there, and no more than that is read.
            last = &entries.items[stop - 1]
            if last.start + min(last.size, V2_HEADER_SIZE) > window.capacity:
                raise ValueError("the entries are not those of this window")
        for i in range(start, stop):
            self.add(window.address + entries.items[i].start, &entries.items[i], window_position)

    def drop_last(self, int64_t position):
        """Forget the last row if it is that of the entry at `position` of the file."""
        if self.rows > 0 and self.items[self.rows - 1].position == position:
            self.rows -= 1

    def finish(self):
        """The rows that are not held: for each of `HEADER_NUMBERS` int64s, how many are null, and Arrow's validity."""
        cdef Py_ssize_t column, kept = min(self.held, self.rows)
        cdef Py_ssize_t count = self.rows - kept
        found = {name: self.column(column, count) for column, name in enumerate(HEADER_NUMBERS)}
        if kept:
            memmove(self.items, self.items + count, kept * sizeof(HeaderRow))
        self.rows = kept
        return found

    cdef tuple column(self, Py_ssize_t column, Py_ssize_t count):
        cdef Py_ssize_t row, nulls = 0
        cdef Py_ssize_t width = sizeof(HeaderRow) // sizeof(int64_t)
        cdef const int64_t* numbers = <const int64_t*>self.items + column
        content, valid = bytearray(count * sizeof(int64_t)), bytearray(b"\xff") * ((count + 7) // 8)
        cdef uint8_t* out = content
        cdef uint8_t* bits = valid
        for row in range(count):
            if numbers[row * width] == NULL_NUMBER:
                bits[row >> 3] &= <uint8_t>~(1 << (row & 7))
                nulls += 1
            else:
                (<int64_t*>out)[row] = numbers[row * width]
        return content, nulls, valid

    cdef int add(self, const uint8_t* p, const Entry* e, int64_t window_position) except -1:
        cdef HeaderRow* moved
        cdef HeaderRow* row
        cdef int codec = e.attributes & (V07_CODEC_MASK if self.is_07 else CODEC_MASK)
        cdef bint hides_first = e.magic < 2 and codec != 0 and not self.is_07
        if e.last_offset < self.low or (e.previous + 1 if hides_first else e.first_offset) >= self.high:
            return 0
        if self.rows == self.capacity:
            moved = <HeaderRow*>realloc(self.items, max(self.capacity * 2, 256) * sizeof(HeaderRow))
            if moved == NULL:
                raise MemoryError("no memory for the headers of batches")
            self.items = moved
            self.capacity = max(self.capacity * 2, 256)
        row = &self.items[self.rows]
        row.position, row.size = window_position + e.start, e.size
        row.first_offset, row.last_offset = NULL_NUMBER if hides_first else e.first_offset, e.last_offset
        row.magic, row.codec = e.magic, codec
        row.transactional = row.control = False
        row.producer_id = row.producer_epoch = row.base_sequence = row.leader_epoch = NULL_NUMBER
        row.first_timestamp = row.max_timestamp = row.delete_horizon = NULL_NUMBER
        if e.magic == 2:
            self.fill_batch(p, e.attributes, row)
        else:
            self.fill_message(p, e.attributes, row)
        self.rows += 1
        return 0

    cdef void fill_batch(self, const uint8_t* p, int8_t attributes, HeaderRow* row) noexcept nogil:
        cdef int64_t first_timestamp = self.microseconds(load_i64(p + V2_BASE_TIMESTAMP_OFFSET))
        row.record_count, row.crc = load_i32(p + V2_RECORDS_COUNT_OFFSET), stored_crc(p, 2)
        row.timestamp_type = attributes & TIMESTAMP_TYPE_MASK != 0
        row.max_timestamp = self.microseconds(load_i64(p + V2_MAX_TIMESTAMP_OFFSET))
        # A delete horizon stands in the place of the first time; the time of a broker is that of all records.
        if attributes & DELETE_HORIZON_FLAG:
            row.delete_horizon = first_timestamp
        else:
            row.first_timestamp = first_timestamp
        if row.timestamp_type:
            row.first_timestamp = row.max_timestamp
        row.producer_id = or_null(load_i64(p + V2_PRODUCER_ID_OFFSET))
        row.producer_epoch = or_null(load_i16(p + V2_PRODUCER_EPOCH_OFFSET))
        row.base_sequence = or_null(load_i32(p + V2_BASE_SEQUENCE_OFFSET))
        row.leader_epoch = or_null(load_i32(p + V2_PARTITION_LEADER_EPOCH_OFFSET))
        row.transactional, row.control = attributes & TRANSACTIONAL_FLAG != 0, attributes & CONTROL_FLAG != 0

    cdef void fill_message(self, const uint8_t* p, int8_t attributes, HeaderRow* row) noexcept nogil:
        """A message or wrapper of v0, v1 or Kafka 0.7."""
        row.record_count = NULL_NUMBER if row.codec else 1
        row.crc = stored_crc_07(p, <int>row.magic) if self.is_07 else stored_crc(p, <int>row.magic)
        row.timestamp_type = NO_TIMESTAMP_TYPE
        if row.magic == 1 and not self.is_07:
            row.timestamp_type = attributes & TIMESTAMP_TYPE_MASK != 0
            row.max_timestamp = self.microseconds(load_i64(p + LEGACY_TIMESTAMP_OFFSET))
            if row.timestamp_type or not row.codec:
                row.first_timestamp = row.max_timestamp

    cdef int64_t microseconds(self, int64_t timestamp_ms) noexcept nogil:
        if timestamp_ms > INT64_MAX // 1000 or timestamp_ms < -(INT64_MAX // 1000):
            self.times_out_of_range += 1
            return NULL_NUMBER
        return NULL_NUMBER if timestamp_ms == NO_TIMESTAMP else timestamp_ms * 1000


cdef class HeaderCollector:
    """Walks the headers of a range of one file, and adds each to a table, up to the first that is not good.

    A header is good if it names a codec that exists and the entry has at most `largest` bytes.

    Parameters
    ----------
    table : HeaderTable
    entries : Entries
    start, end : int
        The positions where the range begins and ends.
    largest : int

    Attributes
    ----------
    found : int
        Good headers so far.
    last_position, last_above : int
        Where the last of them is in the file, and the last offset before it.
        Before the first, where the range begins.
    """

    cdef HeaderTable table
    cdef Entries entries
    cdef Py_ssize_t end, largest
    cdef readonly Py_ssize_t count, walked, next_size, found
    cdef readonly int64_t last_position, last_above

    def __cinit__(self, HeaderTable table not None, Entries entries not None, int64_t start, int64_t end,
                  Py_ssize_t largest):
        self.table, self.entries, self.end, self.largest = table, entries, end, largest
        self.last_position, self.last_above = start, entries.last_offset

    def walk(self, Scratch window, Py_ssize_t size, Py_ssize_t left):
        """Collect the headers of a window, of which `left` bytes from its first one on are in the range.

        Returns
        -------
        int
            The code of `Entries.walk`, or BAD_CODEC or BAD_LENGTH for a header that is not good.
        """
        cdef Entries entries = self.entries
        cdef const Entry* entry
        cdef Py_ssize_t i
        cdef int code = entries.walk(window, size, left)
        self.count, self.walked, self.next_size = entries.count, entries.walked, entries.next_size
        for i in range(entries.count):
            entry = &entries.items[i]
            if entry.size > self.largest or not codec_exists(entry):
                self.count, self.walked, self.next_size = i, entry.start, 0
                return Code.BAD_LENGTH if entry.size > self.largest else Code.BAD_CODEC
            self.table.add(window.address + entry.start, entry, self.end - left)
            self.last_position, self.last_above = self.end - left + entry.start, entry.previous
            self.found += 1
        return code
