#!/usr/bin/env bash
# Load two small files of shop events into a DuckDB file and show what the second one changed.
# Works in a new folder under demo/ (or in the folder given); nothing that was there is touched.
set -euo pipefail
cd "$(dirname "$0")/.."

trellis=$PWD/.venv/bin/trellis
examples=$PWD/examples
if [ $# -gt 0 ]; then
    folder=$1
    mkdir -p "$folder"
    [ ! -e "$folder/shop.duckdb" ] || { echo "demo: $folder/shop.duckdb is there already, choose another folder" >&2; exit 2; }
else
    mkdir -p demo
    folder=$(mktemp -d "demo/$(date +%Y%m%d-%H%M%S)-XXXX")
fi
cd "$folder"

run() {
    printf '\n$ trellis %s\n' "$*"
    "$trellis" "$@"
}

cp "$examples/events-1.jsonl" "$examples/events-2.jsonl" .
run load events-1.jsonl --to duckdb:shop.duckdb --table events
run load events-2.jsonl --to duckdb:shop.duckdb --table events
printf '\nThe warehouse is %s/shop.duckdb; what each file is made to show: examples/README.md\n' "$folder"
