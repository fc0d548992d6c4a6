//! What transcripts tell, read from `fixtures/transcripts`, which the package does not carry.

use highwater::disk::hash::id_of;
use highwater::error::{Reject, Result};
use highwater::ingest::Input;
use highwater::ingest::transcript::{TRANSCRIPT_FORMATS, Transcript, parse_transcript, transcript_format};
use highwater::model::calls::{CallKind, CallLine, Event};
use serde_json::json;

fn read_text(text: &str) -> Result<Transcript> {
    parse_transcript(&Input::bytes("x", text.as_bytes()), None, id_of)
}

/// `fixtures/transcripts`: its folders are formats.
macro_rules! fixtures {
    ($($name:literal,)*) => {
        const FIXTURES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/transcripts/", $name)))),*];
    };
}

fixtures! {
    "atif/good.json",
    "claude-jsonl/good.jsonl",
    "claude-jsonl/good-session.jsonl",
    "claude-jsonl/good-stream-json.jsonl",
    "codex-rollout/good.jsonl",
    "codex-rollout/good-exec-json.jsonl",
    "codex-rollout/good-session.jsonl",
    "copilot-events/good-session.jsonl",
    "gemini-jsonl/good.jsonl",
    "gemini-jsonl/good-session.jsonl",
    "highwater-jsonl/good.jsonl",
    "openhands-events/good.jsonl",
    "openhands-events/good-session.json",
    "swe-agent-traj/good.traj",
}

fn fixture(name: &str) -> String {
    FIXTURES.iter().find(|(known, _)| *known == name).unwrap().1.to_owned()
}

/// A line in few words: the tool or event, and what came of it.
fn told(line: &CallLine) -> String {
    let result = line.result.as_ref().map_or(String::new(), |result| {
        let ok = result.ok.map_or("", |ok| if ok { " ok" } else { " failed" });
        let empty = result.is_hit().map_or("", |hit| if hit { " some" } else { " none" });
        format!("{ok}{empty}")
    });
    match line.event {
        Event::Call => format!("{}{result}", line.tool.as_deref().unwrap()),
        Event::Result => format!("-{result}"),
        Event::NewTurn => "turn".to_owned(),
        Event::Metrics => unreachable!("nobody asks"),
    }
}

/// What a fixture tells: its format, its lines in few words, its tokens and dollars.
fn reading(name: &str) -> (&'static str, String, Option<u64>, Option<f64>) {
    let read = read_text(&fixture(name)).unwrap();
    assert_eq!(read.skipped, 0, "{name}");
    let lines: Vec<String> = read.lines.iter().map(told).collect();
    (read.format.name, lines.join(", "), read.tokens, read.cost)
}

#[test]
fn claude_tells_usage_once_a_message_and_users_turns_are_no_results() {
    let lines = "Read, - ok some, Grep, - ok none, Edit, - ok some, Bash, - failed, turn, Read";
    // Five messages of 1,204 tokens read; the first one's second line says what it wrote.
    let tokens = 5 * 1204 + 40 + 30 + 50 + 20 + 10;
    assert_eq!(reading("claude-jsonl/good.jsonl"), ("claude-jsonl", lines.into(), Some(tokens), None));
    // Its model names every message alike.
    let session = reading("claude-jsonl/good-session.jsonl");
    let lines = "Bash, - ok some, Write, - ok some, Bash, - failed, Bash, - ok some";
    assert_eq!(session, ("claude-jsonl", lines.into(), Some(110), None));
    let printed = reading("claude-jsonl/good-stream-json.jsonl");
    assert_eq!(printed, ("claude-jsonl", "Bash, - ok some".into(), Some(15), Some(0.42)));
}

#[test]
fn codex_tells_results_once_and_what_its_commands_do() {
    let lines = "exec_command, - ok some, exec_command, - failed none, apply_patch, - ok some, apply_patch, - ok some, \
                 exec_command, -";
    let (format, told, tokens, cost) = reading("codex-rollout/good.jsonl");
    assert_eq!((format, tokens, cost), ("codex-rollout", Some(4400), None));
    assert_eq!(told, format!("{lines} failed"));
    let read = read_text(&fixture("codex-rollout/good.jsonl")).unwrap();
    let [read_file, returned, search, ..] = &read.lines[..] else { panic!("calls") };
    assert_eq!((read_file.kind, read_file.paths.clone()), (Some(CallKind::Read), Some(vec!["src/total.py".into()])));
    assert_eq!(search.kind, Some(CallKind::Search));
    // The mirror in words has the same output below what differs from run to run.
    let text = fixture("codex-rollout/good.jsonl");
    let mirror: Vec<&str> = text.lines().filter(|line| !line.contains("exec_command_end")).collect();
    let mirrored = read_text(&mirror.join("\n")).unwrap();
    assert_eq!(mirrored.lines[1].result, returned.result);
    let session = reading("codex-rollout/good-session.jsonl");
    let lines =
        "exec_command, - ok some, exec_command, - ok none, exec_command, - failed none, exec_command, - ok some";
    assert_eq!(session, ("codex-rollout", lines.into(), Some(550), None));
    let printed = reading("codex-rollout/good-exec-json.jsonl");
    assert_eq!(printed, ("codex-rollout", "exec_command failed, apply_patch ok, search ok".into(), Some(2520), None));
}

#[test]
fn copilot_tells_how_a_command_ended_apart() {
    let lines = "bash, - ok some, create, - ok some, bash, - failed none, bash, - ok some";
    assert_eq!(reading("copilot-events/good-session.jsonl"), ("copilot-events", lines.into(), Some(550), None));
}

#[test]
fn gemini_tells_a_record_again_and_takes_others_back() {
    let lines = "read_file ok some, replace ok some, run_shell_command failed";
    let session = "run_shell_command ok some, write_file ok some, run_shell_command failed, run_shell_command ok some";
    assert_eq!(reading("gemini-jsonl/good-session.jsonl"), ("gemini-jsonl", session.into(), Some(550), None));
    // What was taken back was paid all the same.
    assert_eq!(reading("gemini-jsonl/good.jsonl"), ("gemini-jsonl", lines.into(), Some(900 + 1100 + 1300), None));
}

#[test]
fn a_trajectory_tells_its_total_itself() {
    let lines = "grep, read_file, - none, - some, edit_file, - some, bash, - some, turn, read_file, - some";
    assert_eq!(reading("atif/good.json"), ("atif", lines.into(), Some(6070), Some(0.016)));
    // Cut before its totals, the steps are added up.
    let text = fixture("atif/good.json");
    let cut = text.split("\"step_id\": 6").next().unwrap();
    let read = read_text(cut).unwrap();
    assert_eq!((read.skipped, read.tokens, read.lines.len()), (1, Some(1280 + 1460 + 1620), 9));
    assert!((read.cost.unwrap() - 0.015).abs() < 1e-12);
    let copied = text.replacen("\"step_id\": 2,", "\"step_id\": 2, \"is_copied_context\": true,", 1);
    assert_eq!(read_text(&copied).unwrap().lines.len(), 7);
}

#[test]
fn openhands_tells_actions_and_what_they_came_to() {
    let lines = "file_editor, - ok some, grep, - ok none, file_editor, - failed, terminal, - failed";
    assert_eq!(reading("openhands-events/good.jsonl"), ("openhands-events", lines.into(), None, None));
    // Its editor wants an absolute path.
    let session = "terminal, - ok some, file_editor, - failed, terminal, - failed none, terminal, - ok some";
    assert_eq!(reading("openhands-events/good-session.json"), ("openhands-events", session.into(), None, None));
    let read = read_text(&fixture("openhands-events/good.jsonl")).unwrap();
    assert_eq!(read.lines[0].args, json!({"command": "view", "path": "/repo/hourbook/src/total.py"}));
}

#[test]
fn swe_agent_tells_lines_of_a_shell() {
    let lines = "str_replace_editor some, search none, read_file some, edit some, bash some, submit some";
    assert_eq!(reading("swe-agent-traj/good.traj"), ("swe-agent-traj", lines.into(), Some(5510), Some(0.12)));
    let read = read_text(&fixture("swe-agent-traj/good.traj")).unwrap();
    let view = json!({"command": "view", "path": "/hourbook/src/total.py", "input": "str_replace_editor view /hourbook/src/total.py"});
    assert_eq!((&read.lines[0].args, &read.lines[4].args), (&view, &json!({"command": "python -m pytest -q"})));
}

#[test]
fn our_own_lines_are_taken_as_they_are() {
    let lines = "Read, - ok, Grep none, turn, Edit ok, Bash";
    assert_eq!(reading("highwater-jsonl/good.jsonl"), ("highwater-jsonl", lines.into(), None, None));
}

#[test]
fn what_is_not_understood_is_counted_and_the_rest_is_read() {
    let good = fixture("claude-jsonl/good.jsonl");
    let broken = good.replacen('\n', "\n{\"type\":\"assis\n[1]\n\u{1}\n\n{}\n{\"type\":\"user\"}\n", 1);
    let (whole, read) = (read_text(&good).unwrap(), read_text(&broken).unwrap());
    assert_eq!((read.skipped, read.lines), (5, whole.lines));
    for none in ["{\"a\": 1}\n", "<xml/>", "[]", "no JSON\n"] {
        assert_eq!(read_text(none).unwrap_err().reject(), Some(Reject::NotThisFormat), "{none}");
    }
    assert_eq!(read_text("").unwrap_err().reject(), Some(Reject::Empty));
    // Too long a line is passed over unread.
    let long = format!("{{\"tool\":\"A\"}}\n{{\"tool\":\"{}\"}}\n{{\"tool\":\"C\"}}\n", "b".repeat(9 << 20));
    let read = read_text(&long).unwrap();
    assert_eq!((read.lines.iter().map(told).collect::<Vec<_>>(), read.skipped), (vec!["A".into(), "C".into()], 1));
}

#[test]
fn every_fixture_is_told_by_its_content_and_cut_anywhere_it_never_fails() {
    for (name, text) in FIXTURES {
        let format = transcript_format(name.split('/').next().unwrap()).unwrap();
        let bytes = text.as_bytes();
        let whole = parse_transcript(&Input::bytes("x", bytes), None, id_of).unwrap();
        assert_eq!(whole.format.name, format.name, "{name}");
        let mut most = 0;
        for end in (1..bytes.len()).step_by(1 + bytes.len() / 150) {
            let cut = parse_transcript(&Input::bytes("x", &bytes[..end]), Some(format), id_of).unwrap();
            // What a later line takes back is still there.
            assert!(cut.lines.len() <= whole.lines.len() + 1, "{name}: {end}");
            most = most.max(cut.lines.len());
        }
        assert!(most + 3 >= whole.lines.len(), "{name}: a cut loses no more than what it cuts");
    }
    let folders: std::collections::BTreeSet<&str> =
        FIXTURES.iter().filter_map(|(name, _)| name.split('/').next()).collect();
    assert_eq!(folders.len(), TRANSCRIPT_FORMATS.len());
}
