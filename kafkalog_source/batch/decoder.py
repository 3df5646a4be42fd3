"""The core's decoder with its checksums and codecs in place."""

from __future__ import annotations

from dataclasses import dataclass

from crc32c import crc32c
from isal.isal_zlib import crc32

from kafkalog_source._core.columns import Columns
from kafkalog_source._core.decode import Decoder
from kafkalog_source.codecs import DEFAULT_LIMIT, Decompressor


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """How batches are decoded.

    Parameters
    ----------
    verify_checksums : bool
        Whether the CRC of every batch, and of every message inside a v0 or v1 wrapper, is compared.
    include_control : bool
        Whether the records of control batches become rows.
    max_decompressed_bytes : int
        Most bytes that one batch may take, in memory and decompressed.
    """

    verify_checksums: bool = True
    include_control: bool = False
    max_decompressed_bytes: int = DEFAULT_LIMIT


def make_decoder(
    columns: Columns, decompressor: Decompressor, settings: DecodeSettings, low: int, high: int
) -> Decoder:
    """A decoder that appends the records with offsets in [low, high) to `columns`."""
    return Decoder(
        columns,
        crc32c,
        crc32,
        decompressor,
        low=low,
        high=high,
        verify=settings.verify_checksums,
        include_control=settings.include_control,
    )
