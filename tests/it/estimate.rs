//! How much of the goal is reached, from outside: the caller's word, a command, an endpoint that misbehaves in every way,
//! what stands in for them; and `watch`, which tells estimates as they come.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::{Answer, Project, answer, assert_shape};

/// What must never be told.
const KEY: &str = "sk-very-secret";

fn begun(config: &str, options: &[&str]) -> Project {
    let project = Project::new();
    if !config.is_empty() {
        project.write("highwater.yaml", config);
    }
    project.tests(&[("a", true), ("b", false)]);
    let begin = run(&project, &[&["begin", "--loop", "auth"][..], options].concat());
    begin.expect(0);
    project
}

/// Runs the program with the key in its environment, and without a proxy.
fn run(project: &Project, arguments: &[&str]) -> Answer {
    let mut command = project.command(arguments);
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env_remove(name);
    }
    answer(&command.env("MODEL_KEY", KEY).output().unwrap())
}

fn record(project: &Project, options: &[&str]) -> (Value, Answer) {
    // Another report of the same: without one the iteration would be passed over as not measured.
    project.tests(&[("a", true), ("b", false)]);
    let answer = run(project, &[&["record", "--json"][..], options].concat()).expect(0);
    let record = answer.json();
    assert_shape("record", &record);
    (record, answer)
}

fn has_alert(record: &Value, rule: &str) -> bool {
    record["alerts"].as_array().unwrap().iter().any(|alert| alert["rule"] == rule)
}

#[test]
fn v16_the_callers_estimates_are_stuck_where_they_hardly_differ() {
    for (percents, is_stuck) in [
        (&["40", "42", "44"][..], true),
        (&["40", "42", "45"], false),
        (&["10", "40%", "41", "43"], true),
        (&["95", "100", "120"], false),
    ] {
        let project = begun("", &[]);
        let records: Vec<Value> = percents.iter().map(|percent| record(&project, &["--estimate", percent]).0).collect();
        let last = records.last().unwrap();
        assert_eq!(last["estimate"]["is_stuck"], is_stuck, "{percents:?}");
        assert_eq!(has_alert(last, "estimate_stuck"), is_stuck, "{percents:?}");
        assert_eq!((&last["estimate"]["source"], &last["estimate"]["by"]), (&json!("external"), &json!("caller")));
    }
}

#[test]
fn v16_fallbacks_alone_say_nothing() {
    let project = Project::new();
    run(&project, &["begin", "--goal", "all done", "--skip", "size", "--", "true"]).expect(0);
    // It is as it was before the commands ran, which is certain only where the clock has ticked since.
    project.tests(&[("a", true), ("b", false)]);
    let report = std::fs::File::options().write(true).open(project.path("junit.xml")).unwrap();
    report.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(60)).unwrap();
    for (command, percent) in [("true", 50.0), ("true", 50.0), ("true", 50.0), ("false", 0.0)] {
        let answer = run(&project, &["record", "--json", "--skip", "size", "--", command]).expect(0);
        let record = answer.json();
        assert_shape("record", &record);
        let estimate = &record["estimate"];
        assert_eq!((&estimate["source"], &estimate["progress_percent"]), (&json!("fallback"), &json!(percent)));
        assert!(estimate["is_stuck"].is_null() || record["iteration"] == 1, "{record:#}");
        assert!(!has_alert(&record, "estimate_stuck"));
    }
}

#[test]
fn an_estimate_of_a_file_keeps_all_its_fields() {
    let project = begun("", &[]);
    project.write(
        "estimate.json",
        r#"{"progressPercent": 40, "reasoning": "half of it", "nextMilestone": "log in", "blockers": ["no server"], "seen": 3}"#,
    );
    let (record, _) = record(&project, &["--estimate", "@estimate.json"]);
    let expected = json!({
        "progress_percent": 40.0, "reasoning": "half of it", "next_milestone": "log in", "blockers": ["no server"],
        "is_stuck": false, "source": "external", "by": "caller", "extra": {"seen": 3},
    });
    assert_eq!(record["estimate"], expected);
    let page = run(&project, &["show", "1"]).expect(0).stdout;
    assert!(page.contains("estimate 40.0 % (external: caller); next: log in"), "{page}");
    assert!(page.contains("half of it") && page.contains("no server"), "{page}");
    let report = project.read(".progress/auth/reports/iteration-001-report.md");
    assert!(report.contains("**Goal**: estimate 40.0 %") && report.contains("- no server"), "{report}");
    let log = run(&project, &["log", "--json"]).expect(0).json();
    assert_eq!(log["iterations"][1]["estimate"]["progress_percent"], 40.0);
    assert_shape("log", &log);

    project.write("estimate.json", "{\"reasoning\": \"none\"}");
    run(&project, &["record", "--estimate", "@estimate.json"]).expect(65);
    run(&project, &["record", "--estimate", "@absent.json"]).expect(65);
    run(&project, &["record", "--estimate", "half"]).expect(64);
    run(&project, &["record", "--estimate", "NaN"]).expect(64);
}

#[test]
fn a_goal_alone_is_estimated_by_tests_checklist_and_score_and_no_goal_not_at_all() {
    let project = begun("", &[]);
    assert!(record(&project, &[]).0["estimate"].is_null(), "nobody asked");
    let project = begun("", &["--goal", "all tests pass"]);
    let baseline = run(&project, &["show", "0", "--json"]).expect(0).json();
    assert_eq!(baseline["goal"], "all tests pass");
    project.write("said.txt", "- [x] one\n- [ ] two\n");
    project.tests(&[("a", true), ("b", false)]);
    let (record, _) = record(&project, &["--output", "said.txt"]);
    let score = record["quality_score"]["total"].as_f64().unwrap();
    let percent = record["estimate"]["progress_percent"].as_f64().unwrap();
    assert!((percent - (30.0 + 12.5 + 15.0 * score)).abs() < 1e-6, "{record:#}");
    assert_eq!(record["estimate"]["source"], "heuristic");
    let answer = run(&project, &["verify", "--recompute", "--json"]).expect(0).json();
    assert_eq!(answer["findings"], json!([]), "{answer:#}");
}

#[test]
fn a_command_is_fed_the_prompt_and_its_object_is_read() {
    let script =
        "estimate:\n  command: [sh, -c, 'cat > prompt.json; echo thinking; echo {\\\"progress_percent\\\": 35}']\n";
    let project = begun(&script.replace("\\\\\"", "\\\""), &["--goal", "log in"]);
    project.write("said.txt", "I wrote the form");
    let (record, answer) = record(&project, &["--output", "said.txt"]);
    assert_eq!(
        (&record["estimate"]["progress_percent"], &record["estimate"]["by"]),
        (&json!(35.0), &json!("command")),
        "{answer:?}"
    );
    let prompt: Value = serde_json::from_str(&project.read("prompt.json")).unwrap();
    assert_shape("estimate-prompt", &prompt);
    assert_eq!((&prompt["goal"], &prompt["iteration"]), (&json!("log in"), &json!(1)));
    assert_eq!((&prompt["completed_steps"], &prompt["latest_action"]), (&json!(0), &json!("I wrote the form")));
    assert_eq!(prompt["known_facts"][0].as_str().unwrap().split(',').next(), Some("iteration 0: baseline"));
}

#[test]
fn a_command_that_hangs_is_killed_with_its_group_and_one_that_fails_or_rambles_is_told() {
    let hangs = "sleep 600 & echo $! > pid; wait";
    for (script, why) in [
        (hangs, "took too long"),
        ("exit 3", "exit status: 3"),
        ("echo no JSON here", "answered no JSON object"),
        ("yes", "printed more than 1 MiB"),
    ] {
        let config = format!("estimate:\n  timeout_ms: 1500\n  command: [sh, -c, {script:?}]\n");
        let project = begun(&config, &[]);
        let (record, answer) = record(&project, &[]);
        assert_eq!(record["estimate"]["source"], "heuristic", "{script}");
        assert!(answer.stderr.contains(why), "{script}: {answer:?}");
        if script == hangs {
            let pid = project.read("pid");
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            // What was killed and nobody waited for yet is a zombie.
            assert!(stat.as_ref().is_err() || stat.as_ref().is_ok_and(|stat| stat.contains(") Z")), "{stat:?}");
        }
    }
    let project = begun("estimate:\n  command: [/no/such/program]\n", &[]);
    assert!(record(&project, &[]).1.stderr.contains("could not be started"));
}

/// What a server does with a request.
#[derive(Clone)]
enum Does {
    Says(&'static str),
    Answers(&'static str, String),
    Hangs,
    Drips,
    Floods,
    HangsUp,
}

/// A server on a port of its own: it does one thing a request, in order, the last again and again.
struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new(does: &[Does]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (does, seen) = (does.to_vec(), Arc::clone(&requests));
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let does = does[number.min(does.len() - 1)].clone();
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    seen.lock().unwrap().push(request(&mut stream));
                    // The client may go whenever it likes.
                    let _ = respond(&mut stream, &does);
                });
            }
        });
        Server { port, requests }
    }

    fn config(&self, timeout_ms: u64) -> String {
        format!(
            "estimate:\n  timeout_ms: {timeout_ms}\n  endpoint: {{base_url: 'http://127.0.0.1:{}/v1', model: small, key_env: MODEL_KEY}}\n",
            self.port
        )
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Head and body of one request.
fn request(stream: &mut TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut text = String::new();
    while !text.ends_with("\r\n\r\n") && reader.read_line(&mut text).unwrap() > 0 {}
    let length = text.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    text.push_str(&String::from_utf8(body).unwrap());
    text
}

fn respond(stream: &mut TcpStream, does: &Does) -> std::io::Result<()> {
    let pause = || std::thread::sleep(std::time::Duration::from_millis(50));
    match does {
        Does::Says(text) => {
            let body = json!({"choices": [{"message": {"role": "assistant", "content": text}}]}).to_string();
            respond(stream, &Does::Answers("200 OK", body))
        }
        Does::Answers(status, body) => {
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
        }
        Does::Hangs => loop {
            pause();
        },
        Does::Drips => {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")?;
            loop {
                stream.write_all(b" ")?;
                pause();
            }
        }
        Does::Floods => {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")?;
            let zeros = vec![b'0'; 1 << 20];
            (0..10_000).try_for_each(|_| stream.write_all(&zeros))
        }
        Does::HangsUp => Ok(()),
    }
}

/// Says "skipped" where there is no curl.
fn has_curl() -> bool {
    let found = std::process::Command::new("curl").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: no curl");
    }
    found
}

/// The key is in no file of the store and in nothing that was printed.
fn assert_secret(project: &Project, answer: &Answer) {
    assert!(!answer.stdout.contains(KEY) && !answer.stderr.contains(KEY), "{answer:?}");
    for entry in walkdir::WalkDir::new(project.path(".progress")) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!found, "{}", entry.path().display());
        }
    }
}

/// What is recorded where the endpoint answers like this, and what is said of it.
fn asked(does: &[Does], timeout_ms: u64) -> (Value, Answer, Server) {
    let server = Server::new(does);
    let project = Project::new();
    project.tests(&[("a", true), ("b", false)]);
    run(&project, &["begin", "--loop", "auth", "--goal", "log \"in\""]).expect(0);
    project.write("other.yaml", server.config(timeout_ms));
    // The baseline of a second loop is the iteration that asks.
    let answer = run(&project, &["begin", "--config", "other.yaml", "--goal", "log \"in\"", "--json"]).expect(0);
    let record = answer.json();
    assert_shape("record", &record);
    assert_secret(&project, &answer);
    (record, answer, server)
}

#[test]
fn an_endpoint_is_asked_in_the_words_of_s001_with_the_key_in_a_header() {
    if !has_curl() {
        return;
    }
    let says = "Here you are:\n```json\n{\"progress_percent\": 140, \"next_milestone\": \"a {brace\"}\n```";
    let (record, _, server) = asked(&[Does::Says(says)], 10_000);
    let estimate = &record["estimate"];
    assert_eq!((&estimate["progress_percent"], &estimate["by"]), (&json!(100.0), &json!("endpoint")), "{record:#}");
    assert_eq!(estimate["next_milestone"], "a {brace");
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("Authorization: Bearer {KEY}")), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        (&body["model"], &body["temperature"], &body["max_tokens"]),
        (&json!("small"), &json!(0.1), &json!(500))
    );
    let prompt = body["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.contains("Task Goal: log \"in\"\nCompleted Steps: 0\n"), "{prompt}");
}

#[test]
fn one_failure_is_retried_and_a_second_one_is_not() {
    if !has_curl() {
        return;
    }
    let says = Does::Says("{\"progress_percent\": 20}");
    for fails in [Does::Answers("500 Oops", KEY.to_owned()), Does::HangsUp, Does::Says("I cannot tell")] {
        let (record, _, server) = asked(&[fails.clone(), says.clone()], 10_000);
        assert_eq!(record["estimate"]["progress_percent"], 20.0, "{record:#}");
        assert_eq!(server.requests().len(), 2);
        let (record, answer, server) = asked(&[fails.clone(), fails, says.clone()], 10_000);
        assert_eq!(record["estimate"]["source"], "heuristic");
        assert!(answer.stderr.contains("no estimate from the endpoint"), "{answer:?}");
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn an_endpoint_that_refuses_or_sends_elsewhere_is_asked_once() {
    if !has_curl() {
        return;
    }
    let elsewhere = Server::new(&[Does::Says("{\"progress_percent\": 99}")]);
    let location = format!("302 Found\r\nLocation: http://127.0.0.1:{}/v1/chat/completions", elsewhere.port);
    for (status, why) in [("401 Unauthorized", "answered 401"), (location.leak() as &str, "answered 302")] {
        let (record, answer, server) = asked(&[Does::Answers(status, KEY.to_owned())], 10_000);
        assert_eq!(record["estimate"]["source"], "heuristic");
        assert!(answer.stderr.contains(why), "{answer:?}");
        assert_eq!(server.requests().len(), 1);
    }
    assert!(elsewhere.requests().is_empty(), "the key goes nowhere else");
}

#[test]
fn an_endpoint_that_hangs_drips_floods_or_is_not_there_never_breaks_a_record() {
    if !has_curl() {
        return;
    }
    for (does, why) in [
        (Does::Hangs, "took too long"),
        (Does::Drips, "took too long"),
        (Does::Floods, "printed more than 1 MiB"),
        (Does::Answers("200 OK", "not JSON".to_owned()), "answered no chat completion"),
        (Does::Answers("200 OK", "[".repeat(900_000)), "answered no chat completion"),
    ] {
        let (record, answer, _) = asked(&[does], 2_000);
        assert_eq!(record["estimate"]["source"], "heuristic");
        assert!(answer.stderr.contains(why), "{why}: {answer:?}");
    }
    // A port on which nobody listens any more.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let config = format!("estimate: {{endpoint: {{base_url: 'http://127.0.0.1:{port}', model: m}}}}\n");
    let project = begun(&config, &[]);
    let (record, answer) = record(&project, &[]);
    assert_eq!(record["estimate"]["source"], "heuristic");
    assert!(answer.stderr.contains("refused the connection"), "{answer:?}");
}

#[test]
fn without_curl_or_the_key_it_is_said_and_the_heuristic_stands_in() {
    let config = "estimate: {endpoint: {base_url: 'https://127.0.0.1:1', model: m, key_env: NO_SUCH_KEY}}\n";
    let project = begun(config, &[]);
    assert!(record(&project, &[]).1.stderr.contains("the environment variable NO_SUCH_KEY is not set"));
    let config = "estimate: {endpoint: {base_url: 'https://127.0.0.1:1', model: m}}\n";
    let project = begun("", &["--goal", "x"]);
    project.write("other.yaml", config);
    let mut command = project.command(&["begin", "--config", "other.yaml", "--json"]);
    let answer = answer(&command.env("PATH", project.path("src")).output().unwrap()).expect(0);
    assert!(answer.stderr.contains("by way of curl, which could not be started"), "{answer:?}");
    assert_eq!(answer.json()["estimate"]["source"], "heuristic");
}

#[test]
fn c50_a_config_that_anybody_can_write_may_not_say_what_to_run() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    project.tests(&[("a", true)]);
    let loose = |text: &str| {
        project.write("highwater.yaml", text);
        std::fs::set_permissions(project.path("highwater.yaml"), std::fs::Permissions::from_mode(0o666)).unwrap();
    };
    for asks in
        ["estimate: {command: [touch, ran]}\n", "estimate: {endpoint: {base_url: 'http://127.0.0.1:1', model: m}}\n"]
    {
        loose(asks);
        let answer = run(&project, &["begin"]).expect(65);
        assert!(answer.stderr.contains("chmod"), "{answer:?}");
    }
    assert!(!project.exists("ran") && !project.exists(".progress"));
    loose("stall: {window: 4}\n");
    let answer = run(&project, &["begin"]).expect(0);
    assert!(answer.stderr.contains("everybody can write"), "{answer:?}");
}

#[test]
fn watch_tells_what_is_there_and_what_comes_and_ends_with_the_loop() {
    let project = begun("", &["--goal", "log in"]);
    let mut watching = project.command(&["watch", "--jsonl"]);
    let mut watching = watching.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["iteration"], 0);
    record(&project, &["--estimate", "40"]);
    let told = next();
    assert_shape("record", &told);
    assert_eq!((&told["iteration"], &told["estimate"]["progress_percent"]), (&json!(1), &json!(40.0)));
    record(&project, &["--estimate", "60"]);
    run(&project, &["finish"]).expect(0);
    assert_eq!(next()["estimate"]["progress_percent"], 60.0);
    assert!(lines.next().is_none());
    assert!(watching.wait().unwrap().success());
    let page = run(&project, &["watch"]).expect(0).stdout;
    assert!(page.lines().count() == 3 && page.contains("estimate 60.0 % (external: caller)"), "{page}");
}

#[test]
fn watch_ends_when_nobody_reads_any_more() {
    let project = begun("", &[]);
    let mut watching = project.command(&["watch", "--jsonl"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(watching.stdout.take());
    // The first record may have gone before the pipe did; the second finds nobody.
    record(&project, &[]);
    record(&project, &[]);
    assert!(watching.wait().unwrap().success());
    run(&Project::new(), &["watch"]).expect(65);
}
