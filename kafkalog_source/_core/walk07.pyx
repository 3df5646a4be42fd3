# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Find the messages in a window of a Kafka 0.7 segment.

A message has a length, a magic byte, with magic 1 an attributes byte, a checksum of
the payload, and the payload (``Message.scala`` of 0.7). It does not store its
offset, which is its byte position in the whole log.
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

    INCOMPLETE if fewer bytes are left than the header has; `entry.size` is then the number of bytes needed to continue.
    The caller checks whether the payload is complete.
    """
    cdef int32_t length
    # Only the bytes of the next field are required, so that the result does not depend on where a window ends.
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
    # Magic 1 has one more byte, the attributes.
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

    Set `origin`, the offset of the first byte, before each window. The parameters are those of `Entries`: no message
    begins at or above `stop`, and none extends past `bound`.
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
        """Drop the window's messages from `index` on; the next one begins at `walked`, which may be later."""
        if not 0 <= index <= self.count:
            raise IndexError(index)
        self.count = index
        self.walked = walked


def find_message_07(Scratch window, Py_ssize_t start, Py_ssize_t size, Py_ssize_t beyond):
    """Return the first position in [start, size) of `window` where a plausible message begins, or -1.

    A message is plausible if its header is valid, its codec is known, and it ends at most `beyond` bytes after the
    window. That is weak evidence, so the caller verifies checksums.
    """
    cdef const uint8_t* data = window.address
    cdef Entry entry
    cdef Py_ssize_t at
    cdef Py_ssize_t found = -1
    if size > window.capacity or start < 0 or beyond < 0:
        raise ValueError(f"[{start}, {size}) is not a range within {window.capacity} bytes")
    with nogil:
        for at in range(start, size - V07_PAYLOAD_OFFSET_V0 + 1):
            if data[at + V07_MAGIC_OFFSET] > 1 or parse_header_07(data + at, size - at, &entry) != Code.OK:
                continue
            if entry.size <= size - at + beyond and (entry.attributes & V07_CODEC_MASK) <= V07_NEWEST_CODEC:
                found = at
                break
    return found
