"""``python -m tests.bench``, from the project's root: measure, and print the report."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from tests.bench import cases, decode, dump, machine, memory, spark, threads, transactions
from tests.bench.process import ROOT, RunError
from tests.bench.segments import Cache
from tests.bench.table import Block, render

READERS = (decode.OURS, *decode.PEERS)
PARTS = ("decode", "spark", "memory", "threads", "transactions", "dump")


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer rows and shorter runs")
    parser.add_argument(
        "--only", action="append", default=[], metavar="ROW", help="decode only these: v2-lz4-100, 'v1-*'"
    )
    parser.add_argument("--readers", default=",".join(READERS), help="who decodes, by comma (default: %(default)s)")
    parser.add_argument("--rounds", type=int, help="turns of every reader or query (default: 3; quick: 2)")
    parser.add_argument("--seconds", type=float, help="for each reader in a turn (default: 4; quick: 2)")
    parser.add_argument("--data", type=Path, default=ROOT / "build" / "bench", help="cache of segments and classes")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parsed = parser.parse_args(arguments)
    _check(parser, parsed)
    return parsed


def _check(parser: argparse.ArgumentParser, parsed: argparse.Namespace) -> None:
    parsed.parts = parsed.parts or (["decode"] if parsed.only else list(PARTS))
    parsed.readers = parsed.readers.split(",")
    for given, known in ((parsed.parts, PARTS), (parsed.readers, READERS)):
        unknown = set(given) - set(known)
        if unknown:
            parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    try:
        patterns = [pattern for text in parsed.only for pattern in text.split(",")]
        parsed.rows = cases.choose_decode_rows(patterns, quick=parsed.quick)
    except cases.UnknownRowError as error:
        parser.error(str(error))
    parsed.rounds = parsed.rounds or (2 if parsed.quick else 3)
    parsed.seconds = parsed.seconds or (2.0 if parsed.quick else 4.0)


def measure(options: argparse.Namespace) -> list[Block]:
    """The blocks of the parts asked for, in their order."""
    cache = Cache(options.data)
    effort = decode.Effort(options.rounds, options.seconds)
    parts: dict[str, Callable[[], Block]] = {
        "decode": lambda: decode.measure(cache, options.rows, options.readers, effort),
        "spark": lambda: spark.measure(cache, cases.spark_rows(), options.rounds),
        "memory": lambda: memory.measure(cache, cases.memory_rows(quick=options.quick)),
        "threads": lambda: threads.measure(cache, cases.threads_rows(quick=options.quick), 2 * options.seconds),
        "transactions": lambda: transactions.measure(
            cache, transactions.segments(quick=options.quick), 2 * options.seconds
        ),
        "dump": lambda: dump.measure(cache, cases.dump_rows(quick=options.quick), options.rounds),
    }
    return [parts[part]() for part in PARTS if part in options.parts]


def main(arguments: list[str]) -> int:
    """Print the report; 1 where something could not be measured."""
    options, load = parse(arguments), machine.load()
    if load > 0.5:
        print(f"the machine is busy (load {load:.1f}): ratios of times will be off", file=sys.stderr)
    try:
        blocks = measure(options)
    except RunError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    command = shlex.join(["python", "-m", "tests.bench", *arguments])
    print(render("Benchmark", machine.facts(command, load), blocks, markdown=options.markdown), end="")
    return 1 if any(block.failures for block in blocks) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
