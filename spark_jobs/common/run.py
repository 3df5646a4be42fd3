"""The frame of every job: its common flags, its config, its exit code.

Exit codes: 0 when all went well, 1 when the read or the write failed, 2 when
the config or a flag makes no sense, something that it asks for is not installed,
or an input path does not exist, holds nothing of Kafka's or may not be read.
What an error of kafkalog means is decided by `exit_status`, for the commands too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kafkalog_source.errors import BAD_DATA, DONE, NOT_RUN, KafkaLogError, exit_status
from spark_jobs.common.config import ConfigError, build, load
from spark_jobs.common.errors import one_line, own_kind
from spark_jobs.common.input import add_input_flags

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["JobError", "config_file", "job_parser", "run_job", "with_given"]

T = TypeVar("T")
D = TypeVar("D", bound="DataclassInstance")


class JobError(Exception):
    """Something that ends a job with exit code 1 and is not an error of kafkalog or Spark."""


def job_parser(name: str, description: str) -> argparse.ArgumentParser:
    """Make a command line with what every job has: PATH, --config, --option, --dry-run, --json."""
    parser = argparse.ArgumentParser(
        prog=name,
        description=description,
        epilog=f"Flags win over the config file; conf/{name}.toml explains every key.",
    )
    add_input_flags(parser)
    parser.add_argument("--config", type=Path, metavar="FILE", help="config file (TOML)")
    parser.add_argument("--dry-run", action="store_true", help="print what would be read and write nothing")
    parser.add_argument("--json", action="store_true", help="print the summary (or the plan) as JSON and nothing else")
    return parser


def config_file(kind: type[T], flags: argparse.Namespace) -> T:
    """Read the file that ``--config`` names into a dataclass, or give its defaults without one."""
    return build(kind, load(flags.config), str(flags.config)) if flags.config else kind()


def with_given(table: D, /, **given: object) -> D:
    """Put flags over a table of the config: those that were not given are None and change nothing."""
    return replace(table, **{key: value for key, value in given.items() if value is not None})


def run_job(
    parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], None], arguments: Sequence[str] | None = None
) -> int:
    """Do a job's work and turn what ends it into an exit code and one line on the error stream.

    Parameters
    ----------
    parser : ArgumentParser
        Of `job_parser`; its name, which is the job's, begins the line.
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
    except Exception as error:
        # Spark is imported only if the work came as far, and a dry run need not have it.
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
