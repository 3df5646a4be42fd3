# All of it is for the core alone; nothing can be used from Python.
from libc.stdint cimport int32_t, uint8_t

from kafkalog_source._core.bytes cimport Cursor
from kafkalog_source._core.json_text cimport Text
from kafkalog_source._core.program cimport Field, Struct
from kafkalog_source._core.slots cimport Slot


cdef enum Fault:
    # What is wrong with a record; the order is that of `fields.FAULTS`.
    SOUND
    NO_ROOM                # no memory, or more than 2 GiB
    CUT_SHORT
    BAD_VARINT
    NULL_FIELD
    TEXT_LENGTH
    ARRAY_LENGTH
    TAG_COUNT
    TAG_VERSION
    LEFT_OVER
    NO_KEY
    KEY_CUT
    UNKNOWN_FRAME
    FRAME_CUT
    TYPE_RANGE
    UNKNOWN_TYPE
    VERSION_CUT
    UNKNOWN_VERSION


cdef struct Walk:
    # What goes along with the cursor through one message.
    const Field* fields
    const Struct* structs
    const uint8_t* text
    Text* json             # NULL: not wanted
    Slot* slots            # NULL: not wanted
    bint redact            # secret fields are not shown
    bint marked            # the value says that its EMBEDDED fields hold messages
    int32_t failed         # the field that a fault lies in, -1: none


cdef int read_message(Walk* w, Cursor* c, int32_t struct) noexcept nogil
cdef bint read_count(Cursor* c, int32_t* out) noexcept nogil
