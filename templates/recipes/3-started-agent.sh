# snarktank/ralph, ralph-claude-code, ralph-orchestrator: they start the agent as a program, once an iteration. Keep
# this in a folder of its own under the agent's name (claude, amp, …), executable, say in AGENT where the real one is,
# and put the folder first on the PATH (ralph-claude-code: export CLAUDE_CODE_CMD). Once the gate says no, no agent is
# started any more, and what the loop does then costs nothing; highwater finish ends it.

#!/bin/sh
case "$1" in --version | --help) exec "$AGENT" "$@" ;; esac
log=$HOME/highwater.log
export HIGHWATER_LOOP="${HIGHWATER_LOOP:-ralph}"
{
    [ -d ".progress/$HIGHWATER_LOOP" ] || highwater begin -- ./run-tests
    highwater gate || exit 1
} </dev/null >>"$log" 2>&1
"$AGENT" "$@"
code=$?
highwater record -- ./run-tests </dev/null >>"$log" 2>&1
exit "$code"
