"""Checks ``.index`` and ``.timeindex``: first the order of their entries, then each entry against the batches.

Errors that a broker detects when it loads them (``OffsetIndex.sanityCheck``, ``TimeIndex.sanityCheck``)
have a similar text; a broker does not detect entries that contradict the batches.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from kafkalog_source.segment.side_files.index_entries import INDEX_LAYOUTS, entry_count
from kafkalog_source.segment.side_files.side_file import SideFileError, read_side_file
from kafkalog_source.verifying.findings import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_source.segment.damage.description import Damage


def _numbers() -> array[int]:
    return array("q")


@dataclass(slots=True)
class IndexFile:
    """The entries of an index; none if the file as such is invalid.

    Attributes
    ----------
    path : str
    entry_size : int
        In bytes.
    keys, values : array of int
        Offsets and positions, or timestamps and offsets; offsets are absolute. An index may have millions of entries.
    findings : list of Finding
        Problems of the file as such.
    """

    path: str
    entry_size: int
    keys: array[int] = field(default_factory=_numbers)
    values: array[int] = field(default_factory=_numbers)
    findings: list[Finding] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.keys)

    def misleading(self, numbers: Sequence[int], problem: str, found: str, expected: str) -> Finding:
        """The finding for some of the entries, with the place of the first of them."""
        count = f"{len(numbers)} of {len(self)} entries, the first of them" if len(numbers) > 1 else "entry"
        return Finding(
            Severity.MISLEADING,
            self.path,
            problem,
            numbers[0] * self.entry_size,
            self.entry_size,
            f"{count} number {numbers[0]}: {found}",
            expected,
        )

    def refuse(self, problem: str, found: str, expected: str | None, position: int | None = None) -> None:
        """Add a finding for the file as such, and drop its entries."""
        self.keys, self.values = _numbers(), _numbers()
        self.findings.append(Finding(Severity.MISLEADING, self.path, problem, position, None, found, expected))


def read_offset_index(path: str, base_offset: int) -> IndexFile:
    """Read an ``.index``."""
    index = _read(path, "index", base_offset, 0)
    _check_rising(index, index.keys, "offset", base_offset)
    _check_rising(index, index.values, "position", 0)
    return index


def read_time_index(path: str, base_offset: int) -> IndexFile:
    """Read a ``.timeindex``."""
    index = _read(path, "timeindex", 0, base_offset)
    _check_rising(index, index.keys, "timestamp", None)
    _check_rising(index, index.values, "offset", base_offset, may_stay=True)
    return index


def _read(path: str, kind: str, key_base: int, value_base: int) -> IndexFile:
    """The entries up to the padding at the end of a preallocated file or of one left by a crash."""
    layout = INDEX_LAYOUTS[kind]
    index = IndexFile(path, layout.size)
    try:
        data = read_side_file(path)
    except SideFileError as error:
        index.refuse(f"the index cannot be read: {error}", "no entries", None)
        return index
    if len(data) % layout.size:
        index.refuse(
            "the index's size is neither zero nor a multiple of its entry's",
            f"{len(data)} bytes",
            f"a multiple of {layout.size}",
        )
        return index
    # The padding is zeros. Only the first entry may be all zeros too; it carries no information.
    used = entry_count(len(data), len(data.rstrip(b"\0")), kind)
    try:
        for key, value in layout.iter_unpack(data[: used * layout.size]):
            index.keys.append(key_base + key)
            index.values.append(value_base + value)
    except OverflowError:
        index.refuse("the index names an offset above the largest possible one", "more than 63 bits", None)
    return index


def _check_rising(
    index: IndexFile, numbers: array[int], name: str, least: int | None, *, may_stay: bool = False
) -> None:
    """Refuse an index whose numbers do not rise, since a binary search in it is meaningless."""
    if numbers and least is not None and numbers[0] < least:
        problem = f"the {name} of the first entry is below the {name} at which the segment begins"
        index.refuse(problem, f"{name} {numbers[0]}", f"{least} or more", 0)
        return
    for number, (before, after) in enumerate(pairwise(numbers), start=1):
        if after < before or (after == before and not may_stay):
            found = f"{name} {after} after {before}"
            index.refuse(f"the {name}s of the index do not rise", found, "entries in order", number * index.entry_size)
            return


def judge_offsets(index: IndexFile, astray: Iterable[int], too_low: Iterable[int], damage: Regions) -> list[Finding]:
    """Findings for offset entries at whose positions no batch begins, or one with higher offsets."""
    findings = []
    wrong = [number for number in astray if not damage.cover(index.values[number])]
    if wrong:
        offset, position = index.keys[wrong[0]], index.values[wrong[0]]
        findings.append(
            index.misleading(wrong, "no batch begins where the index points", f"offset {offset} at position {position}",
                      "positions at which batches begin")
        )  # fmt: skip
    wrong = [number for number in too_low if not damage.cover(index.values[number])]
    if wrong:
        offset, position = index.keys[wrong[0]], index.values[wrong[0]]
        findings.append(
            index.misleading(wrong, "the index names an offset below the batch it points at",
                      f"offset {offset} at position {position}", "an offset that is not below the batch's first")
        )  # fmt: skip
    return findings


def judge_times(
    index: IndexFile, times: Sequence[tuple[int, int]], next_offset: int | None, untimed: bool
) -> list[Finding]:
    """Findings for time entries, given the largest timestamps before their offsets and up to the batches at them.

    Parameters
    ----------
    index : IndexFile
    times : sequence of (int, int)
        One for each entry whose offset the batches reach; see `IndexCheck.times`.
    next_offset : int or None
        The offset after the segment's last one; None if damage makes it unknown, and with it whether a timestamp is
        too late.
    untimed : bool
        Whether there are batches without timestamps. A broker that still wrote v0 put the timestamps that its
        producers had sent into the index.
    """
    findings = []
    early = [number for number, (before, _) in enumerate(times) if index.keys[number] < before]
    if early:
        timestamp, offset = index.keys[early[0]], index.values[early[0]]
        findings.append(
            index.misleading(early, "records before the offset in the index have a later time than the index",
                      f"time {timestamp} at offset {offset}", f"time {times[early[0]][0]} or later")
        )  # fmt: skip
    if next_offset is None:
        return findings
    late = [number for number, (_, reached) in enumerate(times) if index.keys[number] > reached]
    if late and not untimed:
        timestamp, offset = index.keys[late[0]], index.values[late[0]]
        findings.append(
            index.misleading(late, "no record up to the offset in the index has so late a time",
                      f"time {timestamp} at offset {offset}", f"at most time {times[late[0]][1]}")
        )  # fmt: skip
    beyond = list(range(len(times), len(index)))
    if beyond:
        timestamp, offset = index.keys[beyond[0]], index.values[beyond[0]]
        findings.append(
            index.misleading(beyond, "the index names an offset after the segment's last one", f"offset {offset}",
                      f"an offset below {next_offset}")
        )  # fmt: skip
    return findings


class Regions:
    """The damaged regions of a file; index entries that point into them cannot be checked."""

    def __init__(self, damage: Sequence[Damage]) -> None:
        self._regions = [(each.position, each.position + each.size) for each in damage]

    def cover(self, position: int) -> bool:
        """Whether a position is in one of them."""
        return any(start <= position < end for start, end in self._regions)
