#!/bin/sh
# Run a job for a scheduler, with a lock against parallel runs and with retries.
#
#   conf/schedule/run_job.sh log_to_parquet
#   conf/schedule/run_job.sh log_to_parquet --dry-run
#
# The job is spark_jobs/NAME.py with the config conf/NAME.toml and Spark's settings in conf/; further
# arguments are passed to the job. Relative paths in the config are relative to the project's top level.
#
# Exit status: that of the last attempt (0 success; 1 failure; 2 invalid config or flag, which is not retried), or 75 if
# another run of this job is active.
#
# Variables, with their defaults:
#   SPARK_SUBMIT=spark-submit   also with flags: SPARK_SUBMIT="spark-submit --master spark://head:7077"
#   ATTEMPTS=3                  most attempts
#   RETRY_SECONDS=300           pause between attempts
#   LOCK_DIR=/tmp               directory of the lock; the same for everything that starts the job on this machine
set -u

job=${1:?usage: run_job.sh JOB [ARGUMENT...]}
shift
cd "$(dirname "$0")/../.." || exit 2
export SPARK_CONF_DIR="${SPARK_CONF_DIR:-$PWD/conf}"

say() { echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $job: $*" >&2; }

# The lock belongs to the open file, which Spark inherits: it needs no cleanup after a crash, and if only this script is
# killed, it is held until Spark ends.
exec 9>"${LOCK_DIR:-/tmp}/kafkalog-$job.lock" || exit 2
if ! flock --nonblock 9; then
    say "the run before this one is still at work"
    exit 75
fi

attempt=1
while true; do
    say "attempt $attempt of ${ATTEMPTS:-3}"
    # SPARK_SUBMIT may hold flags, so it is split into words.
    # shellcheck disable=SC2086
    ${SPARK_SUBMIT:-spark-submit} "spark_jobs/$job.py" --config "conf/$job.toml" "$@"
    status=$?
    say "exit status $status"
    if [ "$status" -eq 0 ] || [ "$status" -eq 2 ] || [ "$attempt" -ge "${ATTEMPTS:-3}" ]; then
        exit "$status"
    fi
    attempt=$((attempt + 1))
    sleep "${RETRY_SECONDS:-300}"
done
