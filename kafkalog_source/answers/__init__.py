"""Answers about a cluster, by several views of its log directories together."""
