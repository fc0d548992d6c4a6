#!/bin/sh
# Real agents, a scripted model on loopback, and highwater's hooks in between.
#
# usage: tests/agents/run.sh [AGENT…]
#
# Installs each agent's program from its registry (once, into target/agents), and runs it in scratch projects. Needs node 20
# and npm; for OpenHands Python 3.12 or newer, as PYTHON or python3. No account, no key, and no model but the script.
set -eu
cd "$(dirname "$0")/../.."
cargo build --quiet --bin highwater
exec python3 -B tests/agents/run.py "${CARGO_TARGET_DIR:-target}" "$@"
