# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Where the entries of a window begin and end, from their headers alone.

An entry is a v2 batch or a v0/v1 message-set entry. All formats keep offset,
length and magic in the same places (``Records``, ``DefaultRecordBatch`` and
``LegacyRecord``), so that the format is chosen entry by entry.
"""

from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memmove

from kafkalog_source._core.bytes cimport load_i16, load_i32, load_i64
from kafkalog_source._core.checksums cimport has_right_crc, stored_crc, stored_crc_07
from kafkalog_source._core.codes cimport Code
from kafkalog_source._core.layout cimport (
    CODEC_MASK, CONTROL_FLAG, DELETE_HORIZON_FLAG, HEADER_SIZE_UP_TO_MAGIC, LEGACY_ATTRIBUTES_OFFSET,
    LEGACY_TIMESTAMP_OFFSET, LOG_OVERHEAD, MAGIC_OFFSET, MAX_OFFSET, NO_TIMESTAMP, NO_TIMESTAMP_TYPE, OFFSET_OFFSET,
    SIZE_OFFSET, TIMESTAMP_TYPE_MASK, TRANSACTIONAL_FLAG, V0_MIN_LENGTH, V1_MIN_LENGTH, V2_BASE_SEQUENCE_OFFSET,
    V2_BASE_TIMESTAMP_OFFSET, V2_FLAGS_OFFSET, V2_HEADER_SIZE, V2_LAST_OFFSET_DELTA_OFFSET, V2_MAX_TIMESTAMP_OFFSET,
    V2_MIN_LENGTH, V2_PARTITION_LEADER_EPOCH_OFFSET, V2_PRODUCER_EPOCH_OFFSET, V2_PRODUCER_ID_OFFSET,
    V2_RECORDS_COUNT_OFFSET, V07_CODEC_MASK,
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

    def good_headers(self, Py_ssize_t largest):
        """How many entries, from the first one on, name a codec that exists and have at most `largest` bytes."""
        cdef Py_ssize_t i
        for i in range(self.count):
            if self.items[i].size > largest or not codec_exists(&self.items[i]):
                return i
        return self.count

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
