"""``kafkalog job``: runs the jobs of the package `spark_jobs`, and writes example files for them.

Nothing of `spark_jobs` is imported before a job runs: the list of jobs and their descriptions are taken from their
sources.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click

from kafkalog_source.cli.flags import Commands
from kafkalog_source.cli.text import complain
from kafkalog_source.errors import DONE, NOT_RUN, did_you_mean

__all__ = ["Jobs", "init"]

_PACKAGE = "spark_jobs"


class Jobs(Commands):
    """The group of commands that has one for each job, besides those that are added to it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the jobs by name, and then the other commands."""
        return [*_sources(), *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give a command that passes all of its arguments to the job, whose parser they are for."""
        # Names of commands are written with hyphens, names of modules with underscores; both are taken.
        name = cmd_name.replace("-", "_")
        source = _sources().get(name)
        return super().get_command(ctx, cmd_name) if source is None else _command(name, source)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; for a misspelt one, suggest jobs too."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            raise click.exceptions.NoSuchCommand(
                error.command_name, possibilities=self.list_commands(ctx), ctx=ctx
            ) from None


def _sources() -> dict[str, Path]:
    """Return the modules of the jobs by name."""
    package = find_spec(_PACKAGE)
    places = [] if package is None else package.submodule_search_locations or []
    found = (path for place in places for path in Path(place).glob("*.py") if not path.stem.startswith("_"))
    return {path.stem: path for path in sorted(found)}


def _command(name: str, source: Path) -> click.Command:
    def run(arguments: Sequence[str]) -> int:
        return _run(name, arguments)

    description = (ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or "").partition("\n")[0]
    return click.Command(
        name,
        callback=run,
        params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED, metavar="[ARGUMENT]...")],
        short_help=description[:1].lower() + description[1:].rstrip("."),
        # --help is one of the arguments, too.
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    )


def _run(name: str, arguments: Sequence[str]) -> int:
    status: int = import_module(f"{_PACKAGE}.{name}").main(list(arguments))
    return status


def init(directory: Path, job: str) -> int:
    """Write the example files of a job into a directory, and return the exit status."""
    names = list(_sources())
    if job not in names:
        question = did_you_mean(job, names) or f"The jobs are {', '.join(names)}."
        raise click.BadParameter(f"{job!r} is not a job. {question}", param_hint="--job")
    example = import_module(f"{_PACKAGE}.environment.example")
    try:
        written, command = example.write_example(directory, job)
    except FileExistsError as error:
        complain(f"{error.filename} exists; nothing was written")
        return NOT_RUN
    for path in written:
        print(f"Written: {path}")
    print(f"Set the paths in {written[0]}. Then see what would be read:\n  {command} --dry-run")
    return DONE
