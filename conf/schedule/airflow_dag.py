"""Example of a DAG for Airflow 3: Kafka's logs to Parquet, every night. Copy it into the folder of the DAGs.

Airflow retries here, so `run_job.sh` starts the job once. Its lock also holds against what cron or a person starts on
the same machine; where workers are many, `max_active_runs` alone keeps runs apart. The job reads and writes as its
config says, which every worker of Airflow has to see, and needs no connection of Airflow's.
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
    # A run takes all that is new, so nights that were missed need no runs of their own.
    catchup=False,
    max_active_runs=1,
    default_args={
        "retries": 2,
        "retry_delay": timedelta(minutes=5),
        "execution_timeout": timedelta(hours=6),
    },
    tags=["kafkalog"],
):
    # A config that makes no sense, or a path that is not there, is known here and costs no Spark.
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
