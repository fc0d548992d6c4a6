//! Every row of the table of dialects, every payload there is, and the traps between them.

use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::engine::hook::Happened;

fn payload(agent: &str, event: &str) -> Payload {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/hooks/{agent}/{event}.json"));
    Payload::parse(&std::fs::read(&path).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn event(name: &str, event: &str) -> LoopEvent {
    agent(name).unwrap().read(&payload(name, event)).unwrap_or_else(|| panic!("{name} {event}"))
}

fn reply(name: &str, at: &str, answer: &Answer) -> Option<Value> {
    let text = agent(name).unwrap().reply(&event(name, at), answer)?;
    Some(serde_json::from_str(&text).unwrap())
}

/// Every payload of every agent: `(agent, event)`.
fn all() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for agent in AGENTS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hooks").join(agent.name);
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let name = entry.unwrap().file_name().into_string().unwrap();
            all.push((agent.name.to_owned(), name.strip_suffix(".json").unwrap().to_owned()));
        }
    }
    all.sort();
    all
}

#[test]
fn each_row_of_the_table_keeps_going_and_ends_in_its_own_words() {
    let r = "coverage fell";
    let block = json!({"decision": "block", "reason": r});
    let deny = json!({"decision": "deny", "reason": r});
    let end = json!({"continue": false, "stopReason": r});
    for (name, keeps_going, ends) in [
        ("claude", block.clone(), Some(end.clone())),
        ("codex", block.clone(), Some(end.clone())),
        ("gemini", deny.clone(), Some(end.clone())),
        ("copilot", block.clone(), None),
        (
            "vscode",
            json!({"hookSpecificOutput": {"hookEventName": "Stop", "decision": "block", "reason": r}}),
            Some(end),
        ),
        ("cursor", json!({"followup_message": r}), Some(json!({}))),
        ("goose", block, None),
        ("openhands", deny, None),
        ("opencode", json!({"prompt": r}), None),
    ] {
        assert_eq!(reply(name, "stop", &Answer::Refuse(r.into())), Some(keeps_going), "{name}");
        assert_eq!(reply(name, "stop", &Answer::End(r.into())), ends, "{name}");
        let one = agent(name).unwrap();
        assert_eq!(one.ends.is_empty(), ends.is_none_or(|ends| ends == json!({})), "{name}: what `explain` tells");
        assert_eq!(one.reply(&event(name, "stop"), &Answer::Nothing), None, "{name}");
    }
    assert_eq!(AGENTS.len(), 9);
}

#[test]
fn what_is_said_to_a_person_or_the_model_goes_where_a_dialect_has_room_for_it() {
    let note = Answer::Note("n".into());
    let context = Answer::Context("c".into());
    let specific =
        |event: &str| Some(json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "c"}}));
    for (name, tool, start) in [
        ("claude", "PostToolUse", "SessionStart"),
        ("codex", "PostToolUse", "SessionStart"),
        ("gemini", "AfterTool", "SessionStart"),
        ("vscode", "PostToolUse", "SessionStart"),
    ] {
        assert_eq!(reply(name, "stop", &note), Some(json!({"systemMessage": "n"})), "{name}");
        assert_eq!(reply(name, "tool", &context), specific(tool), "{name}");
        assert_eq!(reply(name, "session-start", &context), specific(start), "{name}");
        if name != "gemini" {
            assert_eq!(reply(name, "pre-compact", &context), Some(json!({"systemMessage": "c"})), "{name}");
        }
    }
    assert_eq!(reply("claude", "tool-failed", &context), specific("PostToolUseFailure"));
    for name in ["cursor", "goose"] {
        assert_eq!((reply(name, "stop", &note), reply(name, "tool", &context)), (None, None), "{name}");
    }
    let bare = Some(json!({"additionalContext": "c"}));
    assert_eq!(
        (reply("openhands", "session-start", &context), reply("openhands", "tool", &context)),
        (bare.clone(), None)
    );
    assert_eq!((reply("copilot", "session-start", &context), reply("copilot", "tool", &context)), (bare.clone(), bare));
    assert_eq!((reply("openhands", "stop", &note), reply("copilot", "stop", &note)), (None, None));
    assert_eq!(reply("opencode", "tool", &context), Some(json!({"context": "c"})));
    assert_eq!(reply("opencode", "pre-compact", &context), Some(json!({"context": "c"})));
    assert_eq!(reply("codex", "notify", &Answer::End("e".into())), None, "nobody reads it");
}

#[test]
fn no_answer_at_any_event_breaks_a_dialect() {
    for (name, at) in all() {
        let Some(event) = agent(&name).unwrap().read(&payload(&name, &at)) else { continue };
        for answer in [
            Answer::Nothing,
            Answer::Context("x".into()),
            Answer::Note("x".into()),
            Answer::Refuse("x".into()),
            Answer::End("x".into()),
        ] {
            let Some(text) = agent(&name).unwrap().reply(&event, &answer) else { continue };
            let printed: Value = serde_json::from_str(&text).unwrap();
            let keys: Vec<&str> = printed.as_object().unwrap().keys().map(String::as_str).collect();
            let at_end = matches!(event.happened, Happened::PostIteration(_));
            match name.as_str() {
                // Its schema for the end of a turn knows no other keys, and one that it does not know fails the hook.
                "codex" if at_end => {
                    assert!(
                        keys.iter()
                            .all(|key| ["continue", "stopReason", "systemMessage", "decision", "reason"].contains(key))
                    );
                }
                // `continue: false` prolongs its run, `block` is not understood.
                "openhands" => assert!(!keys.contains(&"continue") && printed.get("decision") != Some(&json!("block"))),
                // A decision after a tool would replace the tool's result.
                "gemini" | "copilot" => assert!(at_end || !keys.contains(&"decision")),
                "cursor" => assert!(keys.is_empty() || keys == ["followup_message"]),
                "vscode" => assert!(!keys.contains(&"decision")),
                _ => {}
            }
        }
    }
}

#[test]
fn a_payload_tells_whose_it_is_whatever_was_asked_for() {
    let claude = agent("claude");
    let nothing_set = |_: &str| false;
    for (name, at) in all() {
        let payload = payload(&name, &at);
        assert_eq!(detect(&payload, agent(&name), nothing_set).name, name, "{at}, asked for");
        // What others took over from Claude Code word for word cannot be told from it by the payload alone.
        let is_shared = name == "copilot" && at == "session-end";
        if !is_shared {
            assert_eq!(detect(&payload, claude, nothing_set).name, name, "{at}, installed for Claude Code");
            assert_eq!(detect(&payload, None, nothing_set).name, name, "{at}");
        }
    }
    let start = Payload::parse(b"{\"hook_event_name\":\"SessionStart\"}").unwrap();
    assert_eq!(detect(&start, None, |variable| variable == "GEMINI_PROJECT_DIR").name, "gemini");
    assert_eq!(detect(&start, None, nothing_set).name, "claude");
    assert_eq!(detect(&payload("vscode", "stop"), agent("copilot"), nothing_set).name, "vscode");
}

#[test]
fn every_event_means_what_it_should() {
    for (name, at) in all() {
        let read = agent(&name).unwrap().read(&payload(&name, &at));
        let meant = read.as_ref().map(|event| match &event.happened {
            Happened::PreLoop => "session-start",
            Happened::Activity(_) => "tool",
            Happened::PostIteration(turn) if turn.is_unfinished => "unfinished",
            Happened::PostIteration(_) => "stop",
            Happened::LoopDecision => "pre-compact",
            Happened::PostLoop => "session-end",
        });
        let expected = match at.as_str() {
            "subagent-stop" | "pre-compress" => None,
            "notify" => Some("stop"),
            "stop-background" | "stop-aborted" => Some("unfinished"),
            other => Some(
                ["session-start", "session-end", "pre-compact", "stop", "tool"]
                    .into_iter()
                    .find(|kind| other.starts_with(kind))
                    .unwrap(),
            ),
        };
        assert_eq!(meant, expected, "{name} {at}");
        if let Some(event) = read {
            assert!(!event.session.is_empty() && event.folder.is_some(), "{name} {at}");
        }
    }
}

#[test]
fn a_tool_call_is_read_with_what_came_of_it() {
    let call = |name: &str, at: &str| match event(name, at).happened {
        Happened::Activity(call) => *call,
        other => panic!("{other:?}"),
    };
    let claude = call("claude", "tool-failed");
    assert_eq!((claude.tool.as_str(), claude.ok), ("Bash", Some(false)));
    assert!(claude.response.is_some_and(|text| text.as_str().unwrap().starts_with("Exit code 1")));
    assert_eq!(call("codex", "tool").response, Some(json!("calc.py\ntest_calc.py\n")));
    assert_eq!((call("gemini", "tool").ok, call("gemini", "tool-failed").ok), (Some(true), Some(false)));
    assert_eq!((call("openhands", "tool").ok, call("openhands", "tool-failed").ok), (Some(true), Some(false)));
    assert_eq!((call("copilot", "tool").ok, call("copilot", "tool-camel").ok), (Some(true), Some(true)));
    assert_eq!(call("copilot", "tool-camel").args["command"], "ls");
    assert_eq!((call("opencode", "tool").ok, call("opencode", "tool-failed").ok), (Some(true), Some(false)));
    assert!(call("opencode", "tool").response.is_some_and(|text| text.as_str().unwrap().contains("calc.py")));
    for name in ["goose", "vscode", "cursor"] {
        assert_eq!(call(name, "tool").args, json!({"command": "pytest -q"}), "{name}");
    }
}

#[test]
fn refusals_stay_below_the_agents_own_cap() {
    let none = |_: &str| None;
    let set = |value: &'static str| move |_: &str| Some(value.to_owned());
    let claude = agent("claude").unwrap();
    assert_eq!((claude.refusals(3, none), claude.refusals(20, none)), (3, 7));
    assert_eq!((claude.refusals(3, set("2")), claude.refusals(20, set("50"))), (1, 20));
    assert_eq!((claude.refusals(20, set("many")), claude.refusals(20, set("0"))), (7, 0));
    assert_eq!((agent("cursor").unwrap().refusals(20, none), agent("copilot").unwrap().refusals(20, none)), (4, 7));
    assert_eq!((agent("goose").unwrap().refusals(20, none), agent("goose").unwrap().refusals(20, set("4"))), (20, 3));
    assert_eq!(agent("codex").unwrap().refusals(20, none), 20);
}

#[test]
fn a_text_is_bounded_and_an_empty_one_is_not_said() {
    let long = reply("claude", "stop", &Answer::Refuse("ü".repeat(20_000))).unwrap();
    assert_eq!(long["reason"].as_str().unwrap().chars().count(), MAX_TEXT);
    assert_eq!(reply("codex", "stop", &Answer::Refuse(" \n".into())), None);
}

#[test]
fn a_payload_that_is_none_is_told_and_odd_values_are_absent() {
    for bad in ["", " \n", "[]", "1", "{", "{\"a\":1}{", &"[".repeat(100_000)] {
        assert!(Payload::parse(bad.as_bytes()).is_err(), "{bad:.10}");
    }
    let odd = Payload::parse(
        "\u{feff}{\"hook_event_name\":\"Stop\",\"session_id\":7,\"stop_hook_active\":\"yes\"}".as_bytes(),
    )
    .unwrap();
    let event = agent("claude").unwrap().read(&odd).unwrap();
    assert_eq!((event.session.as_str(), event.folder), ("", None));
    for agent in AGENTS {
        for odd in ["{}", "{\"hook_event_name\":\"PostToolUse\"}", "{\"hook_event_name\":1}", "{\"event\":\"?\"}"] {
            assert_eq!(agent.read(&Payload::parse(odd.as_bytes()).unwrap()), None, "{}: {odd}", agent.name);
        }
    }
}
