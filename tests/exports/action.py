"""Runs the steps of a composite action as a runner does: `if`, `env` and `working-directory` filled in, a file for outputs and
one for the summary, bash as GitHub calls it. Then looks at what came of it."""

import os
import pathlib
import re
import subprocess
import sys

import yaml

action = yaml.safe_load(pathlib.Path(sys.argv[1]).read_text())
folder = pathlib.Path(sys.argv[2])
work = folder / "work"
work.mkdir(parents=True)
(work / "a.py").write_text("x = 1\n")


def run(inputs):
    """Exit code, output, outputs by step, summary."""
    given = {name: spec.get("default", "") for name, spec in action["inputs"].items()} | inputs
    summary, outputs, said = folder / "summary", {}, ""
    summary.write_text("")

    def fill(text):
        return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: given[found[1]], str(text))

    for step in action["runs"]["steps"]:
        condition = step.get("if")
        if condition:
            name = re.fullmatch(r"inputs\.([a-z-]+) != ''", condition)[1]
            if not given[name]:
                continue
        assert "${{" not in step["run"], "an input stands in a script"
        script, output = folder / "script.sh", folder / "output"
        script.write_text(step["run"])
        output.write_text("")
        environment = os.environ | {name: fill(value) for name, value in step.get("env", {}).items()}
        environment |= {
            "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_PATH": str(folder / "path"),
            "GITHUB_ACTION_PATH": str(pathlib.Path(sys.argv[1]).parent), "RUNNER_TEMP": str(folder / "temp"),
        }
        at = work / fill(step.get("working-directory", "."))
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        done = subprocess.run(command, cwd=at, env=environment, capture_output=True, text=True)
        said += done.stdout
        if "id" in step:
            pairs = [line.split("=", 1) for line in output.read_text().splitlines()]
            outputs[step["id"]] = dict(pairs)
        if done.returncode:
            return done.returncode, said + done.stderr, outputs, summary.read_text()
    return 0, said, outputs, summary.read_text()


def junit(*names):
    tests = "".join(f"<testcase classname='t' name='{name}'/>" for name in names)
    return f"echo \"<testsuite name='s'>{tests}</testsuite>\" >junit.xml"


code, said, outputs, summary = run({"run": junit("a", "b") + "; exit 3", "loop": "ci"})
assert code == 0, said
assert outputs["record"]["exit-code"] == "3" and outputs["tell"]["iteration"] == "0", outputs
assert summary.startswith("<!-- highwater:ci -->\n# Loop"), summary
declared = {re.fullmatch(r"\$\{\{ steps\.([a-z]+)\.outputs\.([a-z-]+) \}\}", o["value"]).groups() for o in action["outputs"].values()}
made = {(step, name) for step, pairs in outputs.items() for name in pairs}
assert declared == made, declared ^ made

(work / "a.py").write_text("x = 2\n")
code, said, outputs, summary = run({"run": junit("a"), "loop": "ci", "files": "out dir"})
assert code in (10, 11, 12), (code, said)
assert "::error title=test_count_decreased (critical)::" in said, said
assert outputs["tell"]["recommendation"] in ("stop", "rollback", "escalate"), outputs
written = sorted(path.name for path in (work / "out dir").iterdir())
assert written == ["comment.md", "highwater.sarif", "junit.xml", "summary.html"], written

code, said, _, _ = run({"fail-on": "", "annotations": "false"})
assert code == 0 and "::error" not in said, (code, said)
code, said, _, _ = run({"loop": "$(touch injected)"})
assert code == 64 and not (work / "injected").exists(), (code, said)
subprocess.run(["highwater", "finish"], cwd=work, check=True, capture_output=True)
code, said, outputs, _ = run({})
assert code == 0, (code, said)
print("the action's steps do what they say")
