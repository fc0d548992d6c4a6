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
               attribute success tells. All totals are left aside.",
    sniff: |head| head.by_root(ROOTS),
    parse,
};

const ROOTS: &[&str] = &["test-results"];

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(false), case: None };
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    case: Option<OpenCase>,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            ("test-case", _) => self.case = Some(case(element)?),
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

fn case(element: &Element<'_>) -> Result<OpenCase> {
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
        None => return Err(unknown_result(success.as_deref().unwrap_or_default(), element.spot())),
    };
    Ok(OpenCase::new(name, None, None, outcome).seconds(time.as_deref()))
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
        assert!(parse(&Input::bytes("x", b"<test-results><test-case/></test-results>")).is_err());
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
