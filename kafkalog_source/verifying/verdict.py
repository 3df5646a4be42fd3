"""What the findings of `verify` mean for the records: how many offsets are lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.reporting.losses import loss_of
from kafkalog_source.verifying.findings import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.reporting.losses import Loss, Region
    from kafkalog_source.verifying.partition import PartitionResult
    from kafkalog_source.verifying.verify import Verification

__all__ = ["losses_found"]


def losses_found(found: Verification) -> list[Loss]:
    """The losses of each partition in which records cannot be read or are missing; what was not checked is none."""
    losses = [_loss(result) for result in found.partitions if result.count(Severity.DAMAGE)]
    return [each for each in losses if each is not None]


def _loss(result: PartitionResult) -> Loss | None:
    log = result.log
    low = 0
    if log.segments:
        low = max(log.segments[0].base_offset, log.log_start_offset or 0)
    return loss_of(PartitionOffsets(log), (low, MAX_OFFSET), _regions(result))


def _regions(result: PartitionResult) -> Iterator[Region]:
    """The offsets of each damage; those of its whole segment if the segment could not be read."""
    segments = result.log.segments
    bounds = [each.base_offset - 1 for each in segments[1:]]
    whole: dict[str, Region] = {
        segment.path: (segment.base_offset, last) for segment, last in zip(segments, [*bounds, None], strict=False)
    }
    for finding in result.findings:
        if finding.severity is Severity.DAMAGE and not finding.is_denied:
            is_known = finding.first_offset is not None or finding.last_offset is not None
            known = (finding.first_offset, finding.last_offset)
            yield known if is_known else whole.get(finding.file, (None, None))
