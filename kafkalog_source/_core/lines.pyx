# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Rows of Arrow arrays as lines of text or JSON, many at a time and without the interpreter lock.

A line is a sequence of cells; what a cell is made of is its kind.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from kafkalog_source._core.arrays cimport Array, Piece, array_of, find, is_null, is_set, validity_of
from kafkalog_source._core.output cimport Output, write_byte, write_bytes, write_integer
from kafkalog_source._core.quoting cimport (
    NOT_TEXT, OUT_OF_MEMORY, WRITTEN, Written, write_base64, write_header_name, write_printable, write_quoted,
    write_text, write_time,
)

KINDS = (
    "literal", "int32", "int64", "boolean", "time", "quoted_time", "milliseconds", "timestamp_type", "printable",
    "quoted", "raw", "bytes", "json_bytes", "headers", "json_headers", "csv_headers",
)


cdef enum Kind:
    # In the order of KINDS.
    LITERAL
    INT32
    INT64
    BOOLEAN
    TIME
    QUOTED_TIME
    MILLISECONDS
    TIMESTAMP_TYPE
    PRINTABLE
    QUOTED
    RAW
    BYTES
    JSON_BYTES
    HEADERS
    JSON_HEADERS
    CSV_HEADERS


cdef enum Code:
    FINE
    NO_MEMORY
    BAD_OFFSETS
    BAD_UTF8


cdef struct Cell:
    Kind kind
    bint joined       # whether the separator comes before it, unless it is the first one that is written
    bint omits_nulls  # the cell is left out, also its prefix, if the value is null
    Piece prefix
    Piece null


cdef struct Column:
    # A list of headers has children: the structs, of which only the validity matters, the names and the values.
    Array array
    Array structs
    Array names
    Array values


@cython.final
cdef class Lines:
    """Writes lines of one layout.

    Parameters
    ----------
    cells : sequence of tuple
        (kind, prefix, joined, null): a word of KINDS, the bytes before the value, whether `between` separates it from
        the cell before, and the bytes for null, or None to leave the cell out.
    before, between, after : bytes
        What begins a line, separates cells, and ends a line.
    """

    cdef Cell* cells
    cdef Column* columns
    cdef Py_ssize_t count
    cdef Piece before, between, after
    cdef list owned
    cdef Output out

    def __cinit__(self, cells, bytes before, bytes between, bytes after):
        self.count = len(cells)
        self.owned = []
        self.cells = <Cell*>calloc(self.count + 1, sizeof(Cell))
        self.columns = <Column*>calloc(self.count + 1, sizeof(Column))
        if self.cells == NULL or self.columns == NULL:
            raise MemoryError("out of memory for the layout of a line")
        self.before = self.piece(before)
        self.between = self.piece(between)
        self.after = self.piece(after)
        for number, (kind, prefix, joined, null) in enumerate(cells):
            self.cells[number] = Cell(
                KINDS.index(kind), joined, null is None, self.piece(prefix), self.piece(null or b"")
            )

    def __dealloc__(self):
        free(self.cells)
        free(self.columns)
        free(self.out.data)

    cdef Piece piece(self, bytes content):
        self.owned.append(content)
        return Piece(content, len(content))

    def write(self, arrays, Py_ssize_t start, Py_ssize_t stop):
        """Return the lines of the rows [start, stop).

        Parameters
        ----------
        arrays : sequence of tuple
            For each cell (length, offset, buffers) as in Arrow; (0, 0, ()) for a literal. A list of headers has a
            fourth item with the same of its structs, names and values. The buffers are those of Arrow's layout, with
            None for a validity bitmap that is not there.
        start, stop : int

        Returns
        -------
        bytes

        Raises
        ------
        ValueError
            If a buffer or an offset in it does not fit the array, or a string is not UTF-8.
        """
        cdef Py_ssize_t number
        cdef Code code
        if len(arrays) != self.count:
            raise ValueError(f"{len(arrays)} arrays for {self.count} cells")
        for number in range(self.count):
            self.columns[number] = column_of(self.cells[number].kind, arrays[number], start, stop)
        self.out.size = 0
        with nogil:
            code = self.write_rows(start, stop)
        if code == NO_MEMORY:
            raise MemoryError(f"out of memory for the lines of {stop - start} rows")
        if code != FINE:
            raise ValueError("a string that is not UTF-8" if code == BAD_UTF8 else "an offset outside its buffer")
        return self.out.data[:self.out.size] if self.out.size else b""

    cdef Code write_rows(self, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
        cdef Py_ssize_t row, number
        cdef bint is_first
        cdef Code code
        for row in range(start, stop):
            is_first = True
            if not put(&self.out, &self.before):
                return NO_MEMORY
            for number in range(self.count):
                code = self.write_cell(&self.cells[number], &self.columns[number], row, &is_first)
                if code != FINE:
                    return code
            if not put(&self.out, &self.after):
                return NO_MEMORY
        return FINE

    cdef Code write_cell(self, Cell* cell, Column* column, Py_ssize_t row, bint* is_first) noexcept nogil:
        cdef bint null = cell.kind != LITERAL and is_null(&column.array, row)
        if null and cell.omits_nulls:
            return FINE
        if cell.joined and not is_first[0] and not put(&self.out, &self.between):
            return NO_MEMORY
        is_first[0] = False
        if not put(&self.out, &cell.prefix):
            return NO_MEMORY
        if cell.kind == LITERAL:
            return FINE
        if null:
            return FINE if put(&self.out, &cell.null) else NO_MEMORY
        if cell.kind < PRINTABLE:
            return FINE if write_fixed(&self.out, cell.kind, &column.array, row) else NO_MEMORY
        if cell.kind < HEADERS:
            return write_variable(&self.out, cell.kind, &column.array, row)
        return write_headers(&self.out, cell.kind, column, row)


cdef inline bint put(Output* o, const Piece* piece) noexcept nogil:
    return write_bytes(o, piece.data, piece.size)


cdef inline Code plain_code(bint written) noexcept nogil:
    return FINE if written else NO_MEMORY


cdef bint write_fixed(Output* o, Kind kind, const Array* a, Py_ssize_t row) noexcept nogil:
    cdef Py_ssize_t place = a.first + row
    cdef int64_t value
    if kind == INT32:
        return write_integer(o, (<const int32_t*>a.data)[place])
    if kind == TIMESTAMP_TYPE:
        return write_timestamp_type(o, (<const int32_t*>a.data)[place])
    if kind == BOOLEAN:
        return write_bytes(o, b"true", 4) if is_set(a.data, place) else write_bytes(o, b"false", 5)
    value = (<const int64_t*>a.data)[place]
    if kind == INT64:
        return write_integer(o, value)
    if kind == TIME:
        return write_time(o, value)
    if kind == QUOTED_TIME:
        return write_byte(o, 34) and write_time(o, value) and write_byte(o, 34)
    return write_integer(o, value // 1000 - (value % 1000 < 0))


cdef inline bint write_timestamp_type(Output* o, int32_t value) noexcept nogil:
    if value == 0:
        return write_bytes(o, b"CreateTime", 10)
    if value == 1:
        return write_bytes(o, b"LogAppendTime", 13)
    if value == -1:
        return write_bytes(o, b"NoTimestampType", 15)
    return write_integer(o, value)


cdef Code write_variable(Output* o, Kind kind, const Array* a, Py_ssize_t row) noexcept nogil:
    cdef Piece value
    if not find(a, row, &value):
        return BAD_OFFSETS
    if kind == BYTES or kind == JSON_BYTES:
        return plain_code(write_any_bytes(o, &value, kind == JSON_BYTES))
    if kind == PRINTABLE:
        return code_of(write_printable(o, value.data, value.size))
    if kind == QUOTED:
        return code_of(write_quoted(o, value.data, value.size))
    return plain_code(put(o, &value))


cdef inline Code code_of(Written written) noexcept nogil:
    return FINE if written == WRITTEN else BAD_UTF8 if written == NOT_TEXT else NO_MEMORY


cdef bint write_any_bytes(Output* o, const Piece* value, bint as_json) noexcept nogil:
    cdef Written written = write_text(o, value.data, value.size)
    if written != NOT_TEXT:
        return written == WRITTEN
    if as_json:
        return (write_bytes(o, b'{"base64": "', 12) and write_base64(o, value.data, value.size)
                and write_bytes(o, b'"}', 2))
    return write_bytes(o, b"base64:", 7) and write_base64(o, value.data, value.size)


cdef Code write_headers(Output* o, Kind kind, const Column* column, Py_ssize_t row) noexcept nogil:
    cdef int32_t start = column.array.offsets[column.array.first + row]
    cdef int32_t end = column.array.offsets[column.array.first + row + 1]
    cdef Py_ssize_t at
    cdef Code code
    if not 0 <= start <= end <= column.structs.length:
        return BAD_OFFSETS
    if kind != CSV_HEADERS and not write_byte(o, 91):
        return NO_MEMORY
    for at in range(start, end):
        if at > start and not write_bytes(o, b", ", 1 if kind == CSV_HEADERS else 2):
            return NO_MEMORY
        if is_null(&column.structs, at):
            code = plain_code(write_bytes(o, b"null", 4))
        else:
            code = write_header(o, kind, column, at)
        if code != FINE:
            return code
    return plain_code(kind == CSV_HEADERS or write_byte(o, 93))


cdef Code write_header(Output* o, Kind kind, const Column* column, Py_ssize_t at) noexcept nogil:
    cdef Code code
    cdef Piece value
    if kind == JSON_HEADERS and not write_bytes(o, b'{"key": ', 8):
        return NO_MEMORY
    code = write_name(o, kind, &column.names, at)
    if code != FINE:
        return code
    if not (write_bytes(o, b', "value": ', 11) if kind == JSON_HEADERS else write_byte(o, 61)):
        return NO_MEMORY
    if is_null(&column.values, at):
        code = plain_code(write_bytes(o, b"NULL" if kind == CSV_HEADERS else b"null", 4))
    elif not find(&column.values, at, &value):
        code = BAD_OFFSETS
    elif kind == CSV_HEADERS:
        code = plain_code(put(o, &value))
    else:
        code = plain_code(write_any_bytes(o, &value, kind == JSON_HEADERS))
    if code == FINE and kind == JSON_HEADERS and not write_byte(o, 125):
        return NO_MEMORY
    return code


cdef Code write_name(Output* o, Kind kind, const Array* names, Py_ssize_t at) noexcept nogil:
    cdef Piece name
    if is_null(names, at):
        return plain_code(write_bytes(o, b"null", 4))
    if not find(names, at, &name):
        return BAD_OFFSETS
    if kind == CSV_HEADERS:
        return plain_code(put(o, &name))
    if kind == HEADERS:
        return code_of(write_header_name(o, name.data, name.size))
    return code_of(write_quoted(o, name.data, name.size))


cdef Column column_of(Kind kind, described, Py_ssize_t start, Py_ssize_t stop) except *:
    """The column that a cell of this kind reads, after its buffers were measured."""
    cdef Column column
    cdef Py_ssize_t width = 0
    memset(&column, 0, sizeof(Column))
    if kind == LITERAL:
        return column
    if kind < PRINTABLE:
        width = 1 if kind == BOOLEAN else 32 if kind == INT32 or kind == TIMESTAMP_TYPE else 64
    column.array = array_of(described, width)
    if not 0 <= start <= stop <= column.array.length:
        raise ValueError(f"rows {start} to {stop} of an array of {column.array.length}")
    if kind >= HEADERS:
        column.structs = validity_of(described[3][0])
        column.names = array_of(described[3][1], 0)
        column.values = array_of(described[3][2], 0)
        if min(column.names.length, column.values.length) < column.structs.length:
            raise ValueError("fewer names or values than headers")
    return column
