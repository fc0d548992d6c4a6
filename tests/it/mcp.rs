//! The server for agents, asked over its streams as a client asks. `tests/mcp/run.sh` asks it with the official clients.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::support::Project;

/// A running server.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Server {
    fn start(project: &Project, arguments: &[&str]) -> Server {
        let mut command = project.command(&[&["mcp"], arguments].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Server { child, input, output, id: 0 }
    }

    /// Asks under the stateless revision.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        self.ask_plainly(method, params)
    }

    fn ask_plainly(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{request}\n").as_bytes()).unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(self.id)), "{answer}");
        answer
    }

    /// Calls a tool that must succeed; its answer has the shape that the tool's own schema says.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let listed = self.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        let schema = &tools.iter().find(|one| one["name"] == tool).unwrap()["outputSchema"];
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        assert_eq!((&result["isError"], &result["resultType"]), (&json!(false), &json!("complete")), "{answer}");
        let structured = &result["structuredContent"];
        let validator = jsonschema::validator_for(schema).unwrap();
        let faults: Vec<String> = validator.iter_errors(structured).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{tool}: {faults:?}\n{structured:#}");
        assert!(answer.to_string().len() < 20_000, "{tool}: {} bytes", answer.to_string().len());
        assert_eq!(result["content"][0]["type"], "text");
        assert_ne!(result["content"][0]["text"], "");
        structured.clone()
    }

    /// Calls a tool that must say what is wrong, in the words of its result.
    fn refuse(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Ends the input: the server has nothing more to say, and ends with 0.
    fn end(mut self) {
        self.input = None;
        let mut rest = String::new();
        self.output.read_line(&mut rest).unwrap();
        assert_eq!((rest.as_str(), self.child.wait().unwrap().code()), ("", Some(0)));
    }
}

#[test]
fn an_agent_reads_judges_records_and_restores_a_loop() {
    let project = Project::new();
    let mut server = Server::start(&project, &[]);
    assert!(server.refuse("status", json!({})).contains("highwater begin"), "the error says what to do");
    project.tests(&[("a", true), ("b", false)]);
    project.run(&["begin", "--loop", "story"]).expect(0);

    // The server was there before the loop: it holds nothing of its own.
    assert_eq!(server.call("status", json!({}))["iteration"], 0);
    project.tests(&[("a", true), ("b", true)]);
    project.write("src/lib.py", "def one():\n    return 2\n");
    let arguments = json!({"label": "both pass", "metrics": {"p95": 12.5}, "estimate": 50});
    let verdict = server.call("record", arguments);
    assert_eq!((&verdict["iteration"], &verdict["classification"]), (&json!(1), &json!("forward")));
    project.write("src/lib.py", "");
    project.tests(&[("a", false)]);
    let verdict = server.call("record", json!({"loop_id": "story"}));
    assert_eq!((&verdict["classification"], &verdict["best"]["iteration"]), (&json!("regression"), &json!(1)));
    assert_eq!(verdict["recommendation"]["action"], "rollback");
    assert_eq!(server.call("assess", json!({})), verdict);

    let page = server.call("history", json!({"limit": 2}));
    let numbers = |page: &Value| -> Vec<u64> {
        page["iterations"].as_array().unwrap().iter().map(|line| line["iteration"].as_u64().unwrap()).collect()
    };
    assert_eq!((numbers(&page), &page["count"]), (vec![1, 2], &json!(3)));
    let page = server.call("history", json!({"limit": 2, "before": page["before"]}));
    assert_eq!((numbers(&page), &page["before"]), (vec![0], &Value::Null));
    assert_eq!(server.call("best", json!({}))["best"]["iteration"], 1);
    let difference = server.call("compare", json!({"a": 1, "b": 2}));
    assert_eq!(difference["tests"]["lost"].as_array().unwrap().len(), 1);
    assert_eq!(server.call("explain", json!({"rule": "test_count_decreased"}))["what"], "rule");
    assert_eq!(server.call("explain", json!({"rule": "stalled", "loop_id": "story"}))["what"], "detector");

    let page = server.call("report", json!({"what": "2", "format": "md"}));
    let text = project.run(&["report", "2"]).expect(0).stdout;
    assert!(text.starts_with(page["text"].as_str().unwrap()) && page["bytes"] == text.len());

    let plan = server.call("restore", json!({"iteration": 1}));
    assert_eq!((&plan["dry_run"], project.read("src/lib.py").as_str()), (&json!(true), ""));
    let done = server.call("restore", json!({"iteration": 1, "dry_run": false}));
    assert_eq!((&done["restored"], &plan["restored"]), (&plan["restored"], &done["restored"]));
    assert_eq!(project.read("src/lib.py"), "def one():\n    return 2\n");
    project.run(&["undo"]).expect(0);
    assert_eq!(project.read("src/lib.py"), "");

    for (tool, arguments) in [
        ("compare", json!({"a": 1})),
        ("compare", json!({"a": 1, "b": 99})),
        ("restore", json!({"iteration": "1"})),
        ("status", json!({"loop_id": "../x"})),
        ("status", json!({"loop_id": "absent"})),
        ("record", json!({"command": "make test"})),
        ("record", json!({"metrics": {"a b": 1}})),
        ("report", json!({"what": "nothing"})),
        ("report", json!({"what": "2", "offset": 1_000_000})),
        ("explain", json!({"rule": "nothing"})),
    ] {
        let said = server.refuse(tool, arguments.clone());
        assert!(said.starts_with("error: "), "{tool} {arguments}: {said}");
    }
    server.end();
}

#[test]
fn both_revisions_are_served_side_by_side() {
    let project = Project::new();
    let mut server = Server::start(&project, &[]);
    let hello = |version: &str| json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "it"}});
    for (asked, answered) in
        [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("1900-01-01", "2025-11-25"), ("", "2025-11-25")]
    {
        let result = server.ask_plainly("initialize", hello(asked))["result"].clone();
        assert_eq!((&result["protocolVersion"], &result["resultType"]), (&json!(answered), &Value::Null));
        assert_eq!(result["serverInfo"]["name"], "highwater");
    }
    assert_eq!(server.ask_plainly("ping", json!({}))["result"], json!({}));
    let listed = server.ask_plainly("tools/list", json!({}))["result"].clone();
    assert_eq!((listed["tools"].as_array().unwrap().len(), &listed["ttlMs"]), (9, &Value::Null));
    let said = server.ask_plainly("tools/call", json!({"name": "status"}))["result"].clone();
    assert_eq!((&said["isError"], &said["resultType"]), (&json!(true), &Value::Null));

    let found = server.ask("server/discover", json!({}))["result"].clone();
    assert_eq!(found["supportedVersions"][0], "2026-07-28");
    assert_eq!((&found["resultType"], &found["cacheScope"]), (&json!("complete"), &json!("public")));
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "highwater");
    assert_eq!(server.ask("tools/list", json!({}))["result"]["tools"], listed["tools"]);

    let code = |answer: Value| answer["error"]["code"].clone();
    for (method, params, expected) in [
        ("ping", json!({}), -32601),
        ("initialize", json!({}), -32601),
        ("logging/setLevel", json!({}), -32601),
        ("tools/list", json!({"cursor": "x"}), -32602),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({"name": "shell"}), -32602),
        ("tools/call", json!({"name": "status", "arguments": []}), -32602),
    ] {
        assert_eq!(code(server.ask(method, params)), expected, "{method}");
    }
    let version = "io.modelcontextprotocol/protocolVersion";
    let wrong = server.ask_plainly("tools/list", json!({"_meta": {version: "1900-01-01"}}));
    assert_eq!(wrong["error"]["code"], -32022);
    assert_eq!(wrong["error"]["data"]["requested"], "1900-01-01");
    assert_eq!(wrong["error"]["data"]["supported"][0], "2026-07-28");
    for meta in [json!({version: "2026-07-28"}), json!({version: 7}), json!([])] {
        assert_eq!(code(server.ask_plainly("tools/list", json!({"_meta": meta}))), -32602);
    }
    assert_eq!(code(server.ask_plainly("server/discover", json!({}))), -32602);
    server.end();
}

#[test]
fn answers_about_large_loops_stay_short_and_say_what_is_missing() {
    let project = Project::new();
    let names: Vec<String> = (0..500).map(|n| format!("test_with_a_long_name_number_{n}")).collect();
    let all = |passes: bool| names.iter().map(|name| (name.as_str(), passes)).collect::<Vec<(&str, bool)>>();
    project.tests(&all(true));
    project.run(&["begin", "--loop", "large"]).expect(0);
    project.tests(&all(false));
    for n in 0..300 {
        project.write(&format!("src/generated/a_file_with_quite_a_long_name_{n}.py"), "");
    }
    let mut server = Server::start(&project, &["--loop", "large"]);
    server.call("record", json!({}));
    for tool in ["status", "assess", "history", "best"] {
        server.call(tool, json!({}));
    }
    let difference = server.call("compare", json!({"a": 0, "b": 1}));
    let kept = difference["tests"]["broken"].as_array().unwrap().len();
    assert_eq!(difference["left_out"]["tests.broken"], 500 - kept);
    let plan = server.call("restore", json!({"iteration": 0}));
    assert_eq!(plan["left_out"]["removed"], 300 - plan["removed"].as_array().unwrap().len());
    server.end();
}

#[test]
fn a_command_of_the_config_gets_neither_end_of_the_protocol() {
    let project = Project::new();
    project.tests(&[("a", true)]);
    // With our input it would take the next request; with our output its words would stand between two answers.
    project.write("rerun.sh", "readlink /proc/$$/fd/0 >input\necho noise\necho noise >&2\nexit 1\n");
    project.write("highwater.yaml", "flake:\n  rerun: \"sh rerun.sh {ids}\"\n");
    project.run(&["begin"]).expect(0);
    let mut server = Server::start(&project, &[]);
    project.tests(&[("a", false)]);
    assert_eq!(server.call("record", json!({}))["iteration"], 1);
    let record = project.run(&["show", "1", "--json"]).expect(0).json();
    assert_ne!(record["reruns"], Value::Null, "{record:#}");
    assert_eq!(project.read("input"), "/dev/null\n");
    server.end();
}

#[test]
fn a_server_that_is_told_to_end_ends_and_leaves_a_loop_that_verifies() {
    let project = Project::new();
    project.tests(&[("a", true)]);
    project.run(&["begin"]).expect(0);
    let mut server = Server::start(&project, &[]);
    server.call("record", json!({}));
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(!server.child.wait().unwrap().success());
    project.run(&["verify"]).expect(0);
    project.run(&["record"]).expect(0);
}
