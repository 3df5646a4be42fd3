"""``view=producer_state``: the producers of each ``.snapshot`` (``ProducerStateManager``, 4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.errors import LogDirError
from kafkalog_source.segment.side_files.producer_snapshot import snapshot_entries
from kafkalog_source.segment.side_files.side_file import SideFileError, read_file
from kafkalog_source.views.rows import known, microseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.partition.file_parts import SideFile
    from kafkalog_source.views.rows import Rows

__all__ = ["producer_rows"]

_SEQUENCES = 2**31


def producer_rows(file: SideFile) -> Iterator[Rows]:
    """A row for each producer.

    Raises
    ------
    LogDirError
        The file cannot be read, or is damaged or of an unknown version.
    """
    content = read_file(file.path)
    try:
        version, crc, entries = snapshot_entries(content)
    except SideFileError as error:
        raise LogDirError(
            f"the producer snapshot is damaged: {error}",
            file=file.path,
            remedy="Remove the file from the copy that is read: a broker builds it anew from the segments",
        ) from error
    if not entries:
        return
    ids, epochs, sequences, offsets, deltas, times, coordinators, starts = zip(*entries, strict=True)
    last = [*map(known, sequences)]
    yield {
        "baseOffset": [file.base_offset] * len(entries),
        "version": [version] * len(entries),
        "crc": [crc] * len(entries),
        "producerId": ids,
        "producerEpoch": epochs,
        # A sequence continues with 0 after 2^31 - 1 (DefaultRecordBatch.decrementSequence).
        "firstSequence": [
            None if each is None else (each - delta) % _SEQUENCES for each, delta in zip(last, deltas, strict=True)
        ],
        "lastSequence": last,
        "lastOffset": [*map(known, offsets)],
        "offsetDelta": deltas,
        "lastTimestamp": [*map(microseconds, times)],
        "coordinatorEpoch": [*map(known, coordinators)],
        "currentTxnFirstOffset": [*map(known, starts)],
    }
