"""Make the archives of this folder from a directory of cases: ``python -m tests.data.pack SOURCE``.

SOURCE holds a log directory for each case (``SOURCE/<case>/`` or
``SOURCE/<case>.tar.gz``) and Kafka's reading of it (``SOURCE/oracle/<case>/``).
Each becomes ``<case>.tar.gz`` with ``<case>/log/`` and ``<case>/oracle/``. The
oracle's files are packed without their own gzip layer, which makes the whole
smaller. MANIFEST.md is written anew.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.data.archive import pack
from tests.data.cases import (
    CASES,
    FILE_KINDS,
    FILE_ORACLES,
    FILE_VIEWS,
    INTERNAL_ORACLES,
    INTERNAL_RECORDS,
    INTERNAL_SOURCE,
    INTERNAL_TOPICS,
    WITHOUT_ORACLE,
    Case,
)

HERE = Path(__file__).parent
PLAIN = CASES | WITHOUT_ORACLE
ALL = PLAIN | INTERNAL_RECORDS | FILE_ORACLES
PACKED_APART = frozenset(f"{name}.jsonl.gz" for name in ("internal", *FILE_KINDS))
"""Files of an oracle that archives of their own hold."""


def files_below(root: Path, prefix: str) -> dict[str, bytes]:
    """Every file below `root`, and every empty directory, by its name in the archive."""
    found: dict[str, bytes] = {}
    for path in root.rglob("*"):
        name = f"{prefix}/{path.relative_to(root).as_posix()}"
        if path.is_dir():
            if not any(path.iterdir()):
                found[name + "/"] = b""
        elif path.name in PACKED_APART:
            continue
        elif path.suffix == ".gz":
            found[name.removesuffix(".gz")] = gzip.decompress(path.read_bytes())
        else:
            found[name] = path.read_bytes()
    return found


def pack_case(source: Path, name: str, case: Case) -> Path:
    """Pack the case `name` of `source`; returns the archive."""
    files = files_below(source / "oracle" / name, f"{name}/oracle")
    packed = source / f"{name}.tar.gz"
    if packed.exists():
        with tempfile.TemporaryDirectory() as scratch, tarfile.open(packed) as tar:
            tar.extractall(scratch, filter="data")
            files |= files_below(Path(scratch) / name, f"{name}/log")
    else:
        for directory in case.only or ("",):
            files |= files_below(source / name / directory, f"{name}/log/{directory}".rstrip("/"))
    archive = HERE / f"{name}.tar.gz"
    pack(files, archive)
    return archive


def pack_internal_records(source: Path) -> Path:
    """Pack the records of every type, and the oracle of those that other cases hold."""
    files = files_below(source / INTERNAL_SOURCE, f"{INTERNAL_TOPICS}/log")
    for name in INTERNAL_ORACLES:
        lines = gzip.decompress((source / "oracle" / name / "internal.jsonl.gz").read_bytes())
        files[f"{INTERNAL_TOPICS}/oracle/{name}.jsonl"] = lines
    archive = HERE / f"{INTERNAL_TOPICS}.tar.gz"
    pack(files, archive)
    return archive


def pack_file_oracles(source: Path) -> Path:
    """Pack what Kafka makes of the files beside the segments of all cases."""
    files = {}
    for kind in FILE_KINDS:
        for name in (*CASES, INTERNAL_SOURCE):
            path = source / "oracle" / name / f"{kind}.jsonl.gz"
            if path.exists():
                files[f"{FILE_VIEWS}/oracle/{kind}/{name}.jsonl"] = gzip.decompress(path.read_bytes())
    archive = HERE / f"{FILE_VIEWS}.tar.gz"
    pack(files, archive)
    return archive


def manifest(archives: dict[str, Path]) -> str:
    """The text of MANIFEST.md."""
    lines = [MANIFEST_HEAD]
    for name, archive in archives.items():
        case = ALL[name]
        content = archive.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        lines.append(
            f"## {archive.name}\n\n- Written by: {case.written_by}\n- Kept for: {case.kept_for}\n"
            f"- {len(content)} bytes, sha256 `{digest}`\n"
        )
    return "\n".join(lines)


MANIFEST_HEAD = """\
# Log directories written by real Kafka

One archive for each case: `<case>/log/` is a broker's log directory as it lay on disk (`names-4.4` holds
two of them), `<case>/oracle/` is what Kafka's own classes read from it. Made by `python -m tests.data.pack`;
equal input gives equal bytes. Tests unpack an archive once in a session (the `fixture_case` fixture).

The zero tails of preallocated files are left out of the archives. The pax header `KAFKALOG.size` of such
a member is the size of the whole file; `tests.data.archive.unpack` puts the tail back as a hole, plain `tar`
does not.

The oracle: `<dir>/<segment>.log.batches.jsonl` and `.log.records.jsonl` hold what kafka-clients 4.4.0 reads,
one line for each batch (for v0 and v1: each top-level entry) and each record; `.index.jsonl`,
`.timeindex.jsonl` and `.txnindex.jsonl` hold the entries of those files; `consumer/` holds what a live 4.4.0
consumer returned; `*.dump.txt` is the text of DumpLogSegments 4.3.1. The next `recordsRead` lines of the
records file belong to a batch. `error` and `recordsError` say what Kafka's reader threw. A missing file means
an empty result. `tests/vectors/oracle.py` loads them.
"""


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m tests.data.pack SOURCE", file=sys.stderr)
        return 2
    source = Path(arguments[0])
    archives = {name: pack_case(source, name, case) for name, case in PLAIN.items()}
    archives[INTERNAL_TOPICS] = pack_internal_records(source)
    archives[FILE_VIEWS] = pack_file_oracles(source)
    (HERE / "MANIFEST.md").write_text(manifest(archives), encoding="utf-8")
    total = sum(archive.stat().st_size for archive in archives.values())
    print(f"{len(archives)} archives, {total} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
