"""A mutated segment, read twice in ways that must not matter: other windows, other Arrow batches, other columns.

Damaged regions are stepped over, so that the reading goes on behind them. The rows and the damage of both readings are
the same, a range of offsets gives what the whole gives inside of it, every Arrow batch is valid and of bounded size,
and now and then the slow reference decoder has its say.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source._core.columns import Columns
from kafkalog_source._core.decode import Decoder
from kafkalog_source._core.decode07 import Decoder07
from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source._core.outcomes import TransactionStates
from kafkalog_source.arrow.batches import ArrowBatches
from kafkalog_source.batch import DecodeSettings, make_decoder, make_decoder_07
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import KafkaLogError
from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.reader import Run, SpanReader
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.span import Span
from tests.comparing import COLUMNS, assert_same_rows, reference_rows, table_rows
from tests.fuzz.case import Case, Finding, Outcome, Target, must, same
from tests.fuzz.files import Folder
from tests.fuzz.knobs import set_c_functions, set_constant, set_windows
from tests.fuzz.layout import MOST_PLAIN, open_entry, split_entries
from tests.fuzz.mutate import mutated
from tests.fuzz.seeds import Seed
from tests.reference import RefCorrupt, compression, decode_file

MAX_OFFSET = 2**63 - 1
SMALLEST_ENTRY = 9
MOST_BATCHES = 400
MOST_OUTPUT = 1 << 22
ALL_COLUMNS = (*COLUMNS, "transactionState")


@dataclass
class Reading:
    """What one reading of a segment gave."""

    table: pa.Table
    damage: list[Damage] = field(default_factory=list)
    error: str | None = None

    @property
    def facts(self) -> list[dict[str, str | int | None]]:
        """The damage."""
        return [each.to_dict() for each in self.damage]

    @property
    def errors(self) -> tuple[str, ...]:
        names = [each.kind.value if each.error is None else type(each.error).__name__ for each in self.damage]
        return (*names, *([self.error.split(":")[0]] if self.error else []))


_FOLDER = Folder()


def target(seeds: tuple[Seed, ...], share: int) -> Target:
    """Segments mutated from `seeds`."""
    return Target("segment", share, lambda rng: make(rng, seeds), check)


def make(rng: random.Random, seeds: tuple[Seed, ...]) -> Case:
    seed = rng.choice(seeds)
    data = mutated(rng, seed, rng.choice(seeds))
    config = make_config(rng, data, seed.base_offset)
    if rng.random() < 0.3:
        config.update(_transactions(rng, data, config["base"]))
    return Case("segment", data, config)


def _transactions(rng: random.Random, data: bytes, base: int) -> dict[str, Any]:
    """Some transactions of producers that are there, true or not."""
    producers = [struct.unpack_from(">q", entry, 43)[0] for entry in split_entries(data) if len(entry) > 60]
    firsts = [base + rng.randint(0, 60) for _ in range(4)]
    chosen = [[rng.choice((*producers, 0, -1)), first] for first in firsts]
    aborted = [[producer, first, first + rng.randint(0, 60)] for producer, first in chosen[: rng.randint(0, 4)]]
    return {
        "aborted": aborted,
        "open": chosen[: rng.randint(0, 2)],
        "committed": rng.random() < 0.5,
        "reference": False,
    }


def make_config(rng: random.Random, data: bytes, base: int) -> dict[str, Any]:
    """How to read `data`, twice."""
    ranged = rng.random() < 0.4
    low = base + rng.choice((0, 1, 3, rng.randint(0, 300))) if ranged else base
    high = low + rng.choice((0, 1, 5, 50, 2**31)) if ranged and rng.random() < 0.7 else MAX_OFFSET
    columns = rng.sample(ALL_COLUMNS, rng.choice((1, 3, 3, 5, 5, 10, len(ALL_COLUMNS))))
    more = columns if rng.random() < 0.7 else rng.sample(ALL_COLUMNS, len(ALL_COLUMNS))
    return {
        "base": base,
        "bound": MAX_OFFSET if rng.random() < 0.8 else base + rng.randint(1, 1000),
        "low": low,
        "high": high,
        "columns": columns,
        "other_columns": [*more, *(name for name in ("offset",) if name not in more)],
        "verify": rng.random() < 0.85,
        "control": rng.random() < 0.5,
        "benign": rng.random() < 0.5,
        "limit": max(len(data), rng.choice((1 << 10, 1 << 16, 1 << 20, 1 << 22))),
        "ways": [_way(rng), _way(rng)],
        "reference": rng.random() < 0.06,
    }


def _way(rng: random.Random) -> dict[str, int]:
    return {
        "c_functions": rng.choice((False, True)),
        "byte_target": rng.choice((40, 300, 2000, 2000, 1 << 14, 1 << 14, 1 << 16, 1 << 20, 1 << 20)),
        "row_target": rng.choice((3, 20, 100, 100, 1000, *(1 << 15,) * 5)),
        "first_window": rng.choice((1, 61, 100, 1000, 1 << 16)),
        "window": rng.choice((1, 61, 300, 5000, 1 << 20)),
        "search_window": rng.choice((128, 1000, 1 << 14, 1 << 20)),
    }


class TooManyBatches(Exception):
    """An input of so many Arrow batches that looking at all of them is not worth the time."""


def check(case: Case) -> Outcome:
    try:
        return _check(case)
    except TooManyBatches:
        return Outcome(0, ("too many Arrow batches",))


def _check(case: Case) -> Outcome:
    config = case.config
    one = read(case, config["columns"], config["ways"][0], config["low"], config["high"])
    other = read(case, config["other_columns"], config["ways"][1], config["low"], config["high"])
    same("errors", one.error, other.error)
    same("damaged regions", one.facts, other.facts)
    _same_rows("rows of two ways to read", one.table, other.table.select(config["columns"]))
    if (config["low"], config["high"]) != (config["base"], MAX_OFFSET):
        _check_range(case, other)
    if config["reference"] and config["verify"] and one.error is None:
        _check_reference(case)
    return Outcome(one.table.num_rows, one.errors)


def read(case: Case, columns: list[str] | tuple[str, ...], way: dict[str, int], low: int, high: int) -> Reading:
    """Read the segment, stepping over what is damaged."""
    config = case.config
    set_windows(first=way["first_window"], window=way["window"], search=way["search_window"])
    set_c_functions(bool(way.get("c_functions", True)))
    batches = ArrowBatches(columns, BlockPool(), byte_target=way["byte_target"], row_target=way["row_target"])
    decoder = _decoder(config, batches.columns, low, high)
    span = Span(0, len(case.data), config["base"], config["bound"], high, True, config["benign"], config.get("base_07"))
    damage: list[Damage] = []
    found: list[pa.RecordBatch] = []
    error = None
    with LocalFile(_FOLDER.put_segment(case.data)) as source:
        batches.set_place("topic", 0, source.path)
        reader = SpanReader(source, span, decoder, Scratch(), config["limit"])
        try:
            for event in reader:
                if isinstance(event, Damage):
                    damage.append(event)
                if not isinstance(event, Run) or event.is_full:
                    _keep(found, batches, way, config["limit"])
        except KafkaLogError as raised:
            error = f"{type(raised).__name__}: {raised}"
    _keep(found, batches, way, config["limit"])
    must(reader.batches <= len(case.data) // SMALLEST_ENTRY, f"{reader.batches} entries in {len(case.data)} bytes")
    return Reading(pa.Table.from_batches(found, batches.schema), damage, error)


def _decoder(config: dict[str, Any], columns: Columns, low: int, high: int) -> Decoder | Decoder07:
    committed = config.get("committed", False)
    settings = DecodeSettings(config["verify"], config["control"], config["limit"], committed)
    decompressor = Decompressor(config["limit"])
    if "base_07" in config:
        return make_decoder_07(columns, decompressor, settings, low, high)
    states = None
    if "aborted" in config:
        states = TransactionStates([(*each,) for each in config["aborted"]], [(*each,) for each in config["open"]])
    return make_decoder(columns, decompressor, settings, low, high, states)


def _keep(found: list[pa.RecordBatch], batches: ArrowBatches, way: dict[str, int], limit: int) -> None:
    """Take the finished Arrow batch and look at it closely."""
    batch = batches.finish()
    if batch is None:
        return
    batch.validate(full=True)
    most_rows = way["row_target"] + way["byte_target"] // 7 + 1
    must(batch.num_rows <= most_rows, f"an Arrow batch of {batch.num_rows} rows, {way}")
    for name in ("key", "value"):
        if name in batch.schema.names:
            size = batch.column(name).buffers()[2].size
            must(size <= 2 * way["byte_target"] + limit, f"an Arrow batch with {size} bytes of {name}, {way}")
    found.append(batch)
    if len(found) == MOST_BATCHES:
        raise TooManyBatches


def _same_rows(what: str, one: pa.Table, other: pa.Table) -> None:
    if not one.equals(other):
        assert_same_rows(table_rows(one), table_rows(other), one.column_names)
        raise Finding(f"{what} are not equal, though their values are")


def _check_range(case: Case, ranged: Reading) -> None:
    """A whole segment without damage holds the same rows in that range.

    A damaged one may not: what lies outside of the range is not looked at, and so not found to be damaged.
    """
    config = case.config
    whole = read(case, config["other_columns"], config["ways"][0], config["base"], MAX_OFFSET)
    if whole.error or whole.damage:
        return
    offsets = whole.table.column("offset")
    inside = pc.and_(pc.greater_equal(offsets, config["low"]), pc.less(offsets, config["high"]))
    _same_rows("rows of a range and of the whole", ranged.table, whole.table.filter(inside))


def _check_reference(case: Case) -> None:
    """The reference finds the same rows and the same first damage.

    Where it calls the end torn, kafkalog may have found a batch behind it: the reference wants one that decodes, and
    kafkalog one whose checksum is right.
    """
    config = {**case.config, "control": True, "bound": MAX_OFFSET, "limit": MOST_OUTPUT}
    ours = read(Case(case.target, case.data, config), COLUMNS, config["ways"][0], config["base"], MAX_OFFSET)
    if _may_be_bomb(case.data) or _has_odd_wrapper(case.data, ours.damage):
        return
    harm = [each.position for each in ours.damage if each.kind is Kind.DAMAGED]
    set_constant(compression, "MOST_OUTPUT", MOST_OUTPUT)
    try:
        theirs = decode_file(case.data, base_offset=config["base"])
    except RefCorrupt as error:
        # The reference knows no batch that is whole in the file and was not yet written to its end.
        torn = [each.position for each in ours.damage if each.kind is Kind.TORN]
        alike = harm[:1] == [error.position] or torn[:1] == [error.position]
        # Of offsets that contradict each other, the reference blames the second, and kafkalog the one that is wrong.
        alike = alike or any(each.position + each.size == error.position for each in ours.damage[:1])
        must(ours.error is not None or alike, f"{error}, but first damage here is {harm[:1]}")
        return
    must(ours.error is None and min(harm, default=theirs.tail_position) >= theirs.tail_position, f"damage at {harm}")
    wanted = reference_rows(theirs.records, Path(_FOLDER.put_segment(b"")), topic="topic", partition=0)
    found = ours.table.filter(pc.less(ours.table.column("batchPosition"), theirs.tail_position))
    assert_same_rows(table_rows(found), wanted)


def _may_be_bomb(data: bytes) -> bool:
    """Whether one payload is so large, or all together are, that the reference would take long over them."""
    opened = (open_entry(entry) for entry in split_entries(data))
    sizes = [len(each.plain) for each in opened if each is not None]
    return max(sizes, default=0) >= MOST_PLAIN or sum(sizes) >= 4 * MOST_PLAIN


def _has_odd_wrapper(data: bytes, damage: list[Damage]) -> bool:
    """Whether a v0 wrapper is refused for its offsets: here they have to be above the number that the wrapper before
    carries, and for the reference above those inside of it."""
    return any(data[each.position + 16 : each.position + 17] == b"\0" and "offset" in each.reason for each in damage)
