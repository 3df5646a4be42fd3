"""The compiled core: bytes in, column buffers out.

No file is opened here and no Python object is made for a record. Every read of
input goes through a bounded cursor; the loops run without the interpreter lock
and answer with a code of `codes` and a position, which the layers above turn
into errors.

- `bytes` and `utf8`: reading integers, varints and header names safely.
- `memory`: blocks that are used again, scratch space, views of foreign memory.
- `layout` and `checksums`: where the fields of an entry stand, as `kafkalog_source.format` says; what a CRC covers.
- `columns`: the growing columns of one Arrow batch.
- `walk`: where the entries of a window begin and end.
- `records` and `messages`: one v2 batch body, one v0 or v1 entry.
- `body`: one entry to rows, with the two above.
- `payloads`: decompressed payloads, several at once, since codecs are called through Python.
- `native`: C functions of the checksum and LZ4 libraries, which need no Python.
- `decode`: drives all of these over a window.
- `export`: columns to Arrow, by its C data interface.
- `walk07` and `decode07`: the same for Kafka 0.7, whose messages have another layout.
- `transactions`: transactions from headers and markers.
- `outcomes`: what became of a batch's transaction, looked up in what is known.
- `indexes` and `producers`: what a broker keeps beside a segment, compared with its batches or made anew.
- `framing`: the frames of LZ4, snappy and zstd streams, without their codecs.
"""

try:
    # Not `from … import`, which does not say which module is missing.
    import kafkalog_source._core.memory  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "kafkalog_source._core.memory":
        raise
    # Python prefers what lies in the current directory to what is installed, and a checkout is not compiled.
    raise ImportError(
        f"kafkalog_source in {__path__[0]} is source code that is not compiled. "
        "Run Python from another directory, or compile it in its place with `pip install -e .`",
        name=__name__,
    ) from None
