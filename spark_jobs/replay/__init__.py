"""The rows of `replay_to_kafka`, and its target.

- `frame`: the rows to write, their order, and those that a target already holds.
- `resume`: where a replay resumes, after comparing the target with the log.
- `target`: the Kafka cluster: its settings, its topics, the connector that reaches it.
"""
