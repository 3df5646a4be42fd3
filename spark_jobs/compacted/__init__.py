"""The computations of `compacted_table`.

- `latest_by_key`: the latest record of each key.
- `moment`: the time or offsets up to which the table is made, and whether compaction has removed records of it.
"""
