from kafkalog_source._core.memory cimport Scratch
from kafkalog_source._core.walk cimport Entries


cdef int check_range(Scratch window, Entries entries, Py_ssize_t start, Py_ssize_t stop) except -1
