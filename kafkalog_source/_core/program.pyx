# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The layout of messages, each in each of its versions, as the flat tables that `fields` goes by."""

from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport calloc, free

KINDS = ("bool", "int8", "int16", "uint16", "int32", "int64", "float64", "string", "bytes", "uuid", "array", "struct",
         "embedded", "not_in_version")


cdef class Program:
    """The fields and structs of all messages of a topic.

    Parameters
    ----------
    fields : sequence of tuple
        (kind, tag, inner, versions, slot, name, name_size, standard, standard_size, compact, nullable, secret,
        marker); see ``Field`` in ``program.pxd``.
    structs : sequence of tuple
        (first, count, tags, flexible).
    text : bytes
        What `name` and `standard` point into.

    Raises
    ------
    ValueError
        An index points outside, a struct is too large, or structs lie inside each other too deep.
    """

    def __cinit__(self, fields, structs, bytes text):
        cdef int32_t i
        self.field_count = len(fields)
        self.struct_count = len(structs)
        self._text = text
        self.text = <const uint8_t*>text
        self.fields = <Field*>calloc(max(self.field_count, 1), sizeof(Field))
        self.structs = <Struct*>calloc(max(self.struct_count, 1), sizeof(Struct))
        if self.fields == NULL or self.structs == NULL:
            raise MemoryError("no memory for the layout of messages")
        for i in range(self.field_count):
            set_field(&self.fields[i], fields[i])
        for i in range(self.struct_count):
            self.structs[i].first, self.structs[i].count, self.structs[i].tags, self.structs[i].flexible = structs[i]
        self.check()

    def __dealloc__(self):
        free(self.fields)
        free(self.structs)

    cdef int check(self) except -1:
        """What the loops take for granted."""
        cdef int32_t i
        cdef Field* f
        cdef Struct* s
        for i in range(self.field_count):
            f = &self.fields[i]
            inside = (0 <= f.name <= f.name + f.name_size <= len(self._text)
                      and 0 <= f.standard <= f.standard + f.standard_size <= len(self._text))
            if not inside or not self.points_inside(f):
                raise ValueError(f"field {i} points outside of the program")
        for i in range(self.struct_count):
            s = &self.structs[i]
            if not (0 <= s.first <= s.first + s.count <= self.field_count) or s.count > MOST_FIELDS:
                raise ValueError(f"struct {i} has fields outside of the program, or more than {<int>MOST_FIELDS}")
        for i in range(self.struct_count):
            self.check_depth(i, 0)
        return 0

    cdef bint points_inside(self, const Field* f) except? False:
        if f.kind == ARRAY:
            return 0 <= f.inner < self.field_count
        if f.kind == STRUCT:
            return 0 <= f.inner < self.struct_count
        if f.kind == EMBEDDED:
            return 0 <= f.inner < f.inner + f.versions <= self.struct_count
        return 0 <= <int>f.kind <= <int>NOT_IN_VERSION

    cdef int check_depth(self, int32_t number, int depth) except -1:
        cdef int32_t i, version
        cdef const Field* f
        if depth > MOST_NESTED:
            raise ValueError(f"more than {<int>MOST_NESTED} structs lie inside each other")
        for i in range(self.structs[number].first, self.structs[number].first + self.structs[number].count):
            f = &self.fields[i]
            while f.kind == ARRAY:
                depth += 1
                if depth > MOST_NESTED:
                    raise ValueError(f"more than {<int>MOST_NESTED} arrays lie inside each other")
                f = &self.fields[f.inner]
            if f.kind == STRUCT:
                self.check_depth(f.inner, depth + 1)
            elif f.kind == EMBEDDED:
                for version in range(f.versions):
                    self.check_depth(f.inner + version, depth + 1)
        return 0


cdef int set_field(Field* f, tuple described) except -1:
    (kind, f.tag, f.inner, f.versions, f.slot, f.name, f.name_size, f.standard, f.standard_size, f.compact, f.nullable,
     f.secret, f.marker) = described
    f.kind = <Kind><int>KINDS.index(kind)
    return 0
