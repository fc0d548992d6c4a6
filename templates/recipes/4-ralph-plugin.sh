# The Ralph plugin inside a Claude Code session keeps the session going as long as its state file is there. As a second
# Stop hook, this records each turn, and takes the state file away once the gate says no: the turn that runs already is
# the last. The cap of consecutive refusals (CLAUDE_CODE_STOP_HOOK_BLOCK_CAP, 8) counts for the plugin too; a longer
# loop needs a higher one. Begin first: highwater begin --loop ralph -- ./run-tests.

#!/bin/sh
cd "${CLAUDE_PROJECT_DIR:-.}" || exit 0
state=.claude/ralph-loop.local.md
[ -f "$state" ] || exit 0
turn=$(sed -n 's/^iteration: *//p' "$state")
{
    highwater record --loop ralph --label "turn $turn" -- ./run-tests
    highwater gate --loop ralph || rm -f "$state"
} </dev/null >>"$HOME/highwater.log" 2>&1
exit 0
