"""The compiled core: bytes in, column buffers out.

No file is opened here and no Python object is made for a record. Every read of
input goes through a bounded cursor; the loops run without the interpreter lock
and answer with a code of `codes` and a position, which the layers above turn
into errors.

- `bytes` and `utf8`: reading integers, varints and header names safely.
- `memory`: blocks that are used again, scratch space, views of foreign memory.
- `columns`: the growing columns of one Arrow batch.
- `walk`: where the entries of a window begin and end.
- `records` and `messages`: one v2 batch body, one v0 or v1 entry.
- `decode`: drives checksums, decompression and the two above over a window.
- `framing`: the frames of LZ4, snappy and zstd streams, without their codecs.
"""
