#!/usr/bin/env bash
# Runs the steps of action.yml as a runner would, and the hook of .pre-commit-hooks.yaml with the real pre-commit, both from
# this checkout, in a project of their own. Installs pre-commit with pip into a folder of its own; not part of `cargo test`.
#
#     tests/exports/plugged.sh [path of the highwater program]
set -euo pipefail
cd "$(dirname "$0")/../.."
checkout=$PWD
program=$(realpath "${1:-target/debug/highwater}")
[ -x "$program" ] || { echo "no program at $program: cargo build" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet pre-commit pyyaml
mkdir "$folder/bin"
ln -s "$program" "$folder/bin/highwater"
export PATH="$folder/bin:$folder/python/bin:$PATH" PRE_COMMIT_HOME="$folder/pre-commit"

"$folder/python/bin/python" tests/exports/action.py action.yml "$folder/runner"

# try-repo wants a repository: this checkout's hook file, committed.
mkdir "$folder/hooks" "$folder/project"
cp .pre-commit-hooks.yaml "$folder/hooks/"
for repository in hooks project; do
    git -C "$folder/$repository" init --quiet
    git -C "$folder/$repository" config user.email a@example.com
    git -C "$folder/$repository" config user.name a
done
git -C "$folder/hooks" add . && git -C "$folder/hooks" commit --quiet -m hooks

cd "$folder/project"
echo 'x = 1' >a.py && git add a.py && git commit --quiet -m a
hook() { pre-commit try-repo "$folder/hooks" highwater-gate --hook-stage pre-push --all-files >"$folder/hook.log" 2>&1; }
expect() {
    local wanted=$1 got=passes
    hook || got=fails
    if [ "$got" != "$wanted" ]; then
        echo "the hook $got: $2" >&2
        cat "$folder/hook.log" >&2
        exit 1
    fi
    echo "the hook $wanted: $2"
}
junit() { printf '<testsuite name="s"><testcase classname="t" name="a"/>%s</testsuite>' "$1" >junit.xml; }
expect passes "no loop"
highwater hook install --agent claude >/dev/null 2>&1
expect passes "an agent's hooks, and still no loop"
junit '<testcase classname="t" name="b"/>'
highwater begin --report junit.xml >/dev/null
expect passes "the baseline"
echo 'x = 2' >a.py
junit ''
highwater record --report junit.xml >/dev/null
expect fails "a test is gone"
highwater finish >/dev/null
expect passes "the loop is closed"
cd "$checkout"
