"""Which transactions are open, which of them hang, and what they hold back.

A transaction hangs if its partition waits for a marker that no coordinator is going to write: the rule
of ``kafka-transactions.sh find-hanging`` (``TransactionsCommand``, 4.3), which asks the coordinators of
a running cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafkalog_source.answers.coordinators import partition_count, read_coordinators
from kafkalog_source.logdir import list_logs
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.reading.scan import scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kafkalog_source.answers.coordinators import Coordinators, CoordinatorState
    from kafkalog_source.logdir import PartitionLog

__all__ = ["OpenTransactions", "Transaction", "find_open", "transactions", "verdict_of"]

_TOPIC_OPTIONS = ("subscribe", "subscribePattern", "assign")
_UNDER_WAY = {"Ongoing": "ongoing", "PrepareCommit": "ending", "PrepareAbort": "ending", "PrepareEpochFence": "ending"}
"""What an open transaction is while the coordinator has it in one of these states."""
_NEVER_SEEN = 0
"""The coordinator epoch for a producer without a marker in the partition, as the tool has it."""

Transaction = dict[str, Any]
"""A row of ``view=transactions``, its times in microseconds."""


@dataclass(frozen=True, slots=True)
class OpenTransactions:
    """The open transactions of some partitions.

    Attributes
    ----------
    rows : list of dict
        By topic, partition and offset: what the view has, and ``verdict`` (hanging, ongoing, ending or unknown),
        ``reason``, the coordinator's state, what is held back, and the arguments that abort it.
    as_of_us : int or None
        The newest time that a broker wrote into the records that were read, in microseconds. Ages refer to it.
    warnings : list of str
    """

    rows: list[Transaction]
    as_of_us: int | None
    warnings: list[str]


def transactions(paths: Sequence[str], given: Mapping[str, Any]) -> tuple[list[Transaction], list[str]]:
    """The transactions of all partitions, of Kafka's own topics too unless topics are named, and warnings.

    Raises
    ------
    KafkaLogError
        For damage, by the option ``mode``.
    """
    chosen: dict[str, Any] = {} if any(name in given for name in _TOPIC_OPTIONS) else {"subscribePattern": ".*"}
    scanned = scan(paths, view="transactions", **chosen, **given)
    rows: list[Transaction] = []
    for batch in scanned.to_reader():
        for at, name in enumerate(batch.schema.names):
            if name.endswith("Timestamp"):
                batch = batch.set_column(at, name, batch.column(at).cast("int64"))
        rows += batch.to_pylist()
    return rows, scanned.report()["warnings"]


def find_open(paths: Sequence[str], given: Mapping[str, Any]) -> OpenTransactions:
    """The open transactions, and what became of them by their coordinators.

    Parameters
    ----------
    paths : sequence of str
        With ``__transaction_state`` among them, or the verdict is unknown.
    given : mapping
        Options of a read.

    Raises
    ------
    KafkaLogError
        For damage, by the option ``mode``.
    """
    rows, warnings = transactions(paths, given)
    found = [row for row in rows if row["state"] == "open"]
    without_topics = {name: value for name, value in given.items() if name not in _TOPIC_OPTIONS}
    coordinators = read_coordinators(paths, without_topics)
    if any(coordinators.of_producer(row["producerId"]) is None for row in found):
        coordinators.count = partition_count(paths, given)
    as_of = _newest(rows, coordinators)
    logs = _logs(paths, given, {(row["topic"], row["partition"]) for row in found})
    epochs = _coordinator_epochs(rows)
    for row in found:
        row.update(verdict_of(row, coordinators))
        row.update(_held_back(row, logs[row["topic"], row["partition"]]))
        row["coordinatorEpoch"] = epochs.get(_producer(row), _NEVER_SEEN)
        row["ageMs"] = _age_ms(row["firstTimestamp"], as_of)
        row["abort"] = _abort_arguments(row)
    return OpenTransactions(found, as_of, [*warnings, *coordinators.warnings])


def _abort_arguments(row: Transaction) -> dict[str, list[str]]:
    """The arguments of ``kafka-transactions.sh`` that abort a transaction, for brokers from 3.0 on and older ones."""
    place = ["abort", "--topic", row["topic"], "--partition", str(row["partition"])]
    producer = ["--producer-id", str(row["producerId"]), "--producer-epoch", str(row["producerEpoch"])]
    return {
        "from30": [*place, "--start-offset", str(row["firstOffset"])],
        "before30": [*place, *producer, "--coordinator-epoch", str(row["coordinatorEpoch"])],
    }


def verdict_of(row: Transaction, coordinators: Coordinators) -> dict[str, Any]:
    """What an open transaction is by its coordinator's last record, and the fields of that record."""
    known = coordinators.of_producer(row["producerId"])
    verdict, reason = _judge(row, known, coordinators)
    return {
        "transactionalId": row["transactionalId"] if known is None else known.transactional_id,
        "verdict": verdict,
        "reason": reason,
        "coordinatorState": None if known is None else known.state,
        "coordinatorProducerEpoch": None if known is None else known.producer_epoch,
        "transactionTimeoutMs": None if known is None else known.timeout_ms,
    }


def _judge(row: Transaction, known: CoordinatorState | None, coordinators: Coordinators) -> tuple[str, str]:
    if known is None:
        if coordinators.are_complete:
            return "hanging", "no coordinator has a transactional id with this producer id"
        if not coordinators.present:
            return "unknown", "no partition of __transaction_state is in PATH"
        of = "" if coordinators.count is None else f" of {coordinators.count}"
        return "unknown", f"the {coordinators.present}{of} partitions of __transaction_state in PATH do not have it"
    if known.producer_id != row["producerId"]:
        return "hanging", f"the coordinator has given the transactional id another producer id, {known.producer_id}"
    under_way = _UNDER_WAY.get(known.state or "")
    if under_way is None:
        return "hanging", f"the coordinator has it as {known.state}, but the partition has no marker"
    if (row["topic"], row["partition"]) not in known.partitions:
        return "hanging", f"the coordinator has a transaction as {known.state}, but without this partition"
    return under_way, f"the coordinator has it as {known.state}"


def _held_back(row: Transaction, log: PartitionLog) -> dict[str, Any]:
    """The offsets from the last stable offset to the end of the log, for the transaction that pins it."""
    end = PartitionOffsets(log).latest
    pins = row["pinsLastStableOffset"]
    return {
        "logEndOffset": end,
        "highWatermark": log.high_watermark,
        "heldBackOffsets": end - row["firstOffset"] if pins else None,
    }


def _logs(
    paths: Sequence[str], given: Mapping[str, Any], wanted: set[tuple[str, int]]
) -> dict[tuple[str | None, int | None], PartitionLog]:
    options = parse_options({name: value for name, value in given.items() if name == "followSymlinks"}, paths)
    if not wanted:
        return {}
    listing = list_logs(options.paths, wanted=lambda *place: place in wanted, follow_symlinks=options.follow_symlinks)
    return {(log.topic, log.partition): log for log in listing.partitions}


def _producer(row: Transaction) -> tuple[Any, ...]:
    return row["topic"], row["partition"], row["producerId"]


def _coordinator_epochs(rows: Iterable[Transaction]) -> dict[tuple[Any, ...], int]:
    """The epoch of the last marker of each producer in a partition, below which a broker refuses another one."""
    marked = [row for row in rows if row["coordinatorEpoch"] is not None]
    return {_producer(row): row["coordinatorEpoch"] for row in sorted(marked, key=lambda row: int(row["markerOffset"]))}


def _newest(rows: Iterable[Transaction], coordinators: Coordinators) -> int | None:
    """The newest time by brokers; by producers, whose clocks may be wrong, only if there is none."""
    rows = list(rows)
    by_brokers = [row["markerTimestamp"] for row in rows] + [coordinators.newest_us]
    times = [time for time in by_brokers if time is not None]
    return max(times or [row["lastTimestamp"] for row in rows if row["lastTimestamp"] is not None], default=None)


def _age_ms(since_us: int | None, as_of_us: int | None) -> int | None:
    return None if since_us is None or as_of_us is None else max(0, as_of_us - since_us) // 1000
