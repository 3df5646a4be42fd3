"""What all jobs share.

- `config`: a config file, checked strictly.
- `input` and `sink`: the tables ``[input]`` and ``[output]``: what is read, and where rows are written.
- `plan`: what a read covers, known before any record is read and without Spark.
- `reading`: ranges, transactions and damage of an input, and what a read left out.
- `run`: the common flags, the exit code. `session`: the Spark session.
- `summary`: tables, sizes and JSON. `errors`: why a job failed, in one line.
"""
