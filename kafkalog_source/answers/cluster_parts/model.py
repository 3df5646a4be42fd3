"""What the parts of a cluster image have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

__all__ = ["Handler", "NotAppliedError", "Part", "Value", "named"]

Value = Mapping[str, Any]
"""The fields of a record by Kafka's names, as in ``valueJson``."""
Handler = Callable[[Value], None]


class NotAppliedError(Exception):
    """A record changes something that does not exist; the message names it."""


class Part(Protocol):
    """The things of one kind or of a few, as the records so far left them."""

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """How each record type changes them."""

    def to_json(self) -> dict[str, Any]:
        """The fields of the image's JSON object, in an order that does not depend on that of the records."""


def named(names: Mapping[int, str], number: int) -> str:
    """Kafka's name of a number, or ``UNKNOWN(number)``."""
    return names.get(number, f"UNKNOWN({number})")
