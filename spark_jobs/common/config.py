"""Config files of the jobs: TOML, checked strictly, into frozen dataclasses.

An unknown key or a value of the wrong type is an error that names the file, the
key and what is allowed. Nothing is ignored: a job that runs every night with a
misspelt key is worse than one that does not start.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from kafkalog_source.errors import nearest

__all__ = ["ConfigError", "build", "load", "option_strings", "overlap", "refuse_output_over_input"]

T = TypeVar("T")

# Names of types in error messages.
_TYPE_NAMES = {str: "a string", int: "a whole number", bool: "true or false"}


class ConfigError(ValueError):
    """Invalid config file or flag."""


def load(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises
    ------
    ConfigError
        If the file cannot be read or is not valid TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def build(kind: type[T], table: Mapping[str, Any], where: str) -> T:
    """Build a dataclass from a table, whose keys must be fields of the dataclass.

    Parameters
    ----------
    kind : type
        A dataclass; a field that is itself a dataclass takes a table.
    table : mapping
        The parsed table.
    where : str
        The file, or the table in it, for the error message.

    Returns
    -------
    T
        An instance of `kind`.
    """
    hints = get_type_hints(kind)
    for key in table:
        if key not in hints:
            near = _suggestion(key, hints) or f"; the keys are {', '.join(hints)}"
            raise ConfigError(f"{where}: unknown key {key!r}{near}")
    values = {key: _value(hints[key], value, f"{where}: {key}") for key, value in table.items()}
    for field in fields(kind):  # type: ignore[arg-type]
        required = field.default is MISSING and field.default_factory is MISSING
        if required and field.name not in values:
            raise ConfigError(f"{where}: {field.name} is missing")
    return kind(**values)


def _suggestion(word: str, known: Iterable[str]) -> str:
    near = nearest(word, known)
    return "" if near is None else f"; did you mean {near!r}?"


def _value(hint: Any, value: Any, where: str) -> Any:
    """Check one value against a field's type; `where` ends in the key."""
    if is_dataclass(hint) and isinstance(hint, type):
        return build(hint, _expect(dict, value, where, "a table"), where)
    if get_origin(hint) is Literal:
        return _choice(get_args(hint), value, where)
    if get_origin(hint) is tuple:
        items = _expect(list, [value] if isinstance(value, str) else value, where, "a list of strings")
        return tuple(_expect(str, item, where, "a list of strings") for item in items)
    if get_origin(hint) is dict:
        return option_strings(_expect(dict, value, where, "a table"), where)
    return _expect(hint, value, where, _TYPE_NAMES[hint])


def _expect(kind: type[T], value: object, where: str, wanted: str) -> T:
    # In Python, True is an int as well.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(f"{where} must be {wanted}, not {json.dumps(value, default=str)}")
    return value


def _choice(choices: tuple[str, ...], value: object, where: str) -> str:
    for choice in choices:
        if value == choice:
            return choice
    near = _suggestion(value, choices) if isinstance(value, str) else ""
    raise ConfigError(f"{where} must be one of {', '.join(choices)}, not {json.dumps(value, default=str)}{near}")


def option_strings(table: Mapping[str, Any], where: str) -> dict[str, str]:
    """Return the reader's options as strings, as Spark takes them.

    A table becomes JSON (``startingOffsets = { orders = { 0 = 23 } }``), a list
    of strings is joined by commas (``subscribe = ["a", "b"]``), and a date or time
    is text (``startingTimestamp = 2026-11-20``).
    """
    return {name: _option_string(value, f"{where}: {name}") for name, value in table.items()}


def _option_string(value: object, where: str) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case date():
            return value.isoformat()
        case dict():
            return json.dumps(value, default=str)
        case list() if all(isinstance(item, str) for item in value):
            return ",".join(value)
    raise ConfigError(f"{where} must be a string, a number, true or false, a time, a list of strings or a table")


def refuse_output_over_input(inputs: Sequence[str], output: str) -> None:
    """Reject an output that is, contains or lies in an input: a log directory is never written to.

    Only local paths are compared; a glob is compared by the part before its first wildcard.
    """
    for path in (part.strip() for text in inputs for part in text.split(",")):
        if overlap(path, output):
            raise ConfigError(f"output {output} and input {path} overlap; choose an output elsewhere")


def overlap(first: str, second: str) -> bool:
    """Return whether two local paths are equal, or one lies in the other."""
    one, other = _local(first), _local(second)
    return one is not None and other is not None and (one == other or one in other.parents or other in one.parents)


def _local(path: str) -> Path | None:
    if "://" in path:
        return None
    plain = re.split(r"[*?\[{]", path.removeprefix("file:"), maxsplit=1)
    # A wildcard inside a name: compare the parent directory of that name.
    return (Path(plain[0]) if len(plain) == 1 else Path(f"{plain[0]}_").parent).resolve()
