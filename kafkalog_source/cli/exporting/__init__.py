"""``kafkalog export``: rows to files that other programs read.

`target` is where to and in which format; `new_files` makes files and directories appear only when they are
complete; `writers` writes the formats, `json_lines` and `csv_cells` those that are text; `by_topic` a file for
each topic; `query` runs SQL over the rows with DuckDB.
"""
