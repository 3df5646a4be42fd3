from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t

from kafkalog_source._core.bytes cimport Cursor
from kafkalog_source._core.columns cimport Columns, Table


cdef struct Batch:
    # The fields that the records of one entry share. For v0 and v1, missing fields have Kafka's "none", -1.
    int64_t position           # in the file
    int64_t base_offset
    int64_t last_offset
    int64_t base_timestamp
    int64_t max_timestamp
    int64_t producer_id
    int32_t leader_epoch
    int32_t base_sequence
    int32_t count
    int16_t producer_epoch
    int8_t magic
    int8_t codec
    bint log_append_time
    bint transactional
    bint control
    int8_t transaction_state   # a member of `outcomes.TransactionState`


cdef struct Wanted:
    # The offsets that become rows: [low, high).
    int64_t low
    int64_t high


cdef struct Progress:
    # The progress in a batch's records, so that a large batch can fill several record batches.
    int32_t read
    int64_t last_delta


cdef void parse_batch(const uint8_t* p, Batch* b) noexcept nogil
cdef int read_records(Cursor* c, const Batch* b, const Wanted* wanted, Progress* progress, Columns columns,
                      bint emit, bint cut) noexcept nogil
cdef void fill_batch_columns(Table* t, const Batch* b, Py_ssize_t start, Py_ssize_t stop) noexcept nogil
cdef void fill_format_columns(Table* t, const Batch* b, Py_ssize_t start, Py_ssize_t stop) noexcept nogil
