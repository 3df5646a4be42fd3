# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Export record batches through Arrow's C data interface.

Building a record batch column by column in Python takes a large part of the time
that decoding takes, all under the interpreter lock. With these structs it takes one
call.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport calloc, free


cdef enum:
    MOST_BUFFERS = 3


cdef struct ArrowArray:
    # As specified by the interface.
    int64_t length
    int64_t null_count
    int64_t offset
    int64_t n_buffers
    int64_t n_children
    const void** buffers
    ArrowArray** children
    ArrowArray* dictionary
    void (*release)(ArrowArray*) noexcept
    void* private_data


cdef struct Node:
    # A child array, with its buffer pointers.
    ArrowArray array
    const void* buffers[MOST_BUFFERS]


cdef struct Memory:
    # The memory of a batch: `nodes` has all arrays, `pointers` the child pointers of one array after the other.
    Py_ssize_t nodes_used
    Py_ssize_t pointers_used
    Node* nodes
    ArrowArray** pointers
    const void* no_validity
    PyObject* owners  # a list of the objects that own the buffers


cdef void release_child(ArrowArray* array) noexcept:
    # The batch owns the memory of its children and is always imported as a whole.
    array.release = NULL


cdef void release_batch(ArrowArray* array) noexcept with gil:
    cdef Memory* memory = <Memory*>array.private_data
    cdef int64_t i
    for i in range(array.n_children):
        if array.children[i].release != NULL:
            array.children[i].release(array.children[i])
    array.release = NULL
    Py_DECREF(<object>memory.owners)
    free_memory(memory)


cdef void free_memory(Memory* memory) noexcept:
    free(memory.nodes)
    free(memory.pointers)
    free(memory)


cdef Py_ssize_t count_nodes(columns) except -1:
    cdef Py_ssize_t count = len(columns)
    for column in columns:
        if len(column) > 3:
            count += count_nodes(column[3])
    return count


cdef class ExportedBatch:
    """A record batch to be imported. If it is not, it releases its buffers when it is deallocated."""

    cdef ArrowArray array

    def __cinit__(self):
        self.array.release = NULL

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)

    @property
    def address(self):
        """The address of the ``struct ArrowArray``, whose content the importer moves."""
        return <uintptr_t>&self.array


def export_batch(Py_ssize_t rows, columns):
    """Export a record batch of `rows` rows without a copy.

    Parameters
    ----------
    rows : int
    columns : sequence of tuple
        ``(length, null count, buffers)`` or ``(length, null count, buffers, children)``, with at most three buffers in
        Arrow's order. Each is an object whose memory does not move while it exists, or None for a validity bitmap that
        is not needed. Children have the same form as columns.

    Returns
    -------
    ExportedBatch
    """
    cdef ExportedBatch batch = ExportedBatch()
    cdef Py_ssize_t count = count_nodes(columns)
    cdef list owners = []
    cdef Memory* memory = <Memory*>calloc(1, sizeof(Memory))
    if memory == NULL:
        raise MemoryError("out of memory for a record batch")
    memory.nodes = <Node*>calloc(count + 1, sizeof(Node))
    memory.pointers = <ArrowArray**>calloc(count + 1, sizeof(ArrowArray*))
    if memory.nodes == NULL or memory.pointers == NULL:
        free_memory(memory)
        raise MemoryError("out of memory for a record batch")
    try:
        fill_children(memory, &batch.array, columns, owners)
    except:
        free_memory(memory)
        raise
    Py_INCREF(owners)
    memory.owners = <PyObject*>owners
    batch.array.length = rows
    batch.array.n_buffers = 1
    batch.array.buffers = &memory.no_validity
    batch.array.private_data = memory
    batch.array.release = release_batch
    return batch


cdef int fill_children(Memory* memory, ArrowArray* parent, columns, list owners) except -1:
    cdef ArrowArray** pointers = memory.pointers + memory.pointers_used
    cdef Py_ssize_t number
    cdef Node* node
    parent.n_children = len(columns)
    parent.children = pointers
    memory.pointers_used += len(columns)
    for number, column in enumerate(columns):
        node = &memory.nodes[memory.nodes_used]
        memory.nodes_used += 1
        pointers[number] = &node.array
        fill_node(node, column, owners)
        if len(column) > 3:
            fill_children(memory, &node.array, column[3], owners)
    return 0


cdef int fill_node(Node* node, column, list owners) except -1:
    cdef int number
    node.array.length = column[0]
    node.array.null_count = column[1]
    node.array.n_buffers = len(column[2])
    node.array.buffers = node.buffers
    node.array.release = release_child
    if node.array.n_buffers > MOST_BUFFERS:
        raise ValueError(f"a column with {node.array.n_buffers} buffers, expected at most {MOST_BUFFERS}")
    for number, owner in enumerate(column[2]):
        if owner is not None:
            node.buffers[number] = address_of(owner)
            owners.append(owner)
    return 0


cdef const void* address_of(owner) except? NULL:
    cdef Py_buffer buffer
    PyObject_GetBuffer(owner, &buffer, PyBUF_SIMPLE)
    cdef const void* address = buffer.buf
    PyBuffer_Release(&buffer)
    return address
