#!/usr/bin/env bash
# Make `.venv` from requirements-dev.lock and see to it that there is a Java for Spark, and what tests
# need: a PostgreSQL, and Maven with a Java compiler for Kafka and Pinot.
# `make setup` calls this only when the lock, pyproject.toml or this file has changed.
# PYTHON=... chooses the interpreter, UV=off installs with plain pip even where uv is found.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '%s  %s\n' "$(date +%H:%M:%S)" "$*"; }
stop() { printf 'setup: %s\n' "$*" >&2; exit 1; }

as_root=()
may_install() { # Debian or Ubuntu, and root or a passwordless sudo
    command -v apt-get >/dev/null || return 1
    [ "$(id -u)" = 0 ] && return 0
    sudo -n true 2>/dev/null && as_root=(sudo -n)
}
updated=no
apt() { # apt PACKAGE: install it from the distribution
    [ "$updated" = yes ] || "${as_root[@]}" apt-get update -qq || say "apt-get update failed, going on"
    updated=yes
    say "installing $1 (apt-get)"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$1" >/dev/null
}

find_python() { # the first interpreter of 3.10 or later
    local name
    for name in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.10 python}; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            "$name" -c 'import sys; print(sys.executable)'
            return 0
        fi
    done
    return 1
}

uv=""
[ "${UV:-}" = off ] || uv=$(command -v uv || true)

# --- Python and .venv ---------------------------------------------------------------------------
python=$(find_python) ||
    { may_install && apt python3 && python=$(find_python); } ||
    stop "Python 3.10 or later is needed (for instance: apt-get install python3 python3-venv), or say PYTHON=/path/to/python3 make setup"
say "Python: $("$python" -V) ($python)"

if [ -z "$uv" ] && ! "$python" -c 'import ensurepip, venv; ensurepip.version()' 2>/dev/null; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    { may_install && { apt "python$version-venv" 2>/dev/null || apt python3-venv; }; } ||
        stop "this Python has no venv module: apt-get install python3-venv (as root), then run make setup again"
fi

usable() { # is the .venv that is there one to go on with?
    .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || return 1
    [ -n "$uv" ] || .venv/bin/python -c 'import pip' 2>/dev/null
}
if ! usable; then
    say "making .venv"
    rm -rf .venv
    if [ -n "$uv" ]; then "$uv" venv --quiet --python "$python" .venv; else "$python" -m venv .venv; fi
fi

# --- Packages -----------------------------------------------------------------------------------
say "installing the packages of requirements-dev.lock; PySpark is built from a 450 MB archive:"
say "minutes the first time, seconds once it is in the cache"
if [ -n "$uv" ]; then
    "$uv" pip sync --quiet --python .venv/bin/python --require-hashes requirements-dev.lock
    "$uv" pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation --editable .
else
    pip=(.venv/bin/python -m pip --disable-pip-version-check)
    # Before 23.1 pip does not take wheels it built itself from its cache when hashes are asked for.
    .venv/bin/python -c 'import pip, sys; sys.exit([int(n) for n in pip.__version__.split(".")[:2]] < [23, 1])' ||
        "${pip[@]}" install --quiet --upgrade "pip>=23.1"
    "${pip[@]}" install --require-hashes --requirement requirements-dev.lock |
        { grep -E --line-buffered '^(Collecting pyspark|Building|  Building|Installing)' || true; } |
        while IFS= read -r line; do say "pip: ${line:0:90}"; done
    "${pip[@]}" install --quiet --no-deps --no-build-isolation --editable .
fi

# --- Java ---------------------------------------------------------------------------------------
java=$(scripts/java-home)
if [ -z "$java" ]; then
    if may_install; then
        apt openjdk-17-jre-headless 2>/dev/null || apt openjdk-21-jre-headless || true
    fi
    java=$(scripts/java-home)
    [ -n "$java" ] ||
        stop "Spark needs Java 17 or 21: apt-get install openjdk-17-jre-headless (as root), or set JAVA_HOME to one"
fi
say "Java: $java"

# --- PostgreSQL ---------------------------------------------------------------------------------
# Only the tests of that destination need its server. They start one of their own.
find_postgres() {
    command -v initdb || ls -d /usr/lib/postgresql/*/bin/initdb /usr/pgsql-*/bin/initdb \
        /opt/homebrew/opt/postgresql@*/bin/initdb 2>/dev/null | tail -n 1 | grep .
}
if [ -z "${TRELLIS_TEST_POSTGRES:-}" ]; then
    postgres=$(find_postgres) || { may_install && apt postgresql && postgres=$(find_postgres); } || postgres=""
    if [ -n "$postgres" ]; then
        say "PostgreSQL: $postgres"
    else
        say "no PostgreSQL server, so its tests cannot run: apt-get install postgresql (as root), or set TRELLIS_TEST_POSTGRES to the URL of one"
    fi
fi

# --- Kafka, Pinot -------------------------------------------------------------------------------
# Tests of streams get a Kafka broker with Maven. Only `make test-pinot` needs a Java compiler, of the version
# of the Java that was found.
version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$java/release")
compiler() { [ -x "$java/bin/javac" ] || command -v javac >/dev/null; }
compiler || { may_install && apt "openjdk-$version-jdk-headless"; } || true
command -v mvn >/dev/null || { may_install && apt maven; } || true
if compiler && command -v mvn >/dev/null; then
    say "Maven: $(command -v mvn)"
else
    say "no Maven or no JDK, so tests of Kafka and \`make test-pinot\` cannot run: apt-get install maven openjdk-$version-jdk-headless (as root)"
fi
# --- Delta Lake and Iceberg ----------------------------------------------------------------------
# Their jars are fetched once, and those of Iceberg's REST catalog; the tests that merge into such tables need them.
if command -v mvn >/dev/null && scripts/lake-jars >/dev/null &&
    scripts/lake-jars tests/destinations/lake/servers/pom.xml >/dev/null; then
    say "Delta Lake and Iceberg: jars for Spark"
else
    say "no jars of Delta Lake and Iceberg, so \`make test-lake\` cannot run: install Maven, and see that it reaches its repository"
fi
say "ready: .venv/bin/trellis --help"
