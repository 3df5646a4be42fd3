"""Example DAG for Airflow 3: Kafka's logs to Parquet, every night. Copy it to the DAGs folder.

Airflow does the retries, so `run_job.sh` starts the job once. Its lock also excludes runs that cron or a person starts
on the same machine; across several workers, only `max_active_runs` does. The paths in the job's config must be
accessible on every worker; no Airflow connection is needed.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

PROJECT = "/opt/kafkalog"
ENVIRONMENT = {
    "PATH": f"{PROJECT}/.venv/bin:/usr/local/bin:/usr/bin:/bin",
    "PYSPARK_PYTHON": f"{PROJECT}/.venv/bin/python",
    "ATTEMPTS": "1",
}
STILL_AT_WORK = 75

with DAG(
    dag_id="kafkalog",
    description="Kafka's log directories to Parquet",
    schedule="15 1 * * *",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    # A run reads everything new, so missed nights need no runs of their own.
    catchup=False,
    max_active_runs=1,
    default_args={
        "retries": 2,
        "retry_delay": timedelta(minutes=5),
        "execution_timeout": timedelta(hours=6),
    },
    tags=["kafkalog"],
):
    # Detects an invalid config or a missing path without starting Spark.
    plan = BashOperator(
        task_id="plan",
        bash_command=f"cd {PROJECT} && python -m spark_jobs.log_to_parquet --config conf/log_to_parquet.toml --dry-run",
        env=ENVIRONMENT,
        append_env=True,
        retries=0,
    )
    log_to_parquet = BashOperator(
        task_id="log_to_parquet",
        bash_command=f"{PROJECT}/conf/schedule/run_job.sh log_to_parquet",
        env=ENVIRONMENT,
        append_env=True,
        skip_on_exit_code=STILL_AT_WORK,
    )
    plan >> log_to_parquet
