"""What is printed of which rows: columns, text, JSON or a format, and filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

import pyarrow as pa

from kafkalog_source.cli.filters import Filters
from kafkalog_source.cli.formats import format_columns, format_layout
from kafkalog_source.cli.layouts import json_layout, text_layouts
from kafkalog_source.cli.output import line_writer
from kafkalog_source.errors import OptionError, printable

__all__ = ["Printed", "take_printed"]


@dataclass(frozen=True, slots=True)
class Printed:
    """What is printed of the rows.

    Attributes
    ----------
    as_json : bool
    pattern : str or None
        A format of the user, see `format_layout`.
    columns : sequence of str or None
        None for those of the view, or of the format.
    filters : Filters
    """

    as_json: bool = False
    pattern: str | None = None
    columns: Sequence[str] | None = None
    filters: Filters = field(default_factory=Filters)

    def check(self, view: str) -> None:
        """Raise OptionError if the parts contradict each other, or are for records and the view is another one."""
        if self.pattern is not None and (self.as_json or self.columns is not None):
            raise OptionError("-f says what is printed; it cannot be combined with --json or --columns")
        if view != "records" and (self.pattern is not None or self.filters.columns):
            raise OptionError(
                "-f, --grep, --key, --value and --header are for records", found=f"--view {printable(view)}"
            )

    @property
    def wanted(self) -> Sequence[str] | None:
        """The columns to read for what is printed; None for those of the view."""
        return self.columns if self.pattern is None else format_columns(self.pattern)

    def writer(self, out: TextIO, shown: pa.Schema, view: str) -> Callable[[pa.RecordBatch], None]:
        """Return a function that writes the columns `shown` of the rows of a view to `out`."""
        lines = self._lines(shown, view)
        write = line_writer(out, is_text=self.pattern is None)

        def write_rows(rows: pa.RecordBatch) -> None:
            for text in lines(rows):
                write(text)

        return write_rows

    def _lines(self, shown: pa.Schema, view: str) -> Callable[[pa.RecordBatch], Iterator[bytes]]:
        if self.pattern is None and not self.as_json:
            return text_layouts(shown, view)
        layout = json_layout(shown) if self.pattern is None else format_layout(self.pattern)
        return lambda rows: iter([layout.lines(rows)])


def take_printed(given: dict[str, Any]) -> Printed:
    """Take the parameters of `flags.print_flags` out of those of a command."""
    names = given.pop("columns")
    columns = None if names is None else [name.strip() for name in names.split(",") if name.strip()]
    filters = Filters(given.pop("key"), given.pop("value"), given.pop("headers"), given.pop("grep"))
    return Printed(given.pop("as_json"), given.pop("pattern"), columns, filters)
