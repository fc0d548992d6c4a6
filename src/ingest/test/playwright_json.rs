//! `playwright-json`: the object of Playwright's JSON reporter. Its definition is the interface `JSONReport` of
//! `@playwright/test/reporter`.

use std::cell::RefCell;

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{
    Keys, Object, Waiting, declare, items, lacks, line, objects, path, text, unknown_status, whole_milliseconds,
};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff, add, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::{Figures, ReportKind};

/// Playwright's JSON.
pub const FORMAT: Format = Format {
    name: "playwright-json",
    kind: ReportKind::Test,
    about: "JSON of Playwright Test",
    written_by: "playwright test --reporter=json",
    told_by: "a JSON object with config and suites",
    has_end: true,
    counting: "Each test of each spec, once a project: expected passed, flaky passed and is flaky, unexpected failed, \
               skipped. Each error of the run itself is one errored test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // The config can be longer than what is looked at.
    let config =
        head.has_key("config.rootDir") && (head.has_key("config.forbidOnly") || head.has_key("config.projects"));
    if config || (head.has_key("config") && head.has_key("suites.specs")) {
        return Sniff::Sure("keys config and suites".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report = Report { tally: RefCell::new(TestTally::new(false)), has_suites: false, stats: None };
    json::object(input, Object(&mut report))?;
    if !report.has_suites {
        return Err(lacks(&FORMAT, "suites"));
    }
    let stats = report.stats.unwrap_or_default();
    let said = Figures {
        passed: stats.expected.zip(stats.flaky).map(|(one, other)| add(one, other)).transpose()?,
        failed: stats.unexpected,
        skipped: stats.skipped,
        ..Figures::default()
    };
    let mut parsed = report.tally.into_inner().finish(&FORMAT)?;
    declare(&mut parsed, said);
    Ok(parsed)
}

struct Report {
    tally: RefCell<TestTally>,
    has_suites: bool,
    stats: Option<Stats>,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        let tally = &self.tally;
        match key {
            "suites" => {
                self.has_suites = true;
                let take = |suite: Suite<'_>| {
                    suite.named().keep(&mut tally.borrow_mut(), |name, _| name);
                    Ok(())
                };
                map.next_value_seed(objects(|| Suite::of(tally), take))?;
            }
            "errors" => map.next_value_seed(items(|error: Value| {
                let file = error.get("location").and_then(|location| location.get("file")).and_then(text);
                let message = error.get("message").and_then(text).and_then(first_lines);
                tally.borrow_mut().unit_failure(file.or(message.as_deref()).unwrap_or("(the run)"));
                Ok(())
            }))?,
            "stats" => self.stats = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Deserialize, Default)]
struct Stats {
    expected: Option<u64>,
    unexpected: Option<u64>,
    flaky: Option<u64>,
    skipped: Option<u64>,
}

struct Suite<'t> {
    tally: &'t RefCell<TestTally>,
    title: Value,
    /// Its tests, and those of the suites in it.
    tests: Waiting,
}

impl Keys for Suite<'_> {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        let (tally, tests) = (self.tally, &mut self.tests);
        match key {
            "title" => self.title = map.next_value()?,
            "specs" => map.next_value_seed(items(|spec: Spec| {
                spec.tests.0.iter().try_for_each(|test| count(test, &spec, tests, &mut tally.borrow_mut()))
            }))?,
            "suites" => {
                let take = |inner: Suite<'_>| {
                    tests.append(inner.named());
                    Ok(())
                };
                map.next_value_seed(objects(|| Suite::of(tally), take))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'t> Suite<'t> {
    fn of(tally: &'t RefCell<TestTally>) -> Suite<'t> {
        Suite { tally, title: Value::Null, tests: Waiting::default() }
    }

    /// Its tests, with its title before their names.
    fn named(mut self) -> Waiting {
        self.tests.name(text(&self.title).unwrap_or_default(), &mut self.tally.borrow_mut());
        self.tests
    }
}

#[derive(Deserialize)]
struct Spec {
    #[serde(default)]
    title: Value,
    #[serde(default)]
    file: Value,
    #[serde(default)]
    line: Value,
    tests: Few<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    #[serde(default)]
    project_name: Value,
    status: Option<String>,
    expected_status: Option<String>,
    results: Option<Few<Run>>,
}

#[derive(Deserialize)]
struct Run {
    status: Option<String>,
    #[serde(default)]
    duration: Value,
    #[serde(default)]
    error: Value,
}

fn count(test: &Test, spec: &Spec, tests: &mut Waiting, tally: &mut TestTally) -> Result<()> {
    let runs = test.results.as_ref().map_or(&[][..], |runs| &runs.0);
    let status = match &test.status {
        Some(status) => status,
        None => of_runs(runs, test.expected_status.as_deref().unwrap_or("passed"))?,
    };
    let outcome = match status {
        "expected" | "flaky" => Outcome::Passed,
        "unexpected" => Outcome::Failed,
        "skipped" => Outcome::Skipped,
        other => return Err(unknown_status(other)),
    };
    if status == "flaky" {
        tally.count_flaky();
    }
    let mut case = TestCase::new(outcome);
    case.attempts = u32::try_from(runs.len()).unwrap_or(u32::MAX).max(1);
    case.duration_ms = runs.last().and_then(|run| whole_milliseconds(&run.duration));
    case.file = path(&spec.file);
    case.line = line(&spec.line);
    if outcome == Outcome::Failed {
        let message = |run: &Run| run.error.get("message").and_then(text).and_then(first_lines);
        case.message = runs.iter().rev().find_map(message);
    }
    let mut name = text(&spec.title).unwrap_or("(unnamed)").to_owned();
    if let Some(project) = text(&test.project_name) {
        name = format!("{name} [{project}]");
    }
    tests.add(name, case, tally)
}

/// The status of a test that tells its runs alone, as Playwright itself makes it of them (`TestCase.outcome()`): what was
/// interrupted is no run, and a skipped one says nothing beside others. Tools that cut a report down leave it out.
fn of_runs(runs: &[Run], expected: &str) -> Result<&'static str> {
    let (mut as_expected, mut otherwise) = (0, 0);
    for run in runs {
        match run.status.as_deref() {
            Some("skipped" | "interrupted") => {}
            Some(status @ ("passed" | "failed" | "timedOut")) if status == expected => as_expected += 1,
            Some("passed" | "failed" | "timedOut") => otherwise += 1,
            other => return Err(unknown_status(other.unwrap_or_default())),
        }
    }
    Ok(match (as_expected, otherwise) {
        _ if runs.is_empty() => return Err(unknown_status("")),
        (0, 0) => "skipped",
        (_, 0) => "expected",
        (0, _) => "unexpected",
        _ => "flaky",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details};

    fn read(tests: &str, rest: &str) -> Result<Parsed> {
        let spec = format!("{{\"title\":\"does\",\"file\":\"a.ts\",\"line\":4,\"tests\":[{tests}]}}");
        let inner = format!("{{\"title\":\"Cart\",\"specs\":[{spec}]}}");
        let text =
            format!("{{\"config\":{{}},\"suites\":[{{\"title\":\"a.ts\",\"specs\":[],\"suites\":[{inner}]}}]{rest}}}");
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn statuses_are_outcomes_and_errors_of_the_run_are_units() {
        for (status, expected) in [
            ("expected", [1, 1, 0, 0, 0]),
            ("flaky", [1, 1, 0, 0, 0]),
            ("unexpected", [1, 0, 1, 0, 0]),
            ("skipped", [1, 0, 0, 0, 1]),
        ] {
            let parsed = read(&format!("{{\"status\":\"{status}\"}}"), "").unwrap();
            assert_eq!(
                (counts(&parsed), parsed.figures.flaky),
                (expected, (status == "flaky").then_some(1)),
                "{status}"
            );
        }
        let parsed =
            read("", ",\"errors\":[{\"message\":\"Error: no tests\"},{\"location\":{\"file\":\"b.ts\"}}]").unwrap();
        assert_eq!((counts(&parsed), details(&parsed).failed_units.len()), ([2, 0, 0, 2, 0], 2));
        assert!(read("{\"status\":\"passed\"}", "").is_err() && read("{}", "").is_err());
        assert_eq!(parse(&Input::bytes("x", b"{\"config\":{}}")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn without_a_status_the_runs_tell() {
        let runs = |statuses: &[&str], more: &str| {
            let runs: Vec<String> = statuses.iter().map(|status| format!("{{\"status\":\"{status}\"}}")).collect();
            read(&format!("{{\"results\":[{}]{more}}}", runs.join(",")), "").map(|parsed| counts(&parsed))
        };
        for (statuses, expected) in [
            (&["passed"][..], [1, 1, 0, 0, 0]),
            (&["failed", "passed"], [1, 1, 0, 0, 0]),
            (&["failed", "timedOut"], [1, 0, 1, 0, 0]),
            (&["failed", "interrupted"], [1, 0, 1, 0, 0]),
            (&["skipped"], [1, 0, 0, 0, 1]),
        ] {
            assert_eq!(runs(statuses, "").unwrap(), expected, "{statuses:?}");
        }
        assert_eq!(runs(&["failed"], ",\"expectedStatus\":\"failed\"").unwrap(), [1, 1, 0, 0, 0]);
        assert_eq!(runs(&["passed"], ",\"expectedStatus\":\"failed\"").unwrap(), [1, 0, 1, 0, 0]);
        assert!(runs(&[], "").is_err() && runs(&["great"], "").is_err());
    }

    #[test]
    fn a_test_has_path_project_attempts_and_message() {
        let parsed = read(
            "{\"status\":\"unexpected\",\"projectName\":\"webkit\",\"results\":[{\"duration\":3,\"error\":{\"message\":\"no\"}},\
             {\"duration\":5}]}",
            ",\"stats\":{\"unexpected\":2}",
        )
        .unwrap();
        let details = details(&parsed);
        let case = &details.cases.cases["a.ts::Cart::does [webkit]"];
        assert_eq!((case.attempts, case.duration_ms, case.line), (2, Some(5), Some(4)));
        assert_eq!((case.message.as_deref(), parsed.warnings.len()), (Some("no"), 1));
    }
}
