"""The data that is measured on: built by Kafka's own writer, once, and kept in a cache directory."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.bench.cases import Segment
from tests.bench.process import RunError, run
from tests.bench.transactional import TransactionalSegment, write

JAVA_SOURCES = Path(__file__).parent / "java"
TOPIC = "bench"


class Cache:
    """The compiled Java half and the generated segments under one directory.

    Parameters
    ----------
    directory
        Where they are kept; made when it does not exist.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory.resolve()
        self._classpath: str | None = None
        self._dumper_classpath: str | None = None

    def java(self, main: str, *arguments: str, heap: str = "2g") -> list[str]:
        """The command that runs a class of the Java half."""
        if self._classpath is None:
            self._classpath = self._build_java()
        return ["java", f"-Xmx{heap}", "-cp", self._classpath, main, *arguments]

    def dumper(self, main: str, *arguments: str) -> list[str]:
        """The command that runs a class of Kafka's tools."""
        if self._dumper_classpath is None:
            target = self.directory / "dumper"
            self._dumper_classpath = _built(target, JAVA_SOURCES / "dump")
        quiet = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-Dlog4j2.level=OFF")
        return ["java", "-Xmx1g", *quiet, "-cp", self._dumper_classpath, main, *arguments]

    def partition(self, segment: Segment) -> Path:
        """The partition directory that holds the segment alone, written now if it was not yet."""
        log_dir = self.directory / "segments" / segment.name
        partition = log_dir / f"{TOPIC}-0"
        if not partition.exists():
            print(f"writing {segment.name}", file=sys.stderr, flush=True)
            unfinished = log_dir.with_name(log_dir.name + ".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            out = unfinished / partition.name
            run(self.java("Gen", "--out", str(out), *segment.arguments(), heap="4g"))
            unfinished.rename(log_dir)
        return partition

    def transactional(self, segment: TransactionalSegment) -> Path:
        """The partition directory of a segment with transactions, written now if it was not yet."""
        log_dir = self.directory / "segments" / segment.name
        partition = log_dir / f"{TOPIC}-0"
        if not partition.exists():
            print(f"writing {segment.name}", file=sys.stderr, flush=True)
            unfinished = log_dir.with_name(log_dir.name + ".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            write(segment, unfinished / partition.name)
            unfinished.rename(log_dir)
        return partition

    def log_dir(self, segment: Segment, partitions: int) -> Path:
        """A log dir where at least this many partitions hold the segment, all but the first as hard links."""
        first = self.partition(segment)
        for number in range(1, partitions):
            other = first.with_name(f"{TOPIC}-{number}")
            other.mkdir(exist_ok=True)
            for file in first.iterdir():
                if not (other / file.name).exists():
                    os.link(file, other / file.name)
        return first.parent

    def _build_java(self) -> str:
        target = self.directory / "java"
        return f"{target / 'classes'}:{_built(target, JAVA_SOURCES)}"


def _built(target: Path, sources: Path) -> str:
    """Build what a directory with a POM holds, if it changed, and return the classpath of its dependencies."""
    missing = [tool for tool in ("java", "mvn") if shutil.which(tool) is None]
    if missing:
        raise RunError(f"the benchmark needs Java 17 or newer and Maven: {' and '.join(missing)} not found")
    stamp, wanted = target / "sources.sha256", _digest(sources)
    if not stamp.exists() or stamp.read_text() != wanted:
        _compile(target, sources / "pom.xml")
        stamp.write_text(wanted)
    return (target / "classpath").read_text().strip()


def _digest(directory: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted([*directory.glob("*.java"), directory / "pom.xml"]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _compile(target: Path, pom: Path) -> None:
    print(f"building {pom.parent.name} with Maven", file=sys.stderr, flush=True)
    done = subprocess.run(
        ["mvn", "-q", "-B", "-f", str(pom), f"-Dbench.target={target}", "compile"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if line.startswith("[ERROR]")]
        raise RunError(f"Maven could not build {pom}: {errors[0][:300] if errors else done.stderr.strip()[:300]}")
