"""Segments of Kafka 0.7, whose offsets are positions in the log."""
