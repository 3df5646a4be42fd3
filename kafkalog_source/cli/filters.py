"""The filters by key, value and headers, as they are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

__all__ = ["Filters"]


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters as they are given; a record passes if all of them match.

    Attributes
    ----------
    key, value : str or None
        A term: the whole content as text, or after ``hex:``, ``base64:`` or ``text:``; or ``re:`` and a regular
        expression that matches somewhere in it. None for any.
    headers : sequence of str
        ``NAME=TERM``, or ``NAME`` for any value.
    grep : str or None
        A regular expression for the key, the value, or the name or value of a header.
    """

    key: str | None = None
    value: str | None = None
    headers: Sequence[str] = ()
    grep: str | None = None

    @property
    def columns(self) -> list[str]:
        """The columns that the filters look at."""
        wanted = {
            "key": self.key is not None or self.grep is not None,
            "value": self.value is not None or self.grep is not None,
            "headers": bool(self.headers) or self.grep is not None,
        }
        return [name for name, is_wanted in wanted.items() if is_wanted]

    def compiled(self) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
        """Return a function that leaves the records that match, and rows about damage.

        Raises
        ------
        OptionError
            If a term or a regular expression is malformed.
        """
        if not self.columns:
            return lambda rows: rows
        # pyarrow.compute takes long to import.
        from kafkalog_source.cli.filtering import matching

        return matching(self)
