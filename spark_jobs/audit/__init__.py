"""The audit of `topic_profile`: the tables that are made of what its tasks tally, and how they are shown.

- `tables`: the tables of the audit. `output`: these as Parquet. `result`: their rows as plain values.
- `verdict`: the result in words. `text`: the audit on a terminal.

The package `tasks` has what runs in Spark's tasks, the package `page` the audit as a page.
"""
