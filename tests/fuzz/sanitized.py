"""The package built a second time, outside of the source tree, with its core under AddressSanitizer and UBSan."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "fuzz"
COMPILER = os.environ.get("CC", "gcc")
_FLAGS = "-shared -fPIC -O1 -g -fno-omit-frame-pointer"


@dataclass(frozen=True)
class Kind:
    """A way to build the core.

    Attributes
    ----------
    tree : Path
        Where the package is put.
    """

    tree: Path
    compiler: str
    flags: str


SANITIZED = Kind(BUILD / "tree", COMPILER, f"{_FLAGS} -fsanitize=address,undefined -fno-sanitize-recover=all")
_COUNTED = "-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize=pointer-overflow -fno-sanitize-recover=undefined"
COVERED = Kind(BUILD / "covered", os.environ.get("CLANG", "clang"), f"{_FLAGS} {_COUNTED}")
"""With every branch counted, for `guided`. To clang's check of pointers, which gcc lacks, a null pointer plus 0 is an
overflow; the core counts on it being null."""
SMALL_BLOCKS = (
    ("memory.pyx", r"(?m)^cdef Py_ssize_t SMALLEST_BLOCK = \d+", "cdef Py_ssize_t SMALLEST_BLOCK = 8"),
    ("memory.pyx", r"(?m)^cdef Py_ssize_t MOST_FREE_BYTES = .*", "cdef Py_ssize_t MOST_FREE_BYTES = -1"),
    ("memory.pyx", r"(?m)^        size \*= 2$", "        size = (capacity + 7) // 8 * 8"),
    ("columns.pyx", r"(?m)^cdef Py_ssize_t FIRST_ROWS = \d+", "cdef Py_ssize_t FIRST_ROWS = 2"),
    ("columns.pyx", r"(start_bytes\(self\.pool, &self\.table\.[a-z.]+, )1 << \d+\)", r"\g<1>8)"),
)
"""What makes buffers as small as they may be and returns them at once, so that a write beyond one, or a use after it
was given back, hits memory that the sanitizer watches."""


def build(kind: Kind = SANITIZED) -> Path:
    """Bring the tree up to date and give it; a change of the core costs about a minute."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _bring_up_to_date(kind)
    return kind.tree


def _bring_up_to_date(kind: Kind) -> None:
    source = ROOT / "kafkalog_source"
    package = kind.tree / "kafkalog_source"
    stamp = kind.tree.with_suffix(".stamp")
    digest = _digest(kind, source / "_core")
    if not stamp.exists() or stamp.read_text() != digest:
        shutil.rmtree(kind.tree, ignore_errors=True)
        stamp.unlink(missing_ok=True)
    shutil.copytree(source, package, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.so", "*.c", "__pycache__"))
    _make_blocks_small(package / "_core")
    if not stamp.exists():
        _compile(kind, package / "_core")
        stamp.write_text(digest)


def runtimes() -> list[str]:
    """The files of the sanitizers' runtimes, and of what they need."""
    return [_runtime(name) for name in ("libasan.so", "libubsan.so", "libstdc++.so")]


def environment(preloaded: list[str], *, fast: bool = False) -> dict[str, str]:
    """What a child needs to load the sanitized core: the runtimes first, and memory that they see.

    With `fast` they do not see small objects of Python's, which saves a third of the time.
    """
    options = [
        "detect_leaks=0",
        "abort_on_error=1",
        "allocator_may_return_null=1",
        "max_allocation_size_mb=1024",
        "quarantine_size_mb=8",
        "malloc_context_size=1",
        "handle_abort=0",
        "handle_segv=1",
        "detect_stack_use_after_return=0",
    ]
    return {
        "LD_PRELOAD": " ".join(preloaded),
        "ASAN_OPTIONS": ":".join(options),
        "UBSAN_OPTIONS": "print_stacktrace=1:abort_on_error=1",
        "PYTHONMALLOC": "pymalloc" if fast else "malloc",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
    }


def _runtime(name: str) -> str:
    found = subprocess.run([COMPILER, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    path = found.stdout.strip()
    if not os.path.isabs(path):
        raise SystemExit(f"{COMPILER} has no {name}: install its sanitizers, or use --no-sanitizers")
    return path


def _digest(kind: Kind, core: Path) -> str:
    digest = hashlib.sha256(f"{kind} {SMALL_BLOCKS} {sys.version}".encode())
    for path in sorted(core.glob("*.p[yx][xd]")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _make_blocks_small(core: Path) -> None:
    for name, wanted, replacement in SMALL_BLOCKS:
        text, count = re.subn(wanted, replacement, (core / name).read_text())
        if not count:
            raise SystemExit(f"{name} has no place that matches {wanted!r}: adapt SMALL_BLOCKS in {__file__}")
        (core / name).write_text(text)


def _compile(kind: Kind, core: Path) -> None:
    from Cython.Build import cythonize

    sources = sorted(core.glob("*.pyx"))
    here = Path.cwd()
    os.chdir(kind.tree)
    try:
        cythonize([str(path.relative_to(kind.tree)) for path in sources], language_level=3, quiet=True)
    finally:
        os.chdir(here)
    include, suffix = sysconfig.get_path("include"), EXTENSION_SUFFIXES[0]
    commands = [
        [
            kind.compiler,
            *kind.flags.split(),
            f"-I{include}",
            str(path.with_suffix(".c")),
            "-o",
            str(path.with_suffix(suffix)),
        ]
        for path in sources
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda command: subprocess.run(command, check=True), commands))
