"""The files beside a segment: its indexes, its transaction index and snapshots of producers."""
