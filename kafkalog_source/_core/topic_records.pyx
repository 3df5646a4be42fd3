# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Records of Kafka's own topics: their frames, and the key and value in them by a `Program`.

A coordinator's key begins with the record's type and its value with a version, both of 16 bits. A metadata record's
value begins with three varints: frame, type, version. A control record's key has its type after a version, its value
a version in front.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport INT16_MAX, int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from kafkalog_source._core.bytes cimport Cursor, left, load_i16
from kafkalog_source._core.fields cimport (
    FRAME_CUT, KEY_CUT, LEFT_OVER, NO_KEY, NO_ROOM, SOUND, TYPE_RANGE, UNKNOWN_FRAME, UNKNOWN_TYPE, UNKNOWN_VERSION,
    VERSION_CUT, Walk, read_count, read_message,
)
from kafkalog_source._core.layout cimport CONTROL_COMMIT, CONTROL_TYPE_OFFSET
from kafkalog_source._core.program cimport Program
from kafkalog_source._core.slots cimport Slot, Slots, cut_slot, end_text, put_number

FRAMES = ("coordinator", "metadata")

cdef enum:
    # The slots that every topic has; then come the columns of its own.
    TYPE
    VERSION
    FAULT
    KEY_JSON
    VALUE_JSON
    FIRST

FIRST_COLUMN = <int>FIRST

cdef Py_ssize_t MOST_BYTES = 1 << 28   # of one column, before it is handed over: Arrow's offsets end at 2 GiB
cdef int METADATA_FRAME = 1


cdef struct Versions:
    # The messages of one record type.
    int32_t number
    int32_t key            # struct of the key, -1: none
    int32_t value          # struct of the value's version 0
    int32_t versions


cdef struct Bytes:
    # An Arrow array of binary values.
    const uint8_t* valid
    const uint8_t* offsets
    const uint8_t* data
    Py_ssize_t first


cdef struct Slice:
    const uint8_t* data
    Py_ssize_t size        # negative: null


cdef struct Found:
    # What is known of one record while it is read.
    bint control
    bint has_type
    bint has_version
    int32_t type
    int32_t version
    int32_t part           # of the fault: 0 the key, 1 the value
    int32_t position


cdef Slice slice_at(const Bytes* b, Py_ssize_t row) noexcept nogil:
    cdef Slice s
    cdef int32_t begin, end
    cdef Py_ssize_t at = b.first + row
    s.data = NULL
    s.size = -1
    if b.offsets == NULL or (b.valid != NULL and not (b.valid[at >> 3] >> (at & 7)) & 1):
        return s
    memcpy(&begin, b.offsets + at * sizeof(int32_t), sizeof(int32_t))
    memcpy(&end, b.offsets + (at + 1) * sizeof(int32_t), sizeof(int32_t))
    s.data = b.data + begin
    s.size = end - begin
    return s


cdef Cursor cursor_over(const Slice* s, Py_ssize_t position) noexcept nogil:
    cdef Cursor c
    c.data = s.data
    c.pos = position
    c.end = s.size
    return c


cdef class Lent:
    """The buffers of an Arrow array of binary values, held while the core reads them."""

    cdef Py_buffer buffers[3]
    cdef int held
    cdef Bytes bytes

    def __cinit__(self, array, Py_ssize_t rows):
        cdef Py_ssize_t last
        self.held = 0
        self.bytes.valid = self.bytes.offsets = self.bytes.data = NULL
        if array is None:
            return
        first, valid, offsets, data = array
        last = first + rows
        self.bytes.first = first
        self.bytes.offsets = self.hold(offsets, (last + 1) * <Py_ssize_t>sizeof(int32_t))
        if valid is not None:
            self.bytes.valid = self.hold(valid, (last + 7) // 8)
        if data is not None:
            self.bytes.data = self.hold(data, 0)
        self.check(rows, self.buffers[self.held - 1].len if data is not None else 0)

    cdef const uint8_t* hold(self, buffer, Py_ssize_t least) except? NULL:
        PyObject_GetBuffer(buffer, &self.buffers[self.held], PyBUF_SIMPLE)
        self.held += 1
        if self.buffers[self.held - 1].len < least:
            raise ValueError(f"a buffer of {self.buffers[self.held - 1].len} bytes, not {least}")
        return <const uint8_t*>self.buffers[self.held - 1].buf

    cdef int check(self, Py_ssize_t rows, Py_ssize_t size) except -1:
        """That the offsets rise and stay in the data."""
        cdef Py_ssize_t row
        cdef int32_t before, after
        if self.bytes.first < 0 or rows < 0:
            raise ValueError("an array that begins before its buffers")
        memcpy(&before, self.bytes.offsets + self.bytes.first * sizeof(int32_t), sizeof(int32_t))
        for row in range(rows):
            memcpy(&after, self.bytes.offsets + (self.bytes.first + row + 1) * sizeof(int32_t), sizeof(int32_t))
            if not 0 <= before <= after <= size:
                raise ValueError(f"row {row} reaches from {before} to {after} of {size} bytes")
            before = after
        return 0

    def __dealloc__(self):
        cdef int i
        for i in range(self.held):
            PyBuffer_Release(&self.buffers[i])


cdef class RecordDecoder:
    """Decodes the records of one topic into slots.

    Parameters
    ----------
    program : Program
    slots : Slots
        First those of every topic (type, version, fault, JSON of key and value), then the topic's columns.
    frame : str
        One of `FRAMES`.
    types, control : sequence of tuple
        (number, struct of the key or -1, struct of version 0 of the value, number of versions) of each record type.
    key_json, value_json : bool
        Whether JSON is wanted.
    most_bytes : int, optional
        When a column has more than this, decoding stops before the next row.
    """

    cdef Program program
    cdef Slots slots
    cdef bint is_metadata
    cdef bint key_json
    cdef bint value_json
    cdef Py_ssize_t most_bytes
    cdef Versions* types
    cdef Versions* control
    cdef int32_t type_count
    cdef int32_t control_count

    def __cinit__(self, Program program, Slots slots, frame, types, control, *, key_json, value_json, most_bytes=None):
        self.program = program
        self.slots = slots
        self.is_metadata = FRAMES.index(frame) == 1
        self.key_json = key_json
        self.value_json = value_json
        self.most_bytes = MOST_BYTES if most_bytes is None else most_bytes
        self.type_count = len(types)
        self.control_count = len(control)
        self.types = versions_of(types, program)
        self.control = versions_of(control, program)
        self.check()

    def __dealloc__(self):
        free(self.types)
        free(self.control)

    cdef int check(self) except -1:
        cdef int32_t i
        if self.slots.roots < FIRST:
            raise ValueError(f"{self.slots.roots} slots of rows, not {<int>FIRST} or more")
        for i in range(self.program.field_count):
            if self.program.fields[i].slot >= self.slots.count:
                raise ValueError(f"field {i} has a slot that does not exist")
        return 0

    def decode(self, Py_ssize_t rows, Py_ssize_t start, keys, values, control, redacted):
        """Decode the rows from `start` on.

        Parameters
        ----------
        rows : int
        start : int
        keys, values : tuple or None
            (first, validity, offsets, data) of an Arrow array of binary values; None for nothing but nulls.
        control, redacted : buffer
            A byte for each row: whether it is a control record, whether its secrets are to be hidden.

        Returns
        -------
        int
            The row to go on with, after the slots are taken; `rows` at the end.
        """
        cdef Lent key_array = Lent(keys, rows)
        cdef Lent value_array = Lent(values, rows)
        cdef const uint8_t[::1] is_control = control
        cdef const uint8_t[::1] is_redacted = redacted
        cdef Py_ssize_t row = start
        cdef int fault = SOUND
        cdef Slice key, value
        if not 0 <= start <= rows or is_control.shape[0] < rows or is_redacted.shape[0] < rows:
            raise ValueError(f"row {start} of {rows}, with {is_control.shape[0]} and {is_redacted.shape[0]} flags")
        with nogil:
            while row < rows and fault == SOUND and not self.is_full():
                key = slice_at(&key_array.bytes, row)
                value = slice_at(&value_array.bytes, row)
                fault = self.take_row(row - start, &key, &value, is_control[row], is_redacted[row])
                row += fault == SOUND
        if fault != SOUND:
            self.slots.cut(0)
            raise MemoryError("no memory for decoded records")
        return row

    cdef bint is_full(self) noexcept nogil:
        """Whether one of the columns is so large that it has to be handed over before the next row."""
        cdef int32_t i
        for i in range(self.slots.count):
            if self.slots.items[i].data.size > self.most_bytes:
                return True
        return False

    cdef int take_row(self, Py_ssize_t row, const Slice* key, const Slice* value, bint control, bint redact) noexcept nogil:
        """One row in every slot; NO_ROOM if not even the nulls of one find room."""
        cdef Found found
        cdef Walk w
        cdef int fault
        cdef Slot* items = self.slots.items
        found.control = control
        found.has_type = found.has_version = False
        found.type = found.version = found.position = 0
        found.part = 1
        w.fields = self.program.fields
        w.structs = self.program.structs
        w.text = self.program.text
        w.slots = items
        w.json = NULL
        w.redact = redact
        w.failed = -1
        if self.is_metadata and not control:
            fault = self.take_metadata(row, value, &w, &found)
        else:
            fault = self.take_pair(row, key, value, &w, &found)
        if found.has_type and not put_number(&items[<int>TYPE], found.type):
            return NO_ROOM
        if found.has_version and not put_number(&items[<int>VERSION], found.version):
            return NO_ROOM
        if fault != SOUND and not put_number(&items[<int>FAULT], packed(fault, &found, w.failed)):
            return NO_ROOM
        return SOUND if self.slots.pad(row + 1) else NO_ROOM

    cdef int take_pair(self, Py_ssize_t row, const Slice* key, const Slice* value, Walk* w, Found* found) noexcept nogil:
        """A coordinator's record or a control record: the type in the key, the version in front of the value."""
        cdef const Versions* known
        cdef Cursor c
        cdef Walk again
        cdef int fault
        cdef int at = CONTROL_TYPE_OFFSET if found.control else 0
        if value.size >= 2:
            found.version = load_i16(value.data)
            found.has_version = True
        if key.size < at + 2:
            found.part = 0
            return NO_KEY if key.size < 0 else KEY_CUT
        found.type = load_i16(key.data + at)
        found.has_type = True
        known = self.find(found)
        if known == NULL:
            found.part = 0
            return UNKNOWN_TYPE
        if known.key >= 0:
            c = cursor_over(key, 2)
            found.part = 0
            fault = self.take_message(row, KEY_JSON, self.key_json, known.key, &c, w, found)
            if fault != SOUND:
                return fault
            found.part = 1
        if value.size < 0:
            return SOUND
        if value.size < 2:
            return VERSION_CUT
        c = cursor_over(value, 0 if found.control and found.type > CONTROL_COMMIT else 2)
        fault = self.take_value(row, known, &c, w, found)
        if fault != SOUND and known.key >= 0:
            # Nothing of the value is kept, and the columns that the key fills are filled again.
            self.forget(row)
            again = w[0]
            again.json = NULL
            c = cursor_over(key, 2)
            read_message(&again, &c, known.key)
        return fault

    cdef int take_metadata(self, Py_ssize_t row, const Slice* value, Walk* w, Found* found) noexcept nogil:
        """A metadata record: three varints in front, and nothing may be left after it."""
        cdef const Versions* known
        cdef Cursor c
        cdef int32_t frame = 0
        cdef int fault
        if value.size < 0:
            return SOUND
        c = cursor_over(value, 0)
        if not read_count(&c, &frame):
            return FRAME_CUT
        if frame != METADATA_FRAME:
            return UNKNOWN_FRAME
        if not read_count(&c, &found.type):
            return FRAME_CUT
        found.has_type = found.type >= 0
        if not 0 <= found.type <= INT16_MAX:
            return TYPE_RANGE
        if not read_count(&c, &found.version):
            return FRAME_CUT
        found.has_version = found.version >= 0
        known = self.find(found)
        if known == NULL:
            return UNKNOWN_TYPE
        return self.take_value(row, known, &c, w, found)

    cdef const Versions* find(self, const Found* found) noexcept nogil:
        cdef const Versions* types = self.control if found.control else self.types
        cdef int32_t i
        for i in range(self.control_count if found.control else self.type_count):
            if types[i].number == found.type:
                return &types[i]
        return NULL

    cdef int take_value(self, Py_ssize_t row, const Versions* known, Cursor* c, Walk* w, Found* found) noexcept nogil:
        cdef int32_t version = found.version
        if found.control and found.type <= CONTROL_COMMIT and version >= known.versions:
            version = known.versions - 1  # as Kafka reads a transaction's marker of a newer version
        if not 0 <= version < known.versions:
            return UNKNOWN_VERSION
        return self.take_message(row, VALUE_JSON, self.value_json, known.value + version, c, w, found)

    cdef int take_message(self, Py_ssize_t row, int json_slot, bint json, int32_t struct, Cursor* c, Walk* w,
                          Found* found) noexcept nogil:
        """A key or a value; of one that is not sound nothing is kept."""
        cdef Slot* slot = &self.slots.items[json_slot]
        cdef int fault
        w.json = &slot.data if json else NULL
        fault = read_message(w, c, struct)
        if fault == SOUND and self.is_metadata and not found.control and left(c) > 0:
            fault = LEFT_OVER
        if fault == SOUND and json and not end_text(slot):
            fault = NO_ROOM
        if fault == SOUND:
            return SOUND
        found.position = <int32_t>c.pos
        cut_slot(self.slots.items, slot, row)
        self.forget(row)
        return fault

    cdef void forget(self, Py_ssize_t row) noexcept nogil:
        """Empty the topic's own columns of the row."""
        cdef int32_t i
        for i in range(<int>FIRST, self.slots.roots):
            cut_slot(self.slots.items, &self.slots.items[i], row)


cdef int64_t packed(int fault, const Found* found, int32_t field) noexcept nogil:
    """Position, field (0: none, else one more), part and fault in one number."""
    return (<int64_t>found.position << 32) | (<int64_t>(field + 1) << 16) | (<int64_t>found.part << 8) | fault


cdef Versions* versions_of(described, Program program) except NULL:
    cdef Versions* types = <Versions*>calloc(max(len(described), 1), sizeof(Versions))
    cdef Py_ssize_t i
    if types == NULL:
        raise MemoryError("no memory for the record types")
    for i, (number, key, value, versions) in enumerate(described):
        if not (-1 <= key < program.struct_count and 0 <= value < value + versions <= program.struct_count):
            free(types)
            raise ValueError(f"record type {number} has a message that does not exist")
        types[i].number, types[i].key, types[i].value, types[i].versions = number, key, value, versions
    return types
