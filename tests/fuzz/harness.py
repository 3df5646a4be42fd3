"""Decoders that are used again from input to input, each with other columns and settings."""

from __future__ import annotations

from typing import Any

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.decode import Decoder
from kafkalog_source._core.decode07 import Decoder07
from kafkalog_source._core.indexes import IndexBuilder, IndexCheck
from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source._core.native import CFunctions
from kafkalog_source._core.outcomes import TransactionStates
from kafkalog_source._core.producers import LeaderEpochs, ProducerTable
from kafkalog_source._core.transactions import TransactionTracker
from kafkalog_source._core.walk import Entries
from kafkalog_source.arrow.batches import ArrowBatches
from kafkalog_source.batch import DecodeSettings, decoder, make_decoder, make_decoder_07
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import KafkaLogError
from tests.comparing import COLUMNS
from tests.fuzz.case import must

_END, _FULL = CODE["end"], CODE["full"]
_MOST_STEPS = 20_000
_MAX_OFFSET = 2**63 - 1
_LAYOUTS: tuple[dict[str, Any], ...] = (
    {"columns": (*COLUMNS, "transactionState")},
    {"columns": (*COLUMNS, "transactionState"), "row_target": 3, "byte_target": 40},
    {"columns": ("key", "value", "headers"), "byte_target": 300},
    {"columns": ("headers", "controlType", "transactionState", "compression"), "verify": False},
    {"columns": ("value", "offset", "timestamp"), "low": 8, "high": 30, "c_functions": False},
    {"columns": (), "verify": False, "c_functions": False},
    {"columns": ("offset",), "v07": True},
    {"columns": ("key", "value", "offset"), "v07": True, "byte_target": 40, "verify": False},
)
"""The last two are for Kafka 0.7."""


class Harness:
    """A decoder with its columns and its memory."""

    def __init__(self, layout: dict[str, Any], limit: int) -> None:
        targets = {"byte_target": layout.get("byte_target", 1 << 20), "row_target": layout.get("row_target", 1 << 15)}
        self.decompressor = Decompressor(limit)
        self._batches = ArrowBatches(layout["columns"], BlockPool(), **targets)
        self._decoder = self._make_decoder(layout, limit)
        self._errors: list[str] = []

    def _make_decoder(self, layout: dict[str, Any], limit: int) -> Decoder | Decoder07:
        settings = DecodeSettings(layout.get("verify", True), "low" not in layout, limit, "low" in layout)
        low, high = layout.get("low", 0), layout.get("high", _MAX_OFFSET)
        if "v07" in layout:
            return make_decoder_07(self._batches.columns, self.decompressor, settings, low, high)
        states = TransactionStates([(5, 0, 3)], [(5, 9)])
        before = decoder.C_FUNCTIONS
        try:
            decoder.C_FUNCTIONS = before if layout.get("c_functions", True) else CFunctions()
            return make_decoder(self._batches.columns, self.decompressor, settings, low, high, states)
        finally:
            decoder.C_FUNCTIONS = before

    def decode(self, window: Scratch, entries: Entries, way: int) -> int:
        """Decode what was found in a window, bad entries left out; the number of rows.

        A quarter of the rows become Arrow batches, which costs more than to decode them.
        """
        decoder, rows = self._decoder, 0
        decoder.start()
        for _ in range(_MOST_STEPS):
            try:
                code = decoder.decode(window, 0, entries)
            except KafkaLogError as error:
                self._errors.append(type(error).__name__)
                decoder.skip()
                continue
            if code == _END:
                return rows + self._finish(way)
            rows += self._finish(way)
            if code != _FULL:
                decoder.skip()
        must(False, f"no end after {_MOST_STEPS} steps")
        return rows

    def _finish(self, way: int) -> int:
        columns = self._batches.columns
        rows = int(columns.rows)
        if rows and way & 3 == 0:
            batch = self._batches.finish()
            must(batch is not None and batch.num_rows == rows, "an Arrow batch of another number of rows")
            batch.validate(full=way & 12 == 0)
        elif rows:
            columns.take()
        return rows

    def errors(self) -> tuple[str, ...]:
        """The names of the errors since the last call."""
        if not self._errors:
            return ()
        errors, self._errors = tuple(self._errors), []
        return errors


def fresh_harnesses(limit: int) -> tuple[Harness, ...]:
    """One for each layout; the last two are for Kafka 0.7."""
    return tuple(Harness(layout, limit) for layout in _LAYOUTS)


def show_to_takers(window: Scratch, entries: Entries, base: int, decompressor: Decompressor) -> None:
    """Show entries, good or not, to those who build and check indexes and producers."""
    check = IndexCheck((base, base + 1, base + 9), (0, 60, 100), (base, base + 2))
    for taker in (check, IndexBuilder(base, 50), ProducerTable(decompressor), LeaderEpochs()):
        try:
            taker.take(window, 0, entries, 0, entries.count)
        except KafkaLogError:
            continue


def follow_transactions(window: Scratch, size: int, base: int, decompressor: Decompressor) -> None:
    """Follow transactions through the entries of a window, as far as it goes."""
    tracker = TransactionTracker(None, decompressor, [(5, base), (0, base)])
    tracker.start_file(base, _MAX_OFFSET)
    try:
        tracker.walk(window, size, size)
    except KafkaLogError:
        return
    must(0 <= tracker.walked <= size, f"walked {tracker.walked} of {size}")
    for producer, first, marker in tracker.aborted:
        must(producer >= 0 and first <= marker, f"producer {producer} aborts {first} to {marker}")
