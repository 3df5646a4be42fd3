"""Spark's settings for an audit, by how much there is to read.

The tables of an audit are small beside its input, and there are many of them. Spark's default of 200 shuffle partitions
makes each step of each table 200 tasks, which for a small input take minutes and hold nothing.
"""

from __future__ import annotations

__all__ = ["settings_by_size"]

_SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
_BYTES_OF_A_PARTITION = 32 << 20
"""Groups take far fewer bytes than the segments that they are counted in."""

_SMALL = 8 << 20
_FOR_SMALL = {
    # Plans each stage anew once the one before it has run, which takes longer than to run it.
    "spark.sql.adaptive.enabled": "false",
    # To compile code for a plan takes longer than to interpret it.
    "spark.sql.codegen.wholeStage": "false",
    # Only removes rows early, and takes most of the planning of joins as wide as these.
    "spark.sql.constraintPropagation.enabled": "false",
}


def settings_by_size(size: int, most_partitions: int) -> dict[str, str]:
    """Give the settings that make plans as small as the input. They change no result.

    Parameters
    ----------
    size : int
        Of the segments that are read, in bytes.
    most_partitions : int
        Shuffle partitions as they are set; never more than these.

    Returns
    -------
    dict of str to str
    """
    partitions = max(1, min(most_partitions, -(-size // _BYTES_OF_A_PARTITION)))
    return {_SHUFFLE_PARTITIONS: str(partitions), **(_FOR_SMALL if size <= _SMALL else {})}
