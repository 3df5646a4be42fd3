# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Decode the entries of a window to rows: checksums, decompression, records.

Checksums and codecs are libraries called through Python, so they are passed in as
callables. They prepare a run of entries, which is then decoded to rows in one
stretch without the interpreter lock.
"""

from libc.stdint cimport INT64_MIN, int8_t, int64_t, uint8_t

from kafkalog_source._core.body cimport Body, find_payload
from kafkalog_source._core.bytes cimport load_i64
from kafkalog_source._core.checksums cimport has_right_crc, has_right_crc_by
from kafkalog_source._core.codes cimport Code
from kafkalog_source._core.columns cimport Columns
from kafkalog_source._core.layout cimport (
    CODEC_LZ4, CODEC_MASK, CONTROL_FLAG, MAX_OFFSET, TRANSACTIONAL_FLAG, V2_PRODUCER_ID_OFFSET,
)
from kafkalog_source._core.memory cimport Scratch, View
from kafkalog_source._core.native cimport CFunctions
from kafkalog_source._core.payloads cimport Payloads
from kafkalog_source._core.outcomes cimport COMMITTED, NO_TRANSACTION, TransactionStates
from kafkalog_source._core.walk cimport Entries, Entry, codec_exists

cdef Py_ssize_t PREPARED_AT_ONCE = 1 << 18  # bytes on disk
cdef Py_ssize_t LARGEST_LZ4_AT_ONCE = 1 << 18  # compressed, so that a bomb expands to at most 64 MiB
cdef Py_ssize_t SMALL_LZ4_AT_ONCE = 1 << 16    # while memory of another large payload is still held
cdef Py_ssize_t LARGEST_KEPT = 1 << 20


cdef class Decoder:
    """Decodes entries to rows of `columns`.

    Parameters
    ----------
    columns : Columns
        The columns that rows are appended to.
    crc32c, crc32 : callable
        ``f(bytes_like) -> int``: the checksums of v2, and of v0 and v1.
    decompress : callable
        ``f(codec, magic, bytes_like, scratch) -> bytes_like``; see `Payloads`.
    rooms : list of Scratch
        Decompression buffers; at least two.
    functions : CFunctions
        Used instead of `crc32c`, `crc32` and, for LZ4, `decompress`, as far as it has them.
    limit : int
        Limit on the decompressed size of a payload, in bytes.
    low, high : int
        Records with offsets in [low, high) become rows.
    verify : bool
        Whether checksums are verified.
    include_control : bool
        Whether the records of control batches become rows.
    transactions : TransactionStates, optional
        The outcomes of the transactions, if they are known beforehand.
    find_transactions : callable, optional
        ``f(window, position, start, stop, above, last) -> (TransactionStates, int)``, called instead at the first
        transactional batch. The batch is at `start` of `window`, which begins at `position` of the file and whose
        entries end at `stop`; their offsets are above `above` and at most `last`. The returned states hold for all
        offsets below the returned one, which includes these entries.
    committed_only : bool
        Whether batches of aborted and open transactions are skipped.
    """

    def __cinit__(self, Columns columns, crc32c, crc32, decompress, list rooms, CFunctions functions,
                  Py_ssize_t limit, int64_t low=INT64_MIN, int64_t high=MAX_OFFSET, bint verify=True,
                  bint include_control=False, TransactionStates transactions=None, find_transactions=None,
                  bint committed_only=False):
        self.columns = columns
        self.crc32c = crc32c
        self.crc32 = crc32
        self.payloads = Payloads(decompress, crc32, rooms[1:])
        self.functions = functions
        self.verify = verify
        self.low = low
        self.high = high
        self.body = Body(columns, functions, rooms[0], limit, low, high, verify)
        self.include_control = include_control
        self.transactions = transactions
        self.find_transactions = find_transactions
        self.known_below = INT64_MIN
        self.looks_ahead = False
        self.committed_only = committed_only
        self.view = View.__new__(View)
        self.index = 0
        self.ready = 0
        self.refused = -1
        self.open = False

    @property
    def body_position(self):
        """The position of an error in the (decompressed) body of the entry at `index`."""
        return self.body.position

    def start(self):
        """Start with the first entry of a new window."""
        self.payloads.clear()
        self.open = False
        self.index = 0
        self.ready = 0
        self.refused = -1

    def give_back(self):
        """Free the memory of large payloads, before others are examined."""
        self.start()
        self.payloads.give_back()
        self.body.lz4_room.shrink(0)

    def skip(self):
        """Skip the entry at `index`."""
        self.open = False
        self.index += 1
        self.ready = max(self.ready, self.index)

    def decode(self, Scratch window, int64_t window_position, Entries entries):
        """Decode from `index` on until the window's entries end or the columns are full.

        Returns
        -------
        int
            END, FULL, or the error of the entry at `index`; no row of a bad entry stays in the columns.
        """
        cdef const uint8_t* data = window.address
        cdef int code = Code.END
        while code == Code.END:
            if self.index == self.ready:
                self.payloads.clear()
                if self.index == entries.count:
                    return Code.END
                self.prepare_some(window, window_position, entries)
            with nogil:
                code = self.read_ready(data, window_position, entries)
        return code

    cdef int prepare_some(self, Scratch window, int64_t window_position, Entries entries) except -1:
        """Check and decompress the next entries, few enough to be still in the cache when they are decoded.

        The checksums of entries that are skipped by offset are verified too, because a wrong length may hide requested
        entries after them.
        """
        cdef Entry* e
        cdef const uint8_t* p
        cdef Py_ssize_t size = 0
        while self.ready < entries.count and size < PREPARED_AT_ONCE:
            e = &entries.items[self.ready]
            p = window.address + e.start
            self.need_transactions(e, window, window_position, entries)
            e.payload = -1
            e.skipped = self.is_skipped(p, e)
            e.checked = not self.verify
            e.sound = e.checked
            e.at_once = self.can_be_read_at_once(e) and self.ready != self.refused
            if not e.at_once and not self.prepare_entry(p, e, self.ready == self.index):
                break
            self.ready += 1
            size += e.size
        return 0

    cdef bint can_be_read_at_once(self, const Entry* e) noexcept nogil:
        if not self.functions.has_checksums():
            return False
        if e.skipped or e.attributes & CODEC_MASK == 0:
            return True
        if e.attributes & CODEC_MASK != CODEC_LZ4 or not self.functions.has_lz4():
            return False
        return e.size <= (SMALL_LZ4_AT_ONCE if self.payloads.holds_much() else LARGEST_LZ4_AT_ONCE)

    cdef bint prepare_entry(self, const uint8_t* p, Entry* e, bint is_first) except -1:
        """Check the entry and decompress it if it joins the run; False if it has to start the next run."""
        if not e.checked:
            e.checked = True
            e.sound = self.has_right_checksum(p, e)
        if not e.sound or e.skipped or e.attributes & CODEC_MASK == 0 or not codec_exists(e):
            return True
        return self.prepare_payload(p, e, is_first)

    cdef bint has_right_checksum(self, const uint8_t* p, const Entry* e):
        if self.functions.has_checksums():
            return has_right_crc(self.functions, p, e.size, e.magic)
        return has_right_crc_by(self.crc32c, self.crc32, self.view, p, e.size, e.magic)

    cdef bint prepare_payload(self, const uint8_t* p, Entry* e, bint is_first) except -1:
        """Decompress the entry if it joins the run. A bad one raises when it is the first, after the rows before it."""
        cdef const uint8_t* start = NULL
        cdef Py_ssize_t size = 0
        # An invalid or empty entry needs no payload, and is reported when it is decoded.
        if find_payload(p, e, &start, &size) != Code.OK or size == 0:
            return True
        if not self.payloads.takes(size):
            return False
        self.body.lz4_room.shrink(LARGEST_KEPT)
        try:
            e.payload = self.payloads.add(e.attributes & CODEC_MASK, e.magic, start, size)
        except Exception:
            if is_first:
                raise
            return False
        if e.magic < 2 and self.verify and not self.functions.has_checksums():
            self.payloads.check_messages(e.payload)
        return True

    cdef int need_transactions(self, const Entry* e, Scratch window, int64_t window_position, Entries entries) except -1:
        """Resolve outcomes at the first wanted transactional batch."""
        if self.find_transactions is None or e.magic != 2 or not e.attributes & TRANSACTIONAL_FLAG:
            return 0
        if e.last_offset < self.known_below:
            return 0
        if e.attributes & CONTROL_FLAG or e.last_offset < self.low or e.first_offset >= self.high:
            return 0
        self.transactions, self.known_below = self.find_transactions(
            window, window_position, e.start, entries.walked, entries.items[0].previous, entries.last_offset)
        self.looks_ahead = self.known_below != MAX_OFFSET
        return 0

    cdef int state_of(self, const uint8_t* p, const Entry* e) noexcept nogil:
        if self.transactions is None or e.magic != 2 or e.attributes & TRANSACTIONAL_FLAG == 0:
            return NO_TRANSACTION
        return self.transactions.state_of(load_i64(p + V2_PRODUCER_ID_OFFSET), e.last_offset)

    cdef bint is_skipped(self, const uint8_t* p, const Entry* e) noexcept nogil:
        if e.last_offset < self.low:
            return True
        if e.magic < 2:
            return False
        if e.first_offset >= self.high:
            return True
        if e.attributes & CONTROL_FLAG:
            return not self.include_control
        return self.committed_only and self.state_of(p, e) > COMMITTED

    cdef int read_ready(self, const uint8_t* window, int64_t window_position, Entries entries) noexcept nogil:
        """Decode the prepared entries to rows; END after the last one, otherwise as `decode`."""
        cdef int code
        while self.index < self.ready:
            if not self.open:
                if self.columns.is_full():
                    return Code.FULL
                code = self.begin_entry(window, window_position, &entries.items[self.index])
                if code != Code.OK:
                    return code
            if self.open:
                code = self.body.read_on()
                if code == Code.FULL:
                    return code
                self.open = False
                if code != Code.OK:
                    return code
                self.batches += 1
            self.index += 1
        return Code.END

    cdef int begin_entry(self, const uint8_t* window, int64_t window_position, Entry* e) noexcept nogil:
        """Open the entry, unless it is skipped or is a small message, whose row is appended at once."""
        cdef const uint8_t* p = window + e.start
        cdef int code
        if not e.checked:
            e.checked = True
            e.sound = has_right_crc(self.functions, p, e.size, e.magic)
        if not e.sound:
            return Code.BAD_CRC
        if not codec_exists(e):
            return Code.BAD_CODEC
        if e.skipped:
            return Code.OK
        self.body.start(p, e, window_position, <int8_t>self.state_of(p, e))
        if e.magic < 2 and not e.attributes & CODEC_MASK and e.size <= self.columns.byte_target:
            code = self.body.take_message(p, e)
            self.batches += code == Code.OK
            return code
        code = self.body.open(p, e, NULL if e.payload < 0 else &self.payloads.items[e.payload])
        self.open = code == Code.OK
        if code == Code.END:
            # Prepare it again as an entry that needs Python, which reports what is wrong.
            self.refused = self.index
            self.ready = self.index
        return code

