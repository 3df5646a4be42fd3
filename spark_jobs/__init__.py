"""Jobs over Kafka's log directories, for `spark-submit` and for ``python -m spark_jobs.NAME``.

Each job has ``--help``, a config file under ``conf/`` whose every key is
explained there, and ``--dry-run``. What they share stands beside them:
`job_config` reads the config files, `job_plan` tells what a read covers,
`job_summary` prints what was done, `job_errors` says in one line why a job
failed.
"""

import sys

try:
    import kafkalog_source._core  # noqa: F401
except ImportError as error:
    if error.name != "kafkalog_source._core":
        raise
    # A checkout that was never compiled lies before the installed package. That is one line to whoever starts a job.
    print(f"spark_jobs: {error}", file=sys.stderr)
    sys.exit(2)
