#!/usr/bin/env bash
# Sends two iterations to a collector on this machine and decodes what arrived with OpenTelemetry's own protobufs; then shows
# that a collector which is not there, refuses or hangs changes no result and takes no longer than its limit. Needs a program
# built with `cargo build --features otlp`; installs opentelemetry-proto with pip into a folder of its own.
#
#     tests/exports/otlp.sh [path of the highwater program]
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "${1:-target/debug/highwater}")
[ -x "$program" ] || { echo "no program at $program: cargo build --features otlp" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet opentelemetry-proto
"$folder/python/bin/python" tests/exports/otlp.py "$program" "$folder/work"
