//! `cppunit`: the XML of CppUnit's `XmlOutputter`, which is also its definition. Its root is that of TRX, but what it
//! holds is its own.

use super::TestTally;
use super::xml_report::{Dialect, OpenCase, foreign, walk};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::{Element, Spot};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// CppUnit's XML.
pub const FORMAT: Format = Format {
    name: "cppunit",
    kind: ReportKind::Test,
    about: "XML of CppUnit",
    written_by: "programs with CppUnit (XmlOutputter)",
    told_by: "root element TestRun with FailedTests or SuccessfulTests in it",
    has_end: true,
    counting: "Each Test of SuccessfulTests passed; each FailedTest failed, or is errored if its FailureType is Error.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_ours(head) { Sniff::Sure("root element TestRun with FailedTests".into()) } else { Sniff::No }
}

/// Whether a document with the root of TRX is CppUnit's.
pub(super) fn is_ours(head: &Head<'_>) -> bool {
    head.rooted(&["TestRun"]).is_some_and(|xml| xml.children.iter().any(|child| is_list(child)))
}

/// Whether CppUnit alone has the element in its root.
pub(super) fn is_list(name: &str) -> bool {
    matches!(name, "FailedTests" | "SuccessfulTests")
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader { tally: TestTally::new(true), lists: 0, open: None };
    walk(input, &FORMAT, &["TestRun"], &mut reader)?;
    if reader.lists == 0 {
        return Err(foreign(&FORMAT, "no FailedTests is in its TestRun", Spot { line: 1, column: 1 }));
    }
    reader.tally.finish(&FORMAT)
}

struct Reader {
    tally: TestTally,
    lists: u64,
    open: Option<OpenCase>,
}

impl Dialect for Reader {
    fn start(&mut self, element: &Element<'_>, parent: Option<&str>) -> Result<bool> {
        match (element.name(), parent) {
            (list, Some("TestRun")) if is_list(list) => self.lists = self.lists.saturating_add(1),
            ("FailedTest", Some("FailedTests")) => self.open = Some(OpenCase::new(None, None, None, Outcome::Failed)),
            ("Test", Some("SuccessfulTests")) => self.open = Some(OpenCase::new(None, None, None, Outcome::Passed)),
            (_, Some("FailedTest" | "Test" | "Location")) => return Ok(self.open.is_some()),
            _ => {}
        }
        Ok(false)
    }

    fn end(&mut self, name: &str, text: Option<&str>) -> Result<()> {
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        match (name, &mut self.open) {
            ("Name", Some(open)) => text.unwrap_or("(unnamed)").clone_into(&mut open.id),
            ("FailureType", Some(open)) if text == Some("Error") => open.case.outcome = Outcome::Errored,
            ("File", Some(open)) => open.case.file = text.map(|file| printable(file, 1000)),
            ("Line", Some(open)) => open.case.line = text.and_then(|line| line.parse().ok()).filter(|line| *line > 0),
            ("Message", Some(open)) => open.message(text),
            ("FailedTest" | "Test", Some(_)) => {
                return self.open.take().map_or(Ok(()), |open| open.done(&mut self.tally));
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
    use crate::ingest::test::trx;

    const RUN: &str = "<?xml version=\"1.0\" encoding='ISO-8859-1' standalone='yes' ?>\n<TestRun>\n<FailedTests>\n<FailedTest id=\"2\"><Name>Cart::fails</Name>\
                       <FailureType>Assertion</FailureType><Location><File>cart.cpp</File><Line>8</Line></Location><Message>equality\n- 1</Message></FailedTest>\
                       <FailedTest id=\"3\"><Name>Cart::throws</Name><FailureType>Error</FailureType><Message>boom</Message></FailedTest></FailedTests>\
                       <SuccessfulTests><Test id=\"1\"><Name>Cart::adds</Name></Test></SuccessfulTests><Statistics><Tests>3</Tests></Statistics></TestRun>\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn each_test_counts() {
        let parsed = read(RUN).unwrap();
        assert_eq!(counts(&parsed), [3, 1, 1, 1, 0]);
        let details = details(&parsed);
        let case = &details.cases.cases["Cart::fails"];
        assert_eq!((case.file.as_deref(), case.line), (Some("cart.cpp"), Some(8)));
        assert_eq!(details.cases.outcome("Cart::throws"), Some(Outcome::Errored));
        let none = "<TestRun><FailedTests></FailedTests><SuccessfulTests></SuccessfulTests></TestRun>";
        assert_eq!(counts(&read(none).unwrap()), [0; 5]);
    }

    #[test]
    fn trx_and_it_are_told_apart() {
        let other = "<TestRun id=\"x\"><Results/></TestRun>";
        assert!(matches!(sniffed(&FORMAT, RUN), Sniff::Sure(_)));
        assert_eq!((sniffed(&FORMAT, other), sniffed(&trx::FORMAT, RUN)), (Sniff::No, Sniff::No));
        for error in [read(other), (trx::FORMAT.parse)(&Input::bytes("x", RUN.as_bytes()))] {
            assert_eq!(error.unwrap_err().reject(), Some(Reject::NotThisFormat));
        }
    }
}
