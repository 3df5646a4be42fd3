"""Rows for other libraries, which are imported only here and need not be installed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from kafkalog_source.reading.scan import Scan

__all__ = ["to_duckdb", "to_pandas", "to_polars"]


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Convert to pandas."""
    _import("pandas", "to_pandas")
    found: pd.DataFrame = table.to_pandas()
    return found


def to_polars(table: pa.Table) -> pl.DataFrame:
    """Convert to Polars."""
    found: pl.DataFrame = _import("polars", "to_polars").DataFrame(table)
    return found


def to_duckdb(scan: Scan, connection: duckdb.DuckDBPyConnection | None) -> duckdb.DuckDBPyRelation:
    """Make a relation that reads the scan each time it is executed."""
    module = _import("duckdb", "to_duckdb")
    found: duckdb.DuckDBPyRelation = (connection or module).from_arrow(scan)
    return found


def _import(name: str, method: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"{method}() needs {name}, which is not installed: pip install {name}", name=name) from error
