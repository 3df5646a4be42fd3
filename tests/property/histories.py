"""Random histories of one partition: what its producers did, what a broker stored of it, and what became of each."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.builders import Batch, Message, Record, control_record, encode, end_marker, offset_index
from tests.builders.disk import Entry
from tests.builders.transactions import producer_snapshot, txn_index

COMMITTED, ABORTED, OPEN = "committed", "aborted", "open"


@dataclass
class Transaction:
    """One transaction; `marker` is the offset that ends it."""

    producer_id: int
    first: int
    marker: int | None = None
    state: str = OPEN
    last_stable: int = 0


@dataclass(frozen=True)
class Stored:
    """An entry of the log and the transaction that it belongs to."""

    entry: Entry
    transaction: Transaction | None = None
    is_marker: bool = False
    is_control: bool = False

    @property
    def base_offset(self) -> int:
        return self.entry.base_offset if isinstance(self.entry, Batch) else self.entry.last_offset

    @property
    def offsets(self) -> list[int]:
        if isinstance(self.entry, Batch):
            return [self.entry.base_offset + delta for delta in self.entry.deltas]
        return [self.entry.last_offset]

    @property
    def state(self) -> str | None:
        return None if self.transaction is None else self.transaction.state


@dataclass
class History:
    """A partition's log in the making.

    Attributes
    ----------
    stored : list of Stored
    transactions : list of Transaction
        All of them, also those whose batches the cleaner has removed.
    end : int
        The next offset.
    active_from : int or None
        Where the active segment begins, which is never cleaned.
    """

    rng: random.Random
    end: int = 0
    active_from: int | None = None
    stored: list[Stored] = field(default_factory=list)
    transactions: list[Transaction] = field(default_factory=list)
    begun: dict[int, Transaction] = field(default_factory=dict)
    epochs: dict[int, int] = field(default_factory=dict)

    def batch(self, **fields: object) -> Batch:
        """A batch of a few records at the log's end, which moves behind it; some lack records at either end."""
        rng = self.rng
        deltas = sorted(rng.sample(range(4), rng.choice([1, 1, 1, 2, 3])))
        values = {"codec": rng.choice(["none"] * 5 + ["gzip"]), "last_offset_delta": deltas[-1], **fields}
        records = [Record(value=b"v" * rng.choice([1, 1, 30]), offset_delta=delta) for delta in deltas]
        batch = Batch(records, base_offset=self.end, **values)  # type: ignore[arg-type]
        self.end = batch.last_offset + 1
        return batch

    def data(self, producer_id: int) -> None:
        """A batch of a transaction, which it may begin."""
        transaction = self.begun.get(producer_id)
        if transaction is None:
            transaction = self.begun[producer_id] = Transaction(producer_id, self.end)
            self.transactions.append(transaction)
        epoch = self.epochs.setdefault(producer_id, 0)
        batch = self.batch(transactional=True, producer_id=producer_id, producer_epoch=epoch, base_sequence=0)
        self.stored.append(Stored(batch, transaction))

    def finish(self, producer_id: int, commit: bool) -> None:
        """A marker, also of a transaction that has no batch here; the epoch may rise before it and after."""
        self.epochs[producer_id] = self.epochs.get(producer_id, 0) + self.rng.choice([0, 1])
        marker = Batch(
            [end_marker(commit=commit, coordinator_epoch=3)],
            base_offset=self.end,
            codec=self.rng.choice(["none"] * 6 + ["gzip", "zstd"]),
            transactional=True,
            control=True,
            producer_id=producer_id,
            producer_epoch=self.epochs[producer_id],
        )
        transaction = self.begun.pop(producer_id, None)
        state = COMMITTED if commit else ABORTED
        if transaction is not None:
            transaction.marker, transaction.state = self.end, state
        self.end += 1
        if transaction is not None:
            transaction.last_stable = min([self.end, *(each.first for each in self.begun.values())])
        ended = Transaction(producer_id, self.end - 1, self.end - 1, state)
        self.stored.append(Stored(marker, transaction or ended, is_marker=True, is_control=True))

    def other(self) -> None:
        """Something that is in no transaction."""
        kind = self.rng.randrange(5)
        if kind == 0:
            entry: Entry = Message(offset=self.end, magic=self.rng.choice([0, 1]))
            self.end += 1
        elif kind == 1:
            # The same producer may write outside of a transaction only in theory; nothing forbids a reader to meet it.
            entry = self.batch(producer_id=self.rng.randrange(1, 5), producer_epoch=0, base_sequence=4)
        elif kind == 2:
            entry = self.batch(producer_id=77, producer_epoch=0, base_sequence=0)
        elif kind == 3:
            entry = Batch([control_record(2, value=b"\0\0\0\0")], base_offset=self.end, control=True)
            self.end += 1
        else:
            entry = self.batch()
        self.stored.append(Stored(entry, is_control=kind == 3))

    @property
    def last_stable_offset(self) -> int:
        return self.last_stable_at(self.end)

    def last_stable_at(self, end: int) -> int:
        """As if the log ended at `end`."""
        unfinished = [t.first for t in self.transactions if t.first < end and (t.marker is None or t.marker >= end)]
        return min([end, *unfinished])

    def open_at(self, offset: int) -> dict[int, int]:
        """Producer ids and first offsets of the transactions open before `offset`."""
        return {
            t.producer_id: t.first
            for t in self.transactions
            if t.first < offset and (t.marker is None or t.marker >= offset)
        }


def random_history(rng: random.Random) -> History:
    """Interleaved producers, some of which never write in transactions."""
    history = History(rng, end=rng.choice([0, 0, 5, 2**33]))
    producers = rng.sample([1, 2, 3, 4, 2**40], rng.randint(1, 4))
    for _ in range(rng.randint(1, 40)):
        kind, producer_id = rng.random(), rng.choice(producers)
        if kind < 0.45:
            history.data(producer_id)
        elif kind < 0.7:
            history.finish(producer_id, commit=rng.random() < 0.5)
        else:
            history.other()
        history.end += rng.choice([0] * 6 + [1, 4])
    return history


def cleaned(history: History) -> list[Stored]:
    """What a cleaner may leave of all but the active segment: no aborted data, fewer records, empty batches.

    A marker stays as long as any batch of its transaction does; without one it may stay, be gone or be empty.
    """
    rng = history.rng
    history.active_from = rng.choice(history.stored).base_offset
    limit = min(history.last_stable_offset, history.active_from)
    kept: list[Stored] = []
    alive: set[int] = set()
    for each in history.stored:
        if each.entry.last_offset >= limit or not isinstance(each.entry, Batch):
            alive.add(id(each.transaction))
            kept.append(each)
        elif each.is_marker:
            left = [each] if id(each.transaction) in alive else [each, None, _emptied(each)]
            kept += [chosen for chosen in [rng.choice(left)] if chosen is not None]
        else:
            chosen = _cleaned_batch(rng, each)
            if chosen is not None:
                alive.add(id(each.transaction))
                kept.append(chosen)
    return kept


def _cleaned_batch(rng: random.Random, each: Stored) -> Stored | None:
    fate = rng.randrange(5)
    if fate == 0:
        return None
    if each.state == ABORTED or fate == 1:
        return _emptied(each) if rng.random() < 0.5 else None
    assert isinstance(each.entry, Batch)
    records = list(each.entry.records)
    if fate == 2 and len(records) > 1:
        del records[rng.randrange(len(records))]
    return replace(each, entry=replace(each.entry, records=records))


def _emptied(each: Stored) -> Stored:
    assert isinstance(each.entry, Batch)
    delta = each.entry.last_offset - each.entry.base_offset
    return replace(each, entry=replace(each.entry, records=[], codec="none", last_offset_delta=delta))


def cut(rng: random.Random, history: History, stored: list[Stored]) -> list[tuple[int, list[Stored]]]:
    """Segments as (base offset, entries), the first of which may have been deleted, the last of which may be empty."""
    first = stored[0].base_offset if stored else history.end
    segments: list[tuple[int, list[Stored]]] = [(first, [])]
    for each in stored:
        if segments[-1][1] and (rng.random() < 0.2 or each.base_offset == history.active_from):
            segments.append((each.base_offset, []))
        segments[-1][1].append(each)
    if rng.random() < 0.15 and segments[-1][1]:
        segments.append((history.end, []))
    # Retention may have removed the first ones, up to where a transaction is open.
    removable = [n for n, (base, _) in enumerate(segments) if base <= history.last_stable_offset]
    return segments[rng.choice(removable) :] if removable and rng.random() < 0.1 else segments


def damaged(rng: random.Random, content: bytes, offset_at: int) -> bytes:
    """A side file that must be noticed to be wrong."""
    whole = bytearray(content)
    kind = rng.randrange(3)
    if kind == 0 and whole:
        return bytes(whole[:-1])
    if kind == 1 and len(whole) > offset_at:
        whole[offset_at] ^= 0x40
        return bytes(whole)
    return bytes(whole) + b"junk"


def write_partition(directory: Path, history: History, stored: list[Stored]) -> list[tuple[Path, list[Stored]]]:
    """Write the segments with their side files: right, missing, damaged, or older or newer than the log."""
    rng = history.rng
    segments = cut(rng, history, stored)
    end = segments[-1][1][-1].entry.last_offset + 1 if segments[-1][1] else segments[-1][0]
    files = _SideFiles(rng, history, whole=rng.random() < 0.4, is_closed=rng.random() < 0.5)
    written = []
    for number, (base, entries) in enumerate(segments):
        is_last = number + 1 == len(segments)
        log = directory / f"{base:020d}.log"
        log.write_bytes(encode(each.entry for each in entries))
        files.write_index(log, base, entries)
        files.write_txn_index(log, base, history.end if is_last else segments[number + 1][0], is_last)
        files.write_snapshot(directory, base)
        written.append((log, entries))
    if files.is_closed:
        files.write_snapshot(directory, end)
    elif rng.random() < 0.3:
        # What a log that went on after it was copied would have.
        (directory / f"{end + 3:020d}.snapshot").write_bytes(producer_snapshot({}))
    return written


@dataclass
class _SideFiles:
    """Writes them; `whole` is a broker's directory as it should be, `is_closed` one that was stopped cleanly."""

    rng: random.Random
    history: History
    whole: bool
    is_closed: bool

    def write_index(self, log: Path, base: int, entries: list[Stored]) -> None:
        points, position = [], 0
        for each in entries:
            if self.rng.random() < 0.3:
                points.append((each.entry.last_offset, position))
            position += len(each.entry.encode())
        if self.rng.random() < 0.8:
            log.with_suffix(".index").write_bytes(offset_index(points, base_offset=base))

    def write_txn_index(self, log: Path, base: int, bound: int, is_last: bool) -> None:
        entries = [
            (t.producer_id, t.first, t.marker, t.last_stable)
            for t in sorted(self.history.transactions, key=lambda t: t.marker or 0)
            if t.state == ABORTED and t.marker is not None and base <= t.marker < bound
        ]
        if is_last and not self.is_closed and self.rng.random() < 0.5:
            # It was copied before the log was.
            del entries[self.rng.randrange(len(entries) + 1) :]
        choice = 0.0 if self.whole else self.rng.random()
        if choice < 0.4 and (entries or self.rng.random() < 0.3):
            log.with_suffix(".txnindex").write_bytes(txn_index(entries))
        elif choice > 0.7 and entries:
            log.with_suffix(".txnindex").write_bytes(damaged(self.rng, txn_index(entries), 10))

    def write_snapshot(self, directory: Path, offset: int) -> None:
        right = producer_snapshot(self.history.open_at(offset), others=[77, 99])
        choice = 0.0 if self.whole else self.rng.random()
        if choice < 0.5:
            (directory / f"{offset:020d}.snapshot").write_bytes(right)
        elif choice > 0.8:
            (directory / f"{offset:020d}.snapshot").write_bytes(damaged(self.rng, right, 12))
