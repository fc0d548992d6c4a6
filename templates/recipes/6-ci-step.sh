# A step in CI: the step ends as the tests do. Keep .progress between the jobs of a branch (a cache), else each is a
# loop of its own.

highwater run --annotate -- ./run-tests
code=$?
highwater report summary >>"$GITHUB_STEP_SUMMARY"
exit "$code"
