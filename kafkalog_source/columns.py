"""The columns of every view, in their documented order: one table from which Arrow's and Spark's schemas are made.

A type is one of the words below, an `ArrayOf` or a `StructOf`. Neither pyarrow nor
pyspark is imported here, because a worker of Spark that only gives a schema should
not have to load both.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CORRUPT_RECORD", "FILE_VIEWS", "VIEWS", "ArrayOf", "StructOf", "Type", "View", "default_columns"]

STRING, INT, LONG, BOOLEAN, BINARY, TIMESTAMP = "string", "int", "long", "boolean", "binary", "timestamp"
"""Words for simple types; a timestamp has microseconds in UTC."""


@dataclass(frozen=True, slots=True)
class StructOf:
    """A structure with nullable fields.

    Attributes
    ----------
    fields : tuple of (str, Type)
    """

    fields: tuple[tuple[str, Type], ...]


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """A list with nullable elements.

    Attributes
    ----------
    element : Type
    """

    element: Type


Type = str | StructOf | ArrayOf


@dataclass(frozen=True, slots=True)
class View:
    """A view and its columns.

    Attributes
    ----------
    columns : dict
        Type by name, in their order.
    defaults : tuple of str or None
        The columns of a read that names none; None for all of them.
    verifies : bool
        Whether checksums are verified by default. Without, a view of headers reads no payloads.
    is_of_files : bool
        Whether its rows are made of whole files, so that options that choose among records make no sense.
    topic : str or None
        The one of Kafka's own topics whose records it decodes.
    """

    columns: dict[str, Type]
    defaults: tuple[str, ...] | None = None
    verifies: bool = True
    is_of_files: bool = False
    topic: str | None = None


CORRUPT_RECORD = "_corrupt_record"
"""The column for damage, which every view but ``damage`` has in ``mode=PERMISSIVE``."""

_PLACE: dict[str, Type] = {"topic": STRING, "partition": INT, "file": STRING}
_FILE: dict[str, Type] = {**_PLACE, "baseOffset": LONG}
_DAMAGE: dict[str, Type] = {CORRUPT_RECORD: STRING}
_DECODED: dict[str, Type] = {
    **_PLACE,
    "offset": LONG,
    "timestamp": TIMESTAMP,
    "leaderEpoch": INT,
    "recordType": STRING,
    "recordTypeId": INT,
    "version": INT,
    "isTombstone": BOOLEAN,
    "keyJson": STRING,
    "valueJson": STRING,
    "decodeError": STRING,
    "transactionState": STRING,
    "key": BINARY,
    "value": BINARY,
}
_TOPIC_PARTITIONS = ArrayOf(StructOf((("topic", STRING), ("partitions", ArrayOf(INT)))))
_MEMBERS = ArrayOf(
    StructOf(
        (
            ("memberId", STRING),
            ("instanceId", STRING),
            ("clientId", STRING),
            ("clientHost", STRING),
            ("subscribedTopics", ArrayOf(STRING)),
            ("assignedPartitions", _TOPIC_PARTITIONS),
        )
    )
)
_STATE_BATCHES = ArrayOf(
    StructOf((("firstOffset", LONG), ("lastOffset", LONG), ("deliveryState", INT), ("deliveryCount", INT)))
)

VIEWS: dict[str, View] = {
    "records": View(
        {
            "key": BINARY,
            "value": BINARY,
            "topic": STRING,
            "partition": INT,
            "offset": LONG,
            "timestamp": TIMESTAMP,
            "timestampType": INT,
            "headers": ArrayOf(StructOf((("key", STRING), ("value", BINARY)))),
            "leaderEpoch": INT,
            "producerId": LONG,
            "producerEpoch": INT,
            "sequence": INT,
            "isTransactional": BOOLEAN,
            "isControl": BOOLEAN,
            "controlType": STRING,
            "transactionState": STRING,
            "magic": INT,
            "compression": STRING,
            "keySize": INT,
            "valueSize": INT,
            "file": STRING,
            "batchPosition": LONG,
            "batchBaseOffset": LONG,
            **_DAMAGE,
        },
        # Those of Spark's own Kafka source.
        ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers"),
    ),
    "batches": View(
        {
            **_FILE,
            "batchPosition": LONG,
            "batchSize": LONG,
            "batchBaseOffset": LONG,
            "batchLastOffset": LONG,
            "recordCount": INT,
            "magic": INT,
            "compression": STRING,
            "timestampType": INT,
            "firstTimestamp": TIMESTAMP,
            "maxTimestamp": TIMESTAMP,
            "deleteHorizon": TIMESTAMP,
            "leaderEpoch": INT,
            "producerId": LONG,
            "producerEpoch": INT,
            "baseSequence": INT,
            "lastSequence": INT,
            "isTransactional": BOOLEAN,
            "isControl": BOOLEAN,
            "crc": LONG,
            **_DAMAGE,
        },
        verifies=False,
    ),
    "damage": View(
        {
            **_PLACE,
            "position": LONG,
            "size": LONG,
            "kind": STRING,
            "reason": STRING,
            "expected": STRING,
            "found": STRING,
            "first_offset": LONG,
            "last_offset": LONG,
        }
    ),
    "segments": View(
        {
            **_FILE,
            "lastOffset": LONG,
            "nextOffset": LONG,
            "size": LONG,
            "validSize": LONG,
            "end": STRING,
            "batchCount": LONG,
            "recordCount": LONG,
            "firstTimestamp": TIMESTAMP,
            "maxTimestamp": TIMESTAMP,
            "magics": ArrayOf(INT),
            "compressions": ArrayOf(STRING),
            "minLeaderEpoch": INT,
            "maxLeaderEpoch": INT,
            "isTransactional": BOOLEAN,
            "controlBatchCount": LONG,
            "indexEntries": LONG,
            "timeIndexEntries": LONG,
            "txnIndexEntries": LONG,
            "isActive": BOOLEAN,
            "modified": TIMESTAMP,
            **_DAMAGE,
        },
        verifies=False,
        is_of_files=True,
    ),
    "transactions": View(
        {
            **_PLACE,
            "producerId": LONG,
            "producerEpoch": INT,
            "transactionalId": STRING,
            "state": STRING,
            "firstOffset": LONG,
            "lastOffset": LONG,
            "markerOffset": LONG,
            "markerEpoch": INT,
            "coordinatorEpoch": INT,
            "firstTimestamp": TIMESTAMP,
            "lastTimestamp": TIMESTAMP,
            "markerTimestamp": TIMESTAMP,
            "durationMs": LONG,
            "batchCount": LONG,
            "recordCount": LONG,
            "sizeInBytes": LONG,
            "pinsLastStableOffset": BOOLEAN,
            **_DAMAGE,
        },
        verifies=False,
        is_of_files=True,
    ),
    "producer_state": View(
        {
            **_FILE,
            "version": INT,
            "crc": LONG,
            "producerId": LONG,
            "producerEpoch": INT,
            "firstSequence": INT,
            "lastSequence": INT,
            "lastOffset": LONG,
            "offsetDelta": INT,
            "lastTimestamp": TIMESTAMP,
            "coordinatorEpoch": INT,
            "currentTxnFirstOffset": LONG,
            **_DAMAGE,
        },
        is_of_files=True,
    ),
    "indexes": View(
        {
            **_FILE,
            "indexType": STRING,
            "entry": INT,
            "offset": LONG,
            "position": LONG,
            "timestamp": TIMESTAMP,
            "version": INT,
            "producerId": LONG,
            "firstOffset": LONG,
            "lastOffset": LONG,
            "lastStableOffset": LONG,
            **_DAMAGE,
        },
        is_of_files=True,
    ),
    "checkpoints": View(
        {
            **_PLACE,
            "checkpoint": STRING,
            "version": INT,
            "leaderEpoch": INT,
            "offset": LONG,
            "name": STRING,
            "value": STRING,
            **_DAMAGE,
        },
        is_of_files=True,
    ),
    "consumer_offsets": View(
        {
            **_DECODED,
            "group": STRING,
            "committedTopic": STRING,
            "committedPartition": INT,
            "committedOffset": LONG,
            "committedLeaderEpoch": INT,
            "metadata": STRING,
            "commitTimestamp": TIMESTAMP,
            "expireTimestamp": TIMESTAMP,
            "committedTopicId": STRING,
            "memberId": STRING,
            "instanceId": STRING,
            "clientId": STRING,
            "clientHost": STRING,
            "epoch": INT,
            "protocolType": STRING,
            "protocol": STRING,
            "leader": STRING,
            "members": _MEMBERS,
            **_DAMAGE,
        },
        topic="__consumer_offsets",
    ),
    "transaction_state": View(
        {
            **_DECODED,
            "transactionalId": STRING,
            "producerId": LONG,
            "producerEpoch": INT,
            "transactionTimeoutMs": INT,
            "state": STRING,
            "partitions": _TOPIC_PARTITIONS,
            "lastUpdateTimestamp": TIMESTAMP,
            "startTimestamp": TIMESTAMP,
            "previousProducerId": LONG,
            "nextProducerId": LONG,
            "clientTransactionVersion": INT,
            **_DAMAGE,
        },
        topic="__transaction_state",
    ),
    "share_group_state": View(
        {
            **_DECODED,
            "group": STRING,
            "topicId": STRING,
            "sharePartition": INT,
            "snapshotEpoch": INT,
            "stateEpoch": INT,
            "shareLeaderEpoch": INT,
            "startOffset": LONG,
            "deliveryCompleteCount": INT,
            "createTimestamp": TIMESTAMP,
            "writeTimestamp": TIMESTAMP,
            "stateBatches": _STATE_BATCHES,
            **_DAMAGE,
        },
        topic="__share_group_state",
    ),
    "cluster_metadata": View(
        {
            **_DECODED,
            "source": STRING,
            "snapshotOffset": LONG,
            "snapshotEpoch": INT,
            "topicName": STRING,
            "topicId": STRING,
            "partitionId": INT,
            "brokerId": INT,
            "resourceType": STRING,
            "resourceName": STRING,
            "configName": STRING,
            "configValue": STRING,
            **_DAMAGE,
        },
        topic="__cluster_metadata",
    ),
    "remote_log_metadata": View(
        {
            **_DECODED,
            "segmentTopic": STRING,
            "segmentTopicId": STRING,
            "segmentPartition": INT,
            "segmentId": STRING,
            "startOffset": LONG,
            "endOffset": LONG,
            "brokerId": INT,
            "maxTimestamp": TIMESTAMP,
            "eventTimestamp": TIMESTAMP,
            "segmentSizeInBytes": LONG,
            "state": STRING,
            **_DAMAGE,
        },
        topic="__remote_log_metadata",
    ),
}
"""The columns of each view."""

FILE_VIEWS = frozenset(name for name, view in VIEWS.items() if view.is_of_files)
"""The views whose rows are made of whole files."""


def default_columns(view: str, mode: str, *, headers: bool) -> tuple[str, ...]:
    """The columns of a read that names none.

    Parameters
    ----------
    view, mode : str
    headers : bool
        Whether the column of record headers is among them, if the view has one.
    """
    found = VIEWS[view]
    names = found.defaults or tuple(name for name in found.columns if name != CORRUPT_RECORD)
    has_damage = mode == "PERMISSIVE" and CORRUPT_RECORD in found.columns
    more = (CORRUPT_RECORD,) if has_damage else ()
    return (*(name for name in names if headers or name != "headers"), *more)
