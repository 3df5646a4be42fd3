# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Functions of the C libraries in Python packages, called without Python.

Checksums and LZ4 blocks are called so often that acquiring and releasing the
interpreter lock for each call prevents threads from running in parallel. The
extension modules of isal, lz4 and xxhash contain their C libraries, and most builds
export the libraries' public functions. If a build does not, or a function returns a
wrong result in a self-test, the pointer stays NULL and the package's Python function
is called instead.
"""

from libc.limits cimport INT_MAX
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy

from kafkalog_source._core.bytes cimport load_u32_le
from kafkalog_source._core.framing cimport LZ4_MOST_EXPANSION, Lz4Header, lz4_header
from kafkalog_source._core.memory cimport Scratch

cdef extern from *:
    """
    #if defined(_WIN32)
    static void *kafkalog_find_symbol(const char *path, const char *name) { return NULL; }
    #else
    #include <dlfcn.h>
    /* The module is already loaded and never unloaded, so the symbol stays valid. */
    static void *kafkalog_find_symbol(const char *path, const char *name) {
        void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
        return library ? dlsym(library, name) : NULL;
    }
    #endif
    """
    void* kafkalog_find_symbol(const char* path, const char* name)

cdef bytes CHECK_INPUT = b"123456789"
cdef uint32_t CHECK_CRC32C = 0xE3069283
cdef uint32_t CHECK_CRC32 = 0xCBF43926
cdef uint32_t CHECK_XXH32 = 0x937BAD67
cdef bytes CHECK_LZ4 = b"\x90123456789"  # a token for nine literals, and the literals


cdef class CFunctions:
    """The functions that were found; the others are NULL.

    Parameters
    ----------
    isal, lz4, xxhash : str, optional
        The files of the packages' extension modules, which must already be imported; None leaves the functions NULL.
    """

    def __cinit__(self, isal=None, lz4=None, xxhash=None):
        self.crc32_iscsi = <Crc32Iscsi>symbol(isal, b"crc32_iscsi")
        self.crc32_gzip_refl = <Crc32GzipRefl>symbol(isal, b"crc32_gzip_refl")
        self.lz4_decompress_safe = <Lz4DecompressSafe>symbol(lz4, b"LZ4_decompress_safe")
        self.xxh32 = <Xxh32>symbol(xxhash, b"XXH32")
        self.drop_wrong_ones()

    cdef int drop_wrong_ones(self) except -1:
        cdef const uint8_t* p = CHECK_INPUT
        cdef char room[9]
        if self.crc32_iscsi != NULL and self.crc32c(p, 9) != CHECK_CRC32C:
            self.crc32_iscsi = NULL
        if self.crc32_gzip_refl != NULL and self.crc32(p, 9) != CHECK_CRC32:
            self.crc32_gzip_refl = NULL
        if self.xxh32 != NULL and self.xxh32(p, 9, 0) != CHECK_XXH32:
            self.xxh32 = NULL
        if self.lz4_decompress_safe != NULL:
            if self.lz4_decompress_safe(CHECK_LZ4, room, 10, 9) != 9 or room[:9] != CHECK_INPUT:
                self.lz4_decompress_safe = NULL
        return 0

    @property
    def found(self):
        """The names of the functions that were found."""
        return tuple(name for name, is_there in (
            ("crc32_iscsi", self.crc32_iscsi != NULL),
            ("crc32_gzip_refl", self.crc32_gzip_refl != NULL),
            ("LZ4_decompress_safe", self.lz4_decompress_safe != NULL),
            ("XXH32", self.xxh32 != NULL),
        ) if is_there)

    cdef bint has_checksums(self) noexcept nogil:
        return self.crc32_iscsi != NULL and self.crc32_gzip_refl != NULL

    cdef bint has_lz4(self) noexcept nogil:
        return self.lz4_decompress_safe != NULL and self.xxh32 != NULL

    cdef uint32_t crc32c(self, const uint8_t* p, Py_ssize_t size) noexcept nogil:
        cdef uint32_t crc = 0xFFFFFFFF
        cdef int part
        while size > 0:
            part = <int>min(size, <Py_ssize_t>INT_MAX)
            crc = self.crc32_iscsi(<unsigned char*>p, part, crc)
            p += part
            size -= part
        return ~crc

    cdef uint32_t crc32(self, const uint8_t* p, Py_ssize_t size) noexcept nogil:
        return self.crc32_gzip_refl(0, p, size)

    cdef Py_ssize_t lz4_frame(self, const uint8_t* p, Py_ssize_t size, bint check_header, Scratch room,
                              Py_ssize_t limit) noexcept nogil:
        """Decompress an LZ4 frame to the start of `room`, and return the size of its content, or -1 for any error.

        `Lz4Frames`, which accepts the same frames, reports what is wrong.
        """
        cdef Lz4Header header
        cdef Py_ssize_t written = 0
        cdef Py_ssize_t pos
        cdef uint32_t word
        cdef bint plain
        cdef Py_ssize_t length
        cdef Py_ssize_t most
        cdef int got
        if lz4_header(p, size, &header) != NULL:
            return -1
        if check_header and (self.xxh32(p + 4, header.size - 5, 0) >> 8) & 0xFF != p[header.size - 1]:
            return -1
        pos = header.size
        while True:
            if size - pos < 4:
                return -1
            word = load_u32_le(p + pos)
            length = word & 0x7FFFFFFF
            plain = word != <uint32_t>length
            pos += 4
            if length == 0:
                return written
            if length > header.largest_block or length + (4 if header.block_checksums else 0) > size - pos:
                return -1
            if header.block_checksums and self.xxh32(p + pos, length, 0) != load_u32_le(p + pos + length):
                return -1
            most = length if plain else min(header.largest_block, LZ4_MOST_EXPANSION * length)
            if not room.try_grow(written, written + most, limit):
                return -1
            if plain:
                memcpy(room.address + written, p + pos, length)
                got = <int>length
            else:
                got = self.lz4_decompress_safe(<const char*>p + pos, <char*>room.address + written, <int>length, <int>most)
            if got < 0 or written + got > limit:
                return -1
            written += got
            pos += length + (4 if header.block_checksums else 0)


cdef void* symbol(path, bytes name) except? NULL:
    return NULL if path is None else kafkalog_find_symbol(path.encode(), name)
