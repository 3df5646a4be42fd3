# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The framing of LZ4, snappy and zstd streams, as Kafka's readers accept it.

The codecs' libraries decompress the blocks. The headers around them are parsed here:
Kafka 0.8 and 0.9 wrote LZ4 frames whose header checksum no standard library accepts,
snappy has a framing of its own, and neither the zstd nor the LZ4 library
distinguishes a truncated stream from a complete one.
"""

from libc.stdint cimport INT64_MAX, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from kafkalog_source._core.bytes cimport load_i32, load_u32_le
from kafkalog_source._core.memory cimport Scratch, View

from kafkalog_source.errors import CodecError, LimitError

cdef uint32_t LZ4_MAGIC = 0x184D2204
cdef uint32_t ZSTD_MAGIC = 0xFD2FB528
cdef uint32_t SKIPPABLE_MAGIC = 0x184D2A50
cdef Py_ssize_t ZSTD_BLOCK_MAX = 1 << 17
cdef int SNAPPY_MOST_EXPANSION = 24  # a copy of 64 bytes takes three, plus a margin


def too_large(str codec, limit):
    return LimitError(
        f"the {codec} payload decompresses to more than is allowed",
        expected=f"at most {limit} bytes",
        remedy="Raise maxDecompressedBatchBytes if the batch is known to be good",
    )


def bad_stream(str codec, str problem, found=None, expected=None):
    return CodecError(f"the {codec} payload is damaged: {problem}", found=found, expected=expected)


def view_of(data):
    """Return a View over a bytes object, for callers outside the decoder."""
    cdef View view = View.__new__(View)
    cdef bytes owner = bytes(data)
    view.set(<const uint8_t*>owner, len(owner))
    view.owner = owner
    return view


cdef const char* lz4_header(const uint8_t* p, Py_ssize_t end, Lz4Header* header) noexcept nogil:
    """Read the header of an LZ4 frame except its checksum; return what is wrong with it, or NULL."""
    cdef int flags, descriptor
    if end < 7 or load_u32_le(p) != LZ4_MAGIC:
        return b"it does not begin with a frame"
    flags = p[4]
    descriptor = p[5]
    if flags >> 6 != 1 or flags & 3:
        return b"the frame's flags are not those of version 1"
    if not flags & 0x20:
        return b"its blocks are linked, which Kafka refuses"
    if descriptor & 0x8F or descriptor >> 4 < 4:
        return b"the frame's block size is invalid"
    header.largest_block = <Py_ssize_t>1 << (8 + 2 * (descriptor >> 4))
    header.block_checksums = (flags & 0x10) != 0
    header.size = 15 if flags & 8 else 7
    if end < header.size:
        return b"the frame's header is truncated"
    return NULL


cdef class Lz4Frames:
    """Reads one LZ4 frame (``Lz4BlockInputStream``).

    Kafka accepts only independent blocks, does not verify the content checksum, and ignores what follows the frame.

    Parameters
    ----------
    decompress_block : callable
        ``f(source, uncompressed_size=n) -> bytes``, at most n bytes.
    xxh32 : callable
        ``f(bytes_like) -> int``.
    """

    cdef object decompress_block
    cdef object xxh32
    cdef View view

    def __cinit__(self, decompress_block, xxh32):
        self.decompress_block = decompress_block
        self.xxh32 = xxh32
        self.view = View.__new__(View)

    def decompress(self, View source, Scratch scratch, Py_ssize_t limit, bint check_header):
        """Return the content of the frame in `source`: bytes if it has one block, otherwise a view of `scratch`.

        `check_header` is false for magic 0, whose writers computed a wrong header checksum (``Lz4BlockOutputStream``).
        """
        cdef const uint8_t* p = source.address
        cdef Py_ssize_t end = source.size
        cdef Lz4Header header
        cdef Py_ssize_t pos
        cdef Py_ssize_t written = 0
        cdef Py_ssize_t size = 0
        cdef bytes block = None
        cdef bint plain = False
        self.read_header(p, end, check_header, &header)
        pos = header.size
        while True:
            size = self.next_block(p, end, &pos, &header, &plain)
            if size == 0:
                break
            if block is not None:
                written = keep(scratch, written, block, limit)
                block = None  # The next block can reuse its memory.
            block = self.read_block(p + pos, size, header.largest_block, plain)
            pos += size + (4 if header.block_checksums else 0)
        if block is None:
            return b""
        if written == 0:
            if len(block) > limit:
                raise too_large("lz4", limit)
            return block
        written = keep(scratch, written, block, limit)
        return scratch.view(0, written)

    cdef int read_header(self, const uint8_t* p, Py_ssize_t end, bint check_header, Lz4Header* header) except -1:
        cdef const char* problem = lz4_header(p, end, header)
        if problem != NULL:
            # Without the magic it is not a frame and may be anything, also record content, which is not shown.
            is_frame = end >= 7 and load_u32_le(p) == LZ4_MAGIC
            found = f"flags 0x{p[4]:02x}, block descriptor 0x{p[5]:02x}" if is_frame else None
            raise bad_stream("lz4", problem.decode(), found=found)
        self.view.set(p + 4, header.size - 5)
        if check_header:
            computed = (<uint32_t>self.xxh32(self.view) >> 8) & 0xFF
            if computed != p[header.size - 1]:
                found = f"stored 0x{p[header.size - 1]:02x}, computed 0x{computed:02x}"
                raise bad_stream("lz4", "the frame's header checksum is wrong", found=found)
        return 0

    cdef Py_ssize_t next_block(self, const uint8_t* p, Py_ssize_t end, Py_ssize_t* pos, const Lz4Header* header,
                               bint* plain) except -1:
        """Move to the data of the next block and return its size, or 0 at the end mark."""
        cdef uint32_t word
        cdef Py_ssize_t size
        if end - pos[0] < 4:
            raise bad_stream("lz4", "the frame is truncated before its end mark")
        word = load_u32_le(p + pos[0])
        pos[0] += 4
        plain[0] = (word & 0x80000000) != 0
        size = word & 0x7FFFFFFF
        if size == 0:
            return 0
        if size > header.largest_block:
            raise bad_stream(
                "lz4", "a block is larger than the frame allows", found=f"{size} bytes",
                expected=f"at most {header.largest_block}"
            )
        if size + (4 if header.block_checksums else 0) > end - pos[0]:
            raise bad_stream(
                "lz4", "a block is truncated", found=f"{end - pos[0]} bytes",
                expected=f"{size + (4 if header.block_checksums else 0)} bytes"
            )
        if header.block_checksums:
            self.view.set(p + pos[0], size)
            computed = <uint32_t>self.xxh32(self.view)
            word = load_u32_le(p + pos[0] + size)
            if computed != word:
                found = f"stored 0x{word:08x}, computed 0x{computed:08x}"
                raise bad_stream("lz4", "a block's checksum is wrong", found=found)
        return size

    cdef bytes read_block(self, const uint8_t* p, Py_ssize_t size, Py_ssize_t largest, bint plain):
        if plain:
            return p[:size]
        self.view.set(p, size)
        try:
            return self.decompress_block(self.view, uncompressed_size=min(largest, LZ4_MOST_EXPANSION * size))
        except Exception as error:  # the library's exception type cannot be imported by name
            raise bad_stream("lz4", "a block does not decompress") from error


cdef int make_room(Scratch scratch, Py_ssize_t written, Py_ssize_t needed, Py_ssize_t limit) except -1:
    """Grow `scratch` to `needed` bytes, at most `limit`; at least one, as the libraries crash on a null address."""
    if needed > scratch.capacity or scratch.capacity == 0:
        scratch.ensure(max(1, min(limit, max(2 * scratch.capacity, needed))), written)
    return 0


cdef Py_ssize_t keep(Scratch scratch, Py_ssize_t written, bytes block, Py_ssize_t limit) except -1:
    """Append `block` to the `written` bytes of `scratch`."""
    cdef Py_ssize_t size = len(block)
    if written + size > limit:
        raise too_large("lz4", limit)
    make_room(scratch, written, written + size, limit)
    memcpy(scratch.address + written, <const uint8_t*>block, size)
    return written + size


cdef Py_ssize_t snappy_size(const uint8_t* p, Py_ssize_t size) except -1:
    """Return the length that a raw snappy block claims (an unsigned varint), if its bytes can hold that much."""
    cdef uint64_t claimed = 0
    cdef int i
    for i in range(min(size, 5)):
        claimed |= <uint64_t>(p[i] & 0x7F) << (7 * i)
        if p[i] < 0x80:
            if claimed > <uint64_t>size * SNAPPY_MOST_EXPANSION:
                raise bad_stream(
                    "snappy", "a block claims more than its bytes can hold", found=f"{claimed} bytes",
                    expected=f"at most {size * SNAPPY_MOST_EXPANSION}"
                )
            return claimed
    raise bad_stream("snappy", "a block has no valid length", expected="a varint of at most 5 bytes")


cdef bint is_xerial_header(const uint8_t* p, Py_ssize_t size) except -1:
    """Whether xerial's header is at `p`. As in its reader, only the first of its two versions is checked."""
    if size < 16 or memcmp(p, b"\x82SNAPPY\x00", 8) != 0:
        return False
    if load_i32(p + 8) < 1:
        raise bad_stream("snappy", "the stream's version is invalid", found=load_i32(p + 8), expected="1 or above")
    return True


cdef class SnappyStream:
    """Reads a snappy payload: xerial's framing, or one raw block (``SnappyInputStream`` of snappy-java).

    xerial's framing is a 16-byte header, then (int32 length, raw block) repeated. The header may be repeated where
    streams were concatenated. A payload without the header is one raw block.

    Parameters
    ----------
    decompress_into : callable
        ``f(source, destination) -> int``, of a raw block.
    """

    cdef object decompress_into
    cdef View source
    cdef View destination

    def __cinit__(self, decompress_into):
        self.decompress_into = decompress_into
        self.source = View.__new__(View)
        self.destination = View.__new__(View)
        self.destination.writable = True

    def decompress(self, View source, Scratch scratch, Py_ssize_t limit):
        """Return the content of `source`, as a view of `scratch`."""
        cdef const uint8_t* p = source.address
        cdef Py_ssize_t end = source.size
        cdef bint framed = is_xerial_header(p, end)
        cdef Py_ssize_t content = snappy_stream_size(p, end) if framed else snappy_size(p, end)
        cdef Py_ssize_t pos = 0
        cdef Py_ssize_t written = 0
        cdef Py_ssize_t size = end
        # Every block gives its size, so a payload that is too large is rejected before memory is reserved.
        if content > limit:
            raise too_large("snappy", limit)
        make_room(scratch, 0, content, limit)
        if not framed:
            return scratch.view(0, self.read_block(p, end, scratch, 0))
        while next_snappy_block(p, end, &pos, &size):
            written = self.read_block(p + pos, size, scratch, written)
            pos += size
        return scratch.view(0, written)

    cdef Py_ssize_t read_block(self, const uint8_t* p, Py_ssize_t size, Scratch scratch, Py_ssize_t written) except -1:
        cdef Py_ssize_t claimed = snappy_size(p, size)
        self.source.set(p, size)
        self.destination.set(scratch.address + written, claimed)
        try:
            got = self.decompress_into(self.source, self.destination)
        except Exception as error:  # the library raises several types for bad input
            raise bad_stream("snappy", "a block does not decompress") from error
        if got != claimed:
            raise bad_stream("snappy", "a block does not have the length that it claims", found=got, expected=claimed)
        return written + claimed


cdef Py_ssize_t snappy_stream_size(const uint8_t* p, Py_ssize_t end) except -1:
    """The sum of the lengths that the blocks of a stream in xerial's framing claim."""
    cdef Py_ssize_t pos = 0
    cdef Py_ssize_t size = 0
    cdef Py_ssize_t content = 0
    while next_snappy_block(p, end, &pos, &size):
        content += snappy_size(p + pos, size)
        pos += size
    return content


cdef bint next_snappy_block(const uint8_t* p, Py_ssize_t end, Py_ssize_t* pos, Py_ssize_t* size) except -1:
    """Move to the next nonempty block and set its size; False at the end of the stream."""
    while end - pos[0] >= 4:
        if is_xerial_header(p + pos[0], end - pos[0]):
            pos[0] += 16
            continue
        size[0] = load_i32(p + pos[0])
        pos[0] += 4
        if size[0] < 0 or size[0] > end - pos[0]:
            raise bad_stream("snappy", "a block's length is invalid", found=size[0], expected=f"0 to {end - pos[0]}")
        if size[0]:
            return True
    return False


def zstd_frames(View source):
    """Parse the headers of the zstd frames in `source` (RFC 8878).

    Returns
    -------
    tuple of (int, int, int)
        The number of frames, the most bytes that they can decompress to, and the largest window that one of them
        needs, in bytes.

    Raises
    ------
    CodecError
        `source` is not a sequence of complete frames, so that a truncated stream does not pass for a short one.
    """
    cdef const uint8_t* p = source.address
    cdef Py_ssize_t end = source.size
    cdef Py_ssize_t pos = 0
    cdef Py_ssize_t bound = 0
    cdef Py_ssize_t frames = 0
    cdef Py_ssize_t window = 0
    cdef uint32_t magic
    while pos < end:
        frames += 1
        if end - pos < 8:
            raise bad_stream("zstd", "a frame is truncated")
        magic = load_u32_le(p + pos)
        if magic & 0xFFFFFFF0 == SKIPPABLE_MAGIC:
            pos += 8 + <Py_ssize_t>load_u32_le(p + pos + 4)
        elif magic == ZSTD_MAGIC:
            window = max(window, zstd_window(p + pos, end - pos))
            pos = zstd_frame_end(p, end, pos, &bound)
        else:
            raise bad_stream("zstd", f"no frame begins at byte {pos}", expected=f"magic 0x{ZSTD_MAGIC:08x}")
    if pos > end:
        raise bad_stream("zstd", "a frame is truncated")
    return frames, bound, window


cdef Py_ssize_t zstd_window(const uint8_t* p, Py_ssize_t left) noexcept nogil:
    """The window that the frame at `p` needs; for a single-segment frame, its content size."""
    cdef int descriptor = p[4]
    cdef int width = 1 << (descriptor >> 6)
    cdef Py_ssize_t at = 5 + ((1 << (descriptor & 3)) >> 1)
    cdef uint64_t window = 0
    cdef int i
    if descriptor & 0x20:
        if left < at + width:
            return 0
        for i in range(width):
            window |= <uint64_t>p[at + i] << (8 * i)
        return <Py_ssize_t>min(window + (256 if width == 2 else 0), <uint64_t>INT64_MAX)
    window = <uint64_t>1 << (10 + (p[5] >> 3))
    return <Py_ssize_t>(window + window // 8 * (p[5] & 7))


cdef Py_ssize_t zstd_frame_end(const uint8_t* p, Py_ssize_t end, Py_ssize_t pos, Py_ssize_t* bound) except -1:
    cdef int descriptor = p[pos + 4]
    cdef int size_flag = descriptor >> 6
    cdef bint single_segment = (descriptor & 0x20) != 0
    cdef uint32_t header
    cdef Py_ssize_t size
    pos += 5 + (0 if single_segment else 1) + (0, 1, 2, 4)[descriptor & 3]
    pos += (1 if single_segment else 0) if size_flag == 0 else 1 << size_flag
    while True:
        if end - pos < 3:
            raise bad_stream("zstd", "a frame is truncated")
        header = p[pos] | (<uint32_t>p[pos + 1] << 8) | (<uint32_t>p[pos + 2] << 16)
        size = header >> 3
        pos += 3
        if (header >> 1) & 3 == 2:
            bound[0] += ZSTD_BLOCK_MAX
        else:
            bound[0] += size
        pos += 1 if (header >> 1) & 3 == 1 else size
        if header & 1:
            break
    pos += 4 if descriptor & 4 else 0
    if pos > end:
        raise bad_stream("zstd", "a frame is truncated")
    return pos
