"""The typed columns of each decoded topic, and the fields that they come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from kafkalog_source.internal_topics.table import RecordType, record_types

TIMESTAMP_TYPE = pa.timestamp("us", tz="UTC")
INT, LONG, STRING = pa.int32(), pa.int64(), pa.string()


@dataclass(frozen=True)
class Column:
    """A column of numbers or texts. Columns of one name complete each other.

    Attributes
    ----------
    key, value : tuple of str
        Paths of fields; of those that a record type has, the first is taken.
    records : tuple of str
        The record types that the column is for, whose fields may lie in an embedded message; empty for all.
    none : int or None
        The number that stands for "none".
    names : mapping of int to str, or None
        What the numbers stand for, where the column shows it.
    """

    name: str
    type: pa.DataType
    key: tuple[str, ...] = ()
    value: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    none: int | None = None
    names: dict[int, str] | None = None

    def sources(self, record: RecordType) -> Iterator[str]:
        """The fields of a record type that fill the column, named as the program's."""
        if self.records and record.name not in self.records:
            return
        for part, message, paths in (("key", record.key, self.key), ("value", record.value, self.value)):
            there = {each.path for each in message.fields} if message else set()
            known = [path for path in paths if path in there or self.records]
            yield from [f"{record.name}.{part}.{path}" for path in known][:1]


@dataclass(frozen=True)
class ListColumn:
    """A column of lists, out of an array of one record type's value.

    Attributes
    ----------
    value : str
        Path of the array.
    element : Column, or tuple of Column and ListColumn
        What an element is: a plain value, or the fields of a struct.
    """

    name: str
    value: str
    element: Column | tuple[Column | ListColumn, ...]
    records: tuple[str, ...] = ()

    @property
    def type(self) -> pa.DataType:
        """A list of the element's type."""
        if isinstance(self.element, Column):
            return pa.list_(pa.field("element", self.element.type))
        return pa.list_(pa.field("element", pa.struct([(each.name, each.type) for each in self.element])))

    def sources(self, record: RecordType) -> Iterator[str]:
        """The array, if the record type is one of those that the column is for."""
        if record.name in self.records:
            yield f"{record.name}.value.{self.value}"


AnyColumn = Column | ListColumn


def _numbered(*names: str) -> dict[int, str]:
    return dict(enumerate(names))


_COMMITS = ("OFFSET_COMMIT", "LEGACY_OFFSET_COMMIT")
_CLASSIC = ("GROUP_METADATA",)
_SUBSCRIPTION, _ASSIGNMENT = "members.subscription", "members.assignment"


def _in_members(name: str, path: str) -> Column:
    return Column(name, STRING, value=(f"members.{path}",), records=_CLASSIC)


def _partitions(name: str, path: str, partitions: str, records: tuple[str, ...]) -> ListColumn:
    numbers = ListColumn("partitions", f"{path}.{partitions}", Column("element", INT), records)
    topic = Column("topic", STRING, value=(f"{path}.topic",), records=records)
    return ListColumn(name, path, (topic, numbers), records)


_MEMBERS = ListColumn(
    "members",
    "members",
    (
        _in_members("memberId", "memberId"),
        _in_members("instanceId", "groupInstanceId"),
        _in_members("clientId", "clientId"),
        _in_members("clientHost", "clientHost"),
        ListColumn("subscribedTopics", f"{_SUBSCRIPTION}.topics", Column("element", STRING), _CLASSIC),
        _partitions("assignedPartitions", f"{_ASSIGNMENT}.assignedPartitions", "partitions", _CLASSIC),
    ),
    _CLASSIC,
)
_CONSUMER_OFFSETS: tuple[AnyColumn, ...] = (
    Column("group", STRING, key=("group", "groupId")),
    Column("committedTopic", STRING, key=("topic",), records=_COMMITS),
    Column("committedPartition", INT, key=("partition",), records=_COMMITS),
    Column("committedOffset", LONG, value=("offset",), records=_COMMITS),
    Column("committedLeaderEpoch", INT, value=("leaderEpoch",), records=_COMMITS, none=-1),
    Column("metadata", STRING, value=("metadata",), records=_COMMITS),
    Column("commitTimestamp", TIMESTAMP_TYPE, value=("commitTimestamp",), records=_COMMITS),
    Column("expireTimestamp", TIMESTAMP_TYPE, value=("expireTimestamp",), records=_COMMITS),
    Column("committedTopicId", STRING, value=("topicId",), records=_COMMITS),
    Column("memberId", STRING, key=("memberId",)),
    Column("instanceId", STRING, value=("instanceId",)),
    Column("clientId", STRING, value=("clientId",)),
    Column("clientHost", STRING, value=("clientHost",)),
    Column("epoch", INT, value=("generation", "epoch", "assignmentEpoch", "memberEpoch")),
    Column("protocolType", STRING, value=("protocolType",), records=_CLASSIC),
    Column("protocol", STRING, value=("protocol",), records=_CLASSIC),
    Column("leader", STRING, value=("leader",), records=_CLASSIC),
    _MEMBERS,
)
_TRANSACTION_STATES = _numbered(
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence"
)
_TRANSACTION_STATE: tuple[AnyColumn, ...] = (
    Column("transactionalId", STRING, key=("transactionalId",)),
    Column("producerId", LONG, value=("producerId",), none=-1),
    Column("producerEpoch", INT, value=("producerEpoch",), none=-1),
    Column("transactionTimeoutMs", INT, value=("transactionTimeoutMs",)),
    Column("state", STRING, value=("transactionStatus",), names=_TRANSACTION_STATES),
    _partitions("partitions", "transactionPartitions", "partitionIds", ("TRANSACTION_LOG",)),
    Column("lastUpdateTimestamp", TIMESTAMP_TYPE, value=("transactionLastUpdateTimestampMs",)),
    Column("startTimestamp", TIMESTAMP_TYPE, value=("transactionStartTimestampMs",)),
    Column("previousProducerId", LONG, value=("previousProducerId",), none=-1),
    Column("nextProducerId", LONG, value=("nextProducerId",), none=-1),
    Column("clientTransactionVersion", INT, value=("clientTransactionVersion",)),
)
_SHARE = ("SHARE_SNAPSHOT", "SHARE_UPDATE")


def _in_batches(name: str, kind: pa.DataType) -> Column:
    return Column(name, kind, value=(f"stateBatches.{name}",))


_STATE_BATCHES = (
    _in_batches("firstOffset", LONG),
    _in_batches("lastOffset", LONG),
    _in_batches("deliveryState", INT),
    _in_batches("deliveryCount", INT),
)
_SHARE_GROUP_STATE: tuple[AnyColumn, ...] = (
    Column("group", STRING, key=("groupId",)),
    Column("topicId", STRING, key=("topicId",)),
    Column("sharePartition", INT, key=("partition",)),
    Column("snapshotEpoch", INT, value=("snapshotEpoch",)),
    Column("stateEpoch", INT, value=("stateEpoch",)),
    Column("shareLeaderEpoch", INT, value=("leaderEpoch",)),
    Column("startOffset", LONG, value=("startOffset",), none=-1),
    Column("deliveryCompleteCount", INT, value=("deliveryCompleteCount",), none=-1),
    Column("createTimestamp", TIMESTAMP_TYPE, value=("createTimestamp",)),
    Column("writeTimestamp", TIMESTAMP_TYPE, value=("writeTimestamp",)),
    ListColumn("stateBatches", "stateBatches", _STATE_BATCHES, _SHARE),
)
_BROKERS = (
    "REGISTER_BROKER_RECORD",
    "UNREGISTER_BROKER_RECORD",
    "BROKER_REGISTRATION_CHANGE_RECORD",
    "PRODUCER_IDS_RECORD",
)
_CONFIG = ("CONFIG_RECORD",)
RESOURCE_TYPES = {2: "TOPIC", 4: "BROKER", 16: "CLIENT_METRICS", 32: "GROUP"}
"""The numbers of a CONFIG_RECORD's resource type."""
_CLUSTER_METADATA: tuple[AnyColumn, ...] = (
    Column("topicName", STRING, value=("name",), records=("TOPIC_RECORD",)),
    Column("topicName", STRING, value=("topicName",), records=("CLEAR_ELR_RECORD",)),
    Column("topicId", STRING, value=("topicId",)),
    Column("partitionId", INT, value=("partitionId",)),
    Column("brokerId", INT, value=("brokerId",), records=_BROKERS),
    Column("brokerId", INT, value=("id",), records=("FENCE_BROKER_RECORD", "UNFENCE_BROKER_RECORD")),
    Column("resourceType", STRING, value=("resourceType",), records=_CONFIG, names=RESOURCE_TYPES),
    Column("resourceName", STRING, value=("resourceName",), records=_CONFIG),
    Column("configName", STRING, value=("name",), records=_CONFIG),
    Column("configValue", STRING, value=("value",), records=_CONFIG),
)
_SEGMENT_STATES = _numbered(
    "COPY_SEGMENT_STARTED", "COPY_SEGMENT_FINISHED", "DELETE_SEGMENT_STARTED", "DELETE_SEGMENT_FINISHED"
)
_DELETION_STATES = _numbered("DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED", "DELETE_PARTITION_FINISHED")
_OF_SEGMENT, _OF_PARTITION = "remoteLogSegmentId.topicIdPartition", "topicIdPartition"
_REMOTE_LOG_METADATA: tuple[AnyColumn, ...] = (
    Column("segmentTopic", STRING, value=(f"{_OF_SEGMENT}.name", f"{_OF_PARTITION}.name")),
    Column("segmentTopicId", STRING, value=(f"{_OF_SEGMENT}.id", f"{_OF_PARTITION}.id")),
    Column("segmentPartition", INT, value=(f"{_OF_SEGMENT}.partition", f"{_OF_PARTITION}.partition")),
    Column("segmentId", STRING, value=("remoteLogSegmentId.id", "segmentId")),
    Column("startOffset", LONG, value=("startOffset",)),
    Column("endOffset", LONG, value=("endOffset",)),
    Column("brokerId", INT, value=("brokerId",)),
    Column("maxTimestamp", TIMESTAMP_TYPE, value=("maxTimestampMs",)),
    Column("eventTimestamp", TIMESTAMP_TYPE, value=("eventTimestampMs",)),
    Column("segmentSizeInBytes", LONG, value=("segmentSizeInBytes",)),
    Column("state", STRING, value=("remoteLogSegmentState",), names=_SEGMENT_STATES),
    Column("state", STRING, value=("remotePartitionDeleteState",), names=_DELETION_STATES),
)
TYPED_COLUMNS: dict[str, tuple[AnyColumn, ...]] = {
    "consumer_offsets": _CONSUMER_OFFSETS,
    "transaction_state": _TRANSACTION_STATE,
    "share_group_state": _SHARE_GROUP_STATE,
    "cluster_metadata": _CLUSTER_METADATA,
    "remote_log_metadata": _REMOTE_LOG_METADATA,
}
"""The columns of each view that come out of keys and values, in their documented order."""
SNAPSHOT_TYPES: dict[str, pa.DataType] = {"source": STRING, "snapshotOffset": LONG, "snapshotEpoch": INT}
"""The columns of ``cluster_metadata`` that say which file a record is from."""
COMMON_TYPES: dict[str, pa.DataType] = {
    "topic": STRING,
    "partition": INT,
    "file": STRING,
    "offset": LONG,
    "timestamp": TIMESTAMP_TYPE,
    "leaderEpoch": INT,
    "recordType": STRING,
    "recordTypeId": INT,
    "version": INT,
    "isTombstone": pa.bool_(),
    "keyJson": STRING,
    "valueJson": STRING,
    "decodeError": STRING,
    "transactionState": STRING,
    "key": pa.binary(),
    "value": pa.binary(),
}
"""The first columns of every decoded topic."""
FROM_RECORDS = ("topic", "partition", "file", "offset", "timestamp", "leaderEpoch", "transactionState", "key", "value")
"""Those of them that the record itself has."""
CORRUPT_RECORD = "_corrupt_record"
"""The last column of a read that keeps damage as rows."""
TOPICS = {view: f"__{view}" for view in TYPED_COLUMNS}
"""The topic that each view decodes."""


def view_types(view: str) -> dict[str, pa.DataType]:
    """Every column of a view with its type, in the documented order."""
    typed = {each.name: each.type for each in TYPED_COLUMNS[view]}
    return COMMON_TYPES | (SNAPSHOT_TYPES if view == "cluster_metadata" else {}) | typed


def sources(view: str, column: AnyColumn) -> list[str]:
    """The fields of all record types of the view that fill a column."""
    return [name for record in record_types(view) for name in column.sources(record)]
