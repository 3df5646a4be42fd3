"""Columns as Arrow: the schema of the rows, and record batches over the core's buffers without a copy."""
