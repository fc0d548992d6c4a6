"""Runs real agents against a scripted model, with highwater's hooks installed: run.py TARGET_DIR [AGENT…].

Each agent works in two scratch projects. In the first (policy restore) its first run adds the module that a test misses,
which must be recorded; its second run breaks it, which must be refused, with the work back and the model told so. In the
second (policy guard, a budget of one iteration) another hook refuses every end of a turn: ours must end the run all the same.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROMPT = "Make the tests pass."
LIMIT = 240  # seconds for one run of an agent
TESTS = ["python3", "-B", "-m", "unittest"]
KEY = "scripted-key"
PROJECT_TESTS = """\
import unittest


class All(unittest.TestCase):
    def test_add(self):
        from add import add

        self.assertEqual(add(2, 3), 5)

    def test_mul(self):
        from mul import mul

        self.assertEqual(mul(2, 3), 6)
"""


@dataclass
class Place:
    """Where one agent runs: its program, its home, the project, and the model's port."""

    client: Path
    home: Path
    project: Path
    port: int = 0

    def url(self, path=""):
        return f"http://127.0.0.1:{self.port}{path}"

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def node(self, program):
        return str(self.client / "node_modules" / ".bin" / program)


class Agent:
    """How an agent is installed, run without a person, and pointed at the model."""

    package = None  # in the npm registry
    program = None  # of that package
    hooks = None  # whose hooks are installed, if not its own
    other_hook = None  # where another hook of its turns' ends goes: file, event, keys
    is_told = True  # whether a refusal reaches the model
    transcript = None  # below the home
    no_transcript = ""

    def version(self, place):
        return [place.node(self.program), "--version"]


class Claude(Agent):
    package = "@anthropic-ai/claude-code"
    program = "claude"
    other_hook = (".claude/settings.json", "Stop", {})
    transcript = ".claude/projects/*/*.jsonl"

    def environment(self, place):
        return {
            "ANTHROPIC_BASE_URL": place.url(),
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        }

    def command(self, place):
        return [place.node("claude"), "--dangerously-skip-permissions", "-p", PROMPT]


class Codex(Agent):
    package = "@openai/codex"
    program = "codex"
    other_hook = (".codex/hooks.json", "Stop", {})
    transcript = ".codex/sessions/*/*/*/rollout-*.jsonl"

    def environment(self, place):
        config = f"""\
model = "gpt-5-codex"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "{place.url("/v1")}"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
supports_websockets = false
[projects."{place.project}"]
trust_level = "trusted"
"""
        place.write(place.home / ".codex" / "config.toml", config)
        return {"SCRIPTED_KEY": KEY}

    def command(self, place):
        # A user approves each hook once, with /hooks; nobody can here.
        trusted = ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"]
        return [place.node("codex"), "exec", *trusted, PROMPT]


class Gemini(Agent):
    package = "@google/gemini-cli"
    program = "gemini"
    other_hook = (".gemini/settings.json", "AfterAgent", {"name": "again"})
    transcript = ".gemini/tmp/*/chats/*.jsonl"

    def environment(self, place):
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
        }
        place.write(place.home / ".gemini" / "settings.json", json.dumps(settings))
        return {
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": place.url(),
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def command(self, place):
        # A model named outright spares the question which one to use.
        return [place.node("gemini"), "--model", "gemini-2.5-flash", "--yolo", "--prompt", PROMPT]


class Copilot(Agent):
    package = "@github/copilot"
    program = "copilot"
    no_transcript = "its events.jsonl has no reader"

    def environment(self, place):
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": place.url("/v1"),
            "COPILOT_PROVIDER_API_KEY": KEY,
            "COPILOT_MODEL": "scripted",
        }

    def command(self, place):
        return [place.node("copilot"), "--trust-folder", "--allow-all-tools", "--allow-all-paths", "-p", PROMPT]


class CopilotByClaude(Copilot):
    """It executes what was installed for Claude Code."""

    hooks = "claude"


class Opencode(Agent):
    package = "opencode-ai"
    program = "opencode"
    is_told = False  # `opencode run` exits when the session is idle
    no_transcript = "it keeps none in files"

    def environment(self, place):
        model = {"name": "scripted", "tool_call": True, "limit": {"context": 100000, "output": 4000}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": place.url("/v1"), "apiKey": KEY},
            "models": {"scripted": model},
        }
        config = {
            "model": "scripted/scripted",
            "small_model": "scripted/scripted",
            "autoupdate": False,
            "share": "disabled",
            "provider": {"scripted": provider},
        }
        place.write(place.home / ".config" / "opencode" / "opencode.json", json.dumps(config))
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}

    def command(self, place):
        return [place.node("opencode"), "run", "--auto", PROMPT]


class OpencodeServe(Opencode):
    hooks = "opencode"
    is_told = True

    def command(self, place):
        return [sys.executable, str(HERE / "opencode_serve.py"), place.node("opencode"), PROMPT]


class Openhands(Agent):
    transcript = "state/*/events"

    def environment(self, place):
        # Without it a table of prices is fetched before anything else.
        return {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1", "TERM": "dumb"}

    def command(self, place):
        python = str(place.client / "bin" / "python")
        return [python, str(HERE / "openhands_run.py"), place.url("/v1"), place.project, place.home / "state", PROMPT]

    def version(self, place):
        say = "from importlib.metadata import version; print('openhands-sdk', version('openhands-sdk'))"
        return [str(place.client / "bin" / "python"), "-c", say]


AGENTS = {
    "claude": Claude(),
    "codex": Codex(),
    "gemini": Gemini(),
    "copilot": Copilot(),
    "copilot-by-claude": CopilotByClaude(),
    "openhands": Openhands(),
    "opencode": Opencode(),
    "opencode-serve": OpencodeServe(),
}


def install(agent, client):
    """Installs the agent's program, unless it is there."""
    if (client / "installed").exists():
        return
    client.mkdir(parents=True, exist_ok=True)
    if agent.package:
        (client / "package.json").write_text("{}")
        commands = [["npm", "install", "--silent", "--no-audit", "--no-fund", agent.package]]
    else:
        python = os.environ.get("PYTHON", "python3")
        pip = [str(client / "bin" / "python"), "-m", "pip", "install", "--quiet", "openhands-sdk", "openhands-tools"]
        commands = [[python, "-m", "venv", str(client)], pip]
    for command in commands:
        subprocess.run(command, cwd=client, check=True)
    (client / "installed").touch()


def version(agent, place):
    said = subprocess.run(agent.version(place), env=alone(place), capture_output=True, text=True, check=True)
    return said.stdout.strip().splitlines()[0]


def alone(place):
    """None of the user's own environment: a key of theirs is nothing for a script."""
    return {"PATH": os.environ["PATH"], "HOME": str(place.home), "LANG": "C.UTF-8"}


def highwater(place, *words):
    """What `highwater --json WORDS` answers."""
    run = subprocess.run(["highwater", "--json", *words], cwd=place.project, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def begin(place, name, config):
    """A project with a loop, and the agent's hooks installed in it."""
    place.project.mkdir(parents=True, exist_ok=True)
    place.write(place.project / "add.py", "def add(a, b):\n    return a + b\n")
    place.write(place.project / "test_all.py", PROJECT_TESTS)
    place.write(place.project / "highwater.yaml", json.dumps(config))
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.invalid"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "first"]):
        subprocess.run([*git, *words], cwd=place.project, check=True)
    highwater(place, "begin", "--", *TESTS)
    subprocess.run(["highwater", "hook", "install", "--agent", name], cwd=place.project, check=True, capture_output=True)


def another_hook(place, agent):
    """A hook that refuses three ends of a turn, as an in-session loop's does, in the config before ours is."""
    path, event, more = agent.other_hook
    counter = place.home / "refused"
    say = json.dumps({"decision": "block", "reason": "another hook wants more"})
    script = place.home / "again.sh"
    place.write(script, f"echo x >> {counter}\n[ $(wc -l < {counter}) -gt 3 ] || echo '{say}'\n")
    hook = {"type": "command", "command": f"sh {script}", **more}
    place.write(place.project / path, json.dumps({"hooks": {event: [{"hooks": [hook]}]}}))


def turn(place, agent, story):
    """One run of the agent by that story. Answers its exit code and the requests that the model was sent."""
    log = place.home / f"{story}.jsonl"
    server = [sys.executable, str(HERE / "model_server.py"), str(HERE / "stories" / f"{story}.json"), log, place.project]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as model:
        try:
            place.port = int(model.stdout.readline())
            environment = alone(place) | agent.environment(place)
            with open(place.home / f"{story}.out", "wb") as out:
                run = subprocess.run(
                    agent.command(place), cwd=place.project, env=environment, timeout=LIMIT,
                    stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                )
        finally:
            model.terminate()
    requests = [json.loads(line) for line in log.read_text().splitlines()]
    return run.returncode, [request for request in requests if request["is_turn"]]


def last(place):
    return highwater(place, "log")["iterations"][-1]


def journey(name, agent, client, scratch):
    """What became of each thing that a hook is there for: (what, whether, how far)."""
    place = Place(client, scratch / "home", scratch / "project")
    place.home.mkdir(parents=True)
    begin(place, agent.hooks or name, {"hook": {"policy": "restore", "command": TESTS}})
    turn(place, agent, "improve")
    one = last(place)
    seen = f"iteration {one['iteration']}, {one['tests_passed']} of {one['test_count']} tests"
    yield "recorded", one["iteration"] == 1 and one["tests_passed"] == 2, seen

    kept = place.project.glob(".progress/*/iterations/iteration-001/activity.jsonl")
    calls = [line for path in kept for line in path.read_text().splitlines() if '"event":"call"' in line]
    yield "watched", len(calls) == 2, f"{len(calls)} of 2 tool calls"

    good = (place.project / "mul.py").read_text()
    _, requests = turn(place, agent, "regress")
    is_back = (place.project / "mul.py").read_text() == good
    is_told = any("put back to iteration 1" in json.dumps(request["body"]) for request in requests)
    seen = f"{'restored' if is_back else 'not restored'}, {'told' if is_told else 'not told'}"
    yield "answered", is_back and (is_told or not agent.is_told), seen if agent.is_told else f"{seen}: it exits before"

    faults = subprocess.run(["highwater", "hook", "status"], cwd=place.project, capture_output=True, text=True)
    yield "faults", "no faults" in faults.stdout, faults.stdout.strip().splitlines()[-1]

    if agent.transcript is None:
        yield "transcript", None, agent.no_transcript
    else:
        yield "transcript", *read_transcript(place, list(place.home.glob(agent.transcript)))

    place = Place(client, scratch / "home-2", scratch / "project-2")
    place.home.mkdir(parents=True)
    if agent.other_hook:
        another_hook(place, agent)
    begin(place, agent.hooks or name, {"hook": {"policy": "guard", "command": TESTS}, "terminate": {"max_iterations": 1}})
    code, requests = turn(place, agent, "improve")
    asked = len(requests)
    planned = len(json.loads((HERE / "stories" / "improve.json").read_text()))
    how = "against another hook's refusal" if agent.other_hook else "allowed: it has no word for it"
    yield "ended", code == 0 and asked == planned and last(place)["iteration"] == 1, f"{asked} of {planned} requests, {how}"


def read_transcript(place, logs):
    """Whether `highwater` reads what the agent wrote down."""
    if not logs:
        return False, "none was written"
    newest = max(logs, key=lambda path: path.stat().st_mtime)
    record = highwater(place, "record", "--transcript", str(newest), "--", *TESTS)
    calls = (record.get("activity") or {}).get("tool_calls", 0)
    formats = ", ".join(read["format"] for read in record.get("transcripts", []))
    return calls > 0, f"{formats}: {calls} tool calls, {record.get('tokens')} tokens"


def main():
    target = Path(sys.argv[1]).resolve()
    names = sys.argv[2:] or list(AGENTS)
    unknown = [name for name in names if name not in AGENTS]
    if unknown:
        sys.exit(f"no such agent: {', '.join(unknown)}; there are {', '.join(AGENTS)}")
    os.environ["PATH"] = f"{target / 'debug'}{os.pathsep}{os.environ['PATH']}"
    scratch = Path(tempfile.mkdtemp(prefix="highwater-agents-"))
    is_good = True
    for name in names:
        agent = AGENTS[name]
        client = target / "agents" / (agent.package or name).replace("/", "-").lstrip("@")
        try:
            install(agent, client)
            print(f"{name}: {version(agent, Place(client, scratch, scratch))}", flush=True)
            for what, is_well, seen in journey(name, agent, client, scratch / name):
                mark = "–" if is_well is None else "ok" if is_well else "NO"
                print(f"  {what:10} {mark:3} {seen}", flush=True)
                is_good &= is_well is not False
        except (subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
            print(f"  stopped    NO  {error}", flush=True)
            is_good = False
    if is_good:
        shutil.rmtree(scratch)
    else:
        print(f"what they said is in {scratch}")
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
