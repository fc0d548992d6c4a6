//! `qttest-xml`: Qt Test's XML (`-o FILE,xml`). Written after its definition, Qt's `qxmltestlogger.cpp`. What `lightxml` writes
//! has no root element, and is no XML document.
//!
//! Each row of a test's data has its own result, and `initTestCase` and `cleanupTestCase` are results, too, as in Qt's own
//! totals. An expected failure stands before the result of its test, and is none itself.

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, walk};
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
    about: "XML of Qt Test",
    written_by: "programs with Qt Test (-o FILE,xml; -xml)",
    told_by: "root element TestCase with Environment or TestFunction in it",
    has_end: true,
    counting: "Each Incident that is a result: pass passed, fail and xpass failed, blacklisted and skipped ones skipped.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.rooted(&["TestCase"]) {
        Some(xml) if xml.has_child("Environment") || xml.has_child("TestFunction") => {
            Sniff::Sure("root element TestCase with TestFunction".into())
        }
        _ => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (object, function) = (String::new(), String::new());
    let mut reader = Reader { tally: TestTally::new(true), object, function, tag: None, open: None };
    walk(input, &FORMAT, &["TestCase"], &mut reader)?;
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    /// The test object, and the function of it that is told.
    object: String,
    function: String,
    /// The row of data.
    tag: Option<String>,
    open: Option<OpenCase>,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            ("TestCase", None) => self.object = element.attribute("name")?.unwrap_or_default(),
            ("TestFunction", _) => self.function = element.attribute("name")?.unwrap_or_default(),
            (kind @ ("Incident" | "Message"), Some("TestFunction")) => {
                let outcome = match (kind, element.attribute("type")?.unwrap_or_default().as_str()) {
                    ("Incident", "pass") => Outcome::Passed,
                    ("Incident", "fail" | "xpass") => Outcome::Failed,
                    ("Incident", "bpass" | "bfail" | "bxpass") | (_, "skip") => Outcome::Skipped,
                    _ => return Ok(false),
                };
                let mut open = OpenCase::new(None, None, None, outcome);
                open.case.file =
                    element.attribute("file")?.filter(|file| !file.is_empty()).map(|file| printable(&file, 1000));
                open.case.line = element.attribute("line")?.and_then(|line| line.parse().ok()).filter(|line| *line > 0);
                (self.open, self.tag) = (Some(open), None);
            }
            ("DataTag" | "Description", Some("Incident" | "Message")) => return Ok(self.open.is_some()),
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        match (name, &mut self.open) {
            ("DataTag", Some(_)) => self.tag = text.map(str::to_owned),
            ("Description", Some(open)) => open.message(text),
            ("Incident" | "Message", Some(_)) => {
                let Some(mut open) = self.open.take() else { return Ok(()) };
                let row = self.tag.take().map_or_else(String::new, |tag| format!("({tag})"));
                open.id = format!("{}::{}{row}", self.object, self.function);
                return open.done(&mut self.tally);
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TestCase name=\"Cart\">\n<Environment><QtVersion>6.4.2</QtVersion></Environment>\n\
        <TestFunction name=\"initTestCase\"><Incident type=\"pass\" file=\"\" line=\"0\" /><Duration msecs=\"0.04\"/></TestFunction>\n\
        <TestFunction name=\"rows\"><Incident type=\"fail\" file=\"cart.cpp\" line=\"12\"><DataTag><![CDATA[two]]></DataTag>\
        <Description><![CDATA[Compared values are not the same\n   Actual: 1]]></Description></Incident>\
        <Incident type=\"xfail\" file=\"cart.cpp\" line=\"13\"><DataTag><![CDATA[three]]></DataTag></Incident>\
        <Incident type=\"pass\" file=\"\" line=\"0\"><DataTag><![CDATA[three]]></DataTag></Incident></TestFunction>\n\
        <TestFunction name=\"later\"><Message type=\"qdebug\" file=\"\" line=\"0\"/><Message type=\"skip\" file=\"cart.cpp\" line=\"20\">\
        <Description><![CDATA[no]]></Description></Message></TestFunction>\n\
        <TestFunction name=\"listed\"><Incident type=\"bfail\" file=\"cart.cpp\" line=\"25\"/></TestFunction>\n\
        <TestFunction name=\"odd\"><Incident type=\"xpass\" file=\"cart.cpp\" line=\"30\"/></TestFunction>\n<Duration msecs=\"1.5\"/>\n</TestCase>\n";

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn each_result_counts() {
        let parsed = read(RUN).unwrap();
        assert_eq!(counts(&parsed), [6, 2, 2, 0, 2]);
        let details = details(&parsed);
        let case = &details.cases.cases["Cart::rows(two)"];
        assert_eq!((case.file.as_deref(), case.line), (Some("cart.cpp"), Some(12)));
        assert_eq!(case.message.as_deref(), Some("Compared values are not the same | Actual: 1"));
        assert_eq!(details.cases.outcome("Cart::rows(three)"), Some(Outcome::Passed));
    }

    #[test]
    fn it_is_told_by_its_root() {
        assert!(matches!(sniffed(&FORMAT, RUN), Sniff::Sure(_)));
        assert_eq!(sniffed(&FORMAT, "<TestCase name=\"x\"><Info/></TestCase>"), Sniff::No);
        assert_eq!(read("<testsuites/>").unwrap_err().reject(), Some(Reject::NotThisFormat));
        assert_eq!(read(RUN.trim_end().trim_end_matches("</TestCase>")).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
