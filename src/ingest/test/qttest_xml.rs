//! `qttest-xml`: what a program with Qt Test writes with `-o FILE,xml`.
//! <https://doc.qt.io/qt-6/qtest-overview.html#creating-a-test>
//!
//! `initTestCase` and `cleanupTestCase` are tests, too, as in what it prints and in its JUnit.

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, unknown_result, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// Qt Test's XML.
pub const FORMAT: Format = Format {
    name: "qttest-xml",
    kind: ReportKind::Test,
    about: "XML of Qt Test: incidents of each test function",
    written_by: "programs with Qt Test (-o FILE,xml)",
    told_by: "root element TestCase with Environment or TestFunction in it",
    has_end: true,
    counting: "Each test function is one test, each row of its data too, by the worst of its incidents: fail and xpass \
               failed; skip and what is blacklisted skipped; pass passed.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.rooted(ROOTS) {
        Some(xml) if xml.has_child("Environment") || xml.has_child("TestFunction") => {
            Sniff::Sure("root element TestCase of Qt Test".into())
        }
        _ => Sniff::No,
    }
}

const ROOTS: &[&str] = &["TestCase"];

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader {
        tally: TestTally::new(true),
        object: String::new(),
        function: String::new(),
        incident: None,
        row: None,
    };
    walk(input, &FORMAT, ROOTS, &mut reader)?;
    reader.tally.finish(&FORMAT)
}

/// An incident that is open.
struct Incident {
    case: OpenCase,
    tag: Option<String>,
}

struct Reader {
    tally: TestTally,
    object: String,
    function: String,
    incident: Option<Incident>,
    /// The row that the incidents before were about: those of one row follow each other.
    row: Option<OpenCase>,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            ("TestCase", None) => self.object = element.attribute("name")?.unwrap_or_default(),
            ("TestFunction", _) => self.function = element.attribute("name")?.unwrap_or_default(),
            ("Incident" | "Message", Some("TestFunction")) => self.begin(element)?,
            ("DataTag" | "Description", Some("Incident" | "Message")) => return Ok(self.incident.is_some()),
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        match (name, &mut self.incident) {
            ("DataTag", Some(incident)) => incident.tag = text.map(|text| text.trim().to_owned()),
            ("Description", Some(incident)) => incident.case.message(text),
            ("Incident" | "Message", _) => return self.end_incident(),
            ("TestFunction", _) => return self.end_row(),
            _ => {}
        }
        Ok(())
    }
}

impl Reader {
    fn begin(&mut self, element: &Element<'_>) -> Result<()> {
        let [kind, file, line] = element.attributes(["type", "file", "line"])?;
        let outcome = match (element.name(), kind.as_deref().unwrap_or_default()) {
            (_, "skip") => Outcome::Skipped,
            // What a test prints.
            ("Message", _) => return Ok(()),
            (_, "pass") => Outcome::Passed,
            (_, "fail" | "xpass") => Outcome::Failed,
            (_, "bpass" | "bfail" | "bxpass") => Outcome::Skipped,
            // Expected: the result comes after it, as in Qt's own totals.
            (_, "xfail" | "bxfail") => return Ok(()),
            (_, other) => return Err(unknown_result(other, element.spot())),
        };
        let mut case = OpenCase::new(None, None, None, outcome);
        case.case.file = file.filter(|file| !file.is_empty()).map(|file| printable(&file, 1000));
        case.case.line = line.and_then(|line| line.parse().ok()).filter(|line| *line > 0);
        self.incident = Some(Incident { case, tag: None });
        Ok(())
    }

    fn end_incident(&mut self) -> Result<()> {
        let Some(Incident { mut case, tag }) = self.incident.take() else { return Ok(()) };
        let tag = tag.map(|tag| format!("({tag})")).unwrap_or_default();
        case.id = format!("{}::{}{tag}", self.object, self.function);
        match &mut self.row {
            Some(row) if row.id == case.id => {
                if case.case.outcome > row.case.outcome {
                    self.row = Some(case);
                }
                Ok(())
            }
            _ => {
                self.end_row()?;
                self.row = Some(case);
                Ok(())
            }
        }
    }

    fn end_row(&mut self) -> Result<()> {
        self.row.take().map_or(Ok(()), |row| row.done(&mut self.tally))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(functions: &str) -> Result<Parsed> {
        let text = format!(
            "<TestCase name=\"Cart\"><Environment><QtVersion>6</QtVersion></Environment>{functions}</TestCase>"
        );
        assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)));
        parse(&Input::bytes("x", text.as_bytes()))
    }

    fn function(incidents: &str) -> String {
        format!("<TestFunction name=\"adds\">{incidents}<Duration msecs=\"0.2\"/></TestFunction>")
    }

    #[test]
    fn incidents_tell_what_a_function_came_to() {
        for (incidents, expected) in [
            ("<Incident type=\"pass\" file=\"\" line=\"0\" />", [1, 1, 0, 0, 0]),
            ("<Incident type=\"xfail\"/><Incident type=\"pass\"/>", [1, 1, 0, 0, 0]),
            ("<Incident type=\"xpass\"/>", [1, 0, 1, 0, 0]),
            ("<Message type=\"skip\"/>", [1, 0, 0, 0, 1]),
            ("<Incident type=\"skip\"/>", [1, 0, 0, 0, 1]),
            ("<Incident type=\"bfail\"/>", [1, 0, 0, 0, 1]),
            ("<Message type=\"qdebug\"/><Incident type=\"pass\"/>", [1, 1, 0, 0, 0]),
        ] {
            assert_eq!(counts(&read(&function(incidents)).unwrap()), expected, "{incidents}");
        }
        let odd = read(&function("<Incident type=\"great\"/>")).unwrap_err();
        assert_eq!(odd.reject(), Some(Reject::Malformed));
    }

    #[test]
    fn each_row_is_a_test_with_its_place_and_message() {
        let row = |tag: &str, kind: &str| {
            format!(
                "<Incident type=\"{kind}\" file=\"a.cpp\" line=\"12\"><DataTag><![CDATA[{tag}]]></DataTag>\
                 <Description><![CDATA[they differ]]></Description></Incident>"
            )
        };
        let rows = [row("one", "pass"), row("two", "fail"), row("two", "fail")].concat();
        let parsed = read(&function(&rows)).unwrap();
        assert_eq!(counts(&parsed), [2, 1, 1, 0, 0]);
        let case = &details(&parsed).cases.cases["Cart::adds(two)"];
        assert_eq!((case.file.as_deref(), case.line), (Some("a.cpp"), Some(12)));
        assert_eq!(case.message.as_deref(), Some("they differ"));
    }

    #[test]
    fn a_test_case_of_another_kind_is_none() {
        assert_eq!(sniffed(&FORMAT, "<TestCase><a/></TestCase>"), Sniff::No);
    }
}
