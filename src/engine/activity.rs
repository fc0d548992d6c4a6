//! An agent's tool calls as they happen: kept with the iteration in progress, and watched by the monitor.
//!
//! What the monitor counted is written down with the number of bytes that it has seen, so that a call costs the same
//! however many came before it, and calls that came meanwhile are made up for by whoever comes next.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Session;
use super::hook::ToolCall;
use super::loops::{config_in_force, no_iterations};
use crate::analysis::monitor::Monitor;
use crate::disk::{self, hash::id_of, lock::Lock};
use crate::error::{Error, Result};
use crate::model::SCHEMA_VERSION;
use crate::model::calls::{ActivityLine, CallLine, CallResult, Event};
use crate::model::config::LoopConfig;
use crate::model::ids::Iteration;
use crate::store::{MAX_BYTES, Store};

/// Bytes of a text in a call's arguments that are kept.
const KEPT_TEXT: usize = 2 << 10;

/// Bytes of calls that are made up for at once; the rest comes later.
const READ_BYTES: u64 = 4 << 20;

/// What was counted so far (derived).
#[derive(Default, Serialize, Deserialize)]
struct Watched {
    schema_version: u32,
    /// The iteration in progress.
    iteration: Iteration,
    /// Bytes of its calls that were seen.
    seen: u64,
    /// By session.
    monitors: BTreeMap<String, Monitor>,
}

/// Keeps a tool call with the iteration in progress. The answer is what the agent should be told now of how it works; it is
/// empty while somebody else is at work, who has the loop's lock: the next call makes up for it.
///
/// # Errors
/// If the loop has no iterations, or the disk says no.
pub fn watch(session: &Session<'_>, store: &Store, who: &str, call: ToolCall) -> Result<Vec<String>> {
    let newest = store.newest_number()?.ok_or_else(|| no_iterations(store))?;
    let iteration = newest.next();
    let path = store.paths().activity(iteration);
    let line =
        ActivityLine { schema_version: SCHEMA_VERSION, at: session.now, session: who.to_owned(), call: line_of(call) };
    let line = serde_json::to_vec(&line)
        .map_err(|error| Error::bug("a call cannot be written as JSON").because(error.to_string()))?;
    disk::make_directory(&store.paths().iteration(iteration))?;
    disk::append_line(&path, &line)?;

    let lock = Lock::exclusive(&store.paths().lock(), Duration::ZERO);
    if lock.is_err() {
        return Ok(Vec::new());
    }
    let state = session.layout.watched_calls(store.id());
    let known = disk::read_if_present(&state, MAX_BYTES).ok().flatten();
    let known = known.and_then(|bytes| serde_json::from_slice::<Watched>(&bytes).ok());
    let is_current = |one: &Watched| one.schema_version == SCHEMA_VERSION && one.iteration == iteration;
    let mut watched = known.filter(is_current).unwrap_or_else(|| Watched {
        schema_version: SCHEMA_VERSION,
        iteration,
        ..Watched::default()
    });
    let new = read_from(&path, watched.seen)?;
    let config = config_in_force(session.layout, store)?;
    let told = watched.take(&new, session.layout.root().to_str(), &config);
    let bytes = serde_json::to_vec(&watched)
        .map_err(|error| Error::bug("what was counted cannot be written").because(error.to_string()))?;
    disk::make_directory(&session.layout.cache())?;
    store.replace(&state, &bytes)?;
    Ok(told.into_iter().filter(|(whose, _)| whose == who).map(|(_, text)| text).collect())
}

impl Watched {
    /// Takes the lines that are whole, and answers what is to be told, and to whom.
    fn take(&mut self, bytes: &[u8], root: Option<&str>, config: &LoopConfig) -> Vec<(String, String)> {
        let is_piece = u64::try_from(bytes.len()).is_ok_and(|length| length >= READ_BYTES);
        // A line that is longer than a piece is passed over: nobody would ever come to its end.
        let none = if is_piece { bytes.len() } else { 0 };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(none, |at| at + 1);
        self.seen = self.seen.saturating_add(u64::try_from(whole).unwrap_or(u64::MAX));
        let mut told = Vec::new();
        for line in bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n') {
            // A line that was cut off spoils only itself.
            let Ok(line) = serde_json::from_slice::<ActivityLine>(line) else { continue };
            let monitor = self.monitors.entry(line.session.clone()).or_insert_with(|| Monitor::new(root));
            if let Ok(news) = monitor.take(line.call, config) {
                told.extend(news.inject.into_iter().map(|text| (line.session.clone(), text)));
            }
        }
        told
    }
}

fn read_from(path: &std::path::Path, start: u64) -> Result<Vec<u8>> {
    let mut file = disk::open_regular(path)?;
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))
        .and_then(|_| file.take(READ_BYTES).read_to_end(&mut bytes))
        .map_err(|error| Error::io("read", path, &error))?;
    Ok(bytes)
}

fn line_of(call: ToolCall) -> CallLine {
    let found = call.response.as_ref().map(found).unwrap_or_default();
    let hash = call.response.as_ref().map(|response| short_hash(response.to_string().as_bytes()));
    CallLine {
        event: Event::Call,
        id: call.id,
        tool: Some(call.tool),
        args: shortened(call.args),
        paths: None,
        kind: call.kind,
        result: (hash.is_some() || call.ok.is_some()).then_some(CallResult { ok: call.ok, hash, ..found }),
    }
}

/// Half of the hash is more than enough to tell what a session's calls returned.
fn short_hash(bytes: &[u8]) -> String {
    id_of(bytes).to_string().chars().take(32).collect()
}

/// The same with long texts cut: what a call writes into files is in the snapshot, and need not be here too.
fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > KEPT_TEXT => {
            let end = (0..=KEPT_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
            let kept = text.get(..end).unwrap_or_default();
            Value::from(format!("{kept}… ({} bytes, {})", text.len(), short_hash(text.as_bytes())))
        }
        Value::Array(items) => Value::Array(items.into_iter().map(shortened).collect()),
        Value::Object(map) => Value::Object(map.into_iter().map(|(key, value)| (key, shortened(value))).collect()),
        other => other,
    }
}

/// What a search found, as far as its response says.
fn found(response: &Value) -> CallResult {
    let count = ["numFiles", "numMatches", "num_files", "num_matches", "total_matches"]
        .iter()
        .find_map(|key| response.get(key)?.as_u64())
        .or_else(|| u64::try_from(response.get("filenames")?.as_array()?.len()).ok());
    let text =
        response.as_str().or_else(|| response.get("content")?.as_str()).or_else(|| response.get("output")?.as_str());
    let says_nothing = |text: &str| {
        let text = text.trim().to_lowercase();
        text.is_empty() || ["no matches found", "no files found", "found 0 "].iter().any(|none| text.starts_with(none))
    };
    CallResult { hits: count, empty: text.filter(|_| count.is_none()).map(says_nothing), ..CallResult::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_search_found_is_read_from_its_response() {
        for (response, hit) in [
            (json!({"mode": "files_with_matches", "filenames": [], "numFiles": 0}), Some(false)),
            (json!({"filenames": ["a"], "durationMs": 3}), Some(true)),
            (json!("No matches found for pattern \"x\""), Some(false)),
            (json!("No files found"), Some(false)),
            (json!("src/a.rs:1: x"), Some(true)),
            (json!({"stdout": "", "stderr": ""}), None),
            (json!(null), None),
        ] {
            assert_eq!(found(&response).is_hit(), hit, "{response}");
        }
    }

    #[test]
    fn long_texts_are_cut_and_still_told_apart() {
        let long =
            |last: char| json!({"file_path": "a.rs", "edits": [{"new": format!("{}{last}", "ü".repeat(KEPT_TEXT))}]});
        let (a, b) = (shortened(long('a')), shortened(long('b')));
        assert_ne!(a, b);
        assert_eq!(a, shortened(long('a')));
        assert!(a.to_string().len() < 2 * KEPT_TEXT && a.get("file_path") == Some(&json!("a.rs")), "{a}");
    }

    #[test]
    fn counting_goes_on_where_it_was_and_each_session_for_itself() {
        let config = crate::config::defaults().unwrap();
        let line = |session: &str| {
            let call = line_of(ToolCall { tool: "Bash".into(), args: json!({"command": "ls"}), ..ToolCall::default() });
            let line = ActivityLine {
                schema_version: SCHEMA_VERSION,
                at: chrono::DateTime::UNIX_EPOCH,
                session: session.into(),
                call,
            };
            format!("\n{}\n", serde_json::to_string(&line).unwrap())
        };
        let mut watched = Watched::default();
        let mut told = Vec::new();
        for session in ["a", "b", "a", "b", "a"] {
            // Written down and read again after every call, as if it were another process.
            watched = serde_json::from_slice(&serde_json::to_vec(&watched).unwrap()).unwrap();
            told = watched.take(line(session).as_bytes(), Some("/repo"), &config);
        }
        assert!(matches!(&told[..], [(who, text)] if who == "a" && text.contains("3 times")), "{told:?}");
        let seen = watched.seen;
        let torn = format!("{{\"torn\n{}{{\"torn", line("b"));
        assert_eq!(watched.take(torn.as_bytes(), Some("/repo"), &config).len(), 1, "b has called three times too");
        assert_eq!(watched.seen, seen + u64::try_from(torn.len() - "{\"torn".len()).unwrap());
    }

    #[test]
    fn a_line_longer_than_a_piece_does_not_end_the_watch() {
        let config = crate::config::defaults().unwrap();
        let piece = usize::try_from(READ_BYTES).unwrap();
        let mut watched = Watched::default();
        assert!(watched.take(&vec![b'x'; piece - 1], None, &config).is_empty());
        assert_eq!(watched.seen, 0, "its end may come");
        watched.take(&vec![b'x'; piece], None, &config);
        assert_eq!(watched.seen, READ_BYTES);
    }
}
