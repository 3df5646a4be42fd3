"""Entry point of ``kafkalog``: runs the command line and turns errors into one line and an exit status."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import TextIO

import click

from kafkalog_source.cli.commands import kafkalog
from kafkalog_source.cli.text import complain
from kafkalog_source.errors import DONE, NOT_RUN, KafkaLogError, exit_status

__all__ = ["main"]

INTERRUPTED = 130

_NAME = "kafkalog"
_COMPLETE = "_KAFKALOG_COMPLETE"
"""The variable by which a shell's completion script asks for candidates."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments after the command's name; by default those of this process.

    Returns
    -------
    int
        The exit status: 0 done, 1 bad data, 2 could not run.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Characters that the terminal's encoding lacks are escaped, not a UnicodeEncodeError.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            status = _run(list(sys.argv[1:] if arguments is None else arguments))
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        _drop_stdout()
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except click.UsageError as error:
        complain(f"{error.format_message()} See {error.ctx.command_path if error.ctx else _NAME} --help")
        return NOT_RUN
    except KafkaLogError as error:
        complain(str(error))
        return exit_status(type(error))
    except OSError as error:
        complain(str(error))
        return NOT_RUN
    except ImportError as error:
        if error.name != "kafkalog_source._core":
            raise
        complain(str(error))
        return NOT_RUN


def _run(arguments: list[str]) -> int:
    """Run the command line, or complete it if a shell asks for that."""
    instruction = os.environ.get(_COMPLETE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(kafkalog, {}, _NAME, _COMPLETE, instruction)
    try:
        with kafkalog.make_context(_NAME, arguments) as context:
            status: int = kafkalog.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    return status


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as one line, without the place in the code, which means nothing to the user."""
    complain(f"warning: {message}")


def _drop_stdout() -> None:
    """Redirect standard output to the null device, so that the interpreter's last flush does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
