"""The rows of `log_to_parquet`, and its incremental runs.

- `rows`: the columns that are written. `decode`: values as JSON, Avro or Protobuf.
- `incremental`: a stream that appends what is new. `checkpoint`: ties a stream's checkpoint to its output.
- `summary`: what was read and where it was written.
"""
