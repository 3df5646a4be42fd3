from libc.stdint cimport uint8_t, uint32_t, uint64_t

from kafkalog_source._core.memory cimport Scratch

ctypedef unsigned int (*Crc32Iscsi)(unsigned char* data, int size, unsigned int crc) noexcept nogil
ctypedef uint32_t (*Crc32GzipRefl)(uint32_t crc, const unsigned char* data, uint64_t size) noexcept nogil
ctypedef int (*Lz4DecompressSafe)(const char* source, char* room, int size, int capacity) noexcept nogil
ctypedef uint32_t (*Xxh32)(const void* data, size_t size, uint32_t seed) noexcept nogil


cdef class CFunctions:
    cdef Crc32Iscsi crc32_iscsi
    cdef Crc32GzipRefl crc32_gzip_refl
    cdef Lz4DecompressSafe lz4_decompress_safe
    cdef Xxh32 xxh32

    cdef int drop_wrong_ones(self) except -1
    cdef bint has_checksums(self) noexcept nogil
    cdef bint has_lz4(self) noexcept nogil
    cdef uint32_t crc32c(self, const uint8_t* p, Py_ssize_t size) noexcept nogil
    cdef uint32_t crc32(self, const uint8_t* p, Py_ssize_t size) noexcept nogil
    cdef Py_ssize_t lz4_frame(self, const uint8_t* p, Py_ssize_t size, bint check_header, Scratch room,
                              Py_ssize_t limit) noexcept nogil
