"""One input with all that decides how it is read, in a form that can be written down and checked again."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


class Finding(AssertionError):
    """Something that must not be: kafkalog answered, and answered wrongly."""


@dataclass(frozen=True)
class Case:
    """An input.

    Attributes
    ----------
    target : str
        The name of the `Target` that it is for.
    data : bytes
    config : dict
        Plain values.
    """

    target: str
    data: bytes
    config: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"target": self.target, "config": self.config, "data": self.data.hex()}

    def to_text(self) -> str:
        return json.dumps(self.to_json())

    @classmethod
    def from_json(cls, text: str) -> Case:
        read = json.loads(text)
        return cls(read["target"], bytes.fromhex(read["data"]), read["config"])


@dataclass(frozen=True)
class Outcome:
    """What a case came to: rows (or bytes, or entries), and the names of the errors met."""

    rows: int = 0
    errors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """A part of kafkalog under test.

    Attributes
    ----------
    share : int
        How often it is chosen, compared with the others.
    make : callable
        A case out of a random generator.
    check : callable
        Raises a `Finding`, or any exception that kafkalog should not have let out.
    """

    name: str
    share: int
    make: Callable[[random.Random], Case]
    check: Callable[[Case], Outcome]


def same(what: str, one: object, other: object) -> None:
    """Two readings of one input must agree."""
    if one != other:
        raise Finding(f"{what} differ: {str(one)[:1500]} | {str(other)[:1500]}")


def must(condition: bool, problem: str) -> None:
    """What has to hold for any input."""
    if not condition:
        raise Finding(problem)
