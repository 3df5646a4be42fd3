"""Jobs over Kafka's log directories, for ``kafkalog job NAME``, ``python -m spark_jobs.NAME`` and `spark-submit`.

Each job has ``--help``, ``--dry-run``, and a config file under ``conf/`` that
explains every key; ``kafkalog job init`` writes a copy. The packages:

- `common`: what all jobs share. `environment`: example files, the JVM and the line of progress.
- `audit`: tallies of the tasks, tables, page and plots of `topic_profile`.
- `parquet`: rows, decoding and checkpoints of `log_to_parquet`.
- `compacted`: moments and latest records of `compacted_table`.
- `replay`: rows, target and resuming of `replay_to_kafka`.

A job imports its own package and `common`; a package of a job imports only `common`.
"""

import sys

try:
    from kafkalog_source import scan  # noqa: F401
except ImportError as error:
    if error.name != "kafkalog_source._core":
        raise
    # An uncompiled checkout shadows the installed package; print one line instead of a traceback.
    print(
        f"spark_jobs: {error}. If kafkalog is installed, `kafkalog job NAME` runs it in any directory", file=sys.stderr
    )
    sys.exit(2)
