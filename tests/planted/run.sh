#!/usr/bin/env bash
# Shows that the proofs can fail: each patch here plants a bug in a copy of the tree, and the tests that its second line names
# must fail on it. Names of patches as arguments choose some. A patch that does not fit any more (a test says so) is made again
# by hand.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target/planted} FAULTS=required RUST_BACKTRACE=0
# Always the same place, so that a second run builds only what it must; always new files, so that it builds all of that.
copy=$CARGO_TARGET_DIR/tree
trap 'rm -rf "$copy"' EXIT
rm -rf "$copy"
mkdir -p "$copy"

cp -r Cargo.toml Cargo.lock .pre-commit-hooks.yaml README.md src tests benches templates fixtures schemas "$copy"
cd "$copy"
missed=0
for patch in "$root"/tests/planted/*.patch; do
    name=$(basename "$patch" .patch)
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    read -ra proof <<<"$(sed -n 's/^proof: //p' "$patch")"
    patch --quiet --fuzz=0 --strip=0 <"$patch"
    cargo test --quiet --locked "${proof[@]}" --no-run
    if cargo test --quiet --locked "${proof[@]}" >"$copy/said" 2>&1; then
        echo "MISSED  $name: $(sed -n 's/^bug: //p' "$patch")"
        missed=1
    elif grep -q "test result: FAILED" "$copy/said"; then
        echo "found   $name: $(sed -n 's/^bug: //p' "$patch")"
    else
        cat "$copy/said"
        exit 1
    fi
    patch --quiet --strip=0 --reverse <"$patch"
done
exit $missed
