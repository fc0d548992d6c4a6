//! `robot`: Robot Framework's `output.xml`, all of its layouts from Robot Framework 3 on. Its definition is the schema
//! `robot.xsd` that comes with each version. rebot writes the same, also where it merges the output of reruns: a test
//! that was run again is in it once, as it came out last.
//!
//! The element of a test tells what it came to before its suite's teardown ran. As the User Guide has it, tests of a
//! suite whose teardown fails have failed, and that is what Robot Framework's own totals, log and xUnit output say.

use super::xml_report::{Dialect, OpenCase, unknown_result, walk};
use super::{CASES_KEPT, TestTally, milliseconds};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::{first_lines, printable};
use crate::ingest::xml::Element;
use crate::ingest::{Format, Parsed, add};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::{Figures, ReportKind};

/// Robot Framework's output.xml.
pub const FORMAT: Format = Format {
    name: "robot",
    kind: ReportKind::Test,
    about: "Robot Framework XML: one test element a test",
    written_by: "robot, rebot, pabot",
    told_by: "root element robot",
    has_end: true,
    counting: "Each test is one test, by its own status: PASS passed, FAIL failed, SKIP and NOT RUN skipped. If the \
               teardown of a suite failed, the tests that passed in it failed; if it was skipped, so were they. \
               Keywords are no tests. The report's statistics are only compared.",
    sniff: |head| head.by_root(ROOTS),
    parse,
};

const ROOTS: &[&str] = &["robot"];

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    reader.finish()
}

/// Tests by outcome, in the order of [`OUTCOMES`].
pub(super) type Counts = [u64; 3];

/// All that a test of Robot Framework can come to.
const OUTCOMES: [Outcome; 3] = [Outcome::Passed, Outcome::Failed, Outcome::Skipped];

/// An open suite.
#[derive(Default)]
struct Suite {
    name: String,
    source: Option<String>,
    /// Of the tests in it, at any depth.
    counts: Counts,
    /// Where its tests begin among those that are kept.
    first_kept: usize,
    /// What its teardown makes of its tests, if it did not pass.
    teardown: Option<Outcome>,
    /// What the teardown said.
    teardown_message: Option<String>,
}

#[derive(Default)]
struct Reader {
    suites: Vec<Suite>,
    /// Of the tests outside of any open suite.
    counts: Counts,
    /// In the order of the report, until the suites that hold them are closed.
    kept: Vec<(String, TestCase)>,
    dropped: u64,
    /// The test that is open, and whether its status was met.
    case: Option<(OpenCase, bool)>,
    /// Keywords inside each other, and whether the outermost is the teardown of the innermost suite.
    keywords: usize,
    in_teardown: bool,
    declared: Figures,
    in_total: bool,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            ("suite", Some("robot" | "suite")) => {
                let [name, source] = element.attributes(["name", "source"])?;
                let (name, first_kept) = (name.unwrap_or_default(), self.kept.len());
                self.suites.push(Suite { name, source, first_kept, ..Suite::default() });
            }
            ("test", Some("suite")) => self.case = Some((self.begin_case(element)?, false)),
            ("kw", parent) => {
                self.keywords += 1;
                if parent == Some("suite") {
                    let kind = element.attribute("type")?.unwrap_or_default();
                    self.in_teardown = kind.eq_ignore_ascii_case("teardown");
                }
            }
            ("status", Some("test")) => return self.status(element),
            ("status", Some("kw")) if self.in_teardown && self.keywords == 1 => return self.end_teardown(element),
            ("total", Some("statistics")) => self.in_total = true,
            ("stat", Some("total")) if self.in_total => self.declare(element)?,
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        match name {
            "status" => match (&mut self.case, self.suites.last_mut(), text) {
                (Some((case, _)), _, Some(text)) => case.message(Some(text)),
                (None, Some(suite), Some(text)) => suite.teardown_message = first_lines(text),
                _ => {}
            },
            "test" => return self.end_case(),
            "kw" => {
                self.keywords = self.keywords.saturating_sub(1);
                self.in_teardown &= self.keywords > 0;
            }
            "suite" => return self.end_suite(),
            "total" => self.in_total = false,
            _ => {}
        }
        Ok(())
    }
}

impl Reader {
    fn begin_case(&self, element: &Element<'_>) -> Result<OpenCase> {
        let [name, line] = element.attributes(["name", "line"])?;
        let suites = self.suites.iter().map(|suite| suite.name.as_str());
        let id = suites.chain([name.as_deref().unwrap_or("(unnamed)")]).collect::<Vec<_>>().join("::");
        let mut case = OpenCase::new(Some(id), None, None, Outcome::Passed);
        let source = self.suites.iter().rev().find_map(|suite| suite.source.as_deref());
        case.case.file = source.map(|source| printable(source, 1000));
        case.case.line = line.and_then(|line| line.parse().ok()).filter(|line| *line > 0);
        Ok(case)
    }

    fn status(&mut self, element: &Element<'_>) -> Result<bool> {
        let [status, elapsed] = element.attributes(["status", "elapsed"])?;
        let outcome = outcome(status.as_deref(), element)?;
        let Some((case, told)) = &mut self.case else { return Ok(false) };
        (case.case.outcome, *told) = (outcome, true);
        case.case.duration_ms = elapsed.as_deref().and_then(milliseconds);
        Ok(outcome == Outcome::Failed)
    }

    fn end_teardown(&mut self, element: &Element<'_>) -> Result<bool> {
        let status = element.attribute("status")?;
        let outcome = outcome(status.as_deref(), element)?;
        if let Some(suite) = self.suites.last_mut() {
            suite.teardown = Some(outcome).filter(|_| decides(status.as_deref().unwrap_or_default()));
        }
        Ok(true)
    }

    fn end_case(&mut self) -> Result<()> {
        let Some((OpenCase { id, mut case }, told)) = self.case.take() else { return Ok(()) };
        // rebot leaves no test without a status; where something else did, nothing says that it ran.
        if !told {
            case.outcome = Outcome::Skipped;
        }
        let counts = self.suites.last_mut().map_or(&mut self.counts, |suite| &mut suite.counts);
        count(counts, case.outcome)?;
        if self.kept.len() < CASES_KEPT {
            self.kept.push((id, case));
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
        Ok(())
    }

    fn end_suite(&mut self) -> Result<()> {
        let Some(suite) = self.suites.pop() else { return Ok(()) };
        let kept = self.kept.get_mut(suite.first_kept..).unwrap_or_default();
        let counts = torn_down(suite.counts, kept, suite.teardown, suite.teardown_message.as_deref())?;
        let outer = self.suites.last_mut().map_or(&mut self.counts, |suite| &mut suite.counts);
        add_all(outer, counts)
    }

    /// Robot Framework 3 has totals of critical tests, too; all tests come last.
    fn declare(&mut self, element: &Element<'_>) -> Result<()> {
        let [passed, failed, skipped] = element.attributes(["pass", "fail", "skip"])?;
        let count = |text: Option<String>| text.and_then(|text| text.parse().ok());
        let (passed, failed, skipped) = (count(passed), count(failed), count(skipped));
        self.declared = Figures { passed, failed, skipped, ..Figures::default() };
        Ok(())
    }

    fn finish(self) -> Result<Parsed> {
        let mut parsed = report(&FORMAT, self.counts, self.kept, self.dropped)?;
        super::json_report::declare(&mut parsed, self.declared);
        Ok(parsed)
    }
}

fn outcome(status: Option<&str>, element: &Element<'_>) -> Result<Outcome> {
    let status = status.unwrap_or_default();
    outcome_of(status).ok_or_else(|| unknown_result(status, element.spot()))
}

/// What a status says. `None`: it is none of Robot Framework's.
pub(super) fn outcome_of(status: &str) -> Option<Outcome> {
    match status {
        "PASS" => Some(Outcome::Passed),
        "FAIL" => Some(Outcome::Failed),
        "SKIP" | "NOT RUN" | "NOT_RUN" => Some(Outcome::Skipped),
        _ => None,
    }
}

/// Whether a teardown with that status decides over tests. A dry run runs none.
pub(super) fn decides(status: &str) -> bool {
    matches!(status, "FAIL" | "SKIP")
}

/// Counts one test.
pub(super) fn count(counts: &mut Counts, outcome: Outcome) -> Result<()> {
    for (_, count) in OUTCOMES.iter().zip(counts).filter(|(other, _)| **other == outcome) {
        *count = add(*count, 1)?;
    }
    Ok(())
}

/// Adds the tests of a suite to those of the one around it.
pub(super) fn add_all(counts: &mut Counts, more: Counts) -> Result<()> {
    for (count, more) in counts.iter_mut().zip(more) {
        *count = add(*count, more)?;
    }
    Ok(())
}

/// The tests of a suite after its teardown, which is told if it did not pass.
pub(super) fn torn_down(
    counts: Counts,
    kept: &mut [(String, TestCase)],
    teardown: Option<Outcome>,
    message: Option<&str>,
) -> Result<Counts> {
    for (_, case) in kept {
        match teardown {
            Some(Outcome::Failed) if case.outcome == Outcome::Passed => {
                (case.outcome, case.message) = (Outcome::Failed, message.map(str::to_owned));
            }
            Some(Outcome::Failed) | None => {}
            Some(_) => (case.outcome, case.message) = (Outcome::Skipped, None),
        }
    }
    let [passed, failed, skipped] = counts;
    Ok(match teardown {
        Some(Outcome::Failed) => [0, add(passed, failed)?, skipped],
        Some(_) => [0, 0, add(add(passed, failed)?, skipped)?],
        None => counts,
    })
}

/// The report of these tests.
pub(super) fn report(
    format: &'static Format,
    counts: Counts,
    kept: Vec<(String, TestCase)>,
    dropped: u64,
) -> Result<Parsed> {
    let mut tally = TestTally::new(false);
    for (outcome, count) in OUTCOMES.into_iter().zip(counts) {
        tally.count(outcome, count)?;
    }
    for (id, case) in kept {
        tally.keep(&id, case);
    }
    tally.details.dropped = tally.details.dropped.saturating_add(dropped);
    tally.finish(format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Sniff;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(suite: &str) -> Result<Parsed> {
        let text = format!("<robot><suite name='Shop' source='/shop'>{suite}</suite></robot>");
        parse(&Input::bytes("x", text.as_bytes()))
    }

    fn test(status: &str) -> String {
        format!("<test name='{status}'><kw><status status='FAIL'/></kw><status status='{status}'/></test>")
    }

    #[test]
    fn the_status_of_the_test_itself_counts() {
        for (status, expected) in [
            ("PASS", [1, 1, 0, 0, 0]),
            ("FAIL", [1, 0, 1, 0, 0]),
            ("SKIP", [1, 0, 0, 0, 1]),
            ("NOT RUN", [1, 0, 0, 0, 1]),
        ] {
            assert_eq!(counts(&read(&test(status)).unwrap()), expected, "{status}");
        }
        assert_eq!(counts(&read("<test name='a'/>").unwrap()), [1, 0, 0, 0, 1]);
        let odd = read("\n<test name='a'><status status='GREAT'/></test>").unwrap_err();
        assert_eq!((odd.reject(), odd.place.line), (Some(Reject::Malformed), Some(2)));
        assert!(read(&format!("<kw>{}</kw>", test("FAIL"))).is_ok_and(|parsed| parsed.figures.tests == Some(0)));
    }

    #[test]
    fn a_teardown_of_a_suite_decides_over_the_tests_in_it() {
        let suite = |kind: &str, status: &str, inner: &str| {
            let keyword = format!(
                "<kw type='{kind}'><kw><status status='PASS'/></kw><status status='{status}'>down</status></kw>"
            );
            let tests = format!("{}{}{}", test("PASS"), test("FAIL"), test("SKIP"));
            let parsed = read(&format!("{}<suite name='In'>{tests}{inner}{keyword}</suite>", test("PASS"))).unwrap();
            let inner = details(&parsed).cases.cases.remove("Shop::In::PASS").unwrap();
            assert_eq!(inner.message.as_deref(), Some("down").filter(|_| inner.outcome == Outcome::Failed));
            (counts(&parsed), inner.outcome)
        };
        assert_eq!(suite("TEARDOWN", "FAIL", ""), ([4, 1, 2, 0, 1], Outcome::Failed));
        assert_eq!(suite("teardown", "FAIL", ""), ([4, 1, 2, 0, 1], Outcome::Failed));
        assert_eq!(suite("TEARDOWN", "SKIP", ""), ([4, 1, 0, 0, 3], Outcome::Skipped));
        for other in ["PASS", "NOT RUN"] {
            assert_eq!(suite("TEARDOWN", other, ""), ([4, 2, 1, 0, 1], Outcome::Passed), "{other}");
        }
        assert_eq!(suite("SETUP", "FAIL", ""), ([4, 2, 1, 0, 1], Outcome::Passed));
        let deeper = format!("<suite name='Deep'>{}</suite>", test("PASS"));
        assert_eq!(suite("TEARDOWN", "FAIL", &deeper).0, [5, 1, 3, 0, 1]);
    }

    #[test]
    fn a_test_has_path_place_duration_and_message() {
        let parsed = read(
            "<test name='a' line='6'><kw><msg>no</msg></kw><status status='FAIL' elapsed='0.25'>one\ntwo</status></test>",
        );
        let details = details(&parsed.unwrap());
        let case = &details.cases.cases["Shop::a"];
        assert_eq!((case.file.as_deref(), case.line, case.duration_ms), (Some("/shop"), Some(6), Some(250)));
        assert_eq!(case.message.as_deref(), Some("one | two"));
    }

    #[test]
    fn the_statistics_of_all_tests_are_compared() {
        let statistics = |failed: u64| {
            let total = format!("<total><stat pass='9' fail='9'/><stat pass='1' fail='{failed}' skip='0'/></total>");
            let text = format!(
                "<robot><suite name='S'>{}</suite><statistics>{total}<tag><stat pass='7' fail='7'/></tag></statistics></robot>",
                test("PASS")
            );
            parse(&Input::bytes("x", text.as_bytes())).unwrap()
        };
        assert!(statistics(0).declared.is_none());
        assert_eq!((statistics(2).warnings.len(), statistics(2).declared.unwrap().failed), (1, Some(2)));
    }

    #[test]
    fn it_is_told_by_its_root() {
        assert!(matches!(sniffed(&FORMAT, "<robot generator='Robot'>"), Sniff::Sure(_)));
        assert_eq!(sniffed(&FORMAT, "<testsuite/>"), Sniff::No);
    }
}
