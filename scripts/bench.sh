#!/usr/bin/env bash
# Run benchmarks/run.py in an environment of its own, which has dlt beside Trellis.
set -euo pipefail
cd "$(dirname "$0")/.."

python=.venv-bench/bin/python
if [ ! -e .venv-bench/.complete ] || [ requirements-bench.lock -nt .venv-bench/.complete ]; then
    echo "making .venv-bench from requirements-bench.lock"
    if command -v uv >/dev/null && [ "${UV:-}" != off ]; then
        uv venv --quiet --clear --python .venv/bin/python .venv-bench
        uv pip sync --quiet --python $python --require-hashes requirements-bench.lock
    else
        .venv/bin/python -m venv --clear .venv-bench
        $python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-bench.lock
    fi
    touch .venv-bench/.complete
fi
if [ -z "${JAVA_HOME:-}" ]; then
    JAVA_HOME=$(scripts/java-home)
    export JAVA_HOME
fi
PYTHONPATH="$PWD/src" exec $python benchmarks/run.py "$@"
