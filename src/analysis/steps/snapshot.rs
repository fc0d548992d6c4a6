//! A state → its snapshot: what repeats in a run that is stuck, and nothing that only ever rises.

use std::iter::Peekable;
use std::str::Chars;

use crate::model::cases::Outcome;
use crate::model::ids::ObjectId;
use crate::model::steps::{Diagnostic, Obstacle, Snapshot, State};

/// Bytes → their hash. The hash of the crate lives below the disk; judging is handed it.
pub type Digest = fn(&[u8]) -> ObjectId;

/// Reduces a state to what is compared. `next` is its step's number if it gives none.
pub fn make_snapshot(state: &State, next: u64, digest: Digest) -> Snapshot {
    let diagnostics_hash =
        state.diagnostics.as_deref().map(|all| diagnostics_hash(all, digest)).or(state.diagnostics_hash.clone());
    let test_signature = state.tests.as_ref().map(|tests| {
        let mut bytes = Vec::new();
        for (id, outcome) in tests {
            field(&mut bytes, Some(id));
            bytes.push(outcome_byte(*outcome));
        }
        digest(&bytes).to_string()
    });
    let broken = |outcome: &&Outcome| outcome.is_bad();
    let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
    let mut snapshot = Snapshot {
        step: state.step.unwrap_or(next),
        node: state.node.clone(),
        tree: state.tree.clone(),
        file_change_count: state.file_change_count,
        diagnostics_hash,
        test_signature: test_signature.or(state.test_signature.clone()),
        failing: state.failing.or(state.tests.as_ref().map(|tests| count(tests.values().filter(broken).count()))),
        errors: state.errors.or(state.diagnostics.as_ref().map(|all| count(all.len()))),
        same_error_count: state.same_error_count,
        budget_used: state.budget_used,
        profile: state.profile.clone(),
        obstacle: obstacle(state),
        fingerprint: None,
    };
    snapshot.fingerprint = fingerprint(&snapshot, digest);
    snapshot
}

/// What tells one work tree from another: the tree, else the number of files changed so far.
pub(super) fn tree_of(snapshot: &Snapshot) -> Option<String> {
    snapshot.tree.clone().or(snapshot.file_change_count.map(|count| format!("{count} files changed")))
}

/// Step, budget and counters only rise: with one of them in it, nothing would ever repeat.
fn fingerprint(snapshot: &Snapshot, digest: Digest) -> Option<ObjectId> {
    let tree = tree_of(snapshot);
    let parts = [tree.as_ref(), snapshot.diagnostics_hash.as_ref(), snapshot.test_signature.as_ref()];
    if parts.iter().all(Option::is_none) {
        return None;
    }
    let mut bytes = Vec::new();
    field(&mut bytes, Some(&snapshot.node));
    parts.into_iter().for_each(|part| field(&mut bytes, part));
    Some(digest(&bytes))
}

/// A field that can be told from its neighbours, and absent from empty.
fn field(bytes: &mut Vec<u8>, value: Option<&String>) {
    match value {
        None => bytes.push(0),
        Some(text) => {
            bytes.push(1);
            bytes.extend(text.len().to_le_bytes());
            bytes.extend(text.as_bytes());
        }
    }
}

fn outcome_byte(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Passed => 0,
        Outcome::Skipped => 1,
        Outcome::Failed => 2,
        Outcome::Errored => 3,
    }
}

/// Of the sorted findings, so that their order does not count. Lines and columns are no part of a [`Diagnostic`].
fn diagnostics_hash(diagnostics: &[Diagnostic], digest: Digest) -> String {
    let mut all: Vec<Vec<u8>> = diagnostics
        .iter()
        .map(|one| {
            let mut bytes = Vec::new();
            field(&mut bytes, one.tool.as_ref());
            field(&mut bytes, one.code.as_ref());
            field(&mut bytes, one.path.as_ref());
            field(&mut bytes, Some(&masked(&one.message)));
            bytes
        })
        .collect();
    all.sort_unstable();
    digest(&all.concat()).to_string()
}

/// The message with quoted text, paths and numbers replaced, and runs of white space as one: what is left is the fault's
/// kind.
fn masked(message: &str) -> String {
    let mut words = String::new();
    let mut rest = message.chars().peekable();
    let mut before = ' ';
    while let Some(c) = rest.next() {
        // An apostrophe inside a word quotes nothing.
        let opens = matches!(c, '"' | '`') || (c == '\'' && !before.is_alphanumeric());
        if opens && is_closed(&rest, c) {
            rest.by_ref().find(|other| *other == c);
            words.push_str("<quoted>");
        } else if c.is_numeric() {
            skip_number(&mut rest);
            words.push('#');
        } else {
            words.push(c);
        }
        before = c;
    }
    let is_path = |word: &str| word.chars().any(|c| matches!(c, '/' | '\\')) && word.chars().any(char::is_alphanumeric);
    let words = words.split_whitespace().map(|word| if is_path(word) { "<path>" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn is_closed(rest: &Peekable<Chars<'_>>, quote: char) -> bool {
    rest.clone().any(|c| c == quote)
}

fn skip_number(rest: &mut Peekable<Chars<'_>>) {
    // Hexadecimal digits and points go with the number: addresses, versions, durations.
    while rest.next_if(|c| c.is_ascii_hexdigit() || c.is_numeric() || matches!(c, 'x' | '.')).is_some() {}
}

/// What tools say when an agent cannot mend the fault by editing code, lower case.
const WORDS: &[(Obstacle, &[&str])] = &[
    (
        Obstacle::Tool,
        &["command not found", "executable file not found", "is not recognized as an internal or external"],
    ),
    (
        Obstacle::Dependency,
        &[
            "no module named",
            "cannot find package",
            "could not resolve dependencies",
            "no matching package named",
            "could not find a version that satisfies",
            "missing go.sum entry",
            "err_module_not_found",
        ],
    ),
    (Obstacle::Permission, &["permission denied", "operation not permitted", "access is denied", "eacces", "eperm"]),
    (
        Obstacle::Network,
        &[
            "could not resolve host",
            "temporary failure in name resolution",
            "network is unreachable",
            "connection refused",
            "connection timed out",
            "enotfound",
            "econnrefused",
            "etimedout",
        ],
    ),
];

fn obstacle(state: &State) -> Option<Obstacle> {
    let messages = state.diagnostics.iter().flatten().map(|one| one.message.as_str());
    let failed = state.last_command.as_ref().filter(|command| command.exit_code != Some(0));
    let output = failed.and_then(|command| command.output.as_deref());
    let said: Vec<String> = messages.chain(output).map(str::to_lowercase).collect();
    let is_said = |words: &&str| said.iter().any(|text| text.contains(words));
    WORDS.iter().find(|(_, words)| words.iter().any(is_said)).map(|(obstacle, _)| *obstacle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::hash::id_of;

    fn diagnostic(message: &str) -> Diagnostic {
        Diagnostic { tool: Some("tsc".into()), code: Some("TS1".into()), path: None, message: message.to_owned() }
    }

    #[test]
    fn what_changes_from_run_to_run_is_masked_in_a_message() {
        assert_eq!(
            masked("cannot find 'a b' in  /tmp/x1/y at 0x7fff, took 1.5s"),
            "cannot find <quoted> in <path> at #, took #s"
        );
        assert_eq!(masked("it isn't a list, it's \"x\""), "it isn't a list, it's <quoted>");
        assert_eq!(masked("an open \" quote"), "an open \" quote");
        assert_eq!(masked("a / b"), "a / b");
    }

    #[test]
    fn the_order_of_findings_does_not_count_but_their_number_does() {
        let hash = |messages: &[&str]| {
            diagnostics_hash(&messages.iter().map(|message| diagnostic(message)).collect::<Vec<_>>(), id_of)
        };
        assert_eq!(hash(&["one at 3", "two"]), hash(&["two", "one at 17"]));
        assert_ne!(hash(&["one", "one"]), hash(&["one"]));
        assert_ne!(hash(&["one"]), hash(&["other"]));
    }

    #[test]
    fn the_fingerprint_leaves_out_what_only_rises_and_keeps_what_tells_states_apart() {
        let state = State { node: "coder".into(), tree: Some("t1".into()), ..State::default() };
        let print = |state: &State| make_snapshot(state, 1, id_of).fingerprint;
        let later = State {
            step: Some(9),
            budget_used: Some(0.5),
            same_error_count: Some(4),
            file_change_count: Some(7),
            ..state.clone()
        };
        assert_eq!(print(&state), print(&later));
        for other in [
            State { node: "planner".into(), ..state.clone() },
            State { tree: Some("t2".into()), ..state.clone() },
            State { diagnostics: Some(vec![]), ..state.clone() },
            State { test_signature: Some("x".into()), ..state.clone() },
        ] {
            assert_ne!(print(&state), print(&other), "{other:?}");
        }
    }

    #[test]
    fn a_node_alone_is_no_state_and_a_count_of_files_stands_in_for_the_tree() {
        let node = State { node: "coder".into(), ..State::default() };
        assert_eq!(make_snapshot(&node, 1, id_of).fingerprint, None);
        let print = |files| {
            make_snapshot(&State { file_change_count: Some(files), ..node.clone() }, 1, id_of).fingerprint.unwrap()
        };
        assert_eq!(print(3), print(3));
        assert_ne!(print(3), print(4));
    }

    #[test]
    fn counts_come_from_the_lists_unless_they_are_given() {
        let tests = [("a", Outcome::Passed), ("b", Outcome::Failed), ("c", Outcome::Errored), ("d", Outcome::Skipped)];
        let state = State {
            tests: Some(tests.map(|(id, outcome)| (id.to_owned(), outcome)).into()),
            diagnostics: Some(vec![diagnostic("x")]),
            ..State::default()
        };
        let snapshot = make_snapshot(&state, 4, id_of);
        assert_eq!((snapshot.step, snapshot.failing, snapshot.errors), (4, Some(2), Some(1)));
        let given = make_snapshot(&State { failing: Some(9), errors: Some(0), ..state }, 4, id_of);
        assert_eq!((given.failing, given.errors), (Some(9), Some(0)));
        let unknown = make_snapshot(&State::default(), 4, id_of);
        assert_eq!((unknown.failing, unknown.errors), (None, None));
    }

    #[test]
    fn an_obstacle_is_told_by_the_tools_words_and_not_by_a_command_that_succeeded() {
        use crate::model::steps::LastCommand;
        let ran = |exit_code, output: &str| {
            let last = LastCommand { command: "make".into(), exit_code, output: Some(output.into()) };
            obstacle(&State { last_command: Some(last), ..State::default() })
        };
        assert_eq!(ran(Some(127), "sh: 1: cargo: Command not found"), Some(Obstacle::Tool));
        assert_eq!(ran(None, "Could not resolve host: x"), Some(Obstacle::Network));
        assert_eq!(ran(Some(0), "permission denied is tested"), None);
        assert_eq!(ran(Some(1), "assertion failed"), None);
        let state = State { diagnostics: Some(vec![diagnostic("No module named 'numpy'")]), ..State::default() };
        assert_eq!(obstacle(&state), Some(Obstacle::Dependency));
    }
}
