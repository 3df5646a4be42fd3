"""One partition: its offsets on disk, gaps between its segments, recovery, and the splits that a task reads."""
