# A bare loop in the shell: what the last iteration came to stands at the end of the next prompt.

highwater begin --loop demo -- ./run-tests
while highwater gate; do
    agent -p "$(cat PROMPT.md; highwater gate --json)"
    highwater record -- ./run-tests
done
highwater finish
