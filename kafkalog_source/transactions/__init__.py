"""What became of the transactions of a partition.

`side_files` reads what brokers noted, `header_pass` follows batch headers where
that will not do, and `history` answers from both. `lookahead` is for a task, which
asks only when it meets a transaction. `lost_markers` decides what damage and
missing segments mean.
"""
