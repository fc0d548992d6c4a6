//! `robot-json`: Robot Framework's output as JSON, which `--output x.json` writes from version 7.2 on, and rebot likewise.
//! Its definition is the schema `result.json` of Robot Framework. It says what `output.xml` says, and is counted alike:
//! see [`super::robot`].

use std::cell::Cell;

use serde::Deserialize;
use serde::de::{Error as _, MapAccess};
use serde_json::Value;

use super::CASES_KEPT;
use super::json_report::{Keys, Object, declare, lacks, line, objects, path, seconds, text, unknown_status};
use super::robot::{Counts, add_all, count, decides, outcome_of, report, torn_down};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json::items;
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Parsed, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::{Figures, ReportKind};

/// Robot Framework's output.json.
pub const FORMAT: Format = Format {
    name: "robot-json",
    kind: ReportKind::Test,
    about: "Robot Framework JSON: suites with their tests",
    written_by: "robot --output x.json, rebot --output x.json (7.2 and newer)",
    told_by: "a JSON object with generator, rpa and suite",
    has_end: true,
    counting: "As robot: each test by its own status, unless the teardown of a suite around it failed or was skipped.",
    sniff: |head| head.by_keys(&["generator", "rpa", "suite"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let room = Cell::new(CASES_KEPT);
    let mut output = Output { room: &room, suite: None, total: None };
    json::object(input, Object(&mut output))?;
    let Some(suite) = output.suite else { return Err(lacks(&FORMAT, "suite")) };
    let mut parsed = report(&FORMAT, suite.counts, suite.kept, suite.dropped)?;
    let total = output.total.unwrap_or_default();
    let said = Figures { passed: total.pass, failed: total.fail, skipped: total.skip, ..Figures::default() };
    declare(&mut parsed, said);
    Ok(parsed)
}

struct Output<'r> {
    room: &'r Cell<usize>,
    suite: Option<Suite<'r>>,
    total: Option<Total>,
}

impl Keys for Output<'_> {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "suite" => {
                let mut suite = Suite::new(self.room);
                map.next_value_seed(Object(&mut suite))?;
                suite.end().map_err(|error| A::Error::custom(&error.message))?;
                self.suite = Some(suite);
            }
            "statistics" => self.total = map.next_value::<Option<Statistics>>()?.and_then(|all| all.total),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Deserialize)]
struct Statistics {
    total: Option<Total>,
}

#[derive(Deserialize, Default)]
struct Total {
    pass: Option<u64>,
    fail: Option<u64>,
    skip: Option<u64>,
}

/// A suite. robot tells its name after its tests, rebot before them.
struct Suite<'r> {
    /// How many tests more are kept by name.
    room: &'r Cell<usize>,
    name: Value,
    source: Value,
    counts: Counts,
    kept: Vec<(String, TestCase)>,
    dropped: u64,
    teardown: Option<Teardown>,
}

#[derive(Deserialize)]
struct Teardown {
    status: String,
    #[serde(default)]
    message: Value,
}

impl Keys for Suite<'_> {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "name" => self.name = map.next_value()?,
            "source" => self.source = map.next_value()?,
            "teardown" => self.teardown = map.next_value()?,
            "tests" => map.next_value_seed(items(|test: Test| self.add(test)))?,
            "suites" => {
                let room = self.room;
                map.next_value_seed(objects(|| Suite::new(room), |inner: Suite<'_>| self.append(inner)))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'r> Suite<'r> {
    fn new(room: &'r Cell<usize>) -> Suite<'r> {
        let (name, source) = (Value::Null, Value::Null);
        Suite { room, name, source, counts: Counts::default(), kept: Vec::new(), dropped: 0, teardown: None }
    }

    fn add(&mut self, test: Test) -> Result<()> {
        let outcome = outcome_of(&test.status).ok_or_else(|| unknown_status(&test.status))?;
        count(&mut self.counts, outcome)?;
        let Some(room) = self.room.get().checked_sub(1) else {
            self.dropped = self.dropped.saturating_add(1);
            return Ok(());
        };
        self.room.set(room);
        let mut case = TestCase::new(outcome);
        case.line = line(&test.lineno);
        case.duration_ms = seconds(&test.elapsed_time);
        case.message = text(&test.message).filter(|_| outcome == Outcome::Failed).and_then(first_lines);
        self.kept.push((text(&test.name).unwrap_or("(unnamed)").to_owned(), case));
        Ok(())
    }

    fn append(&mut self, mut inner: Suite<'_>) -> Result<()> {
        inner.end()?;
        add_all(&mut self.counts, inner.counts)?;
        self.kept.append(&mut inner.kept);
        self.dropped = self.dropped.saturating_add(inner.dropped);
        Ok(())
    }

    /// All of it was read.
    fn end(&mut self) -> Result<()> {
        let teardown = self.teardown.take();
        let message = teardown.as_ref().and_then(|teardown| text(&teardown.message)).and_then(first_lines);
        let outcome = teardown
            .as_ref()
            .map(|teardown| outcome_of(&teardown.status).ok_or_else(|| unknown_status(&teardown.status)))
            .transpose()?
            .filter(|_| teardown.as_ref().is_some_and(|teardown| decides(&teardown.status)));
        self.counts = torn_down(self.counts, &mut self.kept, outcome, message.as_deref())?;
        let (name, file) = (text(&self.name).unwrap_or_default(), path(&self.source));
        for (id, case) in &mut self.kept {
            *id = format!("{name}::{id}");
            if case.file.is_none() {
                case.file.clone_from(&file);
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Test {
    #[serde(default)]
    name: Value,
    #[serde(default)]
    lineno: Value,
    status: String,
    #[serde(default)]
    message: Value,
    #[serde(default)]
    elapsed_time: Value,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Sniff;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(suite: &str) -> Result<Parsed> {
        let text = format!("{{\"generator\":\"Robot\",\"rpa\":false,\"suite\":{{\"name\":\"Shop\",{suite}}}}}");
        assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)));
        parse(&Input::bytes("x", text.as_bytes()))
    }

    fn test(status: &str) -> String {
        format!(
            "{{\"name\":\"{status}\",\"lineno\":6,\"elapsed_time\":0.25,\"message\":\"no\",\"status\":\"{status}\"}}"
        )
    }

    #[test]
    fn the_status_of_the_test_itself_counts() {
        let tests = ["PASS", "FAIL", "SKIP", "NOT RUN"].map(test).join(",");
        let parsed = read(&format!("\"source\":\"/shop\",\"tests\":[{tests}]")).unwrap();
        assert_eq!(counts(&parsed), [4, 1, 1, 0, 2]);
        let case = &details(&parsed).cases.cases["Shop::FAIL"];
        assert_eq!((case.file.as_deref(), case.line, case.duration_ms), (Some("/shop"), Some(6), Some(250)));
        assert_eq!(case.message.as_deref(), Some("no"));
        let odd = read(&format!("\"tests\":[{}]", test("GREAT"))).unwrap_err();
        assert_eq!(odd.reject(), Some(Reject::Malformed));
        assert_eq!(counts(&read("\"tests\":null").unwrap()), [0; 5]);
    }

    #[test]
    fn a_teardown_of_a_suite_decides_over_the_tests_in_it() {
        let suite = |status: &str| {
            let tests = ["PASS", "FAIL", "SKIP"].map(test).join(",");
            let inner = format!(
                "{{\"tests\":[{tests}],\"teardown\":{{\"status\":\"{status}\",\"message\":\"down\"}},\"name\":\"In\"}}"
            );
            let parsed = read(&format!("\"suites\":[{inner}],\"tests\":[{}]", test("PASS"))).unwrap();
            let inner = details(&parsed).cases.cases.remove("Shop::In::PASS").unwrap();
            assert_eq!(inner.message.as_deref(), Some("down").filter(|_| inner.outcome == Outcome::Failed));
            counts(&parsed)
        };
        assert_eq!((suite("PASS"), suite("FAIL"), suite("SKIP")), ([4, 2, 1, 0, 1], [4, 1, 2, 0, 1], [4, 1, 0, 0, 3]));
        assert_eq!(suite("NOT RUN"), suite("PASS"));
    }

    #[test]
    fn the_statistics_are_compared() {
        let text = "{\"generator\":\"Robot\",\"rpa\":false,\"suite\":{},\"statistics\":{\"total\":{\"pass\":1,\"fail\":0,\"skip\":0}}}";
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!((parsed.warnings.len(), parsed.declared.unwrap().passed), (1, Some(1)));
        assert_eq!(parse(&Input::bytes("x", b"{\"rpa\":false}")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
