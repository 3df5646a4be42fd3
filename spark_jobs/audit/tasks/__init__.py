"""The Spark job of the audit, and what each of its tasks tallies.

- `job`: one Spark job of tasks. `split`: what a task does with its splits.
- `batches`, `records`: statistics of headers and of records in one Arrow batch. `offsets`: missing offsets;
  `distinct`: sketches of keys; `timeline`: counts by time; `times`: timestamps.
- `mergeable`: the tables of tasks, and how they are merged.
"""
