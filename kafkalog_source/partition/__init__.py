"""One partition: its offsets on disk, the gaps between its segments, and the splits that a task reads."""
