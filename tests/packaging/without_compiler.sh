#!/bin/sh
# Install the one wheel in dist/ into a new environment where no compiler can be found, and use it.
#
#   sh tests/packaging/without_compiler.sh PYTHON ENVIRONMENT
set -eu
python=$1
environment=$2
# It stays with the environment: Spark's JVM ends a little after Python and still needs its commands.
tools=$PWD/$environment/tools
mkdir -p "$tools"

# All commands of the system but those that compile or link.
ln -s /usr/bin/* /bin/* "$tools" 2>/dev/null || true
(cd "$tools" && rm -f cc c89* c99* cpp* *-cpp* gcc* *-gcc* g++* *-g++* c++* clang* *-clang* tcc as ld ld.* *-ld* *-as)
if [ -n "${JAVA_HOME:-}" ]; then ln -sf "$JAVA_HOME/bin/java" "$tools/java"; fi

"$python" -m venv "$environment"
PATH=$PWD/$environment/bin:$tools
CC=/nonexistent
export PATH CC
for compiler in cc gcc clang; do
    if command -v $compiler >/dev/null; then
        echo "$compiler is still in reach" >&2
        exit 1
    fi
done
python -m pip --disable-pip-version-check install --quiet dist/*.whl
PYSPARK_PYTHON=$PWD/$environment/bin/python python -P tests/packaging/smoke.py --spark
