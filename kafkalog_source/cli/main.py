"""The command line: its commands, what it exits with, and how errors are told."""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn, TextIO

import kafkalog_source
from kafkalog_source.cli import dump, ls, salvage, verify
from kafkalog_source.cli.text import complain, one_line
from kafkalog_source.errors import DONE, NOT_RUN, KafkaLogError, exit_status

__all__ = ["main"]

INTERRUPTED = 130

_DESCRIPTION = """\
Look into Apache Kafka's log directories as they lie on disk, without a broker.
Nothing is ever written to them.

A PATH is a broker's log dir, one topic-partition directory, one .log or .kafka
segment, or a glob of these in quotes.
"""

_EPILOG = """\
examples:
  kafkalog ls /backup/broker-1/kafka-logs
  kafkalog dump /backup/broker-1/kafka-logs --subscribe orders --limit 10
  kafkalog verify /backup/broker-1/kafka-logs
  kafkalog salvage /backup/broker-1/kafka-logs /new/kafka-logs
  kafkalog COMMAND --help

exit status:
  0  done
  1  the data is damaged, incomplete or of a format that is not read
  2  could not run: an unknown option, a path that does not exist, is no segment
     and holds none, or may not be read
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, as all errors of the command are."""

    def error(self, message: str) -> NoReturn:
        self.exit(NOT_RUN, f"kafkalog: {one_line(message)}. See {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands after the command's name; by default that of this process.

    Returns
    -------
    int
        The exit status: 0 done, 1 bad data, 2 could not run.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that lacks a character shows its code; nothing is worth a traceback here.
        sys.stdout.reconfigure(errors="backslashreplace")
    chosen = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            status: int = chosen.run(chosen, sys.stdout)
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        _drop_stdout()
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except KafkaLogError as error:
        complain(str(error))
        return exit_status(type(error))
    except OSError as error:
        complain(str(error))
        return NOT_RUN


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="kafkalog",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"kafkalog {kafkalog_source.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    ls.add_command(commands)
    dump.add_command(commands)
    verify.add_command(commands)
    salvage.add_command(commands)
    return parser


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a warning as a line of the command's own; the place in the code says nothing to its user."""
    complain(f"warning: {message}")


def _drop_stdout() -> None:
    """Let what is still buffered go nowhere, so that the interpreter's last flush does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
