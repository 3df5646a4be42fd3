"""Reads splits into Arrow batches; and `scan`, which plans and reads without Spark."""
