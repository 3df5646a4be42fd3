"""What `log_to_parquet` makes of records, and how it adds what is new.

- `rows`: the columns that are written. `decode`: values as JSON, Avro or Protobuf.
- `incremental`: a stream that adds what is new. `checkpoint`: which output a stream's checkpoint belongs to.
- `summary`: what was read and where it went.
"""
