"""The compiled core: bytes in, column buffers out.

No file is opened here (`peeks` alone reads from an open one), and no Python
object is created for a record. All input is read through a bounded cursor.
The loops run without the interpreter lock and return a code of `codes` and a
position, which the layers above turn into errors.

- `bytes` and `utf8`: reading integers, varints and header names safely.
- `memory`: reusable blocks, scratch space, views of other memory.
- `layout` and `checksums`: the field positions of `kafkalog_source.format`, and what a CRC covers.
- `columns`: the growing columns of one record batch.
- `walk`: the entries of a window.
- `records` and `messages`: the body of a v2 batch, a v0 or v1 entry.
- `body`: one entry to rows, with these two.
- `payloads`: several decompressed payloads at once, because codecs are called through Python.
- `native`: C functions of the checksum and LZ4 libraries, called without Python.
- `decode`: runs all of these over a window.
- `export`: columns to Arrow by the C data interface.
- `walk07` and `decode07`: the same for Kafka 0.7, whose messages have another layout.
- `transactions`: transactions from headers and markers.
- `outcomes`: looks up the outcome of a batch's transaction.
- `indexes` and `producers`: what a broker stores beside a segment, compared with its batches or rebuilt.
- `headers`: the rows of ``view=batches``, from headers alone.
- `peeks`: the headers of large batches, with a short read for each.
- `program`, `slots`, `fields`, `json_text` and `topic_records`: records of Kafka's own topics, by compiled schemas.
- `lines`: rows of Arrow arrays as lines of text or JSON, with `arrays` for what is read, `quoting` for how
  values are written, and `output` for the bytes.
- `framing`: the framing of LZ4, snappy and zstd streams, without the codecs.
"""

try:
    # Not `from … import`, whose error does not name the missing module.
    import kafkalog_source._core.memory  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "kafkalog_source._core.memory":
        raise
    # Python prefers the current directory to installed packages, and a checkout is not compiled.
    raise ImportError(
        f"kafkalog_source in {__path__[0]} is source code that is not compiled. "
        "Run Python from another directory, or compile it in place with `pip install -e .`",
        name=__name__,
    ) from None
