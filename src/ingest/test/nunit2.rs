//! `nunit2`: the result file of NUnit before version 3, which Pester and many converters still write. It has no schema
//! beyond the `Results.xsd` that came with NUnit 2; versions before 2.5 lack the attribute `result`.

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, unknown_result, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Parsed};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// NUnit 2 result XML.
pub const FORMAT: Format = Format {
    name: "nunit2",
    kind: ReportKind::Test,
    about: "NUnit 2 XML: one test-case a test",
    written_by: "NUnit 2, Pester -OutputFormat NUnitXml, converters",
    told_by: "root element test-results",
    has_end: true,
    counting: "Each test-case is one test. Success passed, Failure failed; Error, NotRunnable and Cancelled are errored; \
               Ignored, Skipped and Inconclusive are skipped. Without a result: skipped if it was not executed, else its \
               attribute success tells; without that too, a failure in it. All totals are left aside.",
    sniff: |head| head.by_root(ROOTS),
    parse,
};

const ROOTS: &[&str] = &["test-results"];

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(false), case: None, is_told: true };
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    case: Option<OpenCase>,
    /// The attributes of the test tell its outcome. Else it passed unless a failure is in it.
    is_told: bool,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            ("test-case", _) => {
                let (case, is_told) = case(element)?;
                (self.case, self.is_told) = (Some(case), is_told);
            }
            ("failure", Some("test-case")) if !self.is_told => {
                if let Some(open) = &mut self.case {
                    open.case.outcome = Outcome::Failed;
                }
            }
            ("message" | "stack-trace", Some("failure")) => return Ok(self.case.is_some()),
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        match (name, &mut self.case) {
            ("message", Some(case)) if text.is_some() => case.message(text),
            ("stack-trace", Some(case)) if text.is_some() => case.stack(text),
            ("test-case", _) => return self.case.take().map_or(Ok(()), |case| case.done(&mut self.tally)),
            _ => {}
        }
        Ok(())
    }
}

/// The test, and whether its attributes tell what came of it: some converters write only that it ran.
fn case(element: &Element<'_>) -> Result<(OpenCase, bool)> {
    let [name, result, executed, success, time] =
        element.attributes(["name", "result", "executed", "success", "time"])?;
    let is =
        |value: &Option<String>, word: &str| value.as_deref().is_some_and(|value| value.eq_ignore_ascii_case(word));
    let outcome = match result.as_deref() {
        Some("Success") => Outcome::Passed,
        Some("Failure") => Outcome::Failed,
        Some("Error" | "NotRunnable" | "Cancelled") => Outcome::Errored,
        Some("Ignored" | "Skipped" | "Inconclusive") => Outcome::Skipped,
        Some(other) => return Err(unknown_result(other, element.spot())),
        None if is(&executed, "false") => Outcome::Skipped,
        None if is(&success, "true") => Outcome::Passed,
        None if is(&success, "false") => Outcome::Failed,
        None if success.is_none() && is(&executed, "true") => Outcome::Passed,
        None => return Err(unknown_result(success.as_deref().unwrap_or_default(), element.spot())),
    };
    let is_told = result.is_some() || success.is_some() || outcome != Outcome::Passed;
    Ok((OpenCase::new(name, None, None, outcome).seconds(time.as_deref()), is_told))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::tests_support::{counts, details};

    #[test]
    fn results_are_outcomes_and_older_versions_have_none() {
        for (attributes, expected) in [
            ("result='Success' success='True'", [1, 1, 0, 0, 0]),
            ("result='Failure'", [1, 0, 1, 0, 0]),
            ("result='Error'", [1, 0, 0, 1, 0]),
            ("result='NotRunnable' executed='False'", [1, 0, 0, 1, 0]),
            ("result='Inconclusive'", [1, 0, 0, 0, 1]),
            ("executed='False'", [1, 0, 0, 0, 1]),
            ("executed='True' success='True'", [1, 1, 0, 0, 0]),
            ("executed='True' success='False'", [1, 0, 1, 0, 0]),
        ] {
            let text = format!(
                "<test-results><test-suite><results><test-case {attributes}/></results></test-suite></test-results>"
            );
            assert_eq!(counts(&parse(&Input::bytes("x", text.as_bytes())).unwrap()), expected, "{attributes}");
        }
        for unknown in ["", "success='Maybe' executed='True'", "executed='Perhaps'"] {
            let text = format!("<test-results><test-case {unknown}/></test-results>");
            assert!(parse(&Input::bytes("x", text.as_bytes())).is_err(), "{unknown}");
        }
    }

    #[test]
    fn a_test_of_which_only_is_told_that_it_ran_passed_unless_a_failure_is_in_it() {
        let text = "<test-results><test-suite success='True'><failure><message>its own</message></failure><results>\
                    <test-case name='a' executed='True' time='1.0'/>\
                    <test-case name='b' executed='True'><failure><message>no</message></failure></test-case>\
                    <test-case name='c' executed='False'><failure/></test-case>\
                    <test-case name='d' executed='True' success='True'><failure/></test-case>\
                    <test-case name='e' executed='True'/></results></test-suite></test-results>";
        let parsed = parse(&Input::bytes("x", text.as_bytes())).unwrap();
        assert_eq!(counts(&parsed), [5, 3, 1, 0, 1]);
        assert_eq!(details(&parsed).cases.cases["b"].message.as_deref(), Some("no"));
    }

    #[test]
    fn a_failure_has_its_message_and_a_skip_has_none() {
        let text = "<test-results><test-case name='a.B.c' result='Failure' time='1.5'><failure><message>no</message></failure>\
                    </test-case><test-case name='d' executed='False'><reason><message>later</message></reason></test-case>\
                    </test-results>";
        let details = details(&parse(&Input::bytes("x", text.as_bytes())).unwrap());
        let case = &details.cases.cases["a.B.c"];
        assert_eq!((case.message.as_deref(), case.duration_ms), (Some("no"), Some(1500)));
        assert_eq!(details.cases.cases["d"].message, None);
    }
}
