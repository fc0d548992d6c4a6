#!/usr/bin/env bash
# Writes every report form of a loop and lets the readers of others judge them: SARIF and CTRF by their published schemas,
# OpenMetrics by Prometheus' own parser, JUnit by junitparser, code quality by its shape. Installs what it needs with pip and
# npm into a folder of its own; not part of `cargo test`.
#
#     tests/exports/validate.sh [path of the highwater program]
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/tests/exports
program=$(realpath "${1:-target/debug/highwater}")
[ -x "$program" ] || { echo "no program at $program: cargo build" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet jsonschema junitparser prometheus_client
(cd "$folder" && npm install --silent --no-audit --no-fund --ignore-scripts ctrf @microsoft/jest-sarif)

# The demo's loop, and one in which a linter's and a compiler's errors have places and names are odd.
"$program" demo --keep "$folder/demo" >"$folder/demo.log"
"$here/odd_loop.sh" "$program" "$folder/odd"

mkdir "$folder/written"
for work in "$folder/demo/work" "$folder/odd"; do
    name=$(basename "$(dirname "$work")")-$(basename "$work")
    "$program" --root "$work" report --format html -o "$folder/written/$name.html"
    "$program" --root "$work" log --json >"$folder/written/$name.log.json"
    count=$("$folder/python/bin/python" -c 'import json,sys; print(len(json.load(open(sys.argv[1]))["iterations"]))' "$folder/written/$name.log.json")
    for ((number = 0; number < count; number++)); do
        for form in sarif ctrf junit gitlab openmetrics github github-annotations github-outputs; do
            "$program" --root "$work" report "$number" --format "$form" -o "$folder/written/$name-$number.$form"
        done
    done
done
"$folder/python/bin/python" "$here/validate.py" "$folder/written" "$folder/node_modules"
