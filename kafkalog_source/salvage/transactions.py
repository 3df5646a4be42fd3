"""The ``.txnindex`` of a segment: built from its markers and, for lost markers, from the broker's own index.

If a lost marker is not in that index, a broker takes the producer's next batches for part of the same transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.errors import KafkaLogError
from kafkalog_source.format import MAX_OFFSET, TXN_INDEX_ENTRY, TXN_INDEX_VERSION
from kafkalog_source.segment.side_files.side_file import SideFileError, read_side_file
from kafkalog_source.segment.side_files.txn_index import parse_txn_index
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.transaction_headers import HeaderPass, make_tracker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_source._core.producers import ProducerTable
    from kafkalog_source.logdir import PartitionLog, SegmentFile
    from kafkalog_source.salvage.report import LeftOut


Entry = tuple[int, int, int, int]
"""Producer id, first offset, the marker's offset, last stable offset."""


def aborted_transactions(
    segment: SegmentFile, bound: int, producers: ProducerTable, left_out: Sequence[LeftOut]
) -> list[Entry]:
    """The entries for a segment, sorted by the offsets of their markers.

    If a marker is lost, only an entry of the broker's own index shows that its transaction was aborted.
    """
    found = producers.take_aborted()
    lost = [each for each in left_out if each.path == segment.path and each.first_offset is not None]
    if segment.txn_index is None or not lost:
        return found
    try:
        noted = parse_txn_index(read_side_file(segment.txn_index), segment.base_offset, bound)
    except SideFileError:
        return found
    for entry in noted:
        if any(_covers(each, entry.last_offset) for each in lost):
            found.append((*entry[:3], entry.last_stable_offset))
            producers.end_transaction(entry.producer_id, entry.first_offset, entry.last_offset)
    return sorted(found, key=lambda entry: entry[2])


def transactions_in_doubt(log: PartitionLog, largest_batch: int) -> tuple[tuple[int, int, int], ...]:
    """Producer id, first and last offset of the batches whose transaction may have ended with a lost marker."""
    tracker = make_tracker()
    bounds = [*(each.base_offset for each in log.segments[1:]), MAX_OFFSET]
    for segment, bound in zip(log.segments, bounds, strict=False):
        try:
            with LocalFile(segment.path) as source:
                HeaderPass(
                    source,
                    tracker,
                    least=segment.base_offset,
                    bound=bound,
                    end=source.size,
                    is_last=bound == MAX_OFFSET,
                    on_damage=lambda _: None,
                    txn_index=segment.txn_index,
                    largest_batch=largest_batch,
                ).run()
        except KafkaLogError:
            tracker.lose(bound - 1)
    return (*tracker.undecided, *tracker.in_doubt)


def encode(entries: Sequence[Entry]) -> bytes:
    """Encode the content of a transaction index."""
    return b"".join(TXN_INDEX_ENTRY.pack(TXN_INDEX_VERSION, *entry) for entry in entries)


def _covers(lost: LeftOut, offset: int) -> bool:
    assert lost.first_offset is not None
    return lost.first_offset <= offset and (lost.last_offset is None or offset <= lost.last_offset)
