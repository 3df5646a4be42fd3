"""What a task does: it reads splits and tallies what they hold."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source import Scan, Split
from spark_jobs.audit.tasks import batches as of_batches
from spark_jobs.audit.tasks import records as of_records
from spark_jobs.audit.tasks.distinct import KeySketches
from spark_jobs.audit.tasks.mergeable import Tally
from spark_jobs.audit.tasks.offsets import run_of
from spark_jobs.audit.tasks.timeline import STEPS, counted_by_time
from spark_jobs.audit.tasks.times import local_micros, readable

__all__ = ["DAMAGE", "Reads", "tally_of"]

Place = tuple[str | None, int | None, str]
"""Topic, partition and file."""

DAMAGE = pa.schema(
    [
        *(("topic", pa.string()), ("partition", pa.int32()), ("file", pa.string())),
        *(("position", pa.int64()), ("size", pa.int64()), ("kind", pa.string()), ("reason", pa.string())),
        *(("first_offset", pa.int64()), ("last_offset", pa.int64())),
    ]
)


@dataclass(frozen=True)
class Reads:
    """How splits are read: plain data, of which each task has a copy.

    Attributes
    ----------
    batches : Scan
        ``view=batches`` with the columns of `batches.BATCH_COLUMNS`.
    records : Scan or None
        With the columns of `records.record_columns`; None reads only headers.
    damage : Scan or None
        ``view=damage`` with the columns of `DAMAGE`, if the rows of the others do not report damage.
    zone : str
        Time zone of hours.
    header_names, distinct_keys : bool
        Whether to count these.
    plotted : tuple of str or None
        The topics whose timelines are made.
    """

    batches: Scan
    records: Scan | None
    damage: Scan | None
    zone: str
    header_names: bool
    distinct_keys: bool
    plotted: tuple[str | None, ...]


def tally_of(splits: Iterable[Split], reads: Reads) -> Tally:
    """Read splits, and return their tables.

    Parameters
    ----------
    splits : iterable of Split
        In the order of the plan, without leaving one out.
    reads : Reads
    """
    task = _Task(reads)
    for split in splits:
        task.read(split)
    if reads.distinct_keys:
        task.tally.add("keys", task.keys.table())
    return task.tally


class _Task:
    def __init__(self, reads: Reads) -> None:
        self.tally = Tally()
        self.keys = KeySketches()
        self._steps: dict[str | None, int] = {}
        self._reads = reads

    def read(self, split: Split) -> None:
        """Read a split: records first, which complete the headers of old formats."""
        inside = []
        for rows in () if self._reads.records is None else self._reads.records.read_split(split):
            records = self._without_damage(rows)
            if len(records):
                self._count_records(_place(records), records)
                inside.append(of_records.wrappers(records))
        wrappers = [each for each in inside if each is not None]
        held = pa.concat_tables(wrappers) if wrappers else None
        # The same message may end one Arrow batch and begin the next.
        held = None if held is None else _regrouped(held)
        for rows in self._reads.batches.read_split(split):
            headers = self._without_damage(rows, report=self._reads.records is None)
            if len(headers):
                self._count_batches(_place(headers), of_batches.completed(pa.table(headers), held))
        if self._reads.damage is not None:
            for rows in self._reads.damage.read_split(split):
                self.tally.add("damage", pa.table(rows).filter(_is_damaged(rows["kind"])))

    def _without_damage(self, rows: pa.RecordBatch, *, report: bool = True) -> pa.RecordBatch:
        """Tally the rows about damage, and return the others."""
        described = rows["_corrupt_record"]
        if described.null_count == len(rows):
            return rows
        damaged = rows.filter(pc.is_valid(described))
        if report and self._reads.damage is None:
            self.tally.add("damage", _regions(damaged))
        return rows.filter(pc.is_null(described))

    def _count_records(self, place: Place, records: pa.RecordBatch) -> None:
        topic, partition, _ = place
        add = self.tally.add
        add("cells", _placed(of_records.record_cells(records, self._reads.zone), place))
        for kind in ("key", "value"):
            sizes = of_records.sizes(records[f"{kind}Size"])
            add("sizes", _named(sizes, topic=topic).append_column("of", pa.repeat(kind, len(sizes))))
        if self._reads.header_names and len(records["headers"].values):
            add("headers", _named(of_records.header_names(records["headers"]), topic=topic))
        if self._reads.distinct_keys:
            self.keys.add(topic, partition, records["key"])
        if topic in self._reads.plotted:
            ones = pa.repeat(pa.scalar(1, pa.int64()), len(records))
            local = local_micros(readable(records["timestamp"]), self._reads.zone)
            self._count_times(topic, local, records=ones)

    def _count_batches(self, place: Place, headers: pa.Table) -> None:
        topic, partition, file = place
        add = self.tally.add
        add("cells", _placed(of_batches.batch_cells(headers, self._reads.zone), place))
        add("runs", run_of(headers, topic, partition, file))
        named = of_batches.producers(headers)
        if named is not None:
            add("producers", _named(named, topic=topic, partition=partition))
        if topic in self._reads.plotted:
            counts = {"bytes": headers["batchSize"].cast(pa.int64())}
            if self._reads.records is None:
                counts["records"] = pc.if_else(headers["isControl"], 0, headers["recordCount"]).cast(pa.int64())
                counts["uncounted_batches"] = pc.is_null(headers["recordCount"]).cast(pa.int64())
            local = local_micros(headers["maxTimestamp"].combine_chunks(), self._reads.zone)
            self._count_times(topic, local, **counts)

    def _count_times(self, topic: str | None, local: pa.Array, **counts: pa.Array) -> None:
        found = counted_by_time(topic, local, self._steps.get(topic, STEPS[0]), **counts)
        if len(found):
            # Shorter intervals would only be merged later.
            self._steps[topic] = found["step"][0].as_py()
            self.tally.add("timeline", found)


def _place(rows: pa.RecordBatch) -> Place:
    """Return where rows are from: all those of an Arrow batch are from one file."""
    topic, partition, file = (rows[name][0].as_py() for name in ("topic", "partition", "file"))
    return topic, partition, file


def _placed(table: pa.Table, place: Place) -> pa.Table:
    topic, partition, file = place
    return _named(_named(table, topic=topic, partition=partition), file=file)


def _named(table: pa.Table, **constants: str | int | None) -> pa.Table:
    """Add columns that have one value."""
    for name, value in constants.items():
        kind = pa.int32() if name == "partition" else pa.string()
        table = table.append_column(name, pa.repeat(pa.scalar(value, kind), len(table)))
    return table


def _regrouped(held: pa.Table) -> pa.Table:
    how = {"recordCount": "sum", "batchBaseOffset": "min", "firstTimestamp": "min"}
    found = held.group_by(["file", "batchPosition"], use_threads=False).aggregate(list(how.items()))
    return found.rename_columns(["file", "batchPosition", *how])


def _regions(rows: pa.RecordBatch) -> pa.Table:
    """Return the damaged regions that rows of ``mode=PERMISSIVE`` describe."""
    found = []
    for row in rows.select(["topic", "partition", "_corrupt_record"]).to_pylist():
        region = {**json.loads(row["_corrupt_record"]), **row}
        # Bytes of a name that are not UTF-8 are surrogates, which Arrow does not accept.
        region["file"] = region["file"].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        found.append({name: region.get(name) for name in DAMAGE.names})
    return pa.Table.from_pylist(found, DAMAGE)


def _is_damaged(kinds: pa.Array) -> pa.Array:
    """Torn ends are usual, and offsets of missing segments are tallied as gaps."""
    return pc.invert(pc.is_in(kinds, pa.array(["torn", "missing"])))
