//! `gtester-xml`: the log that GLib's `gtester` writes of programs with GTest.
//! <https://docs.gtk.org/glib/testing.html>; it is deprecated since GLib 2.62, and still there.

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, unknown_result, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Parsed};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// The log of gtester.
pub const FORMAT: Format = Format {
    name: "gtester-xml",
    kind: ReportKind::Test,
    about: "XML of GLib's gtester: test cases of each program",
    written_by: "gtester -o FILE",
    told_by: "root element gtester",
    has_end: true,
    counting: "Each testcase by its status: success passed, unless its exit status says that it was skipped; failed failed, \
               unless that says that it is incomplete, which is skipped. One without a status, at which the program died, \
               is errored.",
    sniff: |head| head.by_root(ROOTS),
    parse,
};

const ROOTS: &[&str] = &["gtester"];

/// GLib's exit status of a test that was skipped, and of one that is still to be done.
const SKIPPED: &str = "1";
const INCOMPLETE: &str = "3";

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(true), program: None, open: None };
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    program: Option<String>,
    open: Option<OpenCase>,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            ("testbinary", _) => self.program = element.attribute("path")?,
            ("testcase", _) => {
                let [path, skipped] = element.attributes(["path", "skipped"])?;
                let outcome = if skipped.is_some() { Outcome::Skipped } else { Outcome::Errored };
                self.open = Some(OpenCase::new(None, self.program.clone(), path, outcome));
            }
            ("status", Some("testcase")) => {
                let [result, status] = element.attributes(["result", "exit-status"])?;
                let outcome = match (result.as_deref().unwrap_or_default(), status.as_deref()) {
                    ("success", Some(SKIPPED)) | ("failed", Some(INCOMPLETE)) | ("skipped", _) => Outcome::Skipped,
                    ("success", _) => Outcome::Passed,
                    ("failed", _) => Outcome::Failed,
                    (other, _) => return Err(unknown_result(other, element.spot())),
                };
                if let Some(open) = &mut self.open {
                    open.case.outcome = outcome;
                }
            }
            ("duration" | "error", Some("testcase")) => return Ok(true),
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        match (name, &mut self.open) {
            ("testcase", open) => return open.take().map_or(Ok(()), |open| open.done(&mut self.tally)),
            ("duration", Some(open)) => open.case.duration_ms = text.and_then(super::milliseconds),
            ("error", Some(open)) => open.message(text),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details};

    fn read(case: &str) -> Result<Parsed> {
        let text = format!("<gtester><testbinary path=\"./t\"><testcase path=\"/adds\"{case}</testbinary></gtester>");
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_status_tells_what_a_test_came_to() {
        let status = |exit: u64, result: &str| {
            format!(
                "><duration>0.25</duration><status exit-status=\"{exit}\" n-forks=\"0\" result=\"{result}\"/></testcase>"
            )
        };
        for (case, expected) in [
            (status(0, "success"), [1, 1, 0, 0, 0]),
            (status(1, "success"), [1, 0, 0, 0, 1]),
            (status(2, "failed"), [1, 0, 1, 0, 0]),
            (status(3, "failed"), [1, 0, 0, 0, 1]),
            (" skipped=\"1\"/>".to_owned(), [1, 0, 0, 0, 1]),
            ("></testcase>".to_owned(), [1, 0, 0, 1, 0]),
        ] {
            assert_eq!(counts(&read(&case).unwrap()), expected, "{case}");
        }
        let parsed = read(&status(0, "success")).unwrap();
        assert_eq!(details(&parsed).cases.cases["./t::/adds"].duration_ms, Some(250));
        assert_eq!(read(&status(0, "great")).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
