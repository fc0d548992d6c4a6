//! Short stories: each records under a config, and says whether the last of what it records tells of the rule.

use serde_json::json;

use crate::analysis::detect::{DETECTORS, History, Seen};
use crate::analysis::monitor::Monitor;
use crate::analysis::testing::{Story, cases, digest, latency, tests, with_coverage};
use crate::analysis::{Verdict, steps};
use crate::model::config::{Effect, LoopConfig, MetricConfig};
use crate::model::ids::{Iteration, ObjectId};
use crate::model::metrics::{Direction, Metrics, Signature};
use crate::model::steps::State;
use crate::model::verdict::{Classification, Severity, Status};

fn story(config: &LoopConfig) -> Story {
    let mut story = Story::new();
    story.config = config.clone();
    story
}

fn tells(verdict: &Verdict, rule: &str) -> bool {
    verdict.alerts.iter().any(|alert| alert.rule == rule)
}

/// Of the last of these iterations.
pub fn after(config: &LoopConfig, rule: &str, iterations: &[Metrics]) -> bool {
    let mut story = story(config);
    iterations.iter().map(|metrics| story.record(metrics.clone())).last().is_some_and(|last| tells(&last, rule))
}

pub fn covered(config: &LoopConfig, rule: &str, percents: &[f64]) -> bool {
    after(config, rule, &percents.iter().map(|percent| with_coverage(tests(8, 0), *percent)).collect::<Vec<_>>())
}

pub fn named(config: &LoopConfig, rule: &str, before: [&str; 2], now: [&str; 2]) -> bool {
    let count = |ids: &[&str]| u64::try_from(ids.iter().filter(|id| id.ends_with('P')).count()).unwrap();
    let suite = |ids: &[&str]| (tests(count(ids), 2 - count(ids)), cases(ids));
    let (mut story, before, now) = (story(config), suite(&before), suite(&now));
    story.record_named(before.0, before.1);
    tells(&story.record_named(now.0, now.1), rule)
}

/// What a newly failing test is taken for that was run so often before, of which so often it failed; and once more, if it was
/// run again.
pub fn newly_failing(config: &LoopConfig, earlier: (u32, u32), again: bool) -> Option<Status> {
    let mut story = story(config);
    story.record_named(tests(2, 0), cases(&["a::x P", "a::y P"]));
    story.runs("a::y", earlier, (u32::from(again), u32::from(again)));
    let verdict = story.record_named(tests(1, 1), cases(&["a::x P", "a::y F"]));
    verdict.alerts.iter().find(|alert| alert.rule == "working_tests_failing").map(|alert| alert.status)
}

/// The metric `latency`: lower is better.
pub fn declare(config: &mut LoopConfig, min_effect: f64, sigma: Option<f64>) {
    let (direction, min_effect) = (Some(Direction::Lower), Some(Effect::Absolute(min_effect)));
    let declared = MetricConfig { direction, min_effect, sigma, ..MetricConfig::default() };
    config.metrics.insert("latency".to_owned(), declared);
}

pub fn timed(config: &LoopConfig, rule: &str, change: fn(&mut MetricConfig), values: &[f64]) -> bool {
    let mut config = config.clone();
    if config.metrics.is_empty() {
        declare(&mut config, 0.5, None);
    }
    change(config.metrics.get_mut("latency").unwrap());
    config.select.primary = "latency".to_owned();
    after(&config, rule, &values.iter().map(|value| latency(tests(8, 0), *value)).collect::<Vec<_>>())
}

/// A metric that is measured in the same place again, or elsewhere.
pub fn elsewhere(config: &LoopConfig, trips: bool) -> bool {
    let at = |place: &str| {
        let mut metrics = latency(tests(8, 0), 10.0);
        metrics.custom.get_mut("latency").unwrap().context = Some(place.to_owned());
        metrics
    };
    after(config, "metric_context_changed", &[at("here"), at(if trips { "there" } else { "here" })])
}

fn detected(config: &LoopConfig, rule: &str, seen: Vec<Seen>) -> bool {
    let detector = DETECTORS.iter().find(|detector| detector.name == rule).unwrap();
    !(detector.check)(&History { seen, steps: Vec::new(), config }).is_empty()
}

fn one(iteration: u32, tree: u8) -> Seen {
    let (tree_key, iteration) = (ObjectId([tree; 32]), Iteration(iteration));
    Seen { iteration, signature: None, tree_key, base_class: None, score: None, progress: None, estimate: None }
}

/// Iterations of these classes and scores.
pub fn seen(config: &LoopConfig, rule: &str, classes: &str, scores: &[f64], first: u32) -> bool {
    let class = |letter| if letter == 'B' { Classification::Baseline } else { Classification::Plateau };
    let all = classes.chars().zip(scores).zip(first..);
    let all =
        all.map(|((letter, score), n)| Seen { base_class: Some(class(letter)), score: Some(*score), ..one(n, 0) });
    detected(config, rule, all.collect())
}

/// Iterations with these signatures and the same code, up to this number.
pub fn signed(config: &LoopConfig, rule: &str, letters: &str, last: u32) -> bool {
    let first = last + 1 - u32::try_from(letters.len()).unwrap();
    let of = |letter: u8| Signature::of(&tests(u64::from(letter), 0));
    detected(
        config,
        rule,
        letters.bytes().zip(first..).map(|(letter, n)| Seen { signature: of(letter), ..one(n, 0) }).collect(),
    )
}

/// What the agent says and how many lines it changes, while the tests get on.
pub fn said(config: &LoopConfig, words: &[(&str, u64)]) -> bool {
    let mut story = story(config);
    story.record(tests(8, 0));
    let each = words.iter().zip(9..).map(|((output, lines), passed)| {
        story.say(output, *lines);
        story.record(tests(passed, 0))
    });
    each.last().is_some_and(|last| tells(&last, "progress_stuck"))
}

pub fn estimated(config: &LoopConfig, percents: &[f64]) -> bool {
    let mut story = story(config);
    story.record(tests(8, 0));
    let each = percents.iter().zip(9..).map(|(percent, passed)| {
        story.estimate(*percent);
        story.record(tests(passed, 0))
    });
    each.last().is_some_and(|last| tells(&last, "estimate_stuck"))
}

/// Iterations with this code and so many failing tests; the baseline comes first.
pub fn coded(config: &LoopConfig, trees: &[u8], failing: u64) -> bool {
    let mut story = story(config);
    let each = trees.iter().map(|tree| {
        story.tree(*tree);
        story.record(tests(5, failing))
    });
    each.last().is_some_and(|last| tells(&last, "stuck_candidate"))
}

/// A baseline and so many steps: the first, one in between and the last are the same, all others are not.
pub fn revisited(steps: u8) -> Vec<u8> {
    (0..=steps).map(|step| if [1, 8, steps].contains(&step) { 1 } else { 100 + step }).collect()
}

pub fn stepped(config: &LoopConfig, rule: &str, states: &[State]) -> bool {
    let mut run = steps::Run::default();
    let last = states.iter().map(|state| run.take(state, config, digest)).last();
    last.and_then(|last| last.stuck).is_some_and(|stuck| stuck.reason.name() == rule)
}

pub fn state(tree: u8, failing: u64) -> State {
    State { node: "coder".into(), tree: Some(tree.to_string()), failing: Some(failing), ..State::default() }
}

/// Whether the last of these calls leads to more than a note.
pub fn called(config: &LoopConfig, rule: &str, calls: Vec<serde_json::Value>) -> bool {
    let mut monitor = Monitor::new(None);
    let each = calls.into_iter().map(|call| monitor.take(serde_json::from_value(call).unwrap(), config).unwrap());
    let last = each.last().unwrap();
    last.issues.iter().any(|issue| issue.issue_type.name() == rule && issue.severity > Severity::Low)
}

pub fn bash(command: &str) -> serde_json::Value {
    json!({"tool": "Bash", "args": {"command": command}})
}

pub fn grep(word: &str) -> serde_json::Value {
    json!({"tool": "Grep", "args": {"pattern": format!("fn parse config file {word}"), "path": "src"}})
}

pub fn read(path: &str, offset: usize, hash: Option<usize>) -> serde_json::Value {
    json!({"tool": "Read", "args": {"path": path, "offset": offset}, "result": {"hash": hash.map(|hash| hash.to_string())}})
}

pub fn searches(hits: &[bool]) -> Vec<serde_json::Value> {
    let words = ["ant", "bee", "cat", "dog", "eel"];
    let all = words.iter().zip(hits);
    all.map(|(word, hit)| json!({"tool": "Grep", "args": {"pattern": word}, "result": {"empty": !hit}})).collect()
}

/// Calls, and one more that is the tenth with them, or the eleventh.
pub fn between(mut calls: Vec<serde_json::Value>, last: serde_json::Value, trips: bool) -> Vec<serde_json::Value> {
    calls.extend((0..if trips { 7 } else { 8 }).map(|n| read(&n.to_string(), n, None)));
    calls.push(last);
    calls
}
