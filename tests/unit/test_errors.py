"""What an error says, and that it survives the way from a worker to the driver."""

from __future__ import annotations

import copy
import pickle

import pytest

from kafkalog_source import errors
from kafkalog_source.errors import DataLossError, KafkaLogError, counted, offsets_text

PUBLIC = [getattr(errors, name) for name in errors.__all__]
KINDS = [kind for kind in PUBLIC if isinstance(kind, type) and not issubclass(kind, Warning)]


def full(kind: type[KafkaLogError]) -> KafkaLogError:
    return kind("it broke", file="/a\n/b.log", position=3, base_offset=9, found=1, expected="2", remedy="Mend it")


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_survives_pickling(kind: type[KafkaLogError]) -> None:
    error = full(kind)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_a_kafka_log_error(kind: type[KafkaLogError]) -> None:
    assert issubclass(kind, KafkaLogError)


def test_an_error_with_a_note_survives_pickling_and_copying() -> None:
    error = full(KafkaLogError)
    error.add_note("while reading task 7")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert str(again) == str(error)
        assert again.__notes__ == ["while reading task 7"]


def test_the_message_has_place_problem_detail_and_remedy() -> None:
    assert str(full(KafkaLogError)) == (
        "/a\\n/b.log, position 3, base offset 9: it broke (found 1, expected 2). Mend it"
    )
    assert str(KafkaLogError("it broke")) == "it broke"


def test_a_warning_leaves_the_remedy_out() -> None:
    error = DataLossError("offsets are not on disk", file="a.log", found=3, remedy="Set failOnDataLoss=false")
    assert error.without_remedy() == "a.log: offsets are not on disk (found 3)"
    assert error.remedy == "Set failOnDataLoss=false"


def test_zero_is_a_place_and_a_finding() -> None:
    error = KafkaLogError("it broke", file="f", position=0, base_offset=0, found=0)
    assert str(error) == "f, position 0, base offset 0: it broke (found 0)"


def test_a_place_can_be_filled_in_and_keeps_the_kind() -> None:
    error = errors.LimitError("too large", expected="at most 1", remedy="Raise it")
    error.add_note("a note stays with the first error")
    placed = error.at("f", 5, 7)
    assert type(placed) is errors.LimitError
    assert str(placed) == "f, position 5, base offset 7: too large (expected at most 1). Raise it"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain ø 漢", "plain ø 漢"), ("a\x1b[31m", "a\\x1b[31m"), ("\udcff", "\\udcff"), ("\u202e", "\\u202e")],
)
def test_what_a_terminal_would_act_upon_is_escaped(text: str, shown: str) -> None:
    assert errors.printable(text) == shown


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [(1, "partition", "1 partition"), (0, "byte", "0 bytes"), (2, "batch", "2 batches"), (3, "entry", "3 entries")],
)
def test_counts_agree_with_their_nouns(count: int, noun: str, text: str) -> None:
    assert counted(count, noun) == text


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        (None, None, "offsets unknown"),
        (5, None, "offsets from 5 on"),
        (5, 4, "no offsets lost"),
        (5, 5, "offset 5"),
        (5, 9, "offsets 5 to 9"),
    ],
)
def test_offsets_that_may_be_lost_are_told(first: int | None, last: int | None, text: str) -> None:
    assert offsets_text(first, last) == text
