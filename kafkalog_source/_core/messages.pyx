# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""v0 and v1 messages, alone or inside a compressed wrapper (``LegacyRecord``, ``AbstractLegacyRecordBatch``)."""

from libc.stdint cimport INT32_MAX, int8_t, int32_t, int64_t, uint8_t

from kafkalog_source._core.bytes cimport load_i32, load_i64
from kafkalog_source._core.codes cimport Code
from kafkalog_source._core.columns cimport (
    KEY_SIZE, MAGIC, OFFSET, SEQUENCE, TIMESTAMP, TIMESTAMP_TYPE, VALUE_SIZE, Columns, Table, append_bytes, end_headers,
    put_i32, put_i64, put_null, put_timestamp, reserve_rows,
)
from kafkalog_source._core.layout cimport (
    CODEC_MASK, LEGACY_ATTRIBUTES_OFFSET, LEGACY_KEY_SIZE_OFFSET_V0, LEGACY_KEY_SIZE_OFFSET_V1, LEGACY_TIMESTAMP_OFFSET,
    LOG_OVERHEAD, MAGIC_OFFSET, NO_TIMESTAMP, NO_TIMESTAMP_TYPE, OFFSET_OFFSET, SIZE_OFFSET, TIMESTAMP_TYPE_MASK,
    V0_MIN_LENGTH, V1_MIN_LENGTH,
)
from kafkalog_source._core.outcomes cimport NO_TRANSACTION
from kafkalog_source._core.records cimport Batch, Wanted, fill_batch_columns


cdef int parse_message(const uint8_t* p, Py_ssize_t size, Message* message) noexcept nogil:
    """Parse the entry of `size` bytes at `p`, whose magic is 0 or 1 and whose size is at least its format's minimum."""
    cdef Py_ssize_t at = LEGACY_KEY_SIZE_OFFSET_V0
    message.data = p
    message.size = <int32_t>size
    message.offset = load_i64(p + OFFSET_OFFSET)
    message.magic = <int8_t>p[MAGIC_OFFSET]
    message.attributes = <int8_t>p[LEGACY_ATTRIBUTES_OFFSET]
    message.timestamp_ms = NO_TIMESTAMP
    if message.magic == 1:
        message.timestamp_ms = load_i64(p + LEGACY_TIMESTAMP_OFFSET)
        at = LEGACY_KEY_SIZE_OFFSET_V1
    message.key_size = load_i32(p + at)
    at += 4
    message.key = p + at
    if message.key_size > 0:
        if message.key_size > size - at - 4:
            return Code.KEY_LENGTH
        at += message.key_size
    if size - at < 4:
        return Code.KEY_LENGTH
    message.value_size = load_i32(p + at)
    at += 4
    message.value = p + at
    if message.value_size > 0:
        if message.value_size > size - at:
            return Code.VALUE_LENGTH
        at += message.value_size
    return Code.OK if at == size else Code.BYTES_LEFT_OVER


cdef void batch_of_message(const Message* message, Batch* b) noexcept nogil:
    """Set the fields that the records of a top-level entry share; v0 and v1 have no producer, epoch or transaction."""
    b.base_offset = message.offset
    b.last_offset = message.offset
    b.base_timestamp = message.timestamp_ms
    b.max_timestamp = message.timestamp_ms
    b.producer_id = -1
    b.leader_epoch = -1
    b.base_sequence = -1
    b.count = 1
    b.producer_epoch = -1
    b.magic = message.magic
    b.codec = message.attributes & CODEC_MASK
    b.log_append_time = message.magic == 1 and (message.attributes & TIMESTAMP_TYPE_MASK) != 0
    b.transactional = False
    b.control = False
    b.transaction_state = NO_TRANSACTION


cdef class Messages:
    """The messages of one set, parsed again one by one: a large set has millions, so they are not stored."""

    def __cinit__(self):
        self.data = NULL
        self.size = 0
        self.left = 0
        self.next = 0
        self.base = 0

    cdef void set_single(self, const Message* message) noexcept nogil:
        """Take one message that is already parsed."""
        self.data = message.data
        self.size = message.size
        self.left = 1
        self.next = 0
        self.base = 0

    cdef int read_set(self, const uint8_t* data, Py_ssize_t size, Py_ssize_t* position) noexcept nogil:
        """Validate the whole decompressed set; on an error, `position` is that of the bad message."""
        cdef Message message
        cdef Py_ssize_t at = 0
        cdef int32_t length
        cdef uint8_t magic
        cdef int code
        self.data = data
        self.size = 0
        self.left = 0
        self.next = 0
        self.base = 0
        self.first_offset = -1
        self.last_offset = -1
        self.rising = True
        while at < size:
            position[0] = at
            if size - at < LOG_OVERHEAD + V0_MIN_LENGTH:
                return Code.INNER_LENGTH
            length = load_i32(data + at + SIZE_OFFSET)
            magic = data[at + MAGIC_OFFSET]
            if magic > 1:
                return Code.INNER_MAGIC
            if length < (V1_MIN_LENGTH if magic == 1 else V0_MIN_LENGTH) or length > size - at - LOG_OVERHEAD:
                return Code.INNER_LENGTH
            if length > INT32_MAX - LOG_OVERHEAD:
                return Code.INNER_LENGTH
            code = parse_message(data + at, LOG_OVERHEAD + length, &message)
            if code != Code.OK:
                return code
            if message.attributes & CODEC_MASK:
                return Code.INNER_COMPRESSED
            if at == 0:
                self.first_offset = message.offset
            elif message.offset <= self.last_offset:
                self.rising = False
            self.last_offset = message.offset
            self.left += 1
            at += LOG_OVERHEAD + length
        self.size = size
        return Code.OK if size else Code.WRAPPER_EMPTY

    cdef bint read_next(self, Message* message) noexcept nogil:
        """Parse the next message, with its absolute offset; False after the last. `read_set` has validated it."""
        cdef const uint8_t* p = self.data + self.next
        if self.next >= self.size:
            return False
        parse_message(p, LOG_OVERHEAD + load_i32(p + SIZE_OFFSET), message)
        message.offset += self.base
        return True


cdef int settle_offsets(Messages messages, const Batch* b, int64_t previous) noexcept nogil:
    """Make the offsets inside a wrapper absolute, and check that they increase from above `previous` on.

    A v1 wrapper carries the offset of its last message, and inner offsets are relative to the first. A wrapper offset
    of 0 with several messages was written by old librdkafka and means that the first offset is 0. The inner offsets of
    a v0 wrapper are absolute (``AbstractLegacyRecordBatch.DeepRecordsIterator``), and must not exceed the wrapper's
    own, by which they are found.
    """
    cdef int64_t last = messages.last_offset
    if last < 0:
        return Code.RECORD_OFFSET
    if b.magic == 1 and b.last_offset != 0:
        if b.last_offset < last:
            return Code.WRAPPER_OFFSET
        messages.base = b.last_offset - last
    if b.magic == 0 and b.last_offset < last:
        return Code.WRAPPER_OFFSET
    # If they increase, they are between the first and the last, so adding the base cannot overflow.
    if not messages.rising or messages.first_offset < 0:
        return Code.RECORD_OFFSET
    messages.first_offset += messages.base
    if messages.first_offset <= previous:
        return Code.RECORD_OFFSET
    return Code.OK


cdef int put_message(const Message* message, const Batch* wrapper, const Wanted* wanted, Table* t) noexcept nogil:
    """Write a row to reserved space if its offset is wanted, except for the columns that it shares with its batch.

    The wrapper's LogAppendTime replaces inner timestamps, but v0 messages never have one (``LegacyRecord.timestamp``).
    """
    cdef Py_ssize_t row = t.rows
    cdef int64_t timestamp_ms = message.timestamp_ms
    cdef int32_t timestamp_type
    if message.offset < wanted.low or message.offset >= wanted.high:
        return Code.OK
    if wrapper.log_append_time and message.magic == 1:
        timestamp_ms = wrapper.max_timestamp
    if t.fixed[<int>OFFSET].wanted:
        put_i64(&t.fixed[<int>OFFSET], row, message.offset)
    if t.fixed[<int>TIMESTAMP].wanted:
        put_timestamp(t, row, timestamp_ms)
    if t.fixed[<int>KEY_SIZE].wanted:
        if message.key_size < 0:
            put_null(&t.fixed[<int>KEY_SIZE], row)
        else:
            put_i32(&t.fixed[<int>KEY_SIZE], row, message.key_size)
    if t.fixed[<int>VALUE_SIZE].wanted:
        if message.value_size < 0:
            put_null(&t.fixed[<int>VALUE_SIZE], row)
        else:
            put_i32(&t.fixed[<int>VALUE_SIZE], row, message.value_size)
    if t.fixed[<int>SEQUENCE].wanted:
        put_null(&t.fixed[<int>SEQUENCE], row)
    if t.key.wanted and not append_bytes(&t.key, row, message.key, message.key_size):
        return Code.NO_MEMORY
    if t.value.wanted and not append_bytes(&t.value, row, message.value, message.value_size):
        return Code.NO_MEMORY
    if t.headers.wanted:
        end_headers(&t.headers, row, 0)
    if t.fixed[<int>MAGIC].wanted:
        put_i32(&t.fixed[<int>MAGIC], row, message.magic)
    if t.fixed[<int>TIMESTAMP_TYPE].wanted:
        # v0 has no timestamp type, and inside a wrapper the wrapper's type applies.
        timestamp_type = <int32_t>wrapper.log_append_time if message.magic and wrapper.magic else NO_TIMESTAMP_TYPE
        put_i32(&t.fixed[<int>TIMESTAMP_TYPE], row, timestamp_type)
    t.rows += 1
    return Code.OK


cdef int put_messages(Messages messages, const Batch* wrapper, const Wanted* wanted, Columns columns) noexcept nogil:
    """Append rows for the remaining messages; FULL when the columns are full."""
    cdef Table* t = &columns.table
    cdef Message message
    cdef Py_ssize_t start = t.rows
    cdef bint fits = columns.takes_all(messages.left, messages.size)
    cdef int code = Code.OK
    if not reserve_rows(t, min(messages.left, columns.row_target)):
        return Code.NO_MEMORY
    while code == Code.OK and messages.read_next(&message):
        if not fits and (columns.is_full() or columns.cannot_take(message.size)):
            code = Code.FULL
            break
        code = put_message(&message, wrapper, wanted, t)
        messages.next += message.size
        messages.left -= 1
    fill_batch_columns(t, wrapper, start, t.rows)
    return code
