"""The packed cases: what wrote each of them and what it is kept for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One archive of this folder."""

    written_by: str
    kept_for: str
    only: tuple[str, ...] = ()
    """Directories that are packed; all by default."""


def _broker(version: str, kept_for: str) -> Case:
    return Case(f"Kafka broker {version} and its own Java producer", kept_for)


def _groups(version: str) -> Case:
    return Case(f"Kafka broker {version} and its own Java clients", "__consumer_offsets of that version")


CASES: dict[str, Case] = {
    "v2-4.4": Case(
        "Kafka broker 4.4.0 (KRaft) and its Java producer",
        "v2 with all five codecs at several levels, CreateTime and LogAppendTime, codecs changed by the "
        "broker, one partition with everything mixed, a record of 100 KB",
    ),
    "v1-2.8": Case(
        "Kafka broker 2.8.2, message.format.version 0.10.2",
        "v1 with none, gzip, snappy and lz4, CreateTime, LogAppendTime and both in one partition",
    ),
    "v0-2.8": Case(
        "Kafka broker 2.8.2, message.format.version 0.9.0",
        "v0 with none, gzip, snappy and lz4, codecs mixed in one partition, the old LZ4 header checksum",
    ),
    "mixed-magic-2.8": Case(
        "Kafka broker 2.8.2, one partition at format 0, 1 and 2 in turn",
        "three formats in one file, for each codec and for all of them together",
    ),
    "txn-4.4": Case(
        "Kafka broker 4.4.0, interleaved transactional producers",
        "commits, aborts, a fenced producer, an open transaction, .txnindex and .snapshot files",
    ),
    "txn-2.8": Case(
        "Kafka broker 2.8.2, interleaved transactional producers",
        "as txn-4.4, with the markers of a broker that keeps the producer epoch",
    ),
    "groups-4.4": Case(
        "Kafka broker 4.4.0, classic, consumer-protocol and share groups",
        "__consumer_offsets, __transaction_state and __share_group_state, with tombstones",
    ),
    "views-4.4": Case(
        "Kafka broker 4.4.0 with two log directories; classic, consumer, share and streams groups",
        "groups and offsets deleted and expired, commits in committed, aborted and open transactions; SCRAM, ACLs, "
        "quotas, delegation tokens, dynamic configs, a feature downgrade, a replica moved to the other disk",
    ),
    "groups-0.9.0.1": _groups("0.9.0.1"),
    "groups-0.10.2.2": _groups("0.10.2.2"),
    "groups-1.1.1": _groups("1.1.1"),
    "groups-2.8.2": _groups("2.8.2"),
    "compact-4.4": Case(
        "Kafka broker 4.4.0, its cleaner ran",
        "gaps inside batches, retained empty batches, delete horizons, markers, compact and delete together",
    ),
    "compact-2.8": Case(
        "Kafka broker 2.8.2, its cleaner ran",
        "compacted v0, v1 and v2 with each codec: wrappers with gaps",
    ),
    "logstart-4.4": Case(
        "Kafka broker 4.4.0, after deleteRecords",
        "a log start inside a segment, inside a batch and at the log end",
    ),
    "names-4.4": Case(
        "Kafka broker 4.4.0 with two log directories; -future and -stray directories renamed by hand",
        "topic names with dots, dashes, digits and 249 characters, empty partitions, a -delete directory; "
        "the high watermark of four-3 was edited from 120 to 57",
    ),
    "kraft-metadata-4.4": Case(
        "Kafka broker 4.4.0, its metadata log",
        "__cluster_metadata with snapshots, KRaft control records and many partition directories",
    ),
    "killed-4.4": Case(
        "Kafka broker 4.4.0 with log.preallocate, killed with SIGKILL",
        "segments with zero tails, indexes of 10 MiB that are mostly zeros",
    ),
    "broker-0.8.2.2": _broker("0.8.2.2", "v0 of the first generation: no .timeindex, old LZ4 framing"),
    "broker-0.9.0.1": _broker("0.9.0.1", "v0 with compacted topics"),
    "broker-0.10.2.2": _broker("0.10.2.2", "v1 and v0, the first .timeindex, small snappy blocks"),
    "broker-0.11.0.3": _broker("0.11.0.3", "the first v2, with headers"),
    "broker-1.1.1": _broker("1.1.1", "v2"),
    "broker-3.9.1": _broker("3.9.1", "v2 with idempotent producers"),
    "librdkafka-4.4": Case(
        "librdkafka 2.16 against a Kafka broker 4.4.0",
        "batches of a producer that is not Java: raw snappy blocks, other frame options",
    ),
    "codec-variants": Case(
        "Batches of Kafka 4.4.0 and 2.8.2, recompressed by hand (log/VARIANTS.json says how)",
        "compressed streams of other producers, legal or nearly so; the oracle says which Kafka refuses",
    ),
    "side-files": Case(
        "Kafka broker 4.4.0, side files then damaged by hand (log/SIDE-FILES.json says how)",
        "good segments beside missing, cut, wrong or random indexes, leftovers and broken checkpoints",
    ),
    "corrupt": Case(
        "Segments of v2-4.4 and v1-2.8, damaged by hand (log/CORRUPTION.json says what and where)",
        "what the reader must refuse, report or read; with what the broker's own recovery keeps",
    ),
    "log-0.7": Case(
        "The Log class of Kafka 0.7.2 without a broker; magic 0 entries were put together by hand",
        "segments of Kafka 0.7, with what its own iterators read",
    ),
}

WITHOUT_ORACLE: dict[str, Case] = {
    "follower-txnindex": Case(
        "A Kafka broker 4.4.0, follower in a cluster of two, some of them killed at random times",
        "a .txnindex with a last stable offset beyond the marker, since a follower appends several batches at once; "
        "Kafka's own reading of it was not recorded",
        only=("t6-a-1",),
    ),
}
"""Cases that tests compare with themselves: their archives hold no `oracle`."""

INTERNAL_TOPICS = "internal-topics"
INTERNAL_RECORDS: dict[str, Case] = {
    INTERNAL_TOPICS: Case(
        "Kafka 4.4.0's serializers without a broker, random fields (log/); and what its classes make of these records "
        "and of those of Kafka's own topics in other cases (oracle/CASE.jsonl)",
        "every record type of Kafka's own topics in every version, tombstones, unknown types, versions, frames and "
        "tags, values that are cut, bytes after the last field, secrets",
    ),
}
"""A log directory of its own; its oracle has a file for each of `INTERNAL_ORACLES`."""
INTERNAL_SOURCE = "views-made"
INTERNAL_ORACLES = (
    INTERNAL_SOURCE,
    "groups-0.9.0.1",
    "groups-0.10.2.2",
    "groups-1.1.1",
    "groups-2.8.2",
    "groups-4.4",
    "kraft-metadata-4.4",
    "txn-2.8",
    "txn-4.4",
    "views-4.4",
)

FILE_VIEWS = "file-views"
FILE_ORACLES: dict[str, Case] = {
    FILE_VIEWS: Case(
        "Kafka 4.4.0's classes, from the files of the other cases (oracle/KIND/CASE.jsonl)",
        "every producer snapshot and checkpoint file, and the transactions that batches, markers and `.txnindex` tell",
    ),
}
"""No log directory; its oracle has a folder for each of `FILE_KINDS`."""
FILE_KINDS = ("snapshots", "checkpoints", "transactions")
