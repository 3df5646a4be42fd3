"""The files that come with the jobs: example configs, and Spark's settings for a quiet run."""

from __future__ import annotations

from pathlib import Path

__all__ = ["shipped_files"]

_PACKAGE = Path(__file__).resolve().parents[1]
# An installed package has them inside of it, a checkout beside it.
_PLACES = (_PACKAGE / "conf", _PACKAGE.parent / "conf")
_MARKER = "log_to_parquet.toml"


def shipped_files() -> Path:
    """Return the directory of the example configs, which is also a directory for ``SPARK_CONF_DIR``.

    Raises
    ------
    FileNotFoundError
        If it was not installed with the jobs.
    """
    found = next((place for place in _PLACES if (place / _MARKER).is_file()), None)
    if found is None:
        raise FileNotFoundError(f"{_PLACES[0]} is missing; install kafkalog again")
    return found
