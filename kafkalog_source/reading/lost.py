"""What a read could not return, by partition."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kafkalog_source.reporting.losses import loss_of
from kafkalog_source.segment.damage.description import Kind

if TYPE_CHECKING:
    from kafkalog_source.planning.plan import Plan
    from kafkalog_source.reporting.losses import Loss, Region

__all__ = ["losses_of"]


def losses_of(plan: Plan) -> list[Loss]:
    """The losses of each partition of a plan that has been read; a torn end is none."""
    regions: dict[str, list[Region]] = {}
    for each in [*plan.report.damage, *plan.report.missing]:
        if each.kind is not Kind.TORN:
            region = (each.first_offset, each.last_offset)
            regions.setdefault(each.file, []).append(region)
            regions.setdefault(os.path.dirname(each.file), []).append(region)
    losses = [
        loss_of(each.offsets, (each.low, each.high), regions[each.offsets.log.path])
        for each in plan.partitions
        if each.offsets.log.path in regions
    ]
    return [each for each in losses if each is not None]
