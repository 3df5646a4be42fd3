"""Run a notebook in a kernel of its own, and keep of its outputs what a reader wants to see.

``python -m tests.notebooks.executing`` runs the notebooks of the project and writes their outputs into them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbclient
import nbformat

from tests.conftest import QUICK_JVM, REGISTRATION

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "spark_jobs" / "notebooks").glob("*.ipynb"))
_SECONDS = 1200


def read(file: Path) -> nbformat.NotebookNode:
    return nbformat.read(file, as_version=4)


def execute(file: Path) -> nbformat.NotebookNode:
    """Give the notebook with the outputs of a run in the folder where it lies; an error of a cell is raised."""
    notebook = read(file)
    with tempfile.TemporaryDirectory() as settings:
        client = nbclient.NotebookClient(
            notebook, timeout=_SECONDS, record_timing=False, resources={"metadata": {"path": str(file.parent)}}
        )
        client.execute(env=_environment(settings))
    return tidy(notebook)


def _environment(settings: str) -> dict[str, str]:
    """This process's environment without what would steer Spark, plots or Jupyter."""
    steering = ("IPYTHON", "JUPYTER", "KAFKALOG", "MPLBACKEND", "PYSPARK", "PYTHONPATH", "SPARK")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    folders = dict.fromkeys(("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"), settings)
    # For an editable install, of which Spark's search by name sees nothing.
    return kept | folders | {"PYTHONPATH": str(REGISTRATION), "SPARK_SUBMIT_OPTS": QUICK_JVM}


def tidy(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Drop what the JVM says while it starts, and metadata that only a running kernel needs."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            cell.metadata.pop("execution", None)
    for name in ("display_name", "language", "name"):
        notebook.metadata.kernelspec.setdefault(name, "python3")
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def texts(cell: nbformat.NotebookNode) -> list[str]:
    """What a cell printed and what its tables say; of a picture the line that stands for it."""
    outputs: list[Any] = cell.outputs
    found = [output["text"] if "text" in output else output["data"].get("text/plain", "") for output in outputs]
    return ["\n".join(line.rstrip() for line in text.splitlines()) for text in found]


def main() -> None:
    for file in NOTEBOOKS:
        notebook = execute(file)
        nbformat.validate(notebook)
        file.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
        print(f"{file.relative_to(ROOT)}: {sum(cell.cell_type == 'code' for cell in notebook.cells)} cells")


if __name__ == "__main__":
    sys.exit(main())
