//! `cucumber-json`: the list of features of Cucumber's JSON formatter, which behave, pytest-bdd, godog and others have
//! too. Its definition is the JSON schema of the `cucumber-json-formatter` packages.
//!
//! Of a scenario that is retried only the last attempt is written. pytest-bdd leaves out the step that has no
//! definition: such a scenario looks as if it had passed.

use std::cell::RefCell;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess};
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Waiting, items, lacks, line, objects, path, seconds, text, unknown_status};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::{first_lines, printable};
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// Cucumber's JSON.
pub const FORMAT: Format = Format {
    name: "cucumber-json",
    kind: ReportKind::Test,
    about: "JSON of Cucumber: features, scenarios, steps",
    written_by: "cucumber --format json (JavaScript, JVM, Ruby, godog), behave -f json, pytest-bdd --cucumberjson",
    told_by: "a JSON list of features with elements and their steps",
    has_end: true,
    counting: "Each scenario is one test, each row of an outline too. The worst of its steps and hooks, and of the \
               background before it, counts: an undefined or ambiguous step makes it errored, else a failed one \
               failed, else a skipped or pending one (or no step at all) skipped, else it passed. behave says by \
               itself what a scenario came to: its errors, also of hooks, are errored, and a feature whose own hook \
               failed is one more.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_steps = head.has_key("elements.steps") && head.has_key("elements.keyword");
    let is_feature =
        head.has_key("elements") && head.has_key("keyword") && (head.has_key("uri") || head.has_key("location"));
    // Of behave, whose hook failed before any scenario.
    let has_none = ["keyword", "location", "status", "tags"].iter().all(|key| head.has_key(key));
    if has_steps || is_feature || has_none { Sniff::Sure("features with elements".into()) } else { Sniff::No }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let tally = RefCell::new(TestTally::new(false));
    let mut foreign = false;
    let make = || Feature {
        tally: &tally,
        keyword: Value::Null,
        name: Value::Null,
        uri: Value::Null,
        location: Value::Null,
        status: Value::Null,
        background: Told::default(),
        scenarios: None,
    };
    let take = |feature: Feature<'_>| {
        foreign |= feature.scenarios.is_none() && text(&feature.keyword).is_none();
        feature.end();
        Ok(())
    };
    json::document(input, objects(make, take))?;
    if foreign {
        return Err(lacks(&FORMAT, "features with elements"));
    }
    tally.into_inner().finish(&FORMAT)
}

struct Feature<'t> {
    tally: &'t RefCell<TestTally>,
    keyword: Value,
    name: Value,
    uri: Value,
    /// behave: `features/cart.feature:1`.
    location: Value,
    /// behave: the worst of its scenarios, or what its own hooks came to.
    status: Value,
    /// Of the next scenario.
    background: Told,
    scenarios: Option<Waiting>,
}

impl Keys for Feature<'_> {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        let slot = match key {
            "keyword" => &mut self.keyword,
            "name" => &mut self.name,
            "uri" => &mut self.uri,
            "location" => &mut self.location,
            "status" => &mut self.status,
            "elements" => {
                let (background, scenarios) = (&mut self.background, self.scenarios.insert(Waiting::default()));
                let tally = self.tally;
                map.next_value_seed(items(|element: Element| {
                    if element.is_background() {
                        *background = element.background();
                        return Ok(());
                    }
                    let (name, case) = element.scenario(std::mem::take(background))?;
                    scenarios.add(name, case, &mut tally.borrow_mut())
                }))?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        *slot = map.next_value()?;
        Ok(true)
    }
}

impl Feature<'_> {
    fn end(self) {
        let place = text(&self.location).and_then(|location| location.rsplit_once(':'));
        let file = path(&self.uri).or_else(|| place.map(|(file, _)| printable(file, 1000)));
        let name = file.as_deref().or(text(&self.name)).unwrap_or("(a feature)");
        if matches!(text(&self.status), Some("hook_error" | "cleanup_error")) {
            self.tally.borrow_mut().unit_failure(name);
        }
        self.scenarios.unwrap_or_default().keep(&mut self.tally.borrow_mut(), |scenario, case| {
            case.file.clone_from(&file);
            format!("{name}::{scenario}")
        });
    }
}

/// A scenario, or the background before one.
#[derive(Deserialize)]
struct Element {
    #[serde(default, rename = "type")]
    kind: Value,
    #[serde(default)]
    keyword: Value,
    #[serde(default)]
    name: Value,
    #[serde(default)]
    line: Value,
    #[serde(default)]
    location: Value,
    /// behave alone says what the scenario came to.
    #[serde(default)]
    status: Value,
    steps: Option<Told>,
    before: Option<Told>,
    after: Option<Told>,
}

/// A step or a hook, which may have hooks of its own.
#[derive(Deserialize)]
struct Step {
    result: Option<StepResult>,
    before: Option<Told>,
    after: Option<Told>,
}

#[derive(Deserialize)]
struct StepResult {
    #[serde(default)]
    status: Value,
    #[serde(default)]
    duration: Value,
    /// behave: a list of lines.
    #[serde(default)]
    error_message: Value,
}

/// What steps came to together.
#[derive(Default)]
struct Told {
    /// The worst of them; none if there is none.
    worst: Option<Outcome>,
    /// What the first step that brought it about said.
    message: Option<String>,
    /// Milliseconds, from the seconds that behave gives.
    of_seconds: Option<u64>,
    /// Nanoseconds, which all others give.
    nanoseconds: Option<u64>,
    /// A step has a result, not only a hook of it.
    has_results: bool,
}

impl Told {
    /// Then came these.
    fn then(&mut self, next: Option<Told>) {
        let Some(next) = next else { return };
        if next.worst > self.worst {
            (self.worst, self.message) = (next.worst, next.message);
        }
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        self.of_seconds = sum(self.of_seconds, next.of_seconds);
        self.nanoseconds = sum(self.nanoseconds, next.nanoseconds);
    }

    fn step(&mut self, step: Step) -> Result<()> {
        self.then(step.before);
        self.has_results |= step.result.is_some();
        self.then(Some(match step.result {
            Some(result) => Told {
                worst: Some(outcome_of_step(text(&result.status).unwrap_or("untested"))?),
                message: message(&result.error_message),
                of_seconds: seconds(&result.duration),
                nanoseconds: result.duration.as_u64(),
                ..Told::default()
            },
            // It was not run, or the dialect gives no results of backgrounds.
            None => Told { worst: Some(Outcome::Skipped), ..Told::default() },
        }));
        self.then(step.after);
        Ok(())
    }
}

/// A list of steps, of which none is held.
impl<'de> Deserialize<'de> for Told {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Told, D::Error> {
        let mut told = Told::default();
        items(|step: Step| told.step(step)).deserialize(deserializer)?;
        Ok(told)
    }
}

fn message(error: &Value) -> Option<String> {
    match error {
        Value::Array(lines) => first_lines(&lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")),
        other => text(other).and_then(first_lines),
    }
}

/// What a status of a step says, in any case.
pub(super) fn outcome_of_step(status: &str) -> Result<Outcome> {
    match status.to_ascii_lowercase().as_str() {
        "passed" => Ok(Outcome::Passed),
        "failed" => Ok(Outcome::Failed),
        "skipped" | "pending" | "pending_warn" | "untested" | "untested_pending" | "unknown" | "unused" => {
            Ok(Outcome::Skipped)
        }
        "undefined" | "ambiguous" | "error" | "hook_error" | "untested_undefined" => Ok(Outcome::Errored),
        _ => Err(unknown_status(status)),
    }
}

/// What behave says of a scenario.
fn outcome_of_scenario(status: &str) -> Result<Outcome> {
    match status {
        "xfailed" => Ok(Outcome::Skipped),
        "xpassed" => Ok(Outcome::Passed),
        "cleanup_error" => Ok(Outcome::Errored),
        other => outcome_of_step(other),
    }
}

impl Element {
    fn is_background(&self) -> bool {
        text(&self.kind) == Some("background") || text(&self.keyword) == Some("Background")
    }

    fn told(self, mut told: Told) -> Told {
        for steps in [self.before, self.steps, self.after] {
            told.then(steps);
        }
        told
    }

    fn background(self) -> Told {
        // behave tells the steps here, and their results in each scenario.
        let with_results = [&self.before, &self.steps, &self.after].into_iter().flatten().any(|told| told.has_results);
        if with_results { self.told(Told::default()) } else { Told::default() }
    }

    /// Its name and result, but for what the feature tells.
    fn scenario(self, background: Told) -> Result<(String, TestCase)> {
        let said = text(&self.status).map(outcome_of_scenario).transpose()?;
        let place = text(&self.location).and_then(|location| location.rsplit_once(':'));
        let (is_of_behave, place) = (place.is_some(), place.and_then(|(_, line)| line.parse().ok()));
        let line = line(&self.line).or(place.filter(|line| *line > 0));
        let name = text(&self.name).unwrap_or("(unnamed)").to_owned();
        let told = self.told(background);
        let mut case = TestCase::new(said.or(told.worst).unwrap_or(Outcome::Skipped));
        case.line = line;
        case.duration_ms = if is_of_behave { told.of_seconds } else { told.nanoseconds.map(|taken| taken / 1_000_000) };
        if case.outcome.is_bad() {
            case.message = told.message;
        }
        Ok((name, case))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(elements: &str) -> Result<Parsed> {
        let text = format!("[{{\"keyword\":\"Feature\",\"uri\":\"a.feature\",\"elements\":[{elements}]}}]");
        parse(&Input::bytes("x", text.as_bytes()))
    }

    fn steps(statuses: &[&str]) -> String {
        let step = |status: &&str| format!("{{\"result\":{{\"status\":\"{status}\"}}}}");
        format!("[{}]", statuses.iter().map(step).collect::<Vec<_>>().join(","))
    }

    #[test]
    fn the_worst_step_counts_once() {
        const ERRORED: [u64; 5] = [1, 0, 0, 1, 0];
        const SKIPPED: [u64; 5] = [1, 0, 0, 0, 1];
        for (statuses, expected) in [
            (&["passed", "passed"][..], [1, 1, 0, 0, 0]),
            (&["passed", "failed", "skipped"], [1, 0, 1, 0, 0]),
            (&["undefined", "skipped"], ERRORED),
            (&["failed", "undefined"], ERRORED),
            (&["ambiguous"], ERRORED),
            (&["PASSED", "pending", "skipped"], SKIPPED),
            (&["skipped"], SKIPPED),
            (&["unknown"], SKIPPED),
            (&[], SKIPPED),
        ] {
            let parsed = read(&format!("{{\"type\":\"scenario\",\"steps\":{}}}", steps(statuses))).unwrap();
            assert_eq!(counts(&parsed), expected, "{statuses:?}");
        }
        assert_eq!(read(&format!("{{\"steps\":{}}}", steps(&["odd"]))).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(counts(&read("{\"steps\":[{\"name\":\"never run\"}]}").unwrap()), SKIPPED);
    }

    #[test]
    fn hooks_and_the_background_before_it_are_part_of_a_scenario() {
        let passed = steps(&["passed"]);
        for hook in ["before", "after"] {
            let hooks = steps(&["failed"]);
            let of_scenario = read(&format!("{{\"steps\":{passed},\"{hook}\":{hooks}}}")).unwrap();
            let step = format!("{{\"result\":{{\"status\":\"passed\"}},\"{hook}\":{hooks}}}");
            let of_step = read(&format!("{{\"steps\":[{step}]}}")).unwrap();
            assert_eq!((counts(&of_scenario), counts(&of_step)), ([1, 0, 1, 0, 0], [1, 0, 1, 0, 0]), "{hook}");
        }
        let background = |steps: &str| format!("{{\"type\":\"background\",\"steps\":{steps}}}");
        let (broken, fine) = (background(&steps(&["failed"])), background("[{\"name\":\"told without result\"}]"));
        let scenario = |name: &str, status: &str| format!("{{\"name\":\"{name}\",\"steps\":{}}}", steps(&[status]));
        let all = [broken, scenario("a", "skipped"), scenario("b", "skipped"), fine, scenario("c", "passed")].join(",");
        let parsed = read(&all).unwrap();
        assert_eq!(counts(&parsed), [3, 1, 1, 0, 1]);
        assert_eq!(details(&parsed).cases.outcome("a.feature::a"), Some(Outcome::Failed));
    }

    #[test]
    fn behave_says_what_a_scenario_came_to() {
        for (status, expected) in [
            ("passed", [1, 1, 0, 0, 0]),
            ("failed", [1, 0, 1, 0, 0]),
            ("hook_error", [1, 0, 0, 1, 0]),
            ("error", [1, 0, 0, 1, 0]),
            ("cleanup_error", [1, 0, 0, 1, 0]),
            ("untested", [1, 0, 0, 0, 1]),
            ("xfailed", [1, 0, 0, 0, 1]),
        ] {
            let parsed = read(&format!("{{\"status\":\"{status}\",\"steps\":{}}}", steps(&["passed", "pending"])));
            assert_eq!(counts(&parsed.unwrap()), expected, "{status}");
        }
        let feature = |status: &str, elements: &str| {
            let place = "\"tags\":[],\"location\":\"a.feature:1\"";
            format!("[{{\"keyword\":\"Feature\",\"name\":\"A\",{place},\"status\":\"{status}\"{elements}}}]")
        };
        let passed = format!(",\"elements\":[{{\"status\":\"passed\",\"steps\":{}}}]", steps(&["passed"]));
        for (text, expected) in [
            (feature("failed", &passed), [1, 1, 0, 0, 0]),
            (feature("hook_error", &passed), [2, 1, 0, 1, 0]),
            (feature("hook_error", ""), [1, 0, 0, 1, 0]),
        ] {
            assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)), "{text}");
            assert_eq!(counts(&parse(&Input::bytes("x", text.as_bytes())).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn a_scenario_has_path_place_duration_and_message() {
        let step = |duration: &str, error: &str| {
            format!("{{\"result\":{{\"status\":\"failed\",\"duration\":{duration},\"error_message\":{error}}}}}")
        };
        let elements = format!("{{\"name\":\"s\",\"line\":7,\"steps\":[{}]}}", step("2500000", "\"no\\nstack\""));
        let of_cucumber = details(&read(&elements).unwrap()).cases.cases.remove("a.feature::s").unwrap();
        assert_eq!(
            (of_cucumber.line, of_cucumber.duration_ms, of_cucumber.file.as_deref()),
            (Some(7), Some(2), Some("a.feature"))
        );
        assert_eq!(of_cucumber.message.as_deref(), Some("no | stack"));
        let element =
            format!("{{\"name\":\"s\",\"location\":\"b.feature:9\",\"steps\":[{}]}}", step("0.25", "[\"no\",\"\"]"));
        let text = format!("[{{\"keyword\":\"Feature\",\"location\":\"b.feature:1\",\"elements\":[{element}]}}]");
        let of_behave = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        let of_behave = details(&of_behave).cases.cases.remove("b.feature::s").unwrap();
        assert_eq!(
            (of_behave.line, of_behave.duration_ms, of_behave.message.as_deref()),
            (Some(9), Some(250), Some("no"))
        );
    }

    #[test]
    fn lists_of_other_tools_are_not_taken() {
        for (text, is_ours) in [
            ("[{\"keyword\":\"Feature\",\"uri\":\"a\",\"elements\":[]}]", true),
            ("[{\"elements\":[{\"keyword\":\"Scenario\",\"steps\":[{", true),
            ("[{\"filePath\":\"a.js\",\"messages\":[]}]", false),
            ("{\"elements\":[1]}", false),
        ] {
            assert_eq!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)), is_ours, "{text}");
        }
        let foreign = parse(&Input::bytes("x", b"[{\"filePath\":\"a.js\",\"messages\":[]}]")).unwrap_err();
        assert_eq!(foreign.reject(), Some(Reject::NotThisFormat));
        assert_eq!(counts(&parse(&Input::bytes("x", b"[]")).unwrap()), [0; 5]);
    }
}
