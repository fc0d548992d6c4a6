//! `trx`: the result file of Visual Studio's test platform, `dotnet test --logger trx` and MSTest. Its definition is the
//! schema `vstst.xsd` (TeamTest/2010).
//!
//! A result names its test by an id; the class stands in the definitions, which may come after it.

use std::collections::HashMap;

use super::xml_report::{Dialect, OpenCase, foreign, walk};
use super::{CASES_KEPT, TestTally, cppunit};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::first_lines;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// TRX.
pub const FORMAT: Format = Format {
    name: "trx",
    kind: ReportKind::Test,
    about: "Visual Studio test results (TRX)",
    written_by: "dotnet test --logger trx, vstest, MSTest, Microsoft.Testing.Platform",
    told_by: "root element TestRun",
    has_end: true,
    counting: "Each UnitTestResult that holds no others is one test. Passed, Completed, Warning and \
               PassedButRunAborted passed; Failed failed; Error, Timeout, Aborted, or no outcome at all, are errored; \
               any other is skipped. A run that failed by itself (the test host crashed), and in which no test failed, \
               is one errored test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if cppunit::is_ours(head) { Sniff::No } else { head.by_root(ROOTS) }
}

const ROOTS: &[&str] = &["TestRun"];

fn parse(input: &Input<'_>) -> Result<Parsed> {
    // Twice: the classes of the tests may stand after the results.
    let mut classes = Classes::default();
    walk(input, &FORMAT, ROOTS, &mut classes)?;
    let run = Run::default();
    let mut reader = Reader { tally: TestTally::new(true), classes: classes.by_id, open: Vec::new(), run };
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    let Reader { mut tally, run, .. } = reader;
    if let Some(error) = run.error.filter(|_| run.failed && !run.holds_failure) {
        tally.unit_failure(first_lines(&error).as_deref().unwrap_or("(the run)"));
    }
    tally.finish(&FORMAT)
}

/// First pass: the class of each test.
#[derive(Default)]
struct Classes {
    by_id: HashMap<String, String>,
    id: Option<String>,
}

impl Dialect for Classes {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            (list, Some("TestRun")) if cppunit::is_list(list) => {
                return Err(foreign(&FORMAT, "it is CppUnit's", element.spot()));
            }
            ("UnitTest", Some("TestDefinitions")) => self.id = element.attribute("id")?,
            ("TestMethod", Some("UnitTest")) if self.by_id.len() < CASES_KEPT => {
                let class = element.attribute("className")?.unwrap_or_default();
                // MSTest writes the assembly behind it.
                let class = class.split(", ").next().unwrap_or_default();
                if let (Some(id), false) = (self.id.take(), class.is_empty()) {
                    self.by_id.insert(id, class.to_owned());
                }
            }
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, _: &str, _: Option<&str>) -> Result<()> {
        Ok(())
    }
}

/// An open result.
struct Open {
    case: OpenCase,
    /// It holds results of its own: those of a data-driven test.
    is_group: bool,
}

struct Reader {
    tally: TestTally,
    classes: HashMap<String, String>,
    open: Vec<Open>,
    run: Run,
}

/// What is told of the run as a whole. An error is logged of each test that failed, too, so that one counts where none did.
#[derive(Default)]
struct Run {
    failed: bool,
    /// Its first error, whose text comes after it.
    error: Option<String>,
    awaits_text: bool,
    holds_failure: bool,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            ("UnitTestResult", _) => {
                if let Some(outer) = self.open.last_mut() {
                    outer.is_group = true;
                }
                let case = self.case(element)?;
                self.open.push(Open { case, is_group: false });
            }
            ("Message" | "StackTrace", Some("ErrorInfo")) => return Ok(!self.open.is_empty()),
            ("ResultSummary", Some("TestRun")) => {
                self.run.failed = is_failure(element.attribute("outcome")?.as_deref())
            }
            ("RunInfo", Some("RunInfos")) if self.run.error.is_none() => {
                self.run.awaits_text = is_failure(element.attribute("outcome")?.as_deref());
                self.run.error = self.run.awaits_text.then(String::new);
            }
            ("Text", Some("RunInfo")) => return Ok(self.run.awaits_text),
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        match (name, self.open.last_mut()) {
            ("Message", Some(open)) if text.is_some() => open.case.message(text),
            ("StackTrace", Some(open)) if text.is_some() => open.case.stack(text),
            ("Text", _) if text.is_some() => self.run.error = text.map(str::to_owned),
            ("RunInfo", _) => self.run.awaits_text = false,
            ("UnitTestResult", _) => {
                let leaf = self.open.pop().filter(|open| !open.is_group);
                let outcome = leaf.as_ref().map(|open| open.case.case.outcome);
                self.run.holds_failure |= outcome.is_some_and(Outcome::is_bad);
                return leaf.map_or(Ok(()), |open| open.case.done(&mut self.tally));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Reader {
    fn case(&self, element: &Element<'_>) -> Result<OpenCase> {
        let [id, name, outcome, duration] = element.attributes(["testId", "testName", "outcome", "duration"])?;
        let outcome = match outcome.as_deref() {
            Some("Passed" | "Completed" | "Warning" | "PassedButRunAborted") => Outcome::Passed,
            Some("Failed") => Outcome::Failed,
            Some("Error" | "Timeout" | "Aborted" | "") | None => Outcome::Errored,
            Some(_) => Outcome::Skipped,
        };
        let class = id.and_then(|id| self.classes.get(&id)).cloned();
        let mut open = OpenCase::new(None, class, name, outcome);
        open.case.duration_ms = duration.as_deref().and_then(clock);
        Ok(open)
    }
}

/// Whether the outcome of a run, or of what it tells of itself, is that it failed.
fn is_failure(outcome: Option<&str>) -> bool {
    matches!(outcome, Some("Failed" | "Error" | "Timeout" | "Aborted"))
}

/// Milliseconds of `00:01:02.1234567`.
fn clock(text: &str) -> Option<u64> {
    let mut parts = text.trim().splitn(3, ':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let minutes = hours.parse::<u64>().ok()?.checked_mul(60)?.checked_add(minutes.parse().ok()?)?;
    minutes.checked_mul(60_000)?.checked_add(super::milliseconds(seconds)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::tests_support::{counts, details};

    fn read(results: &str) -> Parsed {
        let definitions = "<TestDefinitions><UnitTest id='1'><TestMethod className='N.C, N, Version=1'/></UnitTest></TestDefinitions>";
        let text = format!("<TestRun><Results>{results}</Results>{definitions}</TestRun>");
        parse(&Input::bytes("x", text.as_bytes())).unwrap()
    }

    #[test]
    fn outcomes_are_counted_by_name_and_absence_is_errored() {
        for (outcome, expected) in [
            ("outcome='Passed'", [1, 1, 0, 0, 0]),
            ("outcome='PassedButRunAborted'", [1, 1, 0, 0, 0]),
            ("outcome='Failed'", [1, 0, 1, 0, 0]),
            ("outcome='Timeout'", [1, 0, 0, 1, 0]),
            ("", [1, 0, 0, 1, 0]),
            ("outcome='NotExecuted'", [1, 0, 0, 0, 1]),
            ("outcome='Inconclusive'", [1, 0, 0, 0, 1]),
        ] {
            assert_eq!(counts(&read(&format!("<UnitTestResult {outcome}/>"))), expected, "{outcome}");
        }
    }

    #[test]
    fn a_run_that_failed_by_itself_is_errored_once() {
        let run = |test: &str, outcome: &str, info: &str| {
            let info = format!("<RunInfo outcome='{info}'><Text>The run was aborted</Text></RunInfo>");
            let summary =
                format!("<ResultSummary outcome='{outcome}'><RunInfos>{info}{info}</RunInfos></ResultSummary>");
            let text = format!("<TestRun><Results><UnitTestResult outcome='{test}'/></Results>{summary}</TestRun>");
            parse(&Input::bytes("x", text.as_bytes())).unwrap()
        };
        let crashed = run("Passed", "Failed", "Error");
        assert_eq!((counts(&crashed), details(&crashed).failed_units.len()), ([2, 1, 0, 1, 0], 1));
        assert_eq!(details(&crashed).failed_units[0], "The run was aborted");
        assert_eq!(counts(&run("Failed", "Failed", "Error")), [1, 0, 1, 0, 0]);
        assert_eq!(counts(&run("Passed", "Completed", "Warning")), [1, 1, 0, 0, 0]);
        assert_eq!(counts(&run("Passed", "Failed", "Warning")), [1, 1, 0, 0, 0]);
    }

    #[test]
    fn rows_of_a_data_driven_test_count_and_their_group_does_not() {
        let row = |outcome: &str| format!("<UnitTestResult testId='1' testName='T' outcome='{outcome}'/>");
        let rows = row("Passed") + &row("Failed");
        let group = format!("<UnitTestResult outcome='Failed'><InnerResults>{rows}</InnerResults></UnitTestResult>");
        assert_eq!(counts(&read(&group)), [2, 1, 1, 0, 0]);
    }

    #[test]
    fn a_test_has_its_class_message_place_and_duration() {
        let parsed = read(
            "<UnitTestResult testId='1' testName='T' outcome='Failed' duration='00:01:02.1239999'><Output><ErrorInfo>\
             <Message>no&#xD;\nway</Message><StackTrace>at N.C.T() in c.cs:line 4</StackTrace></ErrorInfo></Output>\
             </UnitTestResult><UnitTestResult testId='1' testName='N.C.U' outcome='Passed'/>",
        );
        let details = details(&parsed);
        let case = &details.cases.cases["N.C::T"];
        assert_eq!((case.message.as_deref(), case.duration_ms), (Some("no | way"), Some(62_123)));
        assert_eq!((case.file.as_deref(), case.line), (Some("c.cs"), Some(4)));
        assert!(details.cases.cases.contains_key("N.C.U") && details.compiled);
        assert_eq!(clock("1:2"), None);
    }
}
