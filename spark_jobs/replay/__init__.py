"""What `replay_to_kafka` writes, and where.

- `frame`: the rows to write and their order, and what a target already holds of them.
- `resume`: where a replay goes on, after comparing the target with the log.
- `target`: the Kafka cluster: its settings, its topics, the connector that reaches it.
"""
