"""Memory under a view stays where it is, and what Arrow has released is used again."""

from __future__ import annotations

import gc

import pytest

from kafkalog_source._core.columns import Columns
from kafkalog_source._core.memory import BlockPool, Scratch


def test_scratch_grows_and_keeps_what_it_is_told_to() -> None:
    scratch = Scratch()
    scratch.reserve(10)
    with scratch.view(0, 10) as room:
        room[:] = b"0123456789"
    scratch.reserve(1 << 20, keep=4)
    assert bytes(scratch.view(0, 4)) == b"0123"
    assert scratch.capacity >= 1 << 20
    scratch.reserve(5)
    assert scratch.capacity >= 1 << 20


@pytest.mark.parametrize(
    ("most", "keep", "capacity"), [(100, 0, 0), (100, 4, 100), (2, 4, 4), (1 << 20, 0, 1 << 20), (0, 1 << 20, 1 << 20)]
)
def test_scratch_gives_back_what_is_too_much(most: int, keep: int, capacity: int) -> None:
    scratch = Scratch()
    scratch.reserve(1 << 20)
    with scratch.view(0, 4) as room:
        room[:] = b"0123"
        scratch.shrink(most, keep=keep)  # A view of it exists.
        assert scratch.capacity == 1 << 20
    scratch.shrink(most, keep=keep)
    assert scratch.capacity == capacity
    if keep:
        assert bytes(scratch.view(0, 4)) == b"0123"


def test_scratch_that_is_lent_out_cannot_grow() -> None:
    scratch = Scratch()
    scratch.reserve(10)
    view = scratch.view(0, 10)
    with pytest.raises(BufferError):
        scratch.reserve(1 << 20)
    view.release()
    scratch.reserve(1 << 20)


@pytest.mark.parametrize(("start", "stop"), [(-1, 5), (5, 4), (0, 1 << 40), (1 << 40, 1 << 40)])
def test_a_view_outside_of_the_memory_is_refused(start: int, stop: int) -> None:
    scratch = Scratch()
    scratch.reserve(10)
    with pytest.raises(ValueError, match="is not a range within 10 bytes"):
        scratch.view(start, stop)


def test_a_view_outlives_its_scratch() -> None:
    scratch = Scratch()
    scratch.reserve(100)
    view = scratch.view(0, 100)
    view[:] = bytes(range(100))
    del scratch
    gc.collect()
    assert bytes(view) == bytes(range(100))


def test_an_empty_view_of_no_memory_is_empty() -> None:
    assert bytes(Scratch().view(0, 0)) == b""


def test_bytes_move_to_the_front() -> None:
    scratch = Scratch()
    scratch.reserve(10)
    with scratch.view(0, 10) as room:
        room[:] = b"0123456789"
    scratch.move(4, 10)
    assert bytes(scratch.view(0, 6)) == b"456789"
    with pytest.raises(ValueError, match="is not a range within 10 bytes"):
        scratch.move(0, 1 << 40)


def test_more_memory_than_there_is_is_a_memory_error() -> None:
    with pytest.raises(MemoryError):
        Scratch().reserve(1 << 60)


def test_blocks_go_back_to_their_pool_when_nothing_refers_to_them() -> None:
    pool = BlockPool()
    columns = Columns(["offset", "value", "headers"], pool)
    _, taken = columns.take()
    assert pool.free_bytes >= 0
    before = pool.free_bytes
    del taken
    gc.collect()
    after = pool.free_bytes
    assert after > before
    _, again = columns.take()
    assert pool.free_bytes <= after
    del again


def test_blocks_outlive_columns_and_pool() -> None:
    columns = Columns(["offset"], BlockPool())
    _, taken = columns.take()
    del columns
    gc.collect()
    assert [len(memoryview(part)) for part in taken["offset"] if not isinstance(part, int) and part is not None] == [0]


def test_columns_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        Columns(["nothing"], BlockPool())
