"""The tables of an audit as Parquet: a directory for each, with one file."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

__all__ = ["write_tables"]


def write_tables(tables: Mapping[str, pa.Table], place: str, compression: str) -> None:
    """Write each table to a directory of its name, and remove what was there.

    Parameters
    ----------
    tables : mapping
    place : str
        A path, or a URI of a file system that pyarrow supports.
    compression : str
        A codec of Parquet.
    """
    files, root = fs.FileSystem.from_uri(place) if "://" in place else (fs.LocalFileSystem(), place)
    for name, table in tables.items():
        files.create_dir(f"{root}/{name}", recursive=True)
        files.delete_dir_contents(f"{root}/{name}")
        pq.write_table(table, f"{root}/{name}/{name}.parquet", filesystem=files, compression=compression)
