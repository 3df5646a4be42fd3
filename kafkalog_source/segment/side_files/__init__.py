"""The files beside a segment: its indexes, its transaction index and producer snapshots."""
