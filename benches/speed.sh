#!/usr/bin/env bash
# Speed of `inspect` as ratios: against the barest loop over the same bytes, and against other tools' readers.
#
#   benches/speed.sh [MEGABYTES, 100 unless told] [ROUNDS, 5 unless told]
#
# What is compared is the CPU time of whole processes on the same file. `inspect` finds out the format, checks all of the
# report, counts, keeps what there is room for by name, and prints. The bare loops do less: quick-xml's events without a look
# at attributes, lines without a look into them, serde_json into the smallest types that hold what is needed. Peers do what
# they are for (those in Python start it, too): junitparser and test-results-parser make an object of every test,
# lcov_cobertura one of every file, lxml visits the lines, lcov sums up, gotestsum prints each test, jq holds all of it and
# counts results.
#
# All contestants of a family take turns in one run; what counts is the median of their CPU time (user and system), so that
# other work on the machine matters little. Peers are used where they are installed:
#   pip install junitparser test-results-parser lcov_cobertura lxml;  apt-get install lcov jq gotestsum
# PYTHON names the interpreter that has the packages (python3 unless told).
set -euo pipefail
cd "$(dirname "$0")/.."
# What is built is looked for here.
export CARGO_TARGET_DIR=$PWD/target
megabytes=${1:-100}
rounds=${2:-5}
python=${PYTHON:-python3}

cargo build --quiet --release
ours=$PWD/target/release/highwater
bench=$(cargo bench --quiet --bench reports --no-run --message-format=json |
    sed -n 's/.*"name":"reports".*"executable":"\([^"]*\)".*/\1/p' | tail -1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/root"

has_module() { "$python" -c "import $1" 2>/dev/null; }

# Peers as commands that read "$folder/FAMILY".
peers() {
    case $1 in
    junit)
        has_module test_results_parser && echo "test-results-parser|$python -c 'import sys, test_results_parser as t; t.parse_junit_xml(open(sys.argv[1], \"rb\").read())' FILE"
        has_module junitparser && echo "junitparser|$python -c 'import sys, junitparser; [case.name for suite in junitparser.JUnitXml.fromfile(sys.argv[1]) for case in suite]' FILE"
        ;;
    lcov)
        command -v lcov >/dev/null && echo "lcov --summary|lcov --summary FILE --rc lcov_branch_coverage=1"
        has_module lcov_cobertura && echo "lcov_cobertura|$python -c 'import sys; from lcov_cobertura import LcovCobertura; LcovCobertura(open(sys.argv[1]).read()).parse()' FILE"
        ;;
    cobertura)
        has_module lxml && echo "lxml iterparse|$python -c 'import sys; from lxml import etree; any(e.get(\"hits\") is None or e.clear() for _, e in etree.iterparse(sys.argv[1], tag=\"line\"))' FILE"
        ;;
    go-test-json)
        command -v gotestsum >/dev/null && echo "gotestsum|gotestsum --raw-command --format=testname -- cat FILE"
        ;;
    sarif)
        command -v jq >/dev/null && echo "jq|jq '[.runs[].results[] | .level] | length' FILE"
        ;;
    esac
    return 0
}

# CPU seconds of a command; what it answers does not matter here.
cpu() { command time -f '%U %S' -o "$folder/time" sh -c "$1" >/dev/null 2>&1 || true; tail -1 "$folder/time" | awk '{ print $1 + $2 }'; }
median() { sort -n "$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

printf '%-14s %-22s %9s %12s\n' family reader seconds 'ours is'
for family in junit lcov cobertura go-test-json sarif; do
    "$bench" write "$family" "$megabytes" >"$folder/$family"
    {
        echo "highwater|$ours --root $folder/root inspect FILE"
        echo "bare loop|$bench bare $family FILE"
        peers "$family"
    } >"$folder/contestants"
    rm -f "$folder"/times.*
    for _ in $(seq "$rounds"); do
        number=0
        while IFS= read -r line; do
            number=$((number + 1))
            # A peer that takes minutes is run once.
            if [ $number -gt 2 ] && [ -s "$folder/times.$number" ]; then continue; fi
            command=${line#*|}
            cpu "${command//FILE/"$folder/$family"}" >>"$folder/times.$number"
        done <"$folder/contestants"
    done
    mine=$(median "$folder/times.1")
    number=0
    while IFS= read -r line; do
        number=$((number + 1))
        theirs=$(median "$folder/times.$number")
        printf '%-14s %-22s %9.2f %11sx\n' "$family" "${line%%|*}" "$theirs" \
            "$(awk -v a="$theirs" -v b="$mine" 'BEGIN { printf "%.2f", a / b }')"
    done <"$folder/contestants"
    rm -f "$folder/$family"
done
