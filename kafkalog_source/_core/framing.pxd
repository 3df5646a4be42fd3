from libc.stdint cimport uint8_t


cdef enum:
    LZ4_MOST_EXPANSION = 255


cdef struct Lz4Header:
    Py_ssize_t size           # in bytes, with its checksum
    Py_ssize_t largest_block  # in bytes, decompressed
    bint block_checksums


cdef const char* lz4_header(const uint8_t* p, Py_ssize_t end, Lz4Header* header) noexcept nogil
