# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Bytes and times as a person and a program read them: quoted text, escaped text, base64, ISO 8601.

No character that a terminal interprets is ever written: what Python's ``str.isprintable`` does not call printable is
escaped.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from kafkalog_source._core.output cimport Output, make_room, write_byte, write_bytes, write_integer, write_padded
from kafkalog_source._core.utf8 cimport next_sequence

cdef extern from "Python.h":
    bint Py_UNICODE_ISPRINTABLE(uint32_t character) noexcept nogil
    bint Py_UNICODE_ISALNUM(uint32_t character) noexcept nogil


cdef enum ByteKind:
    # What a byte of UTF-8 is within quotes. Those above ESCAPED are no text by `write_text`.
    PLAIN
    ESCAPED
    LEAD
    CONTROL

cdef uint8_t[256] KINDS
cdef uint8_t[256] SHORT_ESCAPES
cdef const uint8_t* HEX = b"0123456789abcdef"
cdef const uint8_t* BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
cdef Py_ssize_t LONGEST_ESCAPE = 12  # of one character in JSON: two code units

cdef int64_t US_OF_DAY = 86_400_000_000
cdef int64_t DAYS_OF_CYCLE = 146_097  # the Gregorian calendar repeats after 400 years


cdef int fill_tables() except -1:
    for byte in range(256):
        KINDS[byte] = LEAD if byte >= 0x80 else CONTROL if byte < 0x20 or byte == 0x7F else PLAIN
    for byte, letter in {0x22: b'"', 0x5C: b"\\", 0x09: b"t", 0x0A: b"n", 0x0D: b"r", 0x08: b"b", 0x0C: b"f"}.items():
        SHORT_ESCAPES[byte] = letter[0]
        if byte not in (0x08, 0x0C):
            KINDS[byte] = ESCAPED
    return 0


fill_tables()


cdef inline Py_ssize_t plain_bytes(const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """The bytes at `p` before the first one that is not PLAIN."""
    cdef Py_ssize_t i = 0
    while i < n and KINDS[p[i]] == PLAIN:
        i += 1
    return i


cdef inline uint32_t code_point(const uint8_t* p, Py_ssize_t size) noexcept nogil:
    """The character of a valid sequence of `size` bytes."""
    if size == 1:
        return p[0]
    if size == 2:
        return (<uint32_t>(p[0] & 0x1F) << 6) | (p[1] & 0x3F)
    if size == 3:
        return (<uint32_t>(p[0] & 0x0F) << 12) | (<uint32_t>(p[1] & 0x3F) << 6) | (p[2] & 0x3F)
    return ((<uint32_t>(p[0] & 0x07) << 18) | (<uint32_t>(p[1] & 0x3F) << 12) | (<uint32_t>(p[2] & 0x3F) << 6)
            | (p[3] & 0x3F))


cdef inline void put_hex(Output* o, uint8_t letter, uint32_t value, int digits) noexcept nogil:
    """A backslash, a letter and hexadecimal digits; there is room for them."""
    cdef int i
    o.data[o.size] = 92
    o.data[o.size + 1] = letter
    for i in range(digits):
        o.data[o.size + 2 + i] = HEX[(value >> (4 * (digits - 1 - i))) & 15]
    o.size += 2 + digits


cdef inline void put_code_units(Output* o, uint32_t character) noexcept nogil:
    """The escape of a character in JSON, with its UTF-16 code units."""
    if character >= 0x10000:
        put_hex(o, 117, 0xD800 + ((character - 0x10000) >> 10), 4)
        character = 0xDC00 + ((character - 0x10000) & 0x3FF)
    put_hex(o, 117, character, 4)


cdef inline void put_escape(Output* o, uint8_t byte) noexcept nogil:
    if SHORT_ESCAPES[byte]:
        o.data[o.size] = 92
        o.data[o.size + 1] = SHORT_ESCAPES[byte]
        o.size += 2
    else:
        put_hex(o, 117, byte, 4)


cdef Written write_in_quotes(Output* o, const uint8_t* p, Py_ssize_t n, bint controls) noexcept nogil:
    """A JSON string. Without `controls`, a control character other than tab and line ends is not text."""
    cdef Py_ssize_t start = o.size
    cdef Py_ssize_t taken
    cdef uint32_t character
    cdef uint8_t kind
    cdef bint good = False
    if not make_room(o, n + LONGEST_ESCAPE + 1):
        return OUT_OF_MEMORY
    o.data[o.size] = 34
    o.size += 1
    while n > 0:
        taken = plain_bytes(p, n)
        # Room for the rest as it is, for the next escape, and for the closing quote.
        if o.capacity - o.size < n + LONGEST_ESCAPE + 1 and not make_room(o, n + LONGEST_ESCAPE + 1):
            return OUT_OF_MEMORY
        memcpy(o.data + o.size, p, taken)
        o.size += taken
        p += taken
        n -= taken
        if n == 0:
            break
        kind = KINDS[p[0]]
        taken = 1
        if kind == LEAD:
            taken = next_sequence(p, n, &good)
            character = code_point(p, taken) if good else 0
            if not good or (not controls and character < 0xA0):
                o.size = start
                return NOT_TEXT
            if Py_UNICODE_ISPRINTABLE(character):
                memcpy(o.data + o.size, p, taken)
                o.size += taken
            else:
                put_code_units(o, character)
        elif kind == CONTROL and not controls:
            o.size = start
            return NOT_TEXT
        else:
            put_escape(o, p[0])
        p += taken
        n -= taken
    o.data[o.size] = 34
    o.size += 1
    return WRITTEN


cdef Written write_text(Output* o, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """Bytes as a JSON string, if they are text: valid UTF-8 without control characters but tab and line ends."""
    return write_in_quotes(o, p, n, False)


cdef Written write_quoted(Output* o, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """UTF-8 as a JSON string; NOT_TEXT if it is not valid."""
    return write_in_quotes(o, p, n, True)


cdef Written write_printable(Output* o, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """UTF-8 with what is not printable escaped as in Python; NOT_TEXT if it is not valid."""
    cdef Py_ssize_t start = o.size
    cdef Py_ssize_t taken
    cdef uint32_t character
    cdef bint good = False
    while n > 0:
        if not make_room(o, n + LONGEST_ESCAPE):
            return OUT_OF_MEMORY
        taken = next_sequence(p, n, &good)
        if not good:
            o.size = start
            return NOT_TEXT
        character = code_point(p, taken)
        if Py_UNICODE_ISPRINTABLE(character):
            memcpy(o.data + o.size, p, taken)
            o.size += taken
        elif character == 9 or character == 10 or character == 13:
            put_escape(o, <uint8_t>character)
        elif character < 0x100:
            put_hex(o, 120, character, 2)
        elif character < 0x10000:
            put_hex(o, 117, character, 4)
        else:
            put_hex(o, 85, character, 8)
        p += taken
        n -= taken
    return WRITTEN


cdef Written write_header_name(Output* o, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """A name as it is if it has letters, digits and ``_.:-`` alone, and else as `write_quoted`."""
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t taken
    cdef uint32_t character
    cdef bint good = False
    while at < n:
        taken = next_sequence(p + at, n - at, &good)
        character = code_point(p + at, taken) if good else 0
        if not (Py_UNICODE_ISALNUM(character) or is_name_mark(character)):
            return write_quoted(o, p, n)
        at += taken
    if n == 0:
        return write_quoted(o, p, n)
    return WRITTEN if write_bytes(o, p, n) else OUT_OF_MEMORY


cdef inline bint is_name_mark(uint32_t character) noexcept nogil:
    return character == 95 or character == 46 or character == 58 or character == 45


cdef bint write_base64(Output* o, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """Base64 with padding."""
    cdef uint8_t* out
    cdef uint32_t group
    if not make_room(o, (n + 2) // 3 * 4):
        return False
    out = o.data + o.size
    o.size += (n + 2) // 3 * 4
    while n > 0:
        group = (<uint32_t>p[0] << 16) | (<uint32_t>p[1] << 8 if n > 1 else 0) | (p[2] if n > 2 else 0)
        out[0] = BASE64[group >> 18]
        out[1] = BASE64[(group >> 12) & 63]
        out[2] = BASE64[(group >> 6) & 63] if n > 1 else 61
        out[3] = BASE64[group & 63] if n > 2 else 61
        out += 4
        p += 3
        n -= 3
    return True


cdef bint write_time(Output* o, int64_t timestamp_us) noexcept nogil:
    """ISO 8601 in UTC, with milliseconds, or microseconds if there are any; years outside 0 to 9999 have a sign."""
    cdef int64_t day = timestamp_us // US_OF_DAY
    cdef int64_t us = timestamp_us % US_OF_DAY
    cdef int64_t cycle, year
    cdef int64_t month, rest
    if us < 0:
        day -= 1
        us += US_OF_DAY
    # A year that begins in March ends with its leap day, and days of its months follow one rule.
    day += 719_468  # from 0000-03-01
    cycle = day // DAYS_OF_CYCLE - (day % DAYS_OF_CYCLE < 0)
    rest = day - cycle * DAYS_OF_CYCLE
    year = (rest - rest // 1460 + rest // 36_524 - rest // 146_096) // 365
    rest -= 365 * year + year // 4 - year // 100
    month = (5 * rest + 2) // 153
    rest -= (153 * month + 2) // 5
    month = month + 3 if month < 10 else month - 9
    year += 400 * cycle + (month <= 2)
    return (write_year(o, year) and write_byte(o, 45) and write_padded(o, month, 2) and write_byte(o, 45)
            and write_padded(o, rest + 1, 2) and write_byte(o, 84) and write_time_of_day(o, us))


cdef inline bint write_year(Output* o, int64_t year) noexcept nogil:
    if 0 <= year <= 9999:
        return write_padded(o, year, 4)
    return write_byte(o, 45 if year < 0 else 43) and write_padded(o, -year if year < 0 else year, 4)


cdef inline bint write_time_of_day(Output* o, int64_t us) noexcept nogil:
    cdef int64_t seconds = us // 1_000_000
    cdef int64_t fraction = us % 1_000_000
    cdef bint has_us = fraction % 1000 != 0
    return (write_padded(o, seconds // 3600, 2) and write_byte(o, 58) and write_padded(o, seconds // 60 % 60, 2)
            and write_byte(o, 58) and write_padded(o, seconds % 60, 2) and write_byte(o, 46)
            and write_padded(o, fraction if has_us else fraction // 1000, 6 if has_us else 3) and write_byte(o, 90))
