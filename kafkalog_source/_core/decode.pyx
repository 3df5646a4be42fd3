# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""From the entries of a window to rows: checksums, decompression, records.

Checksums and codecs are libraries called through Python, so they are handed in
as callables. A run of small uncompressed entries is decoded without the
interpreter lock from beginning to end, and so is the body of every other entry.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport INT64_MAX, INT64_MIN, int8_t, int64_t, uint8_t, uint32_t

from kafkalog_source._core.bytes cimport Cursor, load_i64, load_u32
from kafkalog_source._core.codes cimport Code
from kafkalog_source._core.columns cimport Columns, Mark, Table, reserve_rows
from kafkalog_source._core.memory cimport Scratch, View
from kafkalog_source._core.messages cimport (
    Message, Messages, batch_of_message, parse_message, put_message, put_messages, settle_offsets,
)
from kafkalog_source._core.records cimport (
    Batch, Progress, Wanted, fill_batch_columns, fill_format_columns, parse_batch, read_records,
)
from kafkalog_source._core.transactions cimport COMMITTED, NO_TRANSACTION, TransactionStates
from kafkalog_source._core.walk cimport Entries, Entry

cdef Py_ssize_t V2_HEADER_SIZE = 61
cdef Py_ssize_t SMALLEST_RECORD = 7
cdef Py_ssize_t CHECKED_AT_ONCE = 1 << 17
cdef int CODEC_MASK = 7
cdef int TRANSACTIONAL_FLAG = 16
cdef int CONTROL_FLAG = 32


cdef inline bint codec_exists(const Entry* e) noexcept nogil:
    # zstd came with v2 and is not legal in v0 and v1 (AbstractLegacyRecordBatch).
    return (e.attributes & CODEC_MASK) <= (4 if e.magic == 2 else 3)


cdef class Decoder:
    """Turns entries into rows of `columns`.

    Parameters
    ----------
    columns : Columns
        Where the rows go.
    crc32c, crc32 : callable
        ``f(bytes_like) -> int``: the checksums of v2, and of v0 and v1.
    decompress : callable
        ``f(codec, magic, bytes_like) -> bytes_like``; raises for a payload that its codec refuses.
    low, high : int
        Records with offsets in [low, high) become rows.
    verify : bool
        Whether checksums are compared.
    include_control : bool
        Whether the records of control batches become rows.
    transactions : TransactionStates, optional
        What became of the transactions, if that is known before.
    find_transactions : callable, optional
        ``f(window, position, start, stop, above, last) -> (TransactionStates, int)``: asked instead, at the first
        batch of a transaction that is met. It lies at `start` of `window`, whose first byte is that at `position`
        of the file, and whose entries end at `stop`; their offsets are above `above` and at most `last`. The states
        have to hold for these entries, and hold for all below the offset that is answered.
    committed_only : bool
        Whether batches of aborted and open transactions are passed over.
    """

    def __cinit__(self, Columns columns, crc32c, crc32, decompress, int64_t low=INT64_MIN, int64_t high=INT64_MAX,
                  bint verify=True, bint include_control=False, TransactionStates transactions=None,
                  find_transactions=None, bint committed_only=False):
        self.columns = columns
        self.crc32c = crc32c
        self.crc32 = crc32
        self.decompress = decompress
        self.wanted.low = low
        self.wanted.high = high
        self.verify = verify
        self.include_control = include_control
        self.transactions = transactions
        self.find_transactions = find_transactions
        self.known_below = INT64_MIN
        self.looks_ahead = False
        self.committed_only = committed_only
        self.view = View.__new__(View)
        self.messages = Messages()
        self.index = 0
        self.open = False
        self.has_buffer = False

    def __dealloc__(self):
        if self.has_buffer:
            PyBuffer_Release(&self.buffer)

    def start(self):
        """Begin with the first entry of a new window."""
        self.close_payload()
        self.index = 0
        self.checked = 0

    def skip(self):
        """Leave the entry at `index` out."""
        self.close_payload()
        self.index += 1

    def decode(self, Scratch window, int64_t window_position, Entries entries):
        """Decode from `index` on until the window's entries end or the columns are full.

        Returns
        -------
        int
            END, FULL, or what is wrong with the entry at `index`; no row of a wrong entry stays in the columns.
        """
        cdef const uint8_t* data = window.address
        cdef int code = Code.OK
        while True:
            if not self.open:
                if self.index == self.checked:
                    if self.index == entries.count:
                        return Code.END
                    self.check_some(window, window_position, entries)
                with nogil:
                    code = self.small_plain_entries(data, window_position, entries)
                if code == Code.END:
                    continue
                if code != Code.OK:
                    return code
                code = self.open_payload(data + entries.items[self.index].start, &entries.items[self.index])
                if code != Code.OK:
                    self.close_payload()
                    return code
            with nogil:
                code = self.read_on()
            if code != Code.OK:
                if code != Code.FULL:
                    self.close_payload()
                return code
            self.close_payload()
            self.index += 1
            self.batches += 1

    cdef int check_some(self, Scratch window, int64_t window_position, Entries entries) except -1:
        """Compare the checksums of the next entries, few enough that they are still in the cache to be decoded.

        Those that are passed over by offset are checked too: a wrong length may hide wanted ones behind it.
        """
        cdef Entry* e
        cdef const uint8_t* p
        cdef Py_ssize_t size = 0
        while self.checked < entries.count and size < CHECKED_AT_ONCE:
            e = &entries.items[self.checked]
            self.checked += 1
            p = window.address + e.start
            size += e.size
            e.checked = True
            self.need_transactions(e, window, window_position, entries)
            if not self.verify:
                continue
            if e.magic == 2:
                self.view.set(p + 21, e.size - 21)
                e.checked = <uint32_t>self.crc32c(self.view) == load_u32(p + 17)
            else:
                self.view.set(p + 16, e.size - 16)
                e.checked = <uint32_t>self.crc32(self.view) == load_u32(p + 12)
        return 0

    cdef int need_transactions(self, const Entry* e, Scratch window, int64_t window_position, Entries entries) except -1:
        """Have the transactions found out when a batch of an unknown one is met whose records may become rows."""
        if self.find_transactions is None or e.magic != 2 or not e.attributes & TRANSACTIONAL_FLAG:
            return 0
        if e.last_offset < self.known_below:
            return 0
        if e.attributes & CONTROL_FLAG or e.last_offset < self.wanted.low or e.first_offset >= self.wanted.high:
            return 0
        self.transactions, self.known_below = self.find_transactions(
            window, window_position, e.start, entries.walked, entries.items[0].previous, entries.last_offset)
        self.looks_ahead = self.known_below != INT64_MAX
        return 0

    cdef int state_of(self, const uint8_t* p, const Entry* e) noexcept nogil:
        if self.transactions is None or e.magic != 2 or e.attributes & TRANSACTIONAL_FLAG == 0:
            return NO_TRANSACTION
        return self.transactions.state_of(load_i64(p + 43), e.last_offset)

    cdef bint is_skipped(self, const uint8_t* p, const Entry* e) noexcept nogil:
        if e.last_offset < self.wanted.low:
            return True
        if e.magic < 2:
            return False
        if e.first_offset >= self.wanted.high:
            return True
        if e.attributes & CONTROL_FLAG:
            return not self.include_control
        return self.committed_only and self.state_of(p, e) > COMMITTED

    cdef void start_batch(self, const uint8_t* p, const Entry* e, int64_t window_position) noexcept nogil:
        cdef Message message
        if e.magic == 2:
            parse_batch(p, &self.batch)
            self.batch.transaction_state = <int8_t>self.state_of(p, e)
        else:
            # A wrong body is found when it is read; what is needed here is the header.
            parse_message(p, e.size, &message)
            batch_of_message(&message, &self.batch)
        self.batch.position = window_position + e.start
        self.progress.read = 0
        self.progress.last_delta = -1
        self.body_position = 0

    cdef int small_plain_entries(self, const uint8_t* window, int64_t window_position, Entries entries) noexcept nogil:
        """Decode checked entries as long as they are small and uncompressed. OK when the entry at `index` is neither."""
        cdef const Entry* e
        cdef int code
        while self.index < self.checked:
            if self.columns.is_full():
                return Code.FULL
            e = &entries.items[self.index]
            if not e.checked:
                return Code.BAD_CRC
            if not codec_exists(e):
                return Code.BAD_CODEC
            if self.is_skipped(window + e.start, e):
                self.index += 1
                continue
            self.start_batch(window + e.start, e, window_position)
            if e.attributes & CODEC_MASK or e.size > self.columns.byte_target:
                return Code.OK
            code = self.read_small(window + e.start, e)
            if code != Code.OK:
                return code
            self.index += 1
            self.batches += 1
        return Code.END

    cdef int read_small(self, const uint8_t* p, const Entry* e) noexcept nogil:
        cdef Mark mark = self.columns.mark()
        cdef int code
        if e.magic == 2:
            self.cursor.data = p + V2_HEADER_SIZE
            self.cursor.pos = 0
            self.cursor.end = e.size - V2_HEADER_SIZE
            code = self.read_on()
        else:
            code = self.plain_message(p, e)
        if code != Code.OK:
            self.columns.back_to(&mark)
        return code

    cdef int plain_message(self, const uint8_t* p, const Entry* e) noexcept nogil:
        cdef Message message
        cdef Table* t = &self.columns.table
        cdef Py_ssize_t start = t.rows
        cdef int code = parse_message(p, e.size, &message)
        if code != Code.OK:
            return code
        if not reserve_rows(t, 1):
            return Code.NO_MEMORY
        code = put_message(&message, &self.batch, &self.wanted, t)
        fill_batch_columns(t, &self.batch, start, t.rows)
        return code

    cdef int find_payload(self, const uint8_t* p, const Entry* e, Py_ssize_t* start, Py_ssize_t* size) noexcept nogil:
        """Where the records of a batch or the messages of a wrapper lie in the entry; a plain message is all of it."""
        cdef Message message
        cdef int code
        start[0] = 0
        size[0] = e.size
        if e.magic == 2:
            start[0] = V2_HEADER_SIZE
            size[0] = e.size - V2_HEADER_SIZE
            return Code.BAD_COUNT if self.batch.count < 0 else Code.OK
        code = parse_message(p, e.size, &message)
        if code != Code.OK or not e.attributes & CODEC_MASK:
            return code
        if message.value_size <= 0:
            return Code.WRAPPER_EMPTY
        start[0] = message.value - p
        size[0] = message.value_size
        return Code.OK

    cdef int open_payload(self, const uint8_t* p, const Entry* e) except -1:
        """Decompress the entry if need be and set the cursor on its records."""
        cdef Py_ssize_t start = 0
        cdef Py_ssize_t size = 0
        cdef int code = self.find_payload(p, e, &start, &size)
        if code != Code.OK:
            return code
        self.open = True
        self.cursor.data = p + start
        self.cursor.pos = 0
        self.cursor.end = size
        if e.attributes & CODEC_MASK:
            if size == 0:
                # A compressed stream is never empty; a batch that the cleaner emptied has no stream.
                return Code.OK if self.batch.count == 0 else Code.RECORD_CUT
            self.view.set(p + start, size)
            self.payload = self.decompress(e.attributes & CODEC_MASK, e.magic, self.view)
            PyObject_GetBuffer(self.payload, &self.buffer, PyBUF_SIMPLE)
            self.has_buffer = True
            self.cursor.data = <const uint8_t*>self.buffer.buf
            self.cursor.end = self.buffer.len
        if e.magic < 2:
            return self.open_messages(e) if e.attributes & CODEC_MASK else self.open_single(p, e)
        if self.cursor.end > self.columns.byte_target:
            return self.check_records()
        return Code.OK

    cdef int check_records(self) except -1:
        """Go through a batch that will not fit one Arrow batch, so that nothing of a damaged one is handed out."""
        cdef Cursor cursor = self.cursor
        cdef Progress progress = self.progress
        cdef int code = Code.OK
        with nogil:
            if self.batch.count > cursor.end // SMALLEST_RECORD:
                code = Code.COUNT_TOO_LARGE
            elif self.batch.count == 0 and cursor.end:
                code = Code.EMPTY_WITH_BYTES
            else:
                code = read_records(&cursor, &self.batch, &self.wanted, &progress, self.columns, False, False)
        self.body_position = cursor.pos
        return code

    cdef int open_single(self, const uint8_t* p, const Entry* e) except -1:
        """A large uncompressed message is read as a set of one."""
        cdef Message message
        cdef int code = parse_message(p, e.size, &message)
        self.messages.count = 0
        self.next_message = 0
        if code == Code.OK and not self.messages.push(&message):
            return Code.NO_MEMORY
        return code

    cdef int open_messages(self, const Entry* e) except -1:
        cdef int code
        self.next_message = 0
        with nogil:
            code = self.messages.read_set(self.cursor.data, self.cursor.end, &self.body_position)
            if code == Code.OK:
                code = settle_offsets(self.messages, &self.batch, e.previous)
        if code == Code.OK:
            self.batch.base_offset = self.messages.items[0].offset
            code = self.check_inner()
        return code

    cdef int check_inner(self) except -1:
        """The checksum of every message inside a wrapper, which Kafka's consumer checks too."""
        cdef Message* message
        cdef Py_ssize_t i
        if not self.verify:
            return Code.OK
        for i in range(self.messages.count):
            message = &self.messages.items[i]
            self.view.set(message.data + 16, message.size - 16)
            if <uint32_t>self.crc32(self.view) != load_u32(message.data + 12):
                self.body_position = message.data - self.cursor.data
                return Code.INNER_CRC
        return Code.OK

    cdef int read_on(self) noexcept nogil:
        """Rows from the open payload until it ends or, if it is a large one, the columns are full."""
        cdef bint cut = self.cursor.end > self.columns.byte_target
        cdef Mark mark = self.columns.mark()
        cdef Py_ssize_t start = self.columns.table.rows
        cdef Py_ssize_t count
        cdef int code = Code.OK
        if self.batch.magic < 2:
            return put_messages(
                self.messages, &self.next_message, self.cursor.end, &self.batch, &self.wanted, self.columns,
            )
        if self.batch.count < 0:
            return Code.BAD_COUNT
        if self.batch.count > self.cursor.end // SMALLEST_RECORD:
            return Code.COUNT_TOO_LARGE
        if self.batch.count == 0 and self.cursor.end:
            return Code.EMPTY_WITH_BYTES
        count = self.batch.count - self.progress.read
        if cut:
            count = min(count, self.columns.row_target)
        # One row more than the records, because a row is begun before its record is known to be good.
        if not reserve_rows(&self.columns.table, count + 1):
            return Code.NO_MEMORY
        code = read_records(&self.cursor, &self.batch, &self.wanted, &self.progress, self.columns, True, cut)
        self.body_position = self.cursor.pos
        if code != Code.OK and code != Code.FULL:
            self.columns.back_to(&mark)
            return code
        fill_batch_columns(&self.columns.table, &self.batch, start, self.columns.table.rows)
        fill_format_columns(&self.columns.table, &self.batch, start, self.columns.table.rows)
        return code

    cdef void close_payload(self):
        if self.has_buffer:
            PyBuffer_Release(&self.buffer)
            self.has_buffer = False
        self.payload = None
        self.open = False
