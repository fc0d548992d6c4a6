//! What the agent did, from outside: `--transcript` of every agent, an iteration's part of it, what it costs, what is odd.

use serde_json::{Value, json};

use crate::support::{Answer, Project, assert_shape};

fn fixture(name: &str) -> String {
    std::fs::read_to_string(format!("{}/fixtures/transcripts/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn begun(config: &str, options: &[&str]) -> Project {
    let project = Project::new();
    if !config.is_empty() {
        project.write("highwater.yaml", config);
    }
    project.tests(&[("a", true), ("b", false)]);
    project.run(&[&["begin", "--loop", "auth"][..], options].concat()).expect(0);
    project
}

fn record(project: &Project, options: &[&str]) -> (Value, Answer) {
    project.tests(&[("a", true), ("b", false)]);
    let answer = project.run(&[&["record", "--json"][..], options].concat()).expect(0);
    let record = answer.json();
    assert_shape("record", &record);
    (record, answer)
}

/// Lines of our own, each a read of one file.
fn reads(count: usize) -> String {
    (0..count)
        .map(|n| format!("{{\"tool\":\"Read\",\"id\":\"r{n}\",\"args\":{{\"path\":\"src/lib.py\"}}}}\n"))
        .collect()
}

#[test]
fn an_iteration_has_the_calls_since_the_one_before_and_what_they_cost() {
    let session = fixture("claude-jsonl/good.jsonl");
    let at = session.lines().take(7).map(|line| line.len() + 1).sum::<usize>();
    let project = Project::new();
    project.write("session.jsonl", &session[..at]);
    project.tests(&[("a", true), ("b", false)]);
    let baseline =
        project.run(&["begin", "--loop", "auth", "--transcript", "session.jsonl", "--json"]).expect(0).json();
    assert_shape("record", &baseline);
    assert_eq!(baseline["activity"]["tool_calls"], 2, "{baseline:#}");
    assert_eq!((&baseline["activity"]["reads"], &baseline["activity"]["empty_searches"]), (&json!(1), &json!(1)));
    assert_eq!((&baseline["tokens"], &baseline["cost"]), (&json!(1204 * 2 + 70), &Value::Null));

    project.write("session.jsonl", &session);
    let (grown, _) = record(&project, &["--transcript", "session.jsonl"]);
    assert_eq!(grown["activity"]["tool_calls"], 3, "{grown:#}");
    assert_eq!((&grown["activity"]["edits"], &grown["tokens"]), (&json!(1), &json!(1204 * 3 + 80)));
    assert_eq!(grown["tree_key"], baseline["tree_key"], "a transcript is no code");

    let (same, _) = record(&project, &["--transcript", "session.jsonl", "--tokens", "7"]);
    assert_eq!((&same["activity"]["tool_calls"], &same["tokens"]), (&json!(0), &json!(7)));

    // Another session, whatever its file is called: from its beginning.
    project.write("session.jsonl", fixture("claude-jsonl/good-stream-json.jsonl"));
    let (other, _) = record(&project, &["--transcript", "session.jsonl"]);
    assert_eq!((&other["activity"]["runs"], &other["cost"]), (&json!(1), &json!(0.42)));

    let kept = format!("iterations/iteration-001/artifacts/{}", grown["transcripts"][0]["artifact"].as_str().unwrap());
    let kept = project.read(&format!(".progress/auth/{kept}"));
    assert_eq!(kept.lines().count(), 6, "{kept}");
    kept.lines().for_each(|line| assert_shape("call", &serde_json::from_str(line).unwrap()));
    assert!(!kept.contains("sum(rows)"), "what an edit writes is not kept: {kept}");
    project.run(&["verify", "--recompute"]).expect(0);
    assert_eq!(project.run(&["replay", "--json"]).expect(0).json()["changes"], json!([]));
    let report = project.read(".progress/auth/reports/iteration-001-report.md");
    assert!(report.contains("**Agent**: 3 tool calls: 1 read, 1 edited, 1 ran"), "{report}");
    assert!(project.run(&["show", "1"]).expect(0).stdout.contains("3 tool calls"));
}

#[test]
fn what_the_monitor_finds_is_an_alert_that_moves_nothing() {
    let project = begun("", &[]);
    let (plain, _) = record(&project, &[]);
    project.write("calls.jsonl", reads(5));
    let (odd, _) = record(&project, &["--transcript", "calls.jsonl"]);
    let alerts = odd["alerts"].as_array().unwrap();
    let alert = alerts.iter().find(|alert| alert["rule"] == "repeated_file").unwrap();
    let message = "You've read src/lib.py 5 times. Consider if you already have the information you need.";
    assert_eq!(
        (&alert["severity"], &alert["message"], &alert["subject"]),
        (&json!("high"), &json!(message), &json!("src/lib.py"))
    );
    assert_eq!(odd["recommendation"]["confidence"], plain["recommendation"]["confidence"]);
    let fact = project.run(&["gate", "--json"]).expect(0).json()["for_agent"].as_str().unwrap().to_owned();
    assert!(fact.ends_with("You've read src/lib.py 5 times."), "{fact}");

    project.write("other.yaml", "monitor: {file_reads: 6}\n");
    let changed = project.run(&["replay", "--config", "other.yaml", "--json"]).expect(0).stdout;
    assert!(changed.contains("repeated_file"), "{changed}");
    let off = begun("rules: {repeated_file: off, exact_cycle: observe}\n", &[]);
    off.write("calls.jsonl", reads(5));
    let (odd, _) = record(&off, &["--transcript", "calls.jsonl"]);
    let rules: Vec<(&Value, &Value)> =
        odd["alerts"].as_array().unwrap().iter().map(|alert| (&alert["rule"], &alert["observe_only"])).collect();
    assert_eq!(rules, [(&json!("exact_cycle"), &json!(true))]);
}

#[test]
fn a_transcript_that_cannot_be_read_is_told_and_stops_nothing() {
    let project = begun("", &["--transcript", "missing.jsonl"]);
    project.write("odd.txt", "no transcript\n");
    project.write("empty.jsonl", "");
    project.write("cut.jsonl", format!("{}{{\"tool\":\"Re", reads(1)));
    std::fs::create_dir(project.path("folder")).unwrap();
    for (name, told) in [
        ("missing.jsonl", "no such file or folder"),
        ("odd.txt", "not a transcript of any agent"),
        ("empty.jsonl", "is empty"),
        ("folder", "no event-*.json"),
    ] {
        let (record, answer) = record(&project, &["--transcript", name]);
        assert!(record.get("activity").is_none() && answer.stderr.contains(told), "{name}: {answer:?}");
    }
    // Whatever a transcript's name is, it is no report.
    project.write("junit-events/event-00000-a.json", "{\"kind\":\"MessageEvent\",\"source\":\"user\"}");
    let (events, _) = record(&project, &["--transcript", "junit-events"]);
    assert_eq!((&events["activity"]["tool_calls"], events["sources"].as_array().unwrap().len()), (&json!(0), 1));
    let (record, answer) = record(&project, &["--transcript", "cut.jsonl"]);
    assert_eq!((&record["activity"]["tool_calls"], &record["transcripts"][0]["skipped"]), (&json!(1), &json!(1)));
    assert!(answer.stderr.contains("1 lines or steps are not understood"), "{answer:?}");
}

#[test]
fn monitor_reads_every_agents_transcript() {
    let project = Project::new();
    let folder = format!("{}/fixtures/transcripts", env!("CARGO_MANIFEST_DIR"));
    for (name, calls) in [
        ("claude-jsonl/good.jsonl", 5),
        ("codex-rollout/good.jsonl", 5),
        ("copilot-events/good-session.jsonl", 4),
        ("gemini-jsonl/good.jsonl", 3),
        ("atif/good.json", 5),
        ("openhands-events/good", 4),
        ("swe-agent-traj/good.traj", 6),
        ("highwater-jsonl/good.jsonl", 4),
    ] {
        let answer = project.run(&["monitor", "--transcript", &format!("{folder}/{name}")]).expect(0);
        let told: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        told.iter().for_each(|one| assert_shape("watched", one));
        assert_eq!(told.iter().filter(|one| one["line"]["event"] == "call").count(), calls, "{name}: {told:#?}");
        let format = name.split('/').next().unwrap();
        assert!(project.run(&["list", "transcripts"]).expect(0).stdout.contains(format));
    }
    project.run(&["monitor", "--transcript", "missing"]).expect(65);
    let own = format!("{folder}/highwater-jsonl/good.jsonl");
    let as_other = project.run(&["monitor", "--transcript", &own, "--format", "codex-rollout"]).expect(0);
    assert!(as_other.stdout.is_empty() && as_other.stderr.contains("not understood"), "{as_other:?}");
    assert!(project.run(&["monitor", "--transcript", &own, "--format", "odd"]).expect(64).stderr.contains("atif"));
}
