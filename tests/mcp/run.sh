#!/usr/bin/env bash
# Asks `highwater mcp` with the official clients: TypeScript by the handshake, Python by the handshake and stateless. They check
# every answer against the schema of its tool. Installs them (npm, pip) into a scratch folder; HIGHWATER names another program.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${HIGHWATER:-}" ]; then
    cargo build --quiet --manifest-path "$here/../../Cargo.toml"
    HIGHWATER=$(cd "$here/../.." && pwd)/target/debug/highwater
fi
export HIGHWATER
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A loop whose second iteration is worse than its first.
tests() {
    printf '<testsuite name="t">%s</testsuite>\n' "$1" >"$WORK/junit.xml"
}
work_tree() {
    export WORK=$scratch/$1
    mkdir "$WORK"
    tests '<testcase name="a"/><testcase name="b"><failure/></testcase>'
    "$HIGHWATER" --root "$WORK" --quiet begin --loop story >"$scratch/screen"
    echo "good" >"$WORK/code.txt"
    tests '<testcase name="a"/><testcase name="b"/>'
    "$HIGHWATER" --root "$WORK" --quiet record >"$scratch/screen"
    echo "bad" >"$WORK/code.txt"
    tests '<testcase name="a"/>'
}

npm install --silent --no-fund --no-audit --prefix "$scratch/npm" @modelcontextprotocol/sdk
cp "$here/client.mjs" "$scratch/npm"
work_tree typescript
node "$scratch/npm/client.mjs"

python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check mcp
for mode in legacy auto 2026-07-28; do
    work_tree "python-$mode"
    "$scratch/venv/bin/python" "$here/client.py" "$mode"
done
