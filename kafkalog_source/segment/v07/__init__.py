"""Segments of Kafka 0.7, in which an offset is a position in the log."""
