//! Every agent's part goes in and comes out of whatever is there.

use jsonc_parser::ast::Value;
use proptest::prelude::*;

use super::json::Json;
use super::*;

fn content(agent: &str) -> &'static Content {
    let install = INSTALLS.iter().find(|one| one.agent == agent).unwrap();
    &install.files.last().unwrap().content
}

/// In and out again gives the same bytes; in again changes none.
#[track_caller]
fn there_and_back(agent: &str, text: &str) -> String {
    let content = content(agent);
    let installed = content.install(Some(text)).unwrap();
    assert_eq!(content.state(Some(&installed)).unwrap(), State::Current, "{installed}");
    assert_eq!(content.install(Some(&installed)).unwrap(), installed, "once more");
    assert_eq!(content.uninstall(&installed).unwrap().as_deref(), Some(text), "{installed}");
    installed
}

#[test]
fn a_new_file_says_what_the_agent_expects() {
    assert_eq!(
        content("codex").install(None).unwrap(),
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \
         \"command\": \"highwater hook run --agent codex\",\n            \"timeout\": 900\n          }\n        ]\n      }\n    \
         ],\n    \"PostToolUse\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \
         \"command\": \"highwater hook run --agent codex\",\n            \"timeout\": 20\n          }\n        ]\n      }\n    ],\n    \
         \"PreCompact\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \
         \"highwater hook run --agent codex\",\n            \"timeout\": 20\n          }\n        ]\n      }\n    ],\n    \
         \"SessionStart\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \
         \"highwater hook run --agent codex\",\n            \"timeout\": 20\n          }\n        ]\n      }\n    ]\n  }\n}\n"
    );
    let said = |agent: &str| serde_json::from_str::<serde_json::Value>(&content(agent).install(None).unwrap()).unwrap();
    let gemini = &said("gemini")["hooks"]["AfterAgent"][0]["hooks"][0];
    assert_eq!((&gemini["timeout"], &gemini["name"]), (&900_000.into(), &"highwater".into()), "milliseconds");
    let copilot = said("copilot");
    assert_eq!((&copilot["version"], &copilot["hooks"]["Stop"][0]["timeoutSec"]), (&1.into(), &900.into()));
    assert_eq!(copilot, said("vscode"), "they share one file");
    let cursor = said("cursor");
    assert_eq!((&cursor["version"], &cursor["hooks"]["stop"][0]["loop_limit"]), (&1.into(), &5.into()));
    assert_eq!(said("openhands")["stop"][0]["matcher"], "*");
    assert!(said("goose")["hooks"]["Stop"][0].get("matcher").is_none(), "a bare * disables the rule");
}

#[test]
fn no_tests_run_at_the_end_of_a_session_and_every_limit_is_said() {
    for install in INSTALLS {
        for file in install.files {
            let Content::Hooks(hooks) = &file.content else { continue };
            assert!(hooks.events.iter().all(|event| !event.name.to_lowercase().contains("end")), "{}", install.agent);
            assert_eq!(hooks.events.iter().filter(|event| event.seconds > 60).count(), 1, "{}", install.agent);
            let known =
                install.agent == "vscode" || hooks.command == format!("highwater hook run --agent {}", install.agent);
            assert!(known, "{}", install.agent);
        }
    }
}

#[test]
fn whatever_stands_there_stays() {
    let text = "{\n\t// mine\n\t\"model\": \"x\", // the model\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"hooks\": [{\"type\": \"command\", \
                \"command\": \"notify\"}]} // tell me\n\t\t\t/* and more */\n\t\t],\n\t\t\"Other\": [],\n\t},\n}";
    let installed = there_and_back("claude", text);
    assert!(
        installed.contains("\"notify\"}]}, // tell me\n\t\t\t/* and more */\n\t\t]")
            || installed.contains("// tell me\n\t\t\t{")
    );
    assert!(installed.contains("\t// mine\n\t\"model\": \"x\", // the model\n"), "{installed}");
    there_and_back("claude", &text.replace('\n', "\r\n"));
    there_and_back("claude", &format!("\u{feff}{text}\n"));
    there_and_back("claude", "{\"a\":1}");
    there_and_back("claude", "{\"a\":1,\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"x\"}]}],}}");
    there_and_back("claude", "{}");
    there_and_back("gemini", "{ // nothing yet\n}");
    there_and_back("openhands", "{\n    \"stop\": [\n        {\"matcher\": \"*\", \"hooks\": []}\n    ]\n}\n");
    let installed = there_and_back("openhands", "{\"hooks\": {\"Stop\": [{\"hooks\": []}]}}");
    assert!(!installed.contains("\"stop\"") && installed.contains("\"post_tool_use\""), "one spelling: {installed}");
    there_and_back("cursor", "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [{ \"command\": \"x\" }]\n  }\n}\n");
}

#[test]
fn one_lines_stay_one_line() {
    let installed = there_and_back("openhands", "{\"a\": [1]}");
    assert!(!installed.contains('\n'), "{installed}");
}

#[test]
fn only_our_entries_go_whatever_was_done_around_them() {
    let content = content("claude");
    let installed = content.install(Some("{\n  \"a\": 1\n}\n")).unwrap();
    // The user adds a command beside ours in one rule, a rule behind ours in another event, and a key of their own.
    let edited = installed
        .replacen(
            "\"timeout\": 900\n          }\n",
            "\"timeout\": 900\n          },\n          {\"type\": \"command\", \"command\": \"mine\"}\n",
            1,
        )
        .replacen(
            "    \"PreCompact\": [\n",
            "    \"PreCompact\": [\n      {\"hooks\": [{\"command\": \"also mine\"}]},\n",
            1,
        )
        .replacen("\"a\": 1,", "\"a\": 1,\n  \"b\": 2,", 1);
    assert_eq!(content.state(Some(&edited)).unwrap(), State::Differs);
    let left = content.uninstall(&edited).unwrap().unwrap();
    assert_eq!(
        left,
        "{\n  \"a\": 1,\n  \"b\": 2,\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\"type\": \"command\", \
         \"command\": \"mine\"}\n        ]\n      }\n    ],\n    \"PreCompact\": [\n      {\"hooks\": [{\"command\": \"also mine\"}]}\n    \
         ]\n  }\n}\n"
    );
}

#[test]
fn what_an_older_version_or_another_path_wrote_is_ours_too() {
    let old = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"/opt/bin/highwater hook run --agent claude\", \
               \"timeout\": 60}]}], \"SessionEnd\": [{\"hooks\": [{\"command\": \"highwater\", \"args\": [\"hook\", \"run\"]}]}]}}";
    let content = content("claude");
    assert_eq!(content.state(Some(old)).unwrap(), State::Differs);
    let new = content.install(Some(old)).unwrap();
    assert_eq!(content.state(Some(&new)).unwrap(), State::Current);
    assert!(!new.contains("/opt/bin") && !new.contains("SessionEnd"), "{new}");
    let others = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"highwater gate\"}, {\"command\": \"echo highwater hook run\"}]}]}}";
    assert_eq!(content.state(Some(others)).unwrap(), State::Absent);
}

#[test]
fn a_place_behind_ours_is_no_difference() {
    let content = content("cursor");
    let installed = content.install(None).unwrap();
    let more = installed.replacen("\"stop\": [\n", "\"stop\": [\n      {\"command\": \"first\"},\n", 1);
    assert_eq!(content.install(Some(&more)).unwrap(), more);
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    let refused = |text: &str| content("claude").install(Some(text)).unwrap_err();
    let error = refused("{\n  \"a\": 1\n  \"b\": 2\n}");
    assert_eq!((error.place.line, error.place.column), (Some(2), Some(9)), "{error}");
    assert!(error.help.is_some());
    let error = refused("{\n  \"hooks\": {\"Stop\": {}}\n}");
    assert_eq!((error.place.line, error.place.column), (Some(2), Some(21)), "{error}");
    for text in ["[]", "3", "{\"hooks\": null}", "{\"hooks\": []}", "{", "{'a': 1}", &"[".repeat(100_000)] {
        assert_eq!(refused(text).kind, crate::error::ErrorKind::BadInput);
    }
}

#[test]
fn a_file_that_is_ours_as_a_whole_is_written_and_removed_and_nobody_elses_is() {
    let content = content("opencode");
    let text = content.install(None).unwrap();
    assert!(text.contains("session.idle") && text.contains("\"opencode\""));
    assert_eq!(content.install(Some(&text)).unwrap(), text);
    assert_eq!(content.uninstall(&text).unwrap(), None);
    let old = "// highwater hook run --agent opencode\n";
    assert_eq!(content.state(Some(old)).unwrap(), State::Differs);
    assert_eq!(content.install(Some(old)).unwrap(), text);
    assert!(content.uninstall(old).is_err(), "it was changed");
    assert!(content.install(Some("export {}")).is_err());
}

/// A file of the plugin for Claude Code.
fn plugin(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/plugin");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn the_plugin_brings_what_is_installed() {
    let mut hooks = value(&plugin("hooks/hooks.json"));
    hooks.as_object_mut().unwrap().remove("description").unwrap();
    assert_eq!(hooks, value(&content("claude").install(None).unwrap()));
    let manifest = value(&plugin(".claude-plugin/plugin.json"));
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let market = value(&plugin(".claude-plugin/marketplace.json"));
    assert_eq!((&market["plugins"][0]["name"], &market["plugins"][0]["source"]), (&manifest["name"], &"./".into()));
    assert_eq!(value(&plugin(".mcp.json"))["mcpServers"]["highwater"]["command"], "highwater");
}

/// What a text says, numbers as they are written.
fn value(text: &str) -> serde_json::Value {
    fn of(value: &Value<'_>) -> serde_json::Value {
        match value {
            Value::Object(object) => {
                object.properties.iter().map(|one| (one.name.as_str().to_owned(), of(&one.value))).collect()
            }
            Value::Array(array) => array.elements.iter().map(of).collect(),
            Value::StringLit(text) => text.value.to_string().into(),
            Value::NumberLit(number) => number.value.into(),
            Value::BooleanLit(literal) => literal.value.into(),
            Value::NullKeyword(_) => serde_json::Value::Null,
        }
    }
    Json::parse(text.trim_start_matches('\u{feff}')).unwrap().root.as_ref().map_or(serde_json::Value::Null, of)
}

/// White space and comments between two tokens.
fn gap() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just(String::new()),
        2 => Just(" ".to_owned()),
        3 => Just("\n  ".to_owned()),
        1 => Just("\n\t".to_owned()),
        1 => Just("/* a, [ { */".to_owned()),
        1 => Just(" // \"b\": ]\n".to_owned()),
    ];
    proptest::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

/// A list of members between brackets, with gaps and perhaps a comma at the end.
fn members(open: char, close: char, list: Vec<(String, String, String)>, comma: bool, last: String) -> String {
    let count = list.len();
    let inside: Vec<String> = list
        .into_iter()
        .enumerate()
        .map(|(n, (before, member, after))| {
            let end = if n + 1 < count || comma { "," } else { "" };
            format!("{before}{member}{after}{end}")
        })
        .collect();
    format!("{open}{}{last}{close}", inside.concat())
}

fn json(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("-2.50e1".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("\"a // \\\" \u{e9} \\u00e9\"".to_owned()),
        Just("{\"type\": \"command\", \"command\": \"notify me\"}".to_owned()),
        Just("{\"hooks\": [{\"command\": \"highwater gate\"}]}".to_owned()),
    ];
    leaf.prop_recursive(4, 40, 4, move |inner| {
        let element = (gap(), inner.clone(), gap());
        let array = (proptest::collection::vec(element, 1..4), any::<bool>(), gap())
            .prop_map(|(list, comma, last)| members('[', ']', list, comma, last));
        prop_oneof![array, object(names, inner)]
    })
}

fn object(names: &'static [&'static str], inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let one = (gap(), gap(), gap(), inner, gap());
    (Just(names.to_vec()).prop_shuffle(), proptest::collection::vec(one, 1..4), any::<bool>(), gap()).prop_map(
        |(names, list, comma, last)| {
            let property = |(name, (before, a, b, value, after)): (&str, (String, String, String, String, String))| {
                (before, format!("\"{name}\"{a}:{b}{value}"), after)
            };
            let list = names.into_iter().zip(list).map(property).collect();
            members('{', '}', list, comma, last)
        },
    )
}

/// Settings with hooks of somebody else's, perhaps among others.
fn settings() -> impl Strategy<Value = String> {
    const KEYS: &[&str] = &["model", "permissions", "env", "a b"];
    const EVENTS: &[&str] = &["Stop", "PostToolUse", "AfterAgent", "stop", "Other"];
    let rule = prop_oneof![
        Just("{\"hooks\": [{\"type\": \"command\", \"command\": \"notify\", \"timeout\": 5}]}".to_owned()),
        Just("{\"command\": \"x\"}".to_owned()),
        json(KEYS),
    ];
    let rules = (proptest::collection::vec((gap(), rule, gap()), 1..4), any::<bool>(), gap())
        .prop_map(|(list, comma, last)| members('[', ']', list, comma, last));
    let hooks = object(EVENTS, rules);
    let with = (object(KEYS, json(KEYS)), gap(), hooks, gap()).prop_map(|(rest, a, hooks, b)| {
        let rest = rest.strip_prefix('{').unwrap().to_owned();
        format!("{{{a}\"hooks\": {hooks}{b},{rest}")
    });
    (gap(), prop_oneof![with, object(KEYS, json(KEYS))], gap(), any::<bool>(), any::<bool>()).prop_map(
        |(before, text, after, crlf, mark)| {
            let text = format!("{before}{text}{after}");
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            if mark { format!("{BYTE_ORDER_MARK}{text}") } else { text }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// In and out is nothing; in between every other value is as it was.
    #[test]
    fn installing_and_uninstalling_gives_back_every_byte(text in settings(), which in 0..INSTALLS.len()) {
        let content = &INSTALLS[which].files.last().unwrap().content;
        let Content::Hooks(hooks) = content else { return Ok(()) };
        let installed = content.install(Some(&text)).unwrap();
        prop_assert_eq!(content.state(Some(&installed)).unwrap(), State::Current);
        prop_assert_eq!(&content.install(Some(&installed)).unwrap(), &installed);
        let mut said = value(&installed);
        let holder = match said.get_mut("hooks") {
            Some(_) => said.get_mut("hooks"),
            None => Some(&mut said),
        };
        let events = holder.unwrap().as_object_mut().unwrap();
        for event in hooks.events {
            let name = event.also.filter(|also| events.contains_key(*also)).unwrap_or(event.name);
            let rules = events.get_mut(name).unwrap().as_array_mut().unwrap();
            let ours = rules.pop().unwrap();
            prop_assert!(ours.to_string().contains(hooks.command));
            if rules.is_empty() {
                events.remove(name);
            }
        }
        if said.get("hooks").is_some_and(|hooks| hooks.as_object().unwrap().is_empty()) {
            said.as_object_mut().unwrap().remove("hooks");
        }
        prop_assert_eq!(said, value(&text), "in {}", installed);
        prop_assert_eq!(content.uninstall(&installed).unwrap(), Some(text), "from {}", installed);
    }

    /// Any text at all is edited or refused.
    #[test]
    fn nothing_panics(text in "[\\[\\]{}\",:/* \\na1\\\\]{0,40}") {
        for install in INSTALLS {
            for file in install.files {
                let _ = file.content.install(Some(&text));
                let _ = file.content.uninstall(&text);
                let _ = file.content.is_bare(&text);
            }
        }
    }
}
