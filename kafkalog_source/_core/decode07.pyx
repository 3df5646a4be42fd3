# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Decode the top-level messages of a Kafka 0.7 window to rows.

A compressed message contains a set of messages, which may be compressed again
(``ByteBufferMessageSet`` of 0.7 recurses). Here a stack of fixed depth replaces the
recursion. All messages of a set are found and their checksums verified before the
first of them becomes a row.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc

from kafkalog_source._core.checksums cimport has_right_crc_07, payload_offset_07
from kafkalog_source._core.codes cimport Code
from kafkalog_source._core.columns cimport Columns, Table, reserve_rows
from kafkalog_source._core.layout cimport (
    CODEC_NONE, MAX_OFFSET, NO_TIMESTAMP, V07_ATTRIBUTES_OFFSET, V07_CODEC_MASK, V07_MAGIC_OFFSET, V07_NEWEST_CODEC,
)
from kafkalog_source._core.memory cimport Scratch, View
from kafkalog_source._core.messages cimport Message, batch_of_message, put_message
from kafkalog_source._core.records cimport Batch, Wanted, fill_batch_columns
from kafkalog_source._core.walk cimport Entries, Entry
from kafkalog_source._core.walk07 cimport parse_header_07

cdef enum:
    MOST_SETS = 8  # the deepest nesting of message sets


cdef inline Py_ssize_t payload_start(const Message07* message) noexcept nogil:
    return payload_offset_07(message.data[V07_MAGIC_OFFSET])


cdef inline int codec_of(const Message07* message) noexcept nogil:
    return message.data[V07_ATTRIBUTES_OFFSET] & V07_CODEC_MASK if message.data[V07_MAGIC_OFFSET] else CODEC_NONE


cdef void fill_message(const Message07* found, int64_t offset, Message* message) noexcept nogil:
    """Convert to the fields of v0: a value without key and timestamp."""
    cdef Py_ssize_t start = payload_start(found)
    message.data = found.data
    message.size = <int32_t>found.size
    message.offset = offset
    message.timestamp_ms = NO_TIMESTAMP
    message.magic = <int8_t>found.data[V07_MAGIC_OFFSET]
    message.attributes = <int8_t>codec_of(found)
    message.key = NULL
    message.key_size = -1
    message.value = found.data + start
    message.value_size = <int32_t>(found.size - start)


cdef class Messages07:
    """The uncompressed messages of one top-level message, in order."""

    def __cinit__(self):
        self.items = NULL
        self.count = 0
        self.capacity = 0
        self.size = 0

    def __dealloc__(self):
        free(self.items)

    cdef void clear(self) noexcept nogil:
        self.count = 0
        self.size = 0

    cdef bint push(self, const uint8_t* data, Py_ssize_t size) noexcept nogil:
        cdef Message07* moved
        if self.count == self.capacity:
            moved = <Message07*>realloc(self.items, max(self.capacity * 2, 64) * sizeof(Message07))
            if moved == NULL:
                return False
            self.items = moved
            self.capacity = max(self.capacity * 2, 64)
        self.items[self.count].data = data
        self.items[self.count].size = size
        self.count += 1
        self.size += size
        return True

    cdef Message07 pop(self) noexcept nogil:
        self.count -= 1
        self.size -= self.items[self.count].size
        return self.items[self.count]

    cdef int read_set(self, Set07* s) noexcept nogil:
        """Add the messages of `s` up to its end (END), or up to and including the next compressed one (OK)."""
        cdef Entry entry
        cdef const uint8_t* p
        cdef int code
        while s.pos < s.end:
            p = s.data + s.pos
            code = parse_header_07(p, s.end - s.pos, &entry)
            if code == Code.BAD_MAGIC:
                return Code.INNER_MAGIC
            if code != Code.OK or entry.size > s.end - s.pos:
                return Code.INNER_LENGTH
            if (entry.attributes & V07_CODEC_MASK) > V07_NEWEST_CODEC:
                return Code.BAD_CODEC
            if not self.push(p, entry.size):
                return Code.NO_MEMORY
            s.pos += entry.size
            if entry.attributes & V07_CODEC_MASK:
                return Code.OK
        return Code.END


cdef class Decoder07:
    """Decodes top-level messages to rows of `columns`.

    Parameters
    ----------
    columns : Columns
        The columns that rows are appended to.
    crc32 : callable
        ``f(bytes_like) -> int``: the checksum of a payload.
    decompress : callable
        ``f(codec, bytes_like, nested) -> bytes_like``; raises for a payload that is not valid for its codec. The result
        for a nested set owns its memory, which does not move while the object exists.
    low, high : int
        Messages with offsets in [low, high) become rows.
    verify : bool
        Whether checksums are verified.
    """

    def __cinit__(self, Columns columns, crc32, decompress, int64_t low=0, int64_t high=MAX_OFFSET, bint verify=True):
        self.columns = columns
        self.crc32 = crc32
        self.decompress = decompress
        self.wanted.low = low
        self.wanted.high = high
        self.verify = verify
        self.view = View.__new__(View)
        self.messages = Messages07()
        self.nested = []
        self.index = 0
        self.open = False
        self.has_buffer = False

    def __dealloc__(self):
        if self.has_buffer:
            PyBuffer_Release(&self.buffer)

    def start(self):
        """Start with the first message of a new window."""
        self.close_entry()
        self.index = 0

    def skip(self):
        """Skip the message at `index`."""
        self.close_entry()
        self.index += 1

    def decode(self, Scratch window, int64_t window_position, Entries entries):
        """Decode from `index` on until the window's messages end or the columns are full.

        Returns
        -------
        int
            END, FULL, or the error of the message at `index`; no row of a bad message stays in the columns.
        """
        cdef const Entry* e
        cdef int code
        while self.open or self.index < entries.count:
            if not self.open:
                if self.columns.is_full():
                    return Code.FULL
                e = &entries.items[self.index]
                code = self.open_entry(window.address + e.start, e, window_position)
                if code == Code.PAST_OFFSETS:
                    self.index += 1
                    continue
                if code != Code.OK:
                    self.close_entry()
                    return code
            with nogil:
                code = self.read_messages()
            if code != Code.OK:
                if code != Code.FULL:
                    self.close_entry()
                return code
            self.close_entry()
            self.index += 1
            self.batches += 1
        return Code.END

    cdef int open_entry(self, const uint8_t* p, const Entry* e, int64_t window_position) except -1:
        """Find and check all inner messages of the top-level message at `p`; PAST_OFFSETS if it is not requested.

        The checksum of a message that is not requested is verified too, because a corrupt length may hide others.
        """
        cdef Message07 outer
        cdef Message header
        self.body_position = 0
        outer.data = p
        outer.size = e.size
        if not self.is_sound(&outer):
            return Code.BAD_CRC
        if e.first_offset < self.wanted.low or e.first_offset >= self.wanted.high:
            return Code.PAST_OFFSETS
        if codec_of(&outer) > V07_NEWEST_CODEC:
            return Code.BAD_CODEC
        fill_message(&outer, e.first_offset, &header)
        batch_of_message(&header, &self.batch)
        # Among the formats of `put_message`, v0 is the one without timestamps.
        self.batch.magic = 0
        self.batch.position = window_position + e.start
        self.open = True
        self.next_message = 0
        self.messages.clear()
        if codec_of(&outer):
            return self.open_sets(&outer)
        return Code.OK if self.messages.push(outer.data, outer.size) else Code.NO_MEMORY

    cdef int open_sets(self, const Message07* outer) except -1:
        """Decompress the set inside `outer` and the sets nested in it. A set without messages is valid."""
        cdef Set07 sets[MOST_SETS]
        cdef Message07 compressed
        cdef Py_ssize_t i
        cdef int depth = 0
        cdef int code = self.open_nested(outer, &sets[0])
        while code == Code.OK:
            with nogil:
                code = self.messages.read_set(&sets[depth])
            self.body_position = sets[depth].pos
            if code == Code.END and depth > 0:
                depth -= 1
                code = Code.OK
            elif code == Code.OK:
                compressed = self.messages.pop()
                depth += 1
                if depth == MOST_SETS:
                    return Code.NESTED_TOO_DEEP
                code = self.open_nested(&compressed, &sets[depth]) if self.is_sound(&compressed) else Code.INNER_CRC
        if code != Code.END:
            return code
        for i in range(self.messages.count):
            if not self.is_sound(&self.messages.items[i]):
                return Code.INNER_CRC
        return Code.OK

    cdef int open_nested(self, const Message07* message, Set07* s) except -1:
        """Decompress the set inside `message`, and keep it until the top-level message is finished."""
        cdef Py_buffer buffer
        cdef Py_ssize_t start = payload_start(message)
        if message.size == start:
            # A compressed stream is never empty, even if its content is.
            return Code.WRAPPER_EMPTY
        self.view.set(message.data + start, message.size - start)
        s.pos = 0
        if not self.has_buffer:
            self.payload = self.decompress(codec_of(message), self.view, False)
            PyObject_GetBuffer(self.payload, &self.buffer, PyBUF_SIMPLE)
            self.has_buffer = True
            s.data = <const uint8_t*>self.buffer.buf
            s.end = self.buffer.len
            return Code.OK
        content = self.decompress(codec_of(message), self.view, True)
        self.nested.append(content)
        # The owner of the memory is kept in `nested`, so the memory does not move.
        PyObject_GetBuffer(content, &buffer, PyBUF_SIMPLE)
        s.data = <const uint8_t*>buffer.buf
        s.end = buffer.len
        PyBuffer_Release(&buffer)
        return Code.OK

    cdef bint is_sound(self, const Message07* message) except -1:
        if not self.verify:
            return True
        return has_right_crc_07(self.crc32, self.view, message.data, message.size, message.data[V07_MAGIC_OFFSET])

    cdef int read_messages(self) noexcept nogil:
        """Append rows from the open message until it ends or, for a large one, the columns are full."""
        cdef Table* t = &self.columns.table
        cdef Py_ssize_t start = t.rows
        cdef Py_ssize_t left = self.messages.count - self.next_message
        cdef bint fits = self.columns.takes_all(left, self.messages.size)
        cdef Message message
        cdef int code = Code.OK
        if not reserve_rows(t, left if fits else min(left, self.columns.row_target)):
            return Code.NO_MEMORY
        while code == Code.OK and self.next_message < self.messages.count:
            if not fits and (self.columns.is_full()
                             or self.columns.cannot_take(self.messages.items[self.next_message].size)):
                code = Code.FULL
                break
            fill_message(&self.messages.items[self.next_message], self.batch.base_offset, &message)
            code = put_message(&message, &self.batch, &self.wanted, t)
            self.next_message += 1
        fill_batch_columns(t, &self.batch, start, t.rows)
        return code

    cdef void close_entry(self):
        if self.has_buffer:
            PyBuffer_Release(&self.buffer)
            self.has_buffer = False
        self.payload = None
        if self.nested:
            self.nested = []
        self.open = False
