"""What `topic_profile` finds out about log directories, and how it shows it.

- `batches` and `records`: the numbers that headers of batches and records give, as DataFrames; `times`: timestamps.
- `tables`: all tables of the audit, out of these two.
- `result`: their rows as plain values.
- `session_settings`: how Spark plans them, by the size of the input.
- `text`: the audit on a terminal. `html`: the same as one page, with the pictures that `plots` draws.
"""
