"""The tables of `topic_profile`, and how they are shown.

- `batches` and `records`: statistics of batch headers and of records, as DataFrames; `times`: timestamps.
- `tables`: all tables of the audit, made from these two.
- `result`: their rows as plain values.
- `session_settings`: how Spark plans the queries, by the size of the input.
- `text`: the audit on a terminal. `html`: the same as one page, with the plots that `plots` draws.
"""
