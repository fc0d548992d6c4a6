//! A line → a call: what the tool does, which paths it is about, its arguments in one spelling.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::steps::Digest;
use crate::model::calls::{CallKind, CallLine, CallResult, Event};

/// Arguments longer than this, in bytes, are not compared word by word: such calls write files.
const COMPARED_BYTES: usize = 16 << 10;

/// One call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Its name, if it has one.
    pub id: Option<String>,
    /// The tool.
    pub tool: String,
    /// What the tool does.
    pub kind: CallKind,
    /// Canonical JSON: keys sorted, no white space.
    pub args: String,
    /// The words of the arguments, lower case; empty where they are never compared.
    pub words: BTreeSet<String>,
    /// It only waits, or asks whether something is done.
    pub is_wait: bool,
    /// What it is about: relative to the work tree, or as given if it lies outside.
    pub paths: Vec<String>,
    /// First components of the paths that lie in directories of the work tree.
    pub directories: BTreeSet<String>,
    /// What came of it, if that is known.
    pub result: Option<CallResult>,
}

impl Call {
    /// `None` if the line names no tool.
    pub fn new(line: CallLine, root: Option<&str>) -> Option<Call> {
        let tool = line.tool.filter(|tool| !tool.is_empty())?;
        let kind = line.kind.unwrap_or_else(|| kind_of(&tool, &line.args));
        // Keys are sorted by serde_json's map itself.
        let args = line.args.to_string();
        // Of reads and edits, words are never compared.
        let is_compared = !matches!(kind, CallKind::Read | CallKind::Edit) && args.len() <= COMPARED_BYTES;
        let words = if is_compared { words(&args) } else { BTreeSet::new() };
        let given = line.paths.unwrap_or_else(|| paths_in(&line.args));
        let inside: Vec<Option<String>> = given.iter().map(|path| relative(path, root)).collect();
        let directories = inside.iter().flatten().filter_map(|path| top_level(path, kind)).collect();
        let paths = given.into_iter().zip(inside).map(|(given, inside)| inside.unwrap_or(given)).collect();
        let is_wait = is_wait(kind, &tool, &line.args);
        Some(Call { id: line.id, tool, kind, args, words, is_wait, paths, directories, result: line.result })
    }
}

/// A line as it is kept with an iteration, so that it says the same wherever the work tree lies: what the call does and which
/// paths it is about are settled. What an edit writes, and what is too long to be compared by words, is left as its hash.
pub fn settled(line: CallLine, root: Option<&str>, digest: Digest) -> CallLine {
    if line.event != Event::Call {
        return line;
    }
    let Some(call) = Call::new(line.clone(), root) else { return line };
    let is_hashed = call.kind == CallKind::Edit || call.args.len() > COMPARED_BYTES;
    let args = if is_hashed { json!({"blake3": digest(call.args.as_bytes()).to_string()}) } else { line.args };
    CallLine { args, kind: Some(call.kind), paths: Some(call.paths), ..line }
}

/// Names of tools by what they do, lower case, without the prefix of an extension (`mcp__files__read_file`).
const TOOLS: &[(CallKind, &[&str])] = &[
    (CallKind::Read, &["read", "read_file", "read_many_files", "view", "open_file", "notebookread"]),
    (
        CallKind::Search,
        &["grep", "glob", "search", "search_file_content", "grep_search", "file_search", "codebase_search", "find"],
    ),
    (
        CallKind::Edit,
        &[
            "edit",
            "write",
            "multiedit",
            "replace",
            "write_file",
            "edit_file",
            "create_file",
            "apply_patch",
            "create",
            "str_replace",
            "insert",
            "notebookedit",
        ],
    ),
    (
        CallKind::Run,
        &[
            "bash",
            "run_shell_command",
            "shell",
            "exec_command",
            "execute_bash",
            "local_shell",
            "terminal",
            "powershell",
        ],
    ),
];

fn kind_of(tool: &str, args: &Value) -> CallKind {
    let name = tool.rsplit("__").next().unwrap_or(tool).to_lowercase();
    // One tool with several commands, of which one only shows.
    if name.starts_with("str_replace_") || name == "file_editor" {
        let shows = args.get("command").and_then(Value::as_str) == Some("view");
        return if shows { CallKind::Read } else { CallKind::Edit };
    }
    TOOLS.iter().find(|(_, names)| names.contains(&name.as_str())).map_or(CallKind::Other, |(kind, _)| *kind)
}

/// Keys under which tools take the path of a file or directory.
const PATH_KEYS: [&str; 9] =
    ["file_path", "path", "absolute_path", "filename", "notebook_path", "target_file", "dir_path", "paths", "file"];

/// Lines of a patch that name a file.
const PATCH_MARKS: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];

fn paths_in(args: &Value) -> Vec<String> {
    let named = PATH_KEYS.iter().filter_map(|key| args.get(key)).flat_map(|value| match value {
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect::<Vec<_>>(),
    });
    let texts = [Some(args), args.get("input"), args.get("patch")].into_iter().flatten().filter_map(Value::as_str);
    let patched =
        texts.flat_map(str::lines).filter_map(|line| PATCH_MARKS.iter().find_map(|mark| line.strip_prefix(mark)));
    let mut met = BTreeSet::new();
    named.chain(patched).filter(|path| !path.is_empty() && met.insert(*path)).map(str::to_owned).collect()
}

/// Relative to the work tree, without `.` and `..`; `None` if it lies outside, `""` for the work tree itself.
fn relative(path: &str, root: Option<&str>) -> Option<String> {
    let path = if path.starts_with('/') {
        let inside = path.strip_prefix(root?)?;
        if !inside.is_empty() && !inside.starts_with('/') {
            return None;
        }
        inside
    } else {
        path
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The first component of a path below a directory. Files at the root are in none; what is searched is a directory unless
/// its name ends like a file's.
fn top_level(path: &str, kind: CallKind) -> Option<String> {
    match path.split_once('/') {
        Some((first, _)) => Some(first.to_owned()),
        None => {
            let has_ending = path.char_indices().any(|(at, c)| at > 0 && c == '.');
            (kind == CallKind::Search && !path.is_empty() && !has_ending).then(|| path.to_owned())
        }
    }
}

/// Polling is no cycle: `sleep`, a command or input without text.
fn is_wait(kind: CallKind, tool: &str, args: &Value) -> bool {
    let name = tool.rsplit("__").next().unwrap_or(tool).to_lowercase();
    if matches!(name.as_str(), "sleep" | "wait") {
        return true;
    }
    let keys = ["command", "cmd", "input", "chars"];
    let texts: Vec<&str> = keys.iter().filter_map(|key| args.get(key)).filter_map(Value::as_str).collect();
    let waits = |text: &&str| {
        let first = text.split_whitespace().next();
        first.is_none() || first == Some("sleep")
    };
    matches!(kind, CallKind::Run | CallKind::Other) && !texts.is_empty() && texts.iter().all(waits)
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(tool: &str, args: Value) -> Call {
        Call::new(CallLine { tool: Some(tool.into()), args, ..CallLine::default() }, Some("/repo")).unwrap()
    }

    #[test]
    fn the_tools_name_decides_what_it_does_unless_the_line_says() {
        for (tool, kind) in [
            ("Read", CallKind::Read),
            ("mcp__files__read_file", CallKind::Read),
            ("developer__shell", CallKind::Run),
            ("Grep", CallKind::Search),
            ("MultiEdit", CallKind::Edit),
            ("TodoWrite", CallKind::Other),
        ] {
            assert_eq!(call(tool, Value::Null).kind, kind, "{tool}");
        }
        assert_eq!(call("str_replace_editor", json!({"command": "view"})).kind, CallKind::Read);
        assert_eq!(call("str_replace_editor", json!({"command": "create"})).kind, CallKind::Edit);
        let line = CallLine { tool: Some("Read".into()), kind: Some(CallKind::Other), ..CallLine::default() };
        assert_eq!(Call::new(line, Some("/repo")).unwrap().kind, CallKind::Other);
        assert_eq!(Call::new(CallLine::default(), Some("/repo")), None);
    }

    #[test]
    fn arguments_have_one_spelling() {
        let a: Value = serde_json::from_str("{\"b\": [1, 2.0], \"a\": {\"d\": null, \"c\": \"x\"}}").unwrap();
        assert_eq!(call("Read", a).args, "{\"a\":{\"c\":\"x\",\"d\":null},\"b\":[1,2.0]}");
    }

    #[test]
    fn paths_are_relative_to_the_work_tree() {
        let paths = |args| call("Read", args).paths;
        assert_eq!(paths(json!({"file_path": "/repo/src/./a/../b.rs"})), ["src/b.rs"]);
        assert_eq!(paths(json!({"path": "/workshop/a.rs"})), ["/workshop/a.rs"]);
        assert_eq!(paths(json!({"path": "../a.rs"})), ["../a.rs"]);
        assert_eq!(paths(json!({"paths": ["./a", "b"], "offset": 3})), ["a", "b"]);
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Add File: b.rs\n";
        assert_eq!(paths(json!({"input": patch})), ["src/a.rs", "b.rs"]);
        assert_eq!(paths(Value::from(patch)), ["src/a.rs", "b.rs"]);
    }

    #[test]
    fn only_directories_of_the_work_tree_are_top_levels() {
        let top = |tool, path: &str| call(tool, json!({"path": path})).directories.into_iter().next();
        assert_eq!(top("Read", "/repo/src/a.rs").as_deref(), Some("src"));
        assert_eq!(top("Read", "README.md"), None);
        assert_eq!(top("Read", "/etc/passwd"), None);
        assert_eq!(top("Grep", "src").as_deref(), Some("src"));
        assert_eq!(top("Grep", ".github").as_deref(), Some(".github"));
        assert_eq!(top("Grep", "Cargo.toml"), None);
        assert_eq!(top("Grep", "/repo"), None);
    }

    #[test]
    fn waiting_is_told_from_working() {
        for command in ["sleep 5", "", "  "] {
            assert!(call("Bash", json!({"command": command})).is_wait, "{command:?}");
        }
        assert!(call("write_stdin", json!({"session": 1, "chars": ""})).is_wait);
        assert!(call("wait", Value::Null).is_wait);
        assert!(!call("Bash", json!({"command": "sleepy"})).is_wait);
        assert!(!call("Bash", json!({})).is_wait);
        assert!(!call("Edit", json!({"input": ""})).is_wait);
    }
}
