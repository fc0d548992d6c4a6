//! `teamcity`: service messages of tests, as runners print them for TeamCity and for JetBrains' editors.
//! <https://www.jetbrains.com/help/teamcity/service-messages.html>
//!
//! Other text stands between them, and each test is told by its name and the flow that it runs in. A test or a suite that has
//! no end shows that the run was cut.

use std::collections::BTreeMap;

use super::TestTally;
use super::json_report::cut_short;
use super::text_report::no_result;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, first_lines};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// Service messages for TeamCity.
pub const FORMAT: Format = Format {
    name: "teamcity",
    kind: ReportKind::Test,
    about: "service messages of tests for TeamCity",
    written_by: "PHPUnit --teamcity, Mocha, Jest, pytest, Catch2, ScalaTest and others for TeamCity",
    told_by: "lines \"##teamcity[testStarted name='…']\"",
    has_end: false,
    counting: "Each test that finished: failed if it is told to have failed, else skipped if ignored, else passed. \
               What failed without having started (a hook, as a rule) is a failed test. A test or suite without an \
               end: the report is cut.",
    sniff,
    parse,
};

/// Tests and suites that may be open at once.
const OPEN_AT_ONCE: usize = 10_000;

fn sniff(head: &Head<'_>) -> Sniff {
    let is_test = |line: &str| message(line).is_some_and(|told| told.name.starts_with("test"));
    match head.xml().is_none() && head.lines().any(is_test) {
        // Runners that are told to print them print their own text beside them.
        true => Sniff::Maybe("service messages of tests".into()),
        false => Sniff::No,
    }
}

/// `##teamcity[testStarted name='adds' flowId='7']`.
struct Message<'a> {
    name: &'a str,
    attributes: &'a str,
}

fn message(line: &str) -> Option<Message<'_>> {
    let (name, attributes) = line.trim().strip_prefix("##teamcity[")?.strip_suffix(']')?.split_once(' ')?;
    Some(Message { name, attributes })
}

impl Message<'_> {
    /// The value of an attribute, `|n` and the like resolved.
    fn get(&self, wanted: &str) -> Option<String> {
        let mut rest = self.attributes.trim_start();
        loop {
            let (name, after) = rest.split_once("='")?;
            let mut value = String::new();
            let mut chars = after.chars();
            loop {
                match chars.next()? {
                    '\'' => break,
                    '|' => match chars.next()? {
                        'n' => value.push('\n'),
                        'r' => value.push('\r'),
                        escaped => value.push(escaped),
                    },
                    plain => value.push(plain),
                }
            }
            if name.trim() == wanted {
                return Some(value);
            }
            rest = chars.as_str().trim_start();
        }
    }
}

/// What is known of a test before its end.
#[derive(Default)]
struct Open {
    /// It has to finish.
    is_started: bool,
    outcome: Option<Outcome>,
    message: Option<String>,
}

#[derive(Default)]
struct Run {
    /// By flow and name.
    tests: BTreeMap<(String, String), Open>,
    suites: Vec<String>,
    is_met: bool,
}

impl Run {
    fn take(&mut self, told: &Message<'_>, tally: &mut TestTally) -> Result<()> {
        let name = told.get("name").ok_or_else(|| Error::report(Reject::Malformed, "a service message has no name"))?;
        let key = (told.get("flowId").unwrap_or_default(), name);
        if self.tests.len().max(self.suites.len()) >= OPEN_AT_ONCE {
            return Err(Error::report(Reject::Malformed, format!("{OPEN_AT_ONCE} tests or suites are open at once")));
        }
        match told.name {
            "testSuiteStarted" => self.suites.push(key.1),
            "testSuiteFinished" => {
                self.close(tally)?;
                drop(self.suites.pop());
            }
            // A second attempt takes the place of the first.
            "testStarted" => drop(self.tests.insert(key, Open { is_started: true, ..Open::default() })),
            "testFailed" => {
                let open = self.tests.entry(key).or_default();
                open.outcome = Some(Outcome::Failed);
                open.message = told.get("message").and_then(|message| first_lines(&message));
            }
            "testIgnored" => {
                let outcome = &mut self.tests.entry(key).or_default().outcome;
                *outcome = outcome.or(Some(Outcome::Skipped));
            }
            "testFinished" => {
                let open = self.tests.remove(&key).unwrap_or_default();
                self.count(&key.1, open, tally)?;
            }
            _ => return Ok(()),
        }
        self.is_met = true;
        Ok(())
    }

    /// Counts what was told without having started: nothing says that it ends.
    fn close(&mut self, tally: &mut TestTally) -> Result<()> {
        for (key, open) in std::mem::take(&mut self.tests) {
            if open.is_started {
                self.tests.insert(key, open);
            } else {
                self.count(&key.1, open, tally)?;
            }
        }
        Ok(())
    }

    fn count(&self, name: &str, open: Open, tally: &mut TestTally) -> Result<()> {
        let outcome = open.outcome.unwrap_or(Outcome::Passed);
        let case = TestCase { message: open.message, ..TestCase::new(outcome) };
        let suites = self.suites.iter().map(String::as_str);
        tally.case(&suites.chain([name]).collect::<Vec<_>>().join("::"), case)
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut run, mut tally, mut last) = (Run::default(), TestTally::new(false), 0);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        if !line.ended && message(&line.text).is_none() {
            return Err(cut_short("its last line does", last));
        }
        if let Some(told) = message(&line.text).filter(|told| told.name.starts_with("test") && told.name != "testCount")
        {
            run.take(&told, &mut tally).map_err(|error| error.line(last))?;
        }
    }
    run.close(&mut tally)?;
    if !run.is_met {
        return Err(no_result("no service message of a test in it", last));
    }
    if !run.tests.is_empty() || !run.suites.is_empty() {
        return Err(cut_short("all tests and suites are finished", last));
    }
    tally.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::tests_support::{counts, details};

    const RUN: &str = "##teamcity[testCount count='5' flowId='1']\n\n##teamcity[testSuiteStarted name='cart' flowId='1']\n\
        ##teamcity[testStarted name='adds |'x|'' flowId='1']\nOK (5 tests, 9 assertions)\n\
        ##teamcity[testStarted name='adds |'x|'' flowId='2']\n\
        ##teamcity[testFailed name='adds |'x|'' message='2 == 3|n|[x|]' flowId='1']\n\
        ##teamcity[testFinished name='adds |'x|'' duration='4' flowId='1']\n\
        ##teamcity[testFinished name='adds |'x|'' duration='4' flowId='2']\n\
        ##teamcity[testIgnored name='later' message='x' flowId='1']\n##teamcity[testFinished name='later' flowId='1']\n\
        ##teamcity[testIgnored name='alone' message='x' flowId='1']\n##teamcity[testFailed name='hook' message='db']\n\
        ##teamcity[testSuiteFinished name='cart' flowId='1']\n##teamcity[buildStatisticValue key='x' value='1']\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn what_is_told_of_a_test_before_its_end_decides() {
        let parsed = read(RUN).unwrap();
        assert_eq!(counts(&parsed), [5, 1, 2, 0, 2]);
        let case = &details(&parsed).cases.cases["cart::adds 'x'"];
        assert_eq!((case.outcome, case.message.as_deref()), (Outcome::Failed, Some("2 == 3 | [x]")));
        let again = "##teamcity[testStarted name='a']\n##teamcity[testFailed name='a']\n##teamcity[testStarted name='a']\n\
                     ##teamcity[testFinished name='a']";
        assert_eq!(counts(&read(again).unwrap()), [1, 1, 0, 0, 0]);
    }

    #[test]
    fn what_has_no_end_is_cut() {
        let lines: Vec<&str> = RUN.split_inclusive('\n').collect();
        for cut in 3..13 {
            assert_eq!(read(&lines[..cut].concat()).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        assert_eq!(read(&format!("{RUN}##teamcity[testSui")).unwrap_err().reject(), Some(Reject::Malformed));
        for none in ["##teamcity[testCount count='5']\n", "##teamcity[buildStatisticValue key='x' value='1']\n"] {
            assert_eq!(read(none).unwrap_err().reject(), Some(Reject::NoResult), "{none}");
        }
        assert_eq!(read("##teamcity[testStarted nam='a']\n").unwrap_err().reject(), Some(Reject::Malformed));
    }
}
