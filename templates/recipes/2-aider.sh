# aider: it runs the test command after each of its edits, and reads the output where that fails; so each edit is an
# iteration.

highwater begin --loop aider -- ./run-tests
aider --yes-always --message-file PROMPT.md --auto-test --test-cmd "highwater run --annotate -- ./run-tests"
highwater finish
