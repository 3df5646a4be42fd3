"""Compressed payloads, all bounded: gzip, snappy, LZ4 and zstd by their libraries.

`Decompressor` is what the decoder calls for each compressed batch. The framing
that Kafka puts around the codecs' blocks is read by ``_core.framing``.
"""

from kafkalog_source.codecs.decompressor import DEFAULT_LIMIT, Decompressor
from kafkalog_source.codecs.nested import NestedDecompressor

__all__ = ["DEFAULT_LIMIT", "Decompressor", "NestedDecompressor"]
