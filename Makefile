# `make` alone prints the targets. A comment after ## on a target's line is its help.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BIN := .venv/bin
STAMP := .venv/.complete
JAVA_HOME := $(shell scripts/java-home)
ifneq ($(JAVA_HOME),)
export JAVA_HOME
endif

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP)  ## make .venv from the lock file, and find or install a Java for Spark

$(STAMP): requirements-dev.lock pyproject.toml scripts/setup.sh
	@scripts/setup.sh
	@touch $@

demo: setup  ## load two example files into a new DuckDB file under demo/
	@scripts/demo.sh

test: setup  ## run every test, those without Spark first; ARGS='-k name' to choose
	@$(BIN)/python -m pytest -n 2 --dist loadgroup $(ARGS)

test-pinot: setup  ## run the tests that need a real Pinot (fetched by Maven); ARGS='-k name' to choose
	@$(BIN)/python -m pytest -m pinot tests/dialects/pinot $(ARGS)

test-registry: setup  ## run the tests that need Chromium, or Snowplow's own client (fetched by Maven); ARGS='-k name' to choose
	@$(BIN)/python -m pytest -m registry tests/dialects/snowplow/registry $(ARGS)

test-lake: setup  ## run the tests of lakes that need Spark, with TRELLIS_KILLS (12) kills of each of its loads; ARGS='-k name' to choose
	@$(BIN)/python -m pytest -m lake tests $(ARGS)

test-yt: export TRELLIS_YT_BYTES ?= 1000000000
test-yt: setup  ## run the tests of YTsaurus's own client against our server, TRELLIS_YT_BYTES (1 GB) in and out; ARGS='-k name' to choose
	@$(BIN)/python -m pytest -m 'yt or not yt' tests/dialects/ytsaurus/server $(ARGS)

check: setup  ## lint, format, types (strict) and the rules of who may import whom
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/test_imports.py

bench: setup  ## compare with Spark alone, dlt and DuckDB; ARGS="--quick" to see that it runs
	@PYTHONPATH=src $(BIN)/python benchmarks/run.py $(ARGS)

lock:  ## resolve the lock files anew (needs uv)
	uv pip compile pyproject.toml --group dev --universal --python-version 3.10 --generate-hashes \
	    --no-annotate --quiet --custom-compile-command "make lock" -o requirements-dev.lock

clean:  ## remove what was made here: .venv, caches, demo/
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis demo dist spark-warehouse artifacts
	find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help setup demo test test-pinot test-registry test-lake test-yt check bench lock clean
