# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The state of a partition's producers, as a broker derives it from the batches (``ProducerStateManager``)."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t

from kafkalog_source._core.bytes cimport Cursor, left, load_i16, load_i32, load_i64, read_varint, read_varlong
from kafkalog_source._core.indexes cimport check_range
from kafkalog_source._core.layout cimport (
    CODEC_MASK, CONTROL_ABORT, CONTROL_COMMIT, CONTROL_FLAG, CONTROL_KEY_SIZE, CONTROL_TYPE_OFFSET,
    COORDINATOR_EPOCH_OFFSET, END_MARKER_VALUE_SIZE, TRANSACTIONAL_FLAG, V2_BASE_SEQUENCE_OFFSET,
    V2_BASE_TIMESTAMP_OFFSET, V2_HEADER_SIZE, V2_LAST_OFFSET_DELTA_OFFSET, V2_MAX_TIMESTAMP_OFFSET,
    V2_PARTITION_LEADER_EPOCH_OFFSET, V2_PRODUCER_EPOCH_OFFSET, V2_PRODUCER_ID_OFFSET, V2_RECORDS_COUNT_OFFSET,
)
from kafkalog_source._core.memory cimport Scratch, View
from kafkalog_source._core.walk cimport Entries, Entry


cdef struct Marker:
    # The record of a control batch that ends a transaction.
    int16_t kind
    int32_t coordinator_epoch
    int64_t timestamp


cdef bint read_marker(const uint8_t* data, Py_ssize_t size, int64_t base_timestamp, Marker* marker) noexcept nogil:
    """Read an end transaction marker; False for any other control record."""
    cdef Cursor c
    cdef int32_t length, offset_delta, key_size, value_size
    cdef int64_t timestamp_delta
    c.data = data
    c.pos = 0
    c.end = size
    if not read_varint(&c, &length) or left(&c) < 1:
        return False
    c.pos += 1  # the record's attributes byte is unused
    if not (read_varlong(&c, &timestamp_delta) and read_varint(&c, &offset_delta) and read_varint(&c, &key_size)):
        return False
    if key_size < CONTROL_KEY_SIZE or key_size > left(&c) or load_i16(data + c.pos) < 0:
        return False
    marker.kind = load_i16(data + c.pos + CONTROL_TYPE_OFFSET)
    c.pos += key_size
    if marker.kind != CONTROL_ABORT and marker.kind != CONTROL_COMMIT:
        return False
    if not read_varint(&c, &value_size) or value_size < END_MARKER_VALUE_SIZE or value_size > left(&c):
        return False
    marker.coordinator_epoch = load_i32(data + c.pos + COORDINATOR_EPOCH_OFFSET)
    # As in Java, the sum wraps around on overflow.
    marker.timestamp = <int64_t>(<uint64_t>base_timestamp + <uint64_t>timestamp_delta)
    return True


cdef class Producer:
    """The state of one producer; -1 stands for none."""

    cdef readonly int64_t producer_id
    cdef readonly int16_t epoch
    cdef readonly int32_t last_sequence
    cdef readonly int64_t last_offset
    cdef readonly int32_t offset_delta
    cdef readonly int64_t timestamp
    cdef readonly int32_t coordinator_epoch
    cdef readonly int64_t transaction_start

    def __cinit__(self, int64_t producer_id):
        self.producer_id = producer_id
        self.epoch = -1
        self.coordinator_epoch = -1
        self.timestamp = -1
        self.transaction_start = -1
        self.forget_batches()

    cdef void forget_batches(self) noexcept:
        self.last_sequence = -1
        self.last_offset = -1
        self.offset_delta = 0

    cdef void set_epoch(self, int16_t epoch) noexcept:
        if self.epoch != epoch:
            self.epoch = epoch
            self.forget_batches()


cdef class ProducerTable:
    """Tracks the producers of a partition through its v2 batches.

    Parameters
    ----------
    decompress : callable
        ``f(codec, magic, bytes_like) -> bytes_like``, for the rare compressed control batch.
    """

    cdef dict _producers
    cdef dict _open
    cdef list _aborted
    cdef object decompress
    cdef View view
    cdef Producer latest

    def __cinit__(self, decompress):
        self.decompress = decompress
        self.view = View.__new__(View)
        self._producers = {}
        self._open = {}
        self._aborted = []
        self.latest = None

    @property
    def producers(self):
        """The producers so far, in the order of their first batches."""
        return list(self._producers.values())

    @property
    def open(self):
        """(producer id, first offset) of the transactions that have no marker so far."""
        return [(producer_id, first) for producer_id, first in self._open.items()]

    def take_aborted(self):
        """Return the (producer id, first offset, marker offset, last stable offset) aborted since the last call."""
        taken, self._aborted = self._aborted, []
        return taken

    def end_transaction(self, int64_t producer_id, int64_t first, int64_t marker):
        """End the transaction that began at offset `first`, in place of its lost marker.

        Retention or compaction may have removed its first batches, so that it seems to begin later.
        """
        cdef Producer producer = self._producers.get(producer_id)
        if producer is not None and first <= producer.transaction_start < marker:
            producer.transaction_start = -1
            del self._open[producer_id]

    def take(self, Scratch window, int64_t window_position, Entries entries, Py_ssize_t start, Py_ssize_t stop):
        """Take the entries [start, stop) of a window."""
        cdef Py_ssize_t i
        cdef const Entry* e
        cdef const uint8_t* p
        check_range(window, entries, start, stop)
        for i in range(start, stop):
            e = &entries.items[i]
            p = window.address + e.start
            if e.magic < 2 or load_i64(p + V2_PRODUCER_ID_OFFSET) < 0:
                continue
            if e.attributes & CONTROL_FLAG:
                self.take_marker(p, e)
            else:
                self.take_data(p, e)

    cdef Producer producer(self, int64_t producer_id):
        cdef Producer found
        if self.latest is None or self.latest.producer_id != producer_id:
            found = self._producers.get(producer_id)
            if found is None:
                found = self._producers[producer_id] = Producer(producer_id)
            self.latest = found
        return self.latest

    cdef int take_data(self, const uint8_t* p, const Entry* e) except -1:
        cdef Producer producer = self.producer(load_i64(p + V2_PRODUCER_ID_OFFSET))
        cdef int32_t delta = load_i32(p + V2_LAST_OFFSET_DELTA_OFFSET)
        cdef int32_t sequence = load_i32(p + V2_BASE_SEQUENCE_OFFSET)
        producer.set_epoch(load_i16(p + V2_PRODUCER_EPOCH_OFFSET))
        # After the largest int32, sequences continue at 0.
        producer.last_sequence = -1 if sequence == -1 else <int32_t>((<int64_t>sequence + delta) & 0x7FFFFFFF)
        producer.last_offset = e.last_offset
        producer.offset_delta = delta
        producer.timestamp = load_i64(p + V2_MAX_TIMESTAMP_OFFSET)
        if e.attributes & TRANSACTIONAL_FLAG and producer.transaction_start < 0:
            producer.transaction_start = e.first_offset
            self._open[producer.producer_id] = e.first_offset
        return 0

    cdef int take_marker(self, const uint8_t* p, const Entry* e) except -1:
        cdef Marker marker
        cdef Producer producer
        # An empty control batch is what the log cleaner leaves of a transaction that it has removed completely.
        if load_i32(p + V2_RECORDS_COUNT_OFFSET) <= 0 or not self.is_marker(p, e, &marker):
            return 0
        producer = self.producer(load_i64(p + V2_PRODUCER_ID_OFFSET))
        if producer.transaction_start >= 0:
            del self._open[producer.producer_id]
            if marker.kind == CONTROL_ABORT:
                stable = min(self._open.values(), default=e.first_offset + 1)
                self._aborted.append((producer.producer_id, producer.transaction_start, e.first_offset, stable))
        producer.set_epoch(load_i16(p + V2_PRODUCER_EPOCH_OFFSET))
        producer.coordinator_epoch = marker.coordinator_epoch
        producer.timestamp = marker.timestamp
        producer.transaction_start = -1
        return 0

    cdef bint is_marker(self, const uint8_t* p, const Entry* e, Marker* marker) except -1:
        cdef Py_buffer buffer
        cdef bint found
        cdef int64_t base_timestamp = load_i64(p + V2_BASE_TIMESTAMP_OFFSET)
        if e.attributes & CODEC_MASK == 0:
            return read_marker(p + V2_HEADER_SIZE, e.size - V2_HEADER_SIZE, base_timestamp, marker)
        self.view.set(p + V2_HEADER_SIZE, e.size - V2_HEADER_SIZE)
        payload = self.decompress(e.attributes & CODEC_MASK, e.magic, self.view)
        PyObject_GetBuffer(payload, &buffer, PyBUF_SIMPLE)
        found = read_marker(<const uint8_t*>buffer.buf, buffer.len, base_timestamp, marker)
        PyBuffer_Release(&buffer)
        return found


cdef class LeaderEpochs:
    """The first offset of each leader epoch, by its batches (``LeaderEpochFileCache``)."""

    cdef list _entries
    cdef int32_t latest

    def __cinit__(self):
        self._entries = []
        self.latest = -1

    @property
    def entries(self):
        """(epoch, first offset), both increasing."""
        return list(self._entries)

    def take(self, Scratch window, int64_t window_position, Entries entries, Py_ssize_t start, Py_ssize_t stop):
        """Take the entries [start, stop) of a window."""
        cdef Py_ssize_t i
        cdef int32_t epoch
        check_range(window, entries, start, stop)
        for i in range(start, stop):
            if entries.items[i].magic == 2:
                epoch = load_i32(window.address + entries.items[i].start + V2_PARTITION_LEADER_EPOCH_OFFSET)
                if epoch > self.latest:
                    self._entries.append((epoch, entries.items[i].first_offset))
                    self.latest = epoch
