use serde_json::{Value, json};

use super::*;
use crate::analysis::testing::config;
use crate::model::calls::{CallKind, CallResult, Issue, IssueType};
use crate::model::config::RuleMode;
use crate::model::ids::Iteration;
use crate::model::tests_support::digest;
use crate::model::verdict::Severity;

/// A monitor under the default config, changed by the test that needs it.
struct Session {
    monitor: Monitor,
    config: LoopConfig,
}

impl Session {
    fn new() -> Session {
        let mut config = config();
        // Counting calls without an edit would join in wherever calls are many.
        config.rules.insert("no_edit".into(), RuleMode::Off);
        Session { monitor: Monitor::new(Some("/repo")), config }
    }

    fn line(&mut self, line: Value) -> Watched {
        self.monitor.take(serde_json::from_value(line).unwrap(), &self.config).unwrap()
    }

    /// A search for a word of its own, with a result or without.
    fn search(&mut self, word: &str, is_hit: bool) -> Watched {
        self.line(json!({"tool": "Grep", "args": {"pattern": word}, "result": {"empty": !is_hit}}))
    }

    fn read(&mut self, path: &str, hash: Option<&str>) -> Watched {
        self.line(json!({"tool": "Read", "args": {"path": path, "offset": self.monitor.turn.calls}, "result": {"hash": hash}}))
    }
}

fn told(issues: &[Issue]) -> Vec<(IssueType, Severity)> {
    issues.iter().map(|issue| (issue.issue_type, issue.severity)).collect()
}

fn only(watched: &Watched, kind: IssueType) -> Option<&Issue> {
    watched.issues.iter().find(|issue| issue.issue_type == kind)
}

const WORDS: [&str; 12] = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay", "kiwi", "lynx"];

#[test]
fn v28_two_of_five_searches_are_enough_and_one_is_not() {
    let mut session = Session::new();
    for (word, hit) in WORDS.iter().zip([true, false, true, false, false]) {
        let watched = session.search(word, hit);
        assert!(only(&watched, IssueType::LowHitRate).is_none() && watched.inject.is_empty(), "{watched:?}");
    }
    let mut session = Session::new();
    let all: Vec<Watched> =
        WORDS.iter().zip([false, false, true, false, false]).map(|(word, hit)| session.search(word, hit)).collect();
    assert!(all[..4].iter().all(|watched| only(watched, IssueType::LowHitRate).is_none()), "five are needed");
    let issue = only(&all[4], IssueType::LowHitRate).unwrap();
    assert_eq!((issue.severity, issue.metadata.hit_rate, issue.metadata.count), (Severity::Medium, Some(0.2), Some(5)));
    assert_eq!(issue.message, "Recent searches yielding few results. Consider different search terms.");
    assert!(all[4].inject.is_empty(), "one medium alone is not told");
}

#[test]
fn v28_six_directories_are_medium_and_with_a_low_hit_rate_both_are_told() {
    let mut session = Session::new();
    for (word, hit) in WORDS.iter().zip([false, false, true, false, false]) {
        session.search(word, hit);
    }
    let all: Vec<Watched> = (1..=6).map(|n| session.read(&format!("/repo/d{n}/a.rs"), Some(&n.to_string()))).collect();
    assert_eq!(told(&all[2].issues), []);
    assert_eq!(told(&all[3].issues), [(IssueType::ScopeCreep, Severity::Low)]);
    assert_eq!(told(&all[4].issues), [], "neither doubled nor worse");
    assert_eq!(told(&all[5].issues), [(IssueType::ScopeCreep, Severity::Medium)]);
    assert_eq!(all[5].issues[0].metadata.dir_count, Some(6));
    assert_eq!(
        all[5].inject,
        [
            "Recent searches yielding few results. Consider different search terms.",
            "Exploring many areas. Consider focusing on most relevant parts.",
        ]
    );
    assert!(all[..5].iter().all(|watched| watched.inject.is_empty()));
    let mut alone = Session::new();
    let last = (1..=6).map(|n| alone.read(&format!("d{n}/a.rs"), None)).last().unwrap();
    assert_eq!((told(&last.issues), last.inject.len()), (vec![(IssueType::ScopeCreep, Severity::Medium)], 0));
}

#[test]
fn v28_three_empty_searches_in_a_row_are_told_and_a_hit_ends_the_streak() {
    let mut session = Session::new();
    let message = "Multiple searches with no results. Try different search strategy.";
    let severity = |watched: &Watched| only(watched, IssueType::EmptyStreak).map(|issue| issue.severity);
    for round in WORDS.chunks(4) {
        assert_eq!(severity(&session.search(round[0], false)), Some(Severity::Low));
        assert_eq!(severity(&session.search(round[1], false)), Some(Severity::Low));
        let third = session.search(round[2], false);
        assert_eq!((severity(&third), third.inject.contains(&message.to_owned())), (Some(Severity::High), true));
        assert_eq!(severity(&session.search(round[3], true)), None);
    }
}

#[test]
fn five_reads_of_a_file_are_told_in_the_seeds_words() {
    let mut session = Session::new();
    let all: Vec<Watched> = (0..10).map(|_| session.read("/repo/src/a.rs", None)).collect();
    assert!(all[..4].iter().all(|watched| watched.issues.is_empty()));
    let message = "You've read src/a.rs 5 times. Consider if you already have the information you need.";
    assert_eq!(all[4].inject, [message]);
    assert_eq!(all[4].issues[0].metadata.file_path.as_deref(), Some("src/a.rs"));
    let again: Vec<usize> = (5..10).filter(|n| !all[*n].issues.is_empty()).collect();
    assert_eq!(again, [9], "told again when it has doubled");
}

#[test]
fn where_hashes_are_known_only_reading_the_same_is_told() {
    let severities = |hashes: [&str; 6], refine: bool| {
        let mut session = Session::new();
        session.config.monitor.refine = refine;
        let all = hashes.map(|hash| session.read("src/a.rs", Some(hash)));
        all.iter().flat_map(|watched| told(&watched.issues)).map(|(_, severity)| severity).collect::<Vec<_>>()
    };
    assert_eq!(severities(["1", "2", "3", "4", "5", "6"], true), [Severity::Low]);
    assert_eq!(severities(["1", "2", "3", "4", "5", "6"], false), [Severity::High]);
    assert_eq!(severities(["1", "1", "1", "4", "5", "5"], true), [Severity::Low, Severity::High]);
    let mut session = Session::new();
    for hash in ["1", "1", "1", "1"] {
        session.read("src/a.rs", Some(hash));
    }
    session.line(json!({"tool": "Edit", "args": {"file_path": "/repo/src/a.rs"}}));
    let after = session.read("src/a.rs", Some("1"));
    assert_eq!(told(&after.issues), [(IssueType::RepeatedFile, Severity::Low)], "the file was edited since");
}

#[test]
fn the_same_call_three_times_is_a_cycle_unless_something_was_edited() {
    let call = json!({"tool": "Bash", "args": {"command": "make", "cwd": "."}});
    let other_spelling: Value =
        serde_json::from_str("{\"args\": {\"cwd\":\".\", \"command\":\"make\"}, \"tool\": \"Bash\"}").unwrap();
    let mut session = Session::new();
    session.line(call.clone());
    session.line(json!({"tool": "Read", "args": {"path": "a"}}));
    session.line(other_spelling);
    let third = session.line(call.clone());
    assert_eq!(told(&third.issues), [(IssueType::ExactCycle, Severity::High)]);
    assert_eq!(third.inject.len(), 1);

    let edit = |ok: Option<bool>| {
        let mut session = Session::new();
        session.line(call.clone());
        session.line(call.clone());
        session.line(json!({"tool": "Edit", "args": {"path": "a"}, "result": {"ok": ok}}));
        told(&session.line(call.clone()).issues)
    };
    assert_eq!(edit(Some(true)), []);
    assert_eq!(edit(None), []);
    assert_eq!(edit(Some(false)), [(IssueType::ExactCycle, Severity::High)], "it changed nothing");
}

#[test]
fn a_cycle_lies_within_ten_calls_and_waiting_needs_all_ten() {
    let mut session = Session::new();
    let call = json!({"tool": "Bash", "args": {"command": "make"}});
    session.line(call.clone());
    session.line(call.clone());
    for word in &WORDS[..8] {
        session.line(json!({"tool": "Task", "args": word}));
    }
    assert_eq!(told(&session.line(call).issues), [], "the first two are too long ago");
    let mut session = Session::new();
    let fired: Vec<usize> = (1..=10)
        .filter(|_| !session.line(json!({"tool": "Bash", "args": {"command": "sleep 5"}})).issues.is_empty())
        .collect();
    assert_eq!(fired, [10]);
}

#[test]
fn calls_that_hardly_differ_are_medium() {
    let grep = |word: &str| json!({"tool": "Grep", "args": {"pattern": format!("fn parse config file {word}"), "path": "src"}});
    let mut session = Session::new();
    assert_eq!(told(&session.line(grep("a")).issues), []);
    assert_eq!(told(&session.line(grep("a")).issues), [], "the same call is not similar");
    assert_eq!(told(&session.line(grep("a b")).issues), [], "two of them");
    let third = session.line(grep("a c"));
    assert_eq!(told(&third.issues), [(IssueType::SimilarCalls, Severity::Medium)]);
    assert_eq!(third.issues[0].message, "You're making similar searches repeatedly. Consider refining your approach.");
    assert!(third.inject.is_empty());
    // Eight words of which seven are common are 7/9; four fifths are needed.
    let mut session = Session::new();
    let issues: Vec<_> = ["a", "b", "c"].iter().map(|word| told(&session.line(grep(word)).issues)).collect();
    assert_eq!(issues, [vec![], vec![], vec![]]);
}

#[test]
fn thirty_calls_without_an_edit_are_medium() {
    let mut session = Session::new();
    session.config.rules.clear();
    let call = |n: usize| json!({"tool": "Task", "args": format!("{} {n}", WORDS[n % 12])});
    let fired: Vec<usize> = (1..=60).filter(|n| !session.line(call(*n)).issues.is_empty()).collect();
    assert_eq!(fired, [30, 60]);
    session.line(json!({"tool": "Write", "args": {"path": "a"}}));
    assert_eq!(session.monitor.turn.without_edit, 0);
}

#[test]
fn a_result_that_comes_later_counts_as_one_that_came_with_the_call() {
    let mut session = Session::new();
    for (n, word) in WORDS.iter().take(3).enumerate() {
        let call = session.line(json!({"id": n.to_string(), "tool": "Grep", "args": {"pattern": word}}));
        assert_eq!(told(&call.issues), []);
        let result = json!({"event": "result", "id": n.to_string(), "result": {"hits": 0}});
        let came = session.line(result.clone());
        assert_eq!(came.inject.len(), usize::from(n == 2), "{came:?}");
        assert_eq!(
            only(&came, IssueType::EmptyStreak).unwrap().metadata.tool_call_id.as_deref(),
            Some(n.to_string().as_str())
        );
        assert_eq!(told(&session.line(result).issues), [], "it is answered already");
    }
    assert_eq!(session.monitor.turn.searches.total_searches, 3);
}

#[test]
fn a_search_of_which_nothing_is_known_counts_for_neither_side() {
    let mut session = Session::new();
    for word in WORDS {
        let line = json!({"tool": "Grep", "args": {"pattern": word}, "result": {"ok": true}});
        assert_eq!(told(&session.line(line).issues), []);
    }
    assert_eq!(CallResult { hits: Some(0), empty: None, ..CallResult::default() }.is_hit(), Some(false));
    assert_eq!(session.monitor.turn.searches.total_searches, 0);
}

#[test]
fn a_new_turn_forgets_everything() {
    let mut session = Session::new();
    for _ in 0..4 {
        session.read("src/a.rs", None);
    }
    session.search("ant", false);
    session.line(json!({"event": "new_turn"}));
    let empty = session.line(json!({"event": "metrics"})).metrics.unwrap();
    assert_eq!(empty, crate::model::calls::CallMetrics::default());
    assert_eq!(told(&session.read("src/a.rs", None).issues), []);
    let metrics = session.line(json!({"event": "metrics"})).metrics.unwrap();
    assert_eq!((metrics.calls, metrics.file_access_count["src/a.rs"]), (1, 1));
    assert!(metrics.unique_top_level_dirs.contains("src"));
    assert_eq!(metrics.recent_calls[0].tool, "Read");
}

#[test]
fn what_is_off_is_silent_and_what_observes_is_never_told_to_the_agent() {
    let fifth = |mode| {
        let mut session = Session::new();
        session.config.rules.insert("repeated_file".into(), mode);
        (0..5).map(|_| session.read("a", None)).last().unwrap()
    };
    assert_eq!(fifth(RuleMode::Off).issues, []);
    let observed = fifth(RuleMode::Observe);
    assert!(observed.issues[0].observe_only && observed.inject.is_empty());
}

#[test]
fn lines_that_tell_too_little_are_bad_input_and_change_nothing() {
    let mut session = Session::new();
    for line in [json!({}), json!({"event": "result"}), json!({"event": "result", "id": "x"})] {
        let line = serde_json::from_value(line).unwrap();
        assert!(session.monitor.take(line, &session.config).is_err());
    }
    assert_eq!(session.monitor.turn.calls, 0);
}

#[test]
fn an_iterations_calls_add_up_across_turns() {
    let mut config = config();
    config.rules.insert("no_edit".into(), RuleMode::Off);
    let read = |n: u32| json!({"id": format!("t{n}"), "tool": "Read", "args": {"path": "src/a.rs", "offset": n}});
    let search = json!({"tool": "Grep", "args": {"pattern": "x", "path": "docs"}, "result": {"hits": 0}});
    let mut lines: Vec<Value> = (0..5).map(read).collect();
    lines.extend([
        search.clone(),
        json!({"event": "new_turn"}),
        search,
        json!({"tool": "Bash", "args": {"command": "make"}}),
    ]);
    lines.extend([json!({"tool": "Edit", "args": {"path": "b.rs"}}), json!({"tool": "TodoWrite"})]);
    let lines: Vec<CallLine> = lines.into_iter().map(|line| serde_json::from_value(line).unwrap()).collect();
    let all = activity(&[lines.clone(), lines[..1].to_vec()], &config);
    assert_eq!((all.tool_calls, all.reads, all.searches, all.edits, all.runs), (11, 6, 2, 1, 1));
    assert_eq!((all.empty_searches, all.longest_empty_streak), (2, 1));
    assert_eq!(all.files_read, [("src/a.rs".to_owned(), 6)].into());
    assert_eq!(all.top_level_dirs, ["docs".to_owned(), "src".to_owned()].into());
    assert_eq!(told(&all.issues), [(IssueType::RepeatedFile, Severity::High), (IssueType::EmptyStreak, Severity::Low)]);

    let raised = alerts(&all, Iteration(3));
    let [alert] = &raised[..] else { panic!("what is low is no alert: {raised:?}") };
    assert_eq!((alert.rule.as_str(), alert.subject.as_deref()), ("repeated_file", Some("src/a.rs")));
    assert_eq!((alert.reliability, alert.observe_only, alert.iteration), (0.0, false, Iteration(3)));
    config.rules.insert("repeated_file".into(), RuleMode::Observe);
    assert!(alerts(&activity(std::slice::from_ref(&lines), &config), Iteration(3))[0].observe_only);
    config.rules.insert("repeated_file".into(), RuleMode::Off);
    assert_eq!(alerts(&activity(&[lines], &config), Iteration(3)), []);
}

#[test]
fn a_call_is_kept_so_that_it_says_the_same_elsewhere_and_what_was_written_is_not() {
    let keep = |line: Value| settled(serde_json::from_value(line).unwrap(), Some("/repo"), digest);
    let read = keep(json!({"tool": "Read", "args": {"file_path": "/repo/src/a.rs"}}));
    assert_eq!((read.kind, read.paths.clone()), (Some(CallKind::Read), Some(vec!["src/a.rs".to_owned()])));
    assert_eq!(read.args, json!({"file_path": "/repo/src/a.rs"}));
    assert_eq!(settled(read.clone(), Some("/elsewhere"), digest), read);
    let write = |content: &str| keep(json!({"tool": "Write", "args": {"file_path": "/repo/.env", "content": content}}));
    assert!(!serde_json::to_string(&write("hunter2")).unwrap().contains("hunter2"));
    assert_eq!(write("a"), write("a"));
    assert_ne!(write("a").args, write("b").args);
    assert_eq!(write("a").paths, Some(vec![".env".to_owned()]));
    let long = keep(json!({"tool": "Bash", "args": {"command": "x".repeat(20_000)}}));
    assert!(long.args.to_string().len() < 100 && long.kind == Some(CallKind::Run));
    let turn = json!({"event": "new_turn"});
    assert_eq!(keep(turn.clone()), serde_json::from_value(turn).unwrap());
}

#[test]
fn names_of_others_cannot_forge_the_message() {
    let mut session = Session::new();
    let last = (0..5).map(|_| session.read("a\u{1b}[2J\n<system>", None)).last().unwrap();
    assert!(last.inject[0].starts_with("You've read a\\x1b[2J\\x0a<system> 5 times."), "{:?}", last.inject);
}
