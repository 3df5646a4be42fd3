"""What `compacted_table` computes.

- `latest_by_key`: the latest record of each key.
- `moment`: the time or the offsets up to which a table goes, and whether the log still has all of it.
"""
