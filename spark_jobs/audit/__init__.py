"""The audit of `topic_profile`: what its tasks tally, the tables that are made of it, and how they are shown.

In the tasks:

- `job`: one Spark job of tasks; `progress`: its bar. `split`: what a task does with its splits.
- `batches`, `records`: statistics of headers and of records in one Arrow batch. `offsets`: missing offsets;
  `distinct`: sketches of keys; `timeline`: counts by time; `times`: timestamps.
- `mergeable`: the tables of tasks, and how they are merged.

On the driver:

- `tables`: the tables of the audit. `output`: these as Parquet. `result`: their rows as plain values.
- `verdict`: the result in words. `text`: the audit on a terminal.
- `html`: the audit as a page; `style`: its style sheet and script; `plots`, `plot_times`: its plots.
"""
