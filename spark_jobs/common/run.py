"""What every job starts with: the common flags, the config file, the exit code.

Exit codes: 0 for success; 1 if the read or the write failed; 2 if the config or a
flag is invalid, a required package is not installed, or an input path does not exist,
holds no Kafka log, or cannot be read for lack of permission; 130 if the user interrupted
it. `exit_status` maps errors of kafkalog, for the commands too.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from kafkalog_source.errors import BAD_DATA, DONE, NOT_RUN, KafkaLogError, did_you_mean, exit_status
from spark_jobs.common.config import ConfigError, build, load
from spark_jobs.common.errors import one_line, own_kind
from spark_jobs.common.input import add_input_flags

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["JobError", "config_file", "job_parser", "run_job", "with_given"]

T = TypeVar("T")
D = TypeVar("D", bound="DataclassInstance")


# The messages of argparse, which has no other interface to what was wrong.
_UNKNOWN_FLAG = re.compile(r"unrecognized arguments:.*?(--[\w-]+)")
_INVALID_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)")
_FLAG = re.compile(r"--[\w-]+")
_WORD = re.compile(r"[\w-]+")


# What shells report for a program that Ctrl-C ended.
_INTERRUPTED = 130


class JobError(Exception):
    """Failure of a job that is not an error of kafkalog or Spark; the exit code is 1."""


class _Parser(argparse.ArgumentParser):
    """A parser that suggests the nearest flag or choice for a misspelt one."""

    def error(self, message: str) -> NoReturn:
        """Print the error with the suggestion, and exit with 2."""
        flag, choice = _UNKNOWN_FLAG.match(message), _INVALID_CHOICE.search(message)
        question = None
        if flag is not None:
            question = did_you_mean(flag[1], _FLAG.findall(self.format_usage()))
        elif choice is not None:
            question = did_you_mean(choice[1], _WORD.findall(choice[2]))
        super().error(f"{message}. {question}" if question else message)


def job_parser(name: str, description: str) -> argparse.ArgumentParser:
    """Return a parser with the flags of all jobs: PATH, --config, --option, --dry-run, --json."""
    parser = _Parser(
        prog=name,
        description=description,
        epilog=f"Flags override the config file; kafkalog job init --job {name} writes one that explains every key.",
    )
    add_input_flags(parser)
    parser.add_argument("--config", type=Path, metavar="FILE", help="config file (TOML)")
    parser.add_argument("--dry-run", action="store_true", help="print what would be read and write nothing")
    parser.add_argument("--json", action="store_true", help="print only the summary (or the plan), as JSON")
    return parser


def config_file(kind: type[T], flags: argparse.Namespace) -> T:
    """Read the file of ``--config`` into a dataclass, or return the defaults without one."""
    return build(kind, load(flags.config), str(flags.config)) if flags.config else kind()


def with_given(table: D, /, **given: object) -> D:
    """Apply flags to a table of the config; those that were not given are None and change nothing."""
    return replace(table, **{key: value for key, value in given.items() if value is not None})


def run_job(
    parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], None], arguments: Sequence[str] | None = None
) -> int:
    """Run a job, and turn an error into an exit code and one line on standard error.

    Parameters
    ----------
    parser : ArgumentParser
        From `job_parser`; its name, that of the job, begins the line.
    work : callable
        Takes the flags and does the rest.
    arguments : sequence of str, optional
        The command line without the program's name; ``sys.argv`` by default.

    Returns
    -------
    int
        The exit code.
    """
    name, flags = parser.prog, parser.parse_args(arguments)
    try:
        work(flags)
    except ConfigError as error:
        return _failed(name, error, NOT_RUN)
    except KafkaLogError as error:
        return _failed(name, error, exit_status(type(error)))
    except (JobError, OSError) as error:
        return _failed(name, error, BAD_DATA)
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except Exception as error:
        # A dry run does not need pyspark, so it may not even be imported.
        if not _is_of_spark(error):
            raise
        return _failed(name, error, exit_status(own_kind(error) or type(error)))
    return DONE


def _is_of_spark(error: Exception) -> bool:
    if "pyspark" not in sys.modules:
        return False
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return isinstance(error, PySparkException | Py4JError)


def _failed(name: str, error: Exception, code: int) -> int:
    print(f"{name}: {one_line(error)}", file=sys.stderr)
    return code
