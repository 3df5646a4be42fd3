#!/bin/sh
# Run a job once for a scheduler: never two runs of it at a time, and again after a failure.
#
#   conf/schedule/run_job.sh log_to_parquet
#   conf/schedule/run_job.sh log_to_parquet --dry-run
#
# The job is spark_jobs/NAME.py with the config conf/NAME.toml and Spark's settings in conf/; what follows the name
# goes to the job. Relative paths in the config start at the project's top level.
#
# Exit status: that of the last attempt (0 done, 1 failed, 2 the config or a flag makes no sense, which another attempt
# would not mend), or 75 when a run of this job is still at work.
#
# Variables, with their defaults:
#   SPARK_SUBMIT=spark-submit   also with flags: SPARK_SUBMIT="spark-submit --master spark://head:7077"
#   ATTEMPTS=3                  how often the job is started at most
#   RETRY_SECONDS=300           how long it waits before it starts again
#   LOCK_DIR=/tmp               where the lock lies; the same for all that start the job, on the same machine
set -u

job=${1:?usage: run_job.sh JOB [ARGUMENT...]}
shift
cd "$(dirname "$0")/../.." || exit 2
export SPARK_CONF_DIR="${SPARK_CONF_DIR:-$PWD/conf}"

say() { echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $job: $*" >&2; }

# The lock is held by the open file, also by Spark, which inherits it: nothing is left to clean up after a crash, and
# when this script is killed a run that goes on still counts as one.
exec 9>"${LOCK_DIR:-/tmp}/kafkalog-$job.lock" || exit 2
if ! flock --nonblock 9; then
    say "the run before this one is still at work"
    exit 75
fi

attempt=1
while true; do
    say "attempt $attempt of ${ATTEMPTS:-3}"
    # Several words, if flags are given with it.
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
