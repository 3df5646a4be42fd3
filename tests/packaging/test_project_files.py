"""The files of the project: what its documentation promises exists, and nothing names the machine it came from."""

from __future__ import annotations

import ast
import graphlib
import hashlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = {"sample": ["kafka-logs"], "sample-groups": ["disk1", "disk2"]}
"""The log dirs of each sample, below `spark_jobs`."""
TOP_LEVEL = {
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "conf",
    "docs",
    "kafkalog_source",
    "pyproject.toml",
    "spark_jobs",
    "tests",
}


def project_files() -> list[Path]:
    """List what git would commit, so that an environment or a build beside it is not looked at."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def documentation() -> str:
    """The README, and every page of the documentation."""
    pages = [ROOT / "README.md", ROOT / "tests" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def test_top_level_holds_only_what_belongs_there() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in project_files()}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


def test_no_file_names_the_machine_it_was_made_on() -> None:
    # A checkout directly below the root would match too much to mean anything.
    places = [f"{path}/".encode() for path in (ROOT, Path.home()) if len(path.parts) > 2]
    found = [path for path in project_files() if any(place in path.read_bytes() for place in places)]
    assert found == []


def test_no_module_is_longer_than_400_lines() -> None:
    modules = [path for top in ("kafkalog_source", "spark_jobs") for path in (ROOT / top).rglob("*.py*")]
    sources = [path for path in modules if path.suffix in (".py", ".pyx", ".pyi")]
    lengths = {path: path.read_text(encoding="utf-8").count("\n") for path in sources}
    assert {str(path): length for path, length in lengths.items() if length > 400} == {}


def test_make_targets_that_the_documentation_names_exist() -> None:
    named = set(re.findall(r"(?:^|`)make ([a-z][a-z-]+)", documentation(), re.MULTILINE))
    assert named - make_targets() == set()
    assert {"demo", "test"} <= named


def test_paths_that_the_documentation_names_exist() -> None:
    named = re.findall(r"\b((?:spark_jobs|conf|tests|kafkalog_source)/[\w./*-]*[\w*])", documentation())
    # NAME stands for the name of any job.
    assert [path for path in named if "NAME" not in path and not any(ROOT.glob(path))] == []


def test_listed_make_targets_exist() -> None:
    listed = re.findall(r"^## make ([a-z-]+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(listed) <= make_targets()


def test_pyproject_names_every_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    tracked = [path.relative_to(ROOT) for path in project_files() if path.name == "__init__.py"]
    found = {".".join(path.parent.parts) for path in tracked if path.parts[0] in ("kafkalog_source", "spark_jobs")}
    # A package may be installed under another name than that of its folder.
    mapped = {folder.replace("/", ".") for folder in settings.get("package-dir", {}).values()}
    assert found - mapped <= set(settings["packages"])


def test_pyproject_names_every_compiled_module() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    named = {source for module in settings["ext-modules"] for source in module["sources"]}
    assert {str(path.relative_to(ROOT)) for path in project_files() if path.suffix == ".pyx"} == named


def test_compiled_modules_import_only_the_layers_below_and_no_circle() -> None:
    # import-linter reads Python alone, and so not what .pyx and .pxd files import from each other.
    imports: dict[str, set[str]] = {}
    for path in project_files():
        if path.suffix in (".pyx", ".pxd"):
            found = re.findall(r"^\s*(?:from|c?import) (kafkalog_source[\w.]*)", path.read_text("utf-8"), re.MULTILINE)
            imports.setdefault(path.stem, set()).update(found)
    below = {"kafkalog_source.errors", "kafkalog_source.format"}
    outside = {name for names in imports.values() for name in names} - below
    assert imports
    assert {name for name in outside if not name.startswith("kafkalog_source._core.")} == set()
    graph = {
        module: {name.rpartition(".")[2] for name in names - below} - {module} for module, names in imports.items()
    }
    graphlib.TopologicalSorter(graph).prepare()


def test_nothing_beside_the_jobs_hides_a_module_of_python() -> None:
    """`spark-submit` puts the folder of the job at the head of the path, before Python's own modules."""
    names = {path.relative_to(ROOT).parts[1].removesuffix(".py") for path in project_files() if is_of_jobs(path)}
    assert "common" in names
    assert names & sys.stdlib_module_names == set()


def test_packages_of_jobs_say_what_they_hold_and_are_not_large() -> None:
    packages = {path.parent for path in project_files() if is_of_jobs(path) and path.name == "__init__.py"}
    assert len(packages) > 1
    for package in packages:
        modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
        told = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
        assert len(modules) <= 10, package
        if package.name != "spark_jobs":
            assert modules <= set(re.findall(r"`(\w+)`", told)), package


def is_of_jobs(path: Path) -> bool:
    return path.suffix == ".py" and path.relative_to(ROOT).parts[0] == "spark_jobs"


def test_compiled_modules_have_stubs() -> None:
    assert [
        path.name for path in project_files() if path.suffix == ".pyx" and not path.with_suffix(".pyi").exists()
    ] == []


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_what_their_lists_say(name: str) -> None:
    sample = ROOT / "spark_jobs" / name
    listed = dict(reversed(line.split("  ")) for line in (sample / "SHA256SUMS").read_text().splitlines())
    files = [path for log_dir in SAMPLES[name] for path in (sample / log_dir).rglob("*") if path.is_file()]
    found = {str(path.relative_to(sample)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    assert found == listed
