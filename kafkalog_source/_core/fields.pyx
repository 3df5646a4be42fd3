# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Messages in Kafka's versioned and flexible formats, by the tables of a `Program`: checked, as JSON, and as columns.

The rules are those of Kafka's generated classes. A struct with tagged fields is gone through twice, since its tags come
after its other fields and stand between them in JSON: once to check it and to find them, once to write it.
"""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from kafkalog_source._core.bytes cimport Cursor, left, load_i16, load_i32, load_i64, read_unsigned
from kafkalog_source._core.json_text cimport (
    Text, put_base64, put_byte, put_double, put_integer, put_plain, put_raw, put_text,
)
from kafkalog_source._core.program cimport (
    ARRAY, BOOL, BYTES, EMBEDDED, FLOAT64, INT8, INT16, INT32, MOST_FIELDS, STRING, STRUCT, UINT16, UUID,
    Field, Struct,
)
from kafkalog_source._core.slots cimport Slot, end_element, end_list, end_text, put_none, put_number

FAULTS = (
    "sound", "no_room", "cut_short", "bad_varint", "null_field", "text_length", "array_length", "tag_count", "tag_version", "left_over",
    "no_key", "key_cut", "unknown_frame", "frame_cut", "type_range", "unknown_type", "version_cut", "unknown_version",
)

cdef int LONGEST_TEXT = 0x7FFF
cdef int UUID_SIZE = 16
cdef int REDACTED_SIZE = 10
cdef const char* REDACTED = b"(redacted)"


cdef bint read_count(Cursor* c, int32_t* out) noexcept nogil:
    """An unsigned varint of at most five bytes, as the int that Java makes of it."""
    cdef uint64_t value
    if not read_unsigned(c, &value, 28):
        return False
    out[0] = <int32_t><uint32_t>value
    return True


cdef inline int fail(Walk* w, int32_t number, int fault) noexcept nogil:
    """`fault`, and the innermost field that it lies in."""
    if w.failed < 0:
        w.failed = number
    return fault


cdef inline int read_length(Cursor* c, const Field* f, int width, int32_t* out) noexcept nogil:
    """The length of a text, bytes or an array: negative for null. In a compact field it is a varint, one too large."""
    if f.compact:
        if not read_count(c, out):
            return CUT_SHORT if left(c) == 0 else BAD_VARINT
        out[0] = <int32_t>(<uint32_t>out[0] - 1)
    else:
        if left(c) < width:
            return CUT_SHORT
        if width == 2:
            out[0] = load_i16(c.data + c.pos)
        else:
            out[0] = load_i32(c.data + c.pos)
        c.pos += width
    return NULL_FIELD if out[0] < 0 and not f.nullable else SOUND


cdef inline Slot* slot_of(const Walk* w, const Field* f) noexcept nogil:
    """Where the field's value is to be kept; NULL: nowhere."""
    return &w.slots[f.slot] if w.slots != NULL and f.slot >= 0 else NULL


cdef inline int put_null_value(Walk* w, const Field* f) noexcept nogil:
    cdef Slot* slot = slot_of(w, f)
    if w.json != NULL and not put_raw(w.json, b"null", 4):
        return NO_ROOM
    if slot != NULL and not put_none(slot):
        return NO_ROOM
    return SOUND


cdef inline int number_size(const Field* f) noexcept nogil:
    if f.kind == BOOL or f.kind == INT8:
        return 1
    if f.kind == INT16 or f.kind == UINT16:
        return 2
    return 4 if f.kind == INT32 else 8


cdef int read_number(Walk* w, Cursor* c, const Field* f) noexcept nogil:
    """A boolean, an integer or a floating-point number."""
    cdef int size = number_size(f)
    cdef const uint8_t* p = c.data + c.pos
    cdef int64_t value
    cdef double real
    cdef Slot* slot = slot_of(w, f)
    if left(c) < size:
        return CUT_SHORT
    c.pos += size
    if size == 1:
        value = <int8_t>p[0]
    elif f.kind == UINT16:
        value = <uint16_t>load_i16(p)
    elif size == 2:
        value = load_i16(p)
    elif size == 4:
        value = load_i32(p)
    else:
        value = load_i64(p)
    if f.kind == BOOL:
        value = value != 0
    if slot != NULL and not put_number(slot, value):
        return NO_ROOM
    if w.json == NULL:
        return SOUND
    if f.kind == FLOAT64:
        memcpy(&real, &value, sizeof(double))
        return SOUND if put_double(w.json, real) else NO_ROOM
    if f.kind == BOOL:
        return SOUND if (put_raw(w.json, b"true", 4) if value else put_raw(w.json, b"false", 5)) else NO_ROOM
    return SOUND if put_integer(w.json, value) else NO_ROOM


cdef int put_string(Walk* w, const Field* f, const uint8_t* p, Py_ssize_t size) noexcept nogil:
    cdef Slot* slot = slot_of(w, f)
    if f.secret and w.redact:
        p = <const uint8_t*>REDACTED
        size = REDACTED_SIZE
    if w.json != NULL and not put_text(w.json, p, size):
        return NO_ROOM
    if slot != NULL and not (put_plain(&slot.data, p, size) and end_text(slot)):
        return NO_ROOM
    return SOUND


cdef int read_string(Walk* w, Cursor* c, const Field* f) noexcept nogil:
    cdef int32_t size = 0
    cdef const uint8_t* p
    cdef int fault = read_length(c, f, 2, &size)
    if fault != SOUND:
        return fault
    if size > LONGEST_TEXT:
        return TEXT_LENGTH
    if size > left(c):
        return CUT_SHORT
    if size < 0:
        return put_null_value(w, f)
    p = c.data + c.pos
    c.pos += size
    if f.marker:
        w.marked = size == f.standard_size and memcmp(p, w.text + f.standard, size) == 0
    return put_string(w, f, p, size)


cdef int read_uuid(Walk* w, Cursor* c, const Field* f) noexcept nogil:
    cdef const uint8_t* p = c.data + c.pos
    cdef Slot* slot = slot_of(w, f)
    if left(c) < UUID_SIZE:
        return CUT_SHORT
    c.pos += UUID_SIZE
    if w.json != NULL and not (put_byte(w.json, 34) and put_base64(w.json, p, UUID_SIZE, True) and put_byte(w.json, 34)):
        return NO_ROOM
    if slot != NULL and not (put_base64(&slot.data, p, UUID_SIZE, True) and end_text(slot)):
        return NO_ROOM
    return SOUND


cdef int put_bytes(Walk* w, const Field* f, const uint8_t* p, Py_ssize_t size) noexcept nogil:
    if w.json == NULL:
        return SOUND
    if f.secret and w.redact:
        return SOUND if put_text(w.json, <const uint8_t*>REDACTED, REDACTED_SIZE) else NO_ROOM
    if put_byte(w.json, 34) and put_base64(w.json, p, size, False) and put_byte(w.json, 34):
        return SOUND
    return NO_ROOM


cdef int read_bytes(Walk* w, Cursor* c, const Field* f) noexcept nogil:
    cdef int32_t size = 0
    cdef const uint8_t* p
    cdef int fault = read_length(c, f, 4, &size)
    if fault != SOUND:
        return fault
    if size > left(c):
        return CUT_SHORT
    if size < 0:
        return put_null_value(w, f)
    p = c.data + c.pos
    c.pos += size
    if f.kind == EMBEDDED and w.marked and (w.json != NULL or w.slots != NULL):
        return put_embedded(w, f, p, size)
    return put_bytes(w, f, p, size)


cdef int put_embedded(Walk* w, const Field* f, const uint8_t* p, Py_ssize_t size) noexcept nogil:
    """A message with its version in front, of which Kafka reads a newer one as the newest; base64 if it is none."""
    cdef Cursor c
    cdef Walk quiet = w[0]
    cdef int version
    c.data = p
    c.pos = 2
    c.end = size
    if size < 2 or load_i16(p) < 0:
        return put_bytes(w, f, p, size)
    version = min(load_i16(p), f.versions - 1)
    quiet.json = NULL
    quiet.slots = NULL
    if read_struct(&quiet, &c, f.inner + version) != SOUND:
        return put_bytes(w, f, p, size)
    c.pos = 2
    return read_struct(w, &c, f.inner + version)


cdef int read_array(Walk* w, Cursor* c, const Field* f) noexcept nogil:
    cdef int32_t count = 0
    cdef int32_t i
    cdef Slot* slot = slot_of(w, f)
    cdef int fault = read_length(c, f, 4, &count)
    if fault != SOUND:
        return fault
    if count > left(c):
        return ARRAY_LENGTH
    if count < 0:
        return put_null_value(w, f)
    if w.json != NULL and not put_byte(w.json, 91):
        return NO_ROOM
    for i in range(count):
        if i > 0 and w.json != NULL and not put_byte(w.json, 44):
            return NO_ROOM
        fault = read_value(w, c, f.inner)
        if fault != SOUND:
            return fault
        if slot != NULL and not end_element(w.slots, slot):
            return NO_ROOM
    if (w.json != NULL and not put_byte(w.json, 93)) or (slot != NULL and not end_list(slot)):
        return NO_ROOM
    return SOUND


cdef int read_nested(Walk* w, Cursor* c, const Field* f) noexcept nogil:
    """A struct; one that can be null has a byte in front that says so, a tagged one a varint."""
    cdef int32_t present = 0
    if f.nullable and f.tag >= 0:
        if not read_count(c, &present):
            return CUT_SHORT if left(c) == 0 else BAD_VARINT
        present = 0 if present > 0 else -1
    elif f.nullable:
        if left(c) < 1:
            return CUT_SHORT
        present = <int8_t>c.data[c.pos]
        c.pos += 1
    return put_null_value(w, f) if present < 0 else read_struct(w, c, f.inner)


cdef int read_value(Walk* w, Cursor* c, int32_t number) noexcept nogil:
    """The value of a field or an element."""
    cdef const Field* f = &w.fields[number]
    cdef int fault
    if f.kind <= FLOAT64:
        fault = read_number(w, c, f)
    elif f.kind == STRING:
        fault = read_string(w, c, f)
    elif f.kind == BYTES or f.kind == EMBEDDED:
        fault = read_bytes(w, c, f)
    elif f.kind == UUID:
        fault = read_uuid(w, c, f)
    elif f.kind == ARRAY:
        fault = read_array(w, c, f)
    elif f.kind == STRUCT:
        fault = read_nested(w, c, f)
    else:
        fault = TAG_VERSION
    return SOUND if fault == SOUND else fail(w, number, fault)


cdef int read_named(Walk* w, Cursor* c, int32_t number) noexcept nogil:
    """A field of a struct, with its name."""
    cdef const Field* f = &w.fields[number]
    if w.json != NULL:
        if w.json.data[w.json.size - 1] != 123 and not put_byte(w.json, 44):
            return NO_ROOM
        if not put_raw(w.json, w.text + f.name, f.name_size):
            return NO_ROOM
    return read_value(w, c, number)


cdef int read_tagged(Walk* w, Cursor* c, int32_t number) noexcept nogil:
    """A tagged field, which JSON leaves out at its default."""
    cdef const Field* f = &w.fields[number]
    cdef Py_ssize_t before = w.json.size if w.json != NULL else 0
    cdef Py_ssize_t value
    cdef int fault = read_named(w, c, number)
    if fault != SOUND or w.json == NULL:
        return fault
    value = before + f.name_size + (w.json.data[before - 1] != 123)
    if (w.json.size - value == f.standard_size
            and memcmp(w.json.data + value, w.text + f.standard, f.standard_size) == 0):
        w.json.size = before
    return SOUND


cdef int read_tags(Walk* w, Cursor* c, const Struct* s, Py_ssize_t* places) noexcept nogil:
    """The tags after a struct's fields: checked, and the place of each known one noted. As in Kafka the last of
    several counts, and what a known one takes is its content and not the size in front of it."""
    cdef int32_t count = 0
    cdef int32_t tag = 0
    cdef int32_t size = 0
    cdef int32_t i, k
    cdef int fault
    if not read_count(c, &count):
        return CUT_SHORT if left(c) == 0 else BAD_VARINT
    if not 0 <= count <= left(c):
        return TAG_COUNT
    for i in range(count):
        if not read_count(c, &tag) or not read_count(c, &size):
            return CUT_SHORT if left(c) == 0 else BAD_VARINT
        k = tagged_field(w, s, tag)
        if k >= 0:
            places[k] = c.pos
            fault = read_value(w, c, s.first + k)
            if fault != SOUND:
                return fault
        elif size < 0 or size > left(c):
            return CUT_SHORT
        else:
            c.pos += size
    return SOUND


cdef inline int32_t tagged_field(const Walk* w, const Struct* s, int32_t tag) noexcept nogil:
    """Which of the struct's fields has this tag, -1: none that is known."""
    cdef int32_t k
    if s.tags > 0 and tag >= 0:
        for k in range(s.count):
            if w.fields[s.first + k].tag == tag:
                return k
    return -1


cdef int read_struct(Walk* w, Cursor* c, int32_t number) noexcept nogil:
    cdef const Struct* s = &w.structs[number]
    cdef int fault
    cdef int32_t k
    if s.tags > 0:
        return read_struct_with_tags(w, c, s)
    if w.json != NULL and not put_byte(w.json, 123):
        return NO_ROOM
    for k in range(s.count):
        fault = read_named(w, c, s.first + k)
        if fault != SOUND:
            return fault
    if s.flexible:
        fault = read_tags(w, c, s, NULL)
        if fault != SOUND:
            return fault
    return SOUND if w.json == NULL or put_byte(w.json, 125) else NO_ROOM


cdef int read_struct_with_tags(Walk* w, Cursor* c, const Struct* s) noexcept nogil:
    cdef Walk quiet = w[0]
    cdef Cursor again = c[0]
    cdef Py_ssize_t places[MOST_FIELDS]
    cdef int fault = SOUND
    cdef int32_t k
    quiet.json = NULL
    quiet.slots = NULL
    for k in range(s.count):
        places[k] = -1
        if w.fields[s.first + k].tag < 0:
            fault = read_value(&quiet, c, s.first + k)
            if fault != SOUND:
                break
    if fault == SOUND:
        fault = read_tags(&quiet, c, s, &places[0])
    w.failed = quiet.failed
    if fault != SOUND or (w.json == NULL and w.slots == NULL):
        return fault
    if w.json != NULL and not put_byte(w.json, 123):
        return NO_ROOM
    for k in range(s.count):
        if w.fields[s.first + k].tag < 0:
            fault = read_named(w, &again, s.first + k)
        elif places[k] >= 0:
            fault = read_at(w, c, places[k], s.first + k)
        if fault != SOUND:
            return fault
    return SOUND if w.json == NULL or put_byte(w.json, 125) else NO_ROOM


cdef int read_at(Walk* w, const Cursor* c, Py_ssize_t place, int32_t number) noexcept nogil:
    cdef Cursor there = c[0]
    there.pos = place
    return read_tagged(w, &there, number)


cdef int read_message(Walk* w, Cursor* c, int32_t struct) noexcept nogil:
    """A message at the cursor, which ends where the message does. After a fault JSON and slots hold a part of it."""
    w.failed = -1
    w.marked = False
    return read_struct(w, c, struct)
