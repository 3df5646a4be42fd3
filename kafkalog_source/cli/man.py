"""The manual page of the command, made from its help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

import click

import kafkalog_source
from kafkalog_source.errors import DONE

__all__ = ["run"]

_SECTION = "1"


def run(out: TextIO, group: click.Group, context: click.Context) -> int:
    """Write the manual page of a group of commands in the format of man(7), and return the exit status."""
    out.writelines(line + "\n" for line in _page(group, context))
    return DONE


def _page(group: click.Group, context: click.Context) -> Iterator[str]:
    name = context.info_name or ""
    version = f"{name} {kafkalog_source.__version__}"
    yield f'.TH "{name.upper()}" "{_SECTION}" "" "{version}"'
    words = _words(group.help)
    summary = words.partition(". ")[0]
    yield from (".SH NAME", f"{name} \\- {_escaped(summary[:1].lower() + summary[1:])}")
    yield from (".SH SYNOPSIS", f"\\fB{name}\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] \\fIPATH\\fR...")
    yield from (".SH DESCRIPTION", _escaped(words))
    yield ".SH COMMANDS"
    for command_name in group.list_commands(context):
        command = group.commands[command_name]
        if not command.hidden:
            with click.Context(command, parent=context, info_name=command_name) as of_command:
                yield from _command(command, of_command)
    yield from (".SH NOTES", ".nf", *_escaped(group.epilog or "").strip().splitlines(), ".fi")


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (f".SS {_escaped(context.command_path)} {_escaped(usage)}", _escaped(_words(command.help)))
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is not None and isinstance(param, click.Option):
            flags, words = record
            yield from (".TP", f"\\fB{_escaped(flags)}\\fR", _escaped(words))
    if command.epilog:
        yield from (".PP", ".nf", *_escaped(command.epilog).strip().splitlines(), ".fi")


def _words(text: str | None) -> str:
    return " ".join((text or "").split())


def _escaped(text: str) -> str:
    """Escape what roff would interpret: backslashes, hyphens, and a line that begins with a control character."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").split("\n")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in lines)
