"""From splits to Arrow batches, and `scan`, which plans and reads without Spark."""
