#!/usr/bin/env bash
# Peak memory and time of `inspect` over large reports made on the fly (PROMISES `big`: 64 MiB, 15 s for 1 GB).
#
#   benches/big.sh [MEGABYTES, 1000 unless told] [FAMILY …]
#
# Needs GNU time. Each report goes through a pipe, and once into a file; nothing stays behind.
set -euo pipefail
cd "$(dirname "$0")/.."
# What is built is looked for here.
export CARGO_TARGET_DIR=$PWD/target
megabytes=${1:-1000}
[ $# -gt 0 ] && shift
families=("$@")
[ ${#families[@]} -gt 0 ] || families=(junit lcov cobertura go-test-json sarif)

cargo build --quiet --release
# The bench's own program, without cargo around it.
writer=$(cargo bench --quiet --bench reports --no-run --message-format=json |
    sed -n 's/.*"name":"reports".*"executable":"\([^"]*\)".*/\1/p' | tail -1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

printf '%-14s %-6s %10s %10s   %s\n' family from peak time answer
for family in "${families[@]}"; do
    "$writer" write "$family" "$megabytes" >"$folder/report"
    for from in file pipe; do
        case $from in
        file) command time -f '%M %e' -o "$folder/time" target/release/highwater --root "$folder" inspect --json "$folder/report" ;;
        pipe) "$writer" write "$family" "$megabytes" |
            command time -f '%M %e' -o "$folder/time" target/release/highwater --root "$folder" inspect --json - ;;
        esac >"$folder/answer" 2>/dev/null || true
        read -r kib seconds < <(tail -1 "$folder/time")
        printf '%-14s %-6s %6d MiB %8s s   %s\n' "$family" "$from" $((kib / 1024)) "$seconds" \
            "$(grep -o '"figures":{[^}]*}' "$folder/answer" | cut -c 1-90 || head -c 90 "$folder/answer")"
    done
    rm -f "$folder/report"
done
