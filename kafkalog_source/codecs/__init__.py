"""Decompression with bounded output: gzip, snappy, LZ4 and zstd.

The decoder calls `Decompressor` for each compressed batch. The framing around the
codecs' blocks is parsed by ``_core.framing``.
"""

from kafkalog_source.codecs.decompressor import DEFAULT_LIMIT, Decompressor
from kafkalog_source.codecs.nested import NestedDecompressor

__all__ = ["DEFAULT_LIMIT", "Decompressor", "NestedDecompressor"]
