# All of it is for the core alone, but for making a Program.
from libc.stdint cimport int32_t, uint8_t


cdef enum:
    MOST_FIELDS = 48   # of one struct
    MOST_NESTED = 16   # structs and arrays inside each other


cdef enum Kind:
    # In the order of `program.KINDS`; the numbers come first.
    BOOL
    INT8
    INT16
    UINT16
    INT32
    INT64
    FLOAT64
    STRING
    BYTES
    UUID
    ARRAY
    STRUCT
    EMBEDDED               # bytes that hold a message of another kind when the value says so (`Field.marker`)
    NOT_IN_VERSION         # a tag of other versions, which is an error in this one


cdef struct Field:
    Kind kind
    int32_t tag            # -1: none
    int32_t inner          # the field that describes an element, the struct, or the first of the embedded structs
    int32_t versions       # of the embedded message, from 0 on
    int32_t slot           # where the value is kept for a column, -1: nowhere
    int32_t name           # `"name":` in the text
    int32_t name_size
    int32_t standard       # JSON of the default in the text; for a marker what it has to be
    int32_t standard_size
    bint compact           # lengths are unsigned varints, one more than they say
    bint nullable
    bint secret
    bint marker            # a string that says whether EMBEDDED fields are decoded


cdef struct Struct:
    # A struct in one version: fields [first, first + count) in the order of their JSON.
    int32_t first
    int32_t count
    int32_t tags           # how many of them are tagged
    bint flexible


cdef class Program:
    cdef Field* fields
    cdef Struct* structs
    cdef const uint8_t* text
    cdef readonly int32_t field_count
    cdef readonly int32_t struct_count
    cdef bytes _text

    cdef int check(self) except -1
    cdef bint points_inside(self, const Field* f) except? False
    cdef int check_depth(self, int32_t number, int depth) except -1
