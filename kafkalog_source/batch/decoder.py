"""Decoders of the core, set up with checksum functions and codecs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import lz4.block
import xxhash
from crc32c import crc32c
from isal.isal_zlib import crc32

from kafkalog_source._core.columns import Columns
from kafkalog_source._core.decode import Decoder
from kafkalog_source._core.decode07 import Decoder07
from kafkalog_source._core.native import CFunctions
from kafkalog_source._core.outcomes import TransactionStates
from kafkalog_source.codecs import DEFAULT_LIMIT, Decompressor, NestedDecompressor

if TYPE_CHECKING:
    from kafkalog_source._core.decode import FindTransactions


def _extension_of(function: object) -> str | None:
    """The file of the extension module that defines a built-in function; None for any other function."""
    return getattr(getattr(function, "__self__", None), "__file__", None)


C_FUNCTIONS = CFunctions(
    isal=_extension_of(crc32), lz4=_extension_of(lz4.block.decompress), xxhash=_extension_of(xxhash.xxh32_intdigest)
)
"""C functions that decoders call directly, as far as the installed packages export them."""


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
        Limit on the size of one batch, both as stored and decompressed.
    committed_only : bool
        Whether records of aborted and open transactions are skipped.
    """

    verify_checksums: bool = True
    include_control: bool = False
    max_decompressed_bytes: int = DEFAULT_LIMIT
    committed_only: bool = False


def make_decoder(
    columns: Columns,
    decompressor: Decompressor,
    settings: DecodeSettings,
    low: int,
    high: int,
    transactions: TransactionStates | FindTransactions | None = None,
) -> Decoder:
    """Return a decoder that appends the records with offsets in [low, high) to `columns`.

    `transactions` may be a function, called at the first batch of a transaction; see `Decoder`.
    """
    known = transactions if isinstance(transactions, TransactionStates) else None
    return Decoder(
        columns,
        crc32c,
        crc32,
        decompressor,
        decompressor.rooms,
        C_FUNCTIONS,
        decompressor.limit,
        low=low,
        high=high,
        verify=settings.verify_checksums,
        include_control=settings.include_control,
        transactions=known,
        find_transactions=None if isinstance(transactions, TransactionStates) else transactions,
        committed_only=settings.committed_only,
    )


def make_decoder_07(
    columns: Columns, decompressor: Decompressor, settings: DecodeSettings, low: int, high: int
) -> Decoder07:
    """As `make_decoder`, for segments of Kafka 0.7, which have neither control records nor transactions."""
    nested = NestedDecompressor(decompressor)
    return Decoder07(columns, crc32, nested, low=low, high=high, verify=settings.verify_checksums)
