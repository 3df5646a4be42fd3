"""A stream over log directories: its positions, its available offsets, and the size of its micro-batches."""
