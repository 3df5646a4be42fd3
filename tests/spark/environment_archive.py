"""What ``--archives`` sends to executors: an environment with the package and what it depends on, without Spark."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def make_environment(folder: Path) -> None:
    """Make a virtual environment that holds what ``pip install`` would put there, but for pyspark.

    Executors have their own pyspark, and its jars would make up most of the archive. Nothing is downloaded: the
    dependencies are copied from the environment that runs this, and the package from the checkout.
    """
    base = Path(sys.executable).resolve()
    subprocess.run([base, "-m", "venv", "--without-pip", folder], check=True)
    packages = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for requirement in project["project"]["dependencies"]:
        name = re.split(r"[^\w.-]", requirement)[0]
        if name != "pyspark":
            _copy_distribution(name, packages)
    _copy_project(project["tool"]["setuptools"], packages)


def _copy_distribution(name: str, packages: Path) -> None:
    installed = distribution(name)
    for file in installed.files or []:
        if ".." not in file.parts:
            target = packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(installed.locate_file(file)), target)


def _copy_project(settings: dict[str, Any], packages: Path) -> None:
    """Put the project's packages where a wheel would, with what was compiled."""
    for package in settings["packages"]:
        source = ROOT / settings["package-dir"].get(package, package.replace(".", "/"))
        target = packages / package.replace(".", "/")
        target.mkdir(parents=True, exist_ok=True)
        for file in source.iterdir():
            if file.suffix in (".py", ".so"):
                shutil.copy2(file, target)


def pack(environment: Path, archive: Path) -> None:
    """Pack what is in `environment`, not the folder itself, as ``tar -czf ARCHIVE -C ENVIRONMENT .`` does."""
    with tarfile.open(archive, "w:gz", compresslevel=1) as packed:
        packed.add(environment, arcname=".")
