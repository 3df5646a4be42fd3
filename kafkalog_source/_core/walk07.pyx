# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Where the messages of a window of a Kafka 0.7 segment begin and end.

A message is a length, a magic byte, with magic 1 an attributes byte, a checksum
of the payload, and the payload (``Message.scala`` of 0.7). It stores no offset:
its offset is the place where it stands in the whole log.
"""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

from kafkalog_source._core.bytes cimport load_i32
from kafkalog_source._core.codes cimport Code
from kafkalog_source._core.layout cimport (
    V07_ATTRIBUTES_OFFSET, V07_CODEC_MASK, V07_LENGTH_OFFSET, V07_MAGIC_OFFSET, V07_MIN_LENGTH, V07_NEWEST_CODEC,
    V07_PAYLOAD_OFFSET_V0,
)
from kafkalog_source._core.memory cimport Scratch
from kafkalog_source._core.walk cimport Entries, Entry


cdef int parse_header_07(const uint8_t* p, Py_ssize_t left, Entry* entry) noexcept nogil:
    """Read the header at `p` into `entry`: size, magic and attributes.

    INCOMPLETE when fewer bytes are left than the header has; `entry.size` is then what is needed to go on.
    Whether the payload is there is for the caller to ask.
    """
    cdef int32_t length
    # No more is asked for than the next field has: how a header is judged must not depend on where a window ends.
    entry.size = V07_MAGIC_OFFSET
    if left < V07_MAGIC_OFFSET:
        return Code.INCOMPLETE
    length = load_i32(p + V07_LENGTH_OFFSET)
    if length < V07_MIN_LENGTH:
        return Code.BAD_LENGTH
    entry.size = V07_MAGIC_OFFSET + 1
    if left < V07_MAGIC_OFFSET + 1:
        return Code.INCOMPLETE
    entry.magic = <int8_t>p[V07_MAGIC_OFFSET]
    if entry.magic != 0 and entry.magic != 1:
        return Code.BAD_MAGIC
    # Magic 1 has attributes, a byte more.
    if length < V07_MIN_LENGTH + entry.magic:
        return Code.BAD_LENGTH
    entry.size = V07_MAGIC_OFFSET + 1 + entry.magic
    if left < entry.size:
        return Code.INCOMPLETE
    entry.attributes = <int8_t>p[V07_ATTRIBUTES_OFFSET] if entry.magic else 0
    entry.size = V07_MAGIC_OFFSET + <Py_ssize_t>length
    entry.checked = False
    return Code.OK


cdef class Entries07(Entries):
    """The top-level messages of one window after another.

    `origin` is to be set before each window: the offset of its first byte. The parameters are those of `Entries`;
    no message begins at or above `stop`, none reaches behind `bound`.
    """

    cdef int walk_window(self, const uint8_t* data, Py_ssize_t size) noexcept nogil:
        cdef Entry entry
        cdef int code
        self.count = 0
        self.walked = 0
        self.next_size = 0
        while self.walked < size:
            entry.first_offset = self.origin + self.walked
            if entry.first_offset >= self.stop:
                return Code.PAST_OFFSETS
            code = parse_header_07(data + self.walked, size - self.walked, &entry)
            if code == Code.OK and entry.size > self.bound - entry.first_offset:
                return Code.OFFSET_ABOVE_FILE
            if code == Code.INCOMPLETE:
                self.next_size = entry.size
            if code != Code.OK:
                return code
            if entry.size > size - self.walked:
                self.next_size = self.needed_of(&entry, size - self.walked)
                if self.next_size:
                    return Code.INCOMPLETE
            entry.last_offset = entry.first_offset
            entry.previous = self.last_offset
            entry.start = self.walked
            if not self.push(&entry):
                return Code.NO_MEMORY
            self.walked += entry.size
            self.last_offset = entry.last_offset
        return Code.END

    def resume_behind(self, Py_ssize_t index, Py_ssize_t walked):
        """Forget the window's messages from `index` on; the next one begins at `walked`, which may be behind it."""
        if not 0 <= index <= self.count:
            raise IndexError(index)
        self.count = index
        self.walked = walked


def find_message_07(Scratch window, Py_ssize_t start, Py_ssize_t size, Py_ssize_t beyond):
    """The first place in [start, size) of `window` where a plausible message begins, or -1.

    Plausible is a header that reads well, a known codec, and a size that ends within `beyond` bytes behind the window.
    That says little; checksums are for the caller to compare.
    """
    cdef const uint8_t* data = window.address
    cdef Entry entry
    cdef Py_ssize_t at
    cdef Py_ssize_t found = -1
    if size > window.capacity or start < 0 or beyond < 0:
        raise ValueError(f"[{start}, {size}) is outside of {window.capacity} bytes")
    with nogil:
        for at in range(start, size - V07_PAYLOAD_OFFSET_V0 + 1):
            if data[at + V07_MAGIC_OFFSET] > 1 or parse_header_07(data + at, size - at, &entry) != Code.OK:
                continue
            if entry.size <= size - at + beyond and (entry.attributes & V07_CODEC_MASK) <= V07_NEWEST_CODEC:
                found = at
                break
    return found
