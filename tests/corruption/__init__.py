"""Damage of every kind to small segments: right rows, or an error, or damage that is told. Nothing else."""
