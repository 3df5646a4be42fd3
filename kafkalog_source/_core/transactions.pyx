# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Transactions from headers and markers alone.

A batch of a transaction belongs to the next marker of its producer, whatever the
epochs say, as epochs rise within a transaction (``CompletedFetch``,
``ProducerStateManager``). A transaction without a marker is open.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport INT64_MIN, int16_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memmove

from kafkalog_source._core.bytes cimport Cursor, left, load_i16, load_i32, load_i64, read_varint, read_varlong
from kafkalog_source._core.checksums cimport has_right_crc_by
from kafkalog_source._core.codes cimport Code
from kafkalog_source._core.layout cimport (
    CODEC_MASK, CODEC_ZSTD, CONTROL_ABORT, CONTROL_COMMIT, CONTROL_FLAG, CONTROL_KEY_SIZE, CONTROL_TYPE_OFFSET,
    MAX_OFFSET, TRANSACTIONAL_FLAG, V2_HEADER_SIZE, V2_PRODUCER_ID_OFFSET, V2_RECORDS_COUNT_OFFSET,
)
from kafkalog_source._core.memory cimport Scratch, View
from kafkalog_source._core.walk cimport Entry, parse_header

cdef enum:
    # Answers for control batches that end no transaction; `CONTROL_ABORT` and `CONTROL_COMMIT` are the others.
    NO_MARKER = 8
    WRONG_KEY = 9
    BAD_PAYLOAD = 10
cdef Py_ssize_t MARKER_SIZE = 78  # of a batch with a marker, as every broker writes it


cdef int control_kind(const uint8_t* data, Py_ssize_t size) noexcept nogil:
    """The kind of the first record of a control batch: the second int16 of its key, or WRONG_KEY."""
    cdef Cursor c
    cdef int32_t length, offset_delta, key_size
    cdef int64_t timestamp_delta
    c.data = data
    c.pos = 0
    c.end = size
    if not read_varint(&c, &length) or left(&c) < 1:
        return WRONG_KEY
    c.pos += 1  # the record's attributes byte is unused
    if not (read_varlong(&c, &timestamp_delta) and read_varint(&c, &offset_delta) and read_varint(&c, &key_size)):
        return WRONG_KEY
    if key_size < CONTROL_KEY_SIZE or key_size > left(&c) or load_i16(data + c.pos) < 0:
        return WRONG_KEY
    cdef int16_t kind = load_i16(data + c.pos + CONTROL_TYPE_OFFSET)
    return kind if kind == CONTROL_ABORT or kind == CONTROL_COMMIT else NO_MARKER


def _not_above(list ranges, least):
    """Ranges of offsets of producers, none of which reaches above `least`."""
    return [(producer_id, min(first, least), min(last, least)) for producer_id, first, last in ranges]


cdef class TransactionTracker:
    """Follows the transactions of a partition through the headers of its batches.

    Parameters
    ----------
    crc32c : callable or None
        ``f(bytes_like) -> int``; with it the checksums of control batches, the only ones read whole, are compared.
    decompress : callable
        ``f(codec, magic, bytes_like) -> bytes_like or None``, for the rare control batch that is compressed; None if it
        cannot be decompressed.
    begun : iterable of (int, int)
        Producer id and first offset of the transactions that were open before.
    stop : int
        Walking ends at the first batch at or above this offset, as if the log ended there.
    below : int
        Transactions that begin at or above this offset are not followed.
    """

    def __cinit__(self, crc32c, decompress, begun=(), int64_t stop=MAX_OFFSET, int64_t below=MAX_OFFSET):
        self.crc32c = crc32c
        self.decompress = decompress
        self.items = NULL
        self.open_count = 0
        self.capacity = 0
        self.latest = 0
        self._aborted = []
        self._undecided = []
        self.view = View.__new__(View)
        self.stop = stop
        self.below = below
        self.count = 0
        for producer_id, first in begun:
            if not self.begin(producer_id, first):
                raise MemoryError("no memory for open transactions")
        self.start_file(0, MAX_OFFSET)

    def __dealloc__(self):
        free(self.items)

    @property
    def aborted(self):
        """(producer id, first offset, marker's offset) of what was aborted, in the order of the markers."""
        return tuple(self._aborted)

    @property
    def open(self):
        """(producer id, first offset) of the transactions without a marker so far, by producer id."""
        self.settle_doubts()
        return tuple((self.items[i].producer_id, self.items[i].first) for i in range(self.open_count))

    @property
    def undecided(self):
        """(producer id, first offset, last offset) of transactions that may have ended in lost offsets."""
        self.settle_doubts()
        return tuple(self._undecided)

    @property
    def in_doubt(self):
        """The same of transactions whose producer has written no batch since the lost offsets."""
        return tuple(
            (self.items[i].producer_id, self.items[i].first, self.items[i].doubted_to)
            for i in range(self.open_count) if self.items[i].again == MAX_OFFSET
        )

    @property
    def known_below(self):
        """It is known what became of every batch below this offset."""
        cdef int64_t known = self.last_offset + 1
        cdef Py_ssize_t i
        self.settle_doubts()
        for i in range(self.open_count):
            known = min(known, self.items[i].first)
        return known

    def take_aborted(self):
        """The same as `aborted`, which is then empty."""
        taken, self._aborted = self._aborted, []
        return taken

    def take_undecided(self):
        """The same as `undecided`, which is then empty."""
        self.settle_doubts()
        taken, self._undecided = self._undecided, []
        return taken

    @property
    def is_settled(self):
        """Whether nothing that lies ahead matters: `stop` is reached, or all that began below `below` has ended."""
        return self.last_offset >= self.stop - 1 or (self.open_count == 0 and self.last_offset >= self.below - 1)

    def start_file(self, int64_t least, int64_t bound):
        """Go on with another file, whose offsets lie in [least, bound)."""
        self.least = least
        self.bound = bound
        self.last_offset = least - 1
        self.walked = 0
        self.next_size = 0

    def go_back(self, int64_t least):
        """Go on at offset `least`, because batches before it carried offsets that are too high, and what they began."""
        cdef Py_ssize_t i
        for i in range(self.open_count):
            self.items[i].first = min(self.items[i].first, least)
            self.items[i].doubted_to = min(self.items[i].doubted_to, least)
            if self.items[i].again != MAX_OFFSET:
                self.items[i].again = min(self.items[i].again, least)
        self._aborted = _not_above(self._aborted, least)
        self._undecided = _not_above(self._undecided, least)
        self.last_offset = least - 1

    def lose(self, int64_t last_lost, noted=()):
        """Go on after lost offsets up to `last_lost`, which may have held markers of open transactions.

        Nothing tells whose markers they were, or of which kind: the next marker of a producer may belong to its next
        transaction. So the batches seen so far of every open transaction are in doubt.

        Parameters
        ----------
        last_lost : int
        noted : iterable of (int, int, int)
            Producer id, first offset and the marker's offset of transactions that are known to be aborted.
        """
        cdef Py_ssize_t at
        cdef Py_ssize_t i
        self.settle_doubts()
        for producer_id, _, marker in noted:
            at = self.place_of(producer_id)
            is_open = at < self.open_count and self.items[at].producer_id == producer_id
            if is_open and self.last_offset < marker <= last_lost:
                self.end(at, True, marker)
        for i in range(self.open_count):
            self.items[i].doubted_to = self.last_offset
            self.items[i].again = MAX_OFFSET

    cdef int settle_doubts(self) except -1:
        """Separate batches in doubt from later ones of the same producer."""
        cdef Begun* item
        cdef Py_ssize_t i
        for i in range(self.open_count):
            item = &self.items[i]
            if item.again != INT64_MIN and item.again != MAX_OFFSET:
                self._undecided.append((item.producer_id, item.first, item.doubted_to))
                item.first = item.again
                item.again = INT64_MIN
        return 0

    cdef int end(self, Py_ssize_t at, bint aborted, int64_t marker) except -1:
        """Take a marker into account: all of a transaction is aborted, or committed, but for what is in doubt."""
        cdef Begun* item = &self.items[at]
        if item.again != INT64_MIN:
            self._undecided.append((item.producer_id, item.first, item.doubted_to))
            item.first = item.again
        if aborted and item.first != MAX_OFFSET:
            self._aborted.append((item.producer_id, item.first, marker))
        self.open_count -= 1
        memmove(&self.items[at], &self.items[at + 1], (self.open_count - at) * sizeof(Begun))
        return 0

    cdef Py_ssize_t place_of(self, int64_t producer_id) noexcept nogil:
        """Where the producer's transaction is, or would have to be put."""
        cdef Py_ssize_t low = 0
        cdef Py_ssize_t high = self.open_count
        cdef Py_ssize_t middle
        while low < high:
            middle = (low + high) // 2
            if self.items[middle].producer_id < producer_id:
                low = middle + 1
            else:
                high = middle
        return low

    cdef bint begin(self, int64_t producer_id, int64_t first) noexcept nogil:
        """Note a batch: the first of a transaction, and the first after lost offsets, matter. False without memory."""
        cdef Begun* moved
        cdef Py_ssize_t at = self.latest
        if producer_id < 0:
            return True
        if at >= self.open_count or self.items[at].producer_id != producer_id:
            at = self.latest = self.place_of(producer_id)
        if at < self.open_count and self.items[at].producer_id == producer_id:
            self.items[at].again = min(self.items[at].again, first)
            return True
        if self.open_count == self.capacity:
            moved = <Begun*>realloc(self.items, max(self.capacity * 2, 64) * sizeof(Begun))
            if moved == NULL:
                return False
            self.items = moved
            self.capacity = max(self.capacity * 2, 64)
        memmove(&self.items[at + 1], &self.items[at], (self.open_count - at) * sizeof(Begun))
        self.items[at].producer_id = producer_id
        self.items[at].first = first
        self.items[at].again = INT64_MIN
        self.items[at].doubted_to = INT64_MIN
        self.open_count += 1
        return True

    cdef int walk_window(self, const uint8_t* data, Py_ssize_t size, Py_ssize_t left, Entry* e) noexcept nogil:
        """Walk from `walked` on. OK at a control batch that is whole in the window, which `e` then is.

        So is a batch of a transaction that is just as large: it may be a marker whose flag is damaged.
        """
        cdef int code
        while self.walked < size:
            if self.last_offset >= self.stop - 1:
                return Code.PAST_OFFSETS
            code = parse_header(data + self.walked, size - self.walked, e)
            if code == Code.INCOMPLETE:
                self.next_size = e.size
            if code != Code.OK:
                return code
            if e.magic == 2 and e.first_offset >= self.stop and e.first_offset > self.last_offset:
                return Code.PAST_OFFSETS
            if e.size > left - self.walked:
                self.next_size = e.size
                return Code.INCOMPLETE
            if e.first_offset <= self.last_offset:
                return Code.OFFSET_BELOW_FILE if self.last_offset < self.least else Code.OFFSET_NOT_RISING
            if e.last_offset >= self.bound:
                return Code.OFFSET_ABOVE_FILE
            e.start = self.walked
            if e.magic == 2 and (
                e.attributes & CONTROL_FLAG or (e.attributes & TRANSACTIONAL_FLAG and e.size == MARKER_SIZE)
            ):
                self.next_size = e.size
                return Code.OK if e.size <= size - self.walked else Code.INCOMPLETE
            if e.magic == 2 and e.attributes & TRANSACTIONAL_FLAG and e.first_offset < self.below:
                if not self.begin(load_i64(data + self.walked + V2_PRODUCER_ID_OFFSET), e.first_offset):
                    return Code.NO_MEMORY
            self.walked += e.size
            self.last_offset = e.last_offset
            self.count += 1
        return Code.END

    def walk(self, Scratch window, Py_ssize_t size, Py_ssize_t left, Py_ssize_t start=0):
        """Follow the batches that begin in `size` bytes of `window`, from `start` on; bodies need not be there.

        Parameters
        ----------
        window : Scratch
        size : int
            Bytes of the file in it.
        left : int
            Bytes of the file from the first of these to its end, in which every batch has to end.

        Returns
        -------
        int
            A code: END (`walked`, which may lie behind the window, is where the next batch begins), INCOMPLETE
            (`next_size` bytes are needed from `walked` on), PAST_OFFSETS, or what is wrong at `walked`.
        """
        cdef Entry e
        cdef int code
        if not 0 <= start <= window.capacity or size > window.capacity - start or left < size:
            raise ValueError(f"a window of {window.capacity} bytes does not hold {size} of {left} from {start} on")
        self.walked = 0
        self.next_size = 0
        self.count = 0
        while True:
            with nogil:
                code = self.walk_window(window.address + start, size, left, &e)
            if code == Code.OK:
                code = self.take_small(window.address + start + e.start, &e)
            if code != Code.OK:
                return code
            self.walked += e.size
            self.last_offset = e.last_offset
            self.count += 1

    cdef int take_small(self, const uint8_t* p, const Entry* e) except -1:
        """Take a batch into account that is a marker if its header says so, which its checksum has to prove."""
        if self.crc32c is not None and not has_right_crc_by(self.crc32c, None, self.view, p, e.size, e.magic):
            return Code.BAD_CRC
        if e.attributes & CONTROL_FLAG:
            return self.end_transaction(p, e)
        if e.first_offset < self.below and not self.begin(load_i64(p + V2_PRODUCER_ID_OFFSET), e.first_offset):
            return Code.NO_MEMORY
        return Code.OK

    cdef int end_transaction(self, const uint8_t* p, const Entry* e) except -1:
        """Take a control batch into account; an empty one is what the cleaner leaves of it and says nothing."""
        cdef int64_t producer_id = load_i64(p + V2_PRODUCER_ID_OFFSET)
        cdef Py_ssize_t at
        cdef int kind
        if load_i32(p + V2_RECORDS_COUNT_OFFSET) == 0 or producer_id < 0:
            return Code.OK
        kind = self.marker_of(p, e)
        if kind == BAD_PAYLOAD:
            return Code.BAD_CODEC
        if kind == WRONG_KEY:
            return Code.CONTROL_KEY
        at = self.place_of(producer_id)
        if kind == NO_MARKER or at == self.open_count or self.items[at].producer_id != producer_id:
            return Code.OK
        self.end(at, kind == CONTROL_ABORT, e.first_offset)
        return Code.OK

    cdef int marker_of(self, const uint8_t* p, const Entry* e) except -2:
        """The kind of a control batch, whose payload is decompressed if need be."""
        cdef Py_buffer buffer
        cdef int kind
        if e.attributes & CODEC_MASK == 0:
            return control_kind(p + V2_HEADER_SIZE, e.size - V2_HEADER_SIZE)
        if e.attributes & CODEC_MASK > CODEC_ZSTD:
            return WRONG_KEY
        self.view.set(p + V2_HEADER_SIZE, e.size - V2_HEADER_SIZE)
        payload = self.decompress(e.attributes & CODEC_MASK, e.magic, self.view)
        if payload is None:
            return BAD_PAYLOAD
        PyObject_GetBuffer(payload, &buffer, PyBUF_SIMPLE)
        kind = control_kind(<const uint8_t*>buffer.buf, buffer.len)
        PyBuffer_Release(&buffer)
        return kind
