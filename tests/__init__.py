"""Tests of kafkalog. Each folder answers one question; see the docstring of each."""
