# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Decode one entry, a batch or a message, to rows, without the interpreter lock.

Its checksum was verified before, and its payload was decompressed if that needs Python.
"""

from libc.stdint cimport int8_t, int64_t, uint8_t

from kafkalog_source._core.bytes cimport Cursor, load_i32
from kafkalog_source._core.checksums cimport has_right_crc
from kafkalog_source._core.codes cimport Code
from kafkalog_source._core.columns cimport Columns, Mark, Table, reserve_rows
from kafkalog_source._core.layout cimport CODEC_MASK, V2_HEADER_SIZE, V2_MIN_RECORD_SIZE, V2_RECORDS_COUNT_OFFSET
from kafkalog_source._core.memory cimport Scratch
from kafkalog_source._core.messages cimport (
    Message, Messages, batch_of_message, parse_message, put_message, put_messages, settle_offsets,
)
from kafkalog_source._core.native cimport CFunctions
from kafkalog_source._core.payloads cimport Payload
from kafkalog_source._core.records cimport (
    Progress, fill_batch_columns, fill_format_columns, parse_batch, read_records,
)
from kafkalog_source._core.walk cimport Entry


cdef int find_payload(const uint8_t* p, const Entry* e, const uint8_t** start, Py_ssize_t* size) noexcept nogil:
    """Find the records of a batch or the messages of a wrapper in the entry; a plain message is the whole entry."""
    cdef Message message
    cdef int code
    start[0] = p
    size[0] = e.size
    if e.magic == 2:
        start[0] = p + V2_HEADER_SIZE
        size[0] = e.size - V2_HEADER_SIZE
        return Code.BAD_COUNT if load_i32(p + V2_RECORDS_COUNT_OFFSET) < 0 else Code.OK
    code = parse_message(p, e.size, &message)
    if code != Code.OK or not e.attributes & CODEC_MASK:
        return code
    if message.value_size <= 0:
        return Code.WRAPPER_EMPTY
    start[0] = message.value
    size[0] = message.value_size
    return Code.OK


cdef class Body:
    """Decodes one entry after another to rows; the parameters are those of `Decoder`."""

    def __cinit__(self, Columns columns, CFunctions functions, Scratch lz4_room, Py_ssize_t limit, int64_t low,
                  int64_t high, bint verify):
        self.columns = columns
        self.functions = functions
        self.lz4_room = lz4_room
        self.limit = limit
        self.wanted.low = low
        self.wanted.high = high
        self.verify = verify
        self.messages = Messages()

    cdef void start(self, const uint8_t* p, const Entry* e, int64_t window_position, int8_t transaction_state) noexcept nogil:
        """Begin an entry by reading its header."""
        cdef Message message
        if e.magic == 2:
            parse_batch(p, &self.batch)
            self.batch.transaction_state = transaction_state
        else:
            # Only the header is needed here; an invalid body is detected when it is read.
            parse_message(p, e.size, &message)
            batch_of_message(&message, &self.batch)
        self.batch.position = window_position + e.start
        self.progress.read = 0
        self.progress.last_delta = -1
        self.position = 0

    cdef int take_message(self, const uint8_t* p, const Entry* e) noexcept nogil:
        """Append the row of an uncompressed message."""
        cdef Message message
        cdef Table* t = &self.columns.table
        cdef Mark mark = self.columns.mark()
        cdef Py_ssize_t start = t.rows
        cdef int code = parse_message(p, e.size, &message)
        if code != Code.OK:
            return code
        if not reserve_rows(t, 1):
            return Code.NO_MEMORY
        code = put_message(&message, &self.batch, &self.wanted, t)
        if code != Code.OK:
            self.columns.back_to(&mark)
            return code
        fill_batch_columns(t, &self.batch, start, t.rows)
        return Code.OK

    cdef int open(self, const uint8_t* p, const Entry* e, const Payload* payload) noexcept nogil:
        """Set the cursor on the records of the entry, or find its messages; END if the payload needs Python.

        `payload` is the decompressed payload, or NULL for LZ4 that is decompressed here.
        """
        cdef int code = find_payload(p, e, &self.cursor.data, &self.cursor.end)
        self.cursor.pos = 0
        if code != Code.OK:
            return code
        if e.attributes & CODEC_MASK == 0:
            if e.magic < 2:
                return self.open_single(p, e)
        elif self.cursor.end == 0:
            # A compressed stream is never empty; a batch emptied by the log cleaner has no stream.
            return Code.OK if self.batch.count == 0 else Code.RECORD_CUT
        elif payload != NULL:
            self.cursor.data = payload.data
            self.cursor.end = payload.size
        else:
            self.cursor.end = self.functions.lz4_frame(
                self.cursor.data, self.cursor.end, e.magic > 0, self.lz4_room, self.limit)
            self.cursor.data = self.lz4_room.address
            if self.cursor.end < 0:
                return Code.END
        if e.magic < 2:
            return self.open_messages(e, payload)
        return self.check_records() if self.cursor.end > self.columns.byte_target else Code.OK

    cdef int check_records(self) noexcept nogil:
        """Validate a batch that exceeds one record batch, so that no row of a damaged one is returned."""
        cdef Cursor cursor = self.cursor
        cdef Progress progress = self.progress
        cdef int code = Code.OK
        if self.batch.count > cursor.end // V2_MIN_RECORD_SIZE:
            code = Code.COUNT_TOO_LARGE
        elif self.batch.count == 0 and cursor.end:
            code = Code.EMPTY_WITH_BYTES
        else:
            code = read_records(&cursor, &self.batch, &self.wanted, &progress, self.columns, False, False)
        self.position = cursor.pos
        return code

    cdef int open_single(self, const uint8_t* p, const Entry* e) noexcept nogil:
        """Open a large uncompressed message as a set of one."""
        cdef Message message
        cdef int code = parse_message(p, e.size, &message)
        if code == Code.OK:
            self.messages.set_single(&message)
        return code

    cdef int open_messages(self, const Entry* e, const Payload* payload) noexcept nogil:
        cdef int code = self.messages.read_set(self.cursor.data, self.cursor.end, &self.position)
        if code == Code.OK:
            code = settle_offsets(self.messages, &self.batch, e.previous)
        if code != Code.OK:
            return code
        self.batch.base_offset = self.messages.first_offset
        return self.check_messages(payload) if self.verify else Code.OK

    cdef int check_messages(self, const Payload* payload) noexcept nogil:
        """Verify the checksum of every message inside a wrapper, as Kafka's consumer does."""
        cdef Message message
        if not self.functions.has_checksums():
            self.position = payload.bad_message
            return Code.OK if self.position < 0 else Code.INNER_CRC
        while self.messages.read_next(&message):
            if not has_right_crc(self.functions, message.data, message.size, message.magic):
                self.position = message.data - self.cursor.data
                return Code.INNER_CRC
            self.messages.next += message.size
        self.messages.next = 0
        return Code.OK

    cdef int read_on(self) noexcept nogil:
        """Append rows from the open payload until it ends or, for a large one, the columns are full."""
        cdef bint cut = self.cursor.end > self.columns.byte_target
        cdef Mark mark = self.columns.mark()
        cdef Py_ssize_t start = self.columns.table.rows
        cdef Py_ssize_t count
        cdef int code = Code.OK
        if self.batch.magic < 2:
            return put_messages(self.messages, &self.batch, &self.wanted, self.columns)
        if self.batch.count < 0:
            return Code.BAD_COUNT
        if self.batch.count > self.cursor.end // V2_MIN_RECORD_SIZE:
            return Code.COUNT_TOO_LARGE
        if self.batch.count == 0 and self.cursor.end:
            return Code.EMPTY_WITH_BYTES
        count = self.batch.count - self.progress.read
        if cut:
            count = min(count, self.columns.row_target)
        # One row more than there are records, because a row is begun before its record is known to be valid.
        if not reserve_rows(&self.columns.table, count + 1):
            return Code.NO_MEMORY
        code = read_records(&self.cursor, &self.batch, &self.wanted, &self.progress, self.columns, True, cut)
        self.position = self.cursor.pos
        if code != Code.OK and code != Code.FULL:
            self.columns.back_to(&mark)
            return code
        fill_batch_columns(&self.columns.table, &self.batch, start, self.columns.table.rows)
        fill_format_columns(&self.columns.table, &self.batch, start, self.columns.table.rows)
        return code
