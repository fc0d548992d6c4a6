//! `cpd`: duplications as PMD's copy/paste detector writes them, and jscpd after it.
//! <https://docs.pmd-code.org/latest/pmd_userdocs_cpd_report_formats.html#xml>; `cpd-report_1_0_0.xsd`: `pmd-cpd/duplication`
//! with the files in which the same stands.

use super::LintTally;
use super::elements::{Elements, inside, line_number, walk};
use super::lines::finding;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::Element;
use crate::ingest::{Finding, Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// CPD's XML.
pub const FORMAT: Format = Format {
    name: "cpd",
    kind: ReportKind::Lint,
    about: "CPD's XML: duplications, with the places of each",
    written_by: "pmd cpd --format xml, jscpd --reporters xml, phpcpd --log-pmd",
    told_by: "root element pmd-cpd",
    has_end: true,
    counting: "Each duplication is one error, wherever and how often it stands; a file that could not be processed is \
               one too.",
    sniff: |head| head.by_root(&["pmd-cpd"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    reader.tally.tool("cpd", Sort::Linter);
    walk(input, "pmd-cpd", "CPD", &mut reader)?;
    reader.tally.finish(&FORMAT)
}

#[derive(Default)]
struct Reader {
    tally: LintTally,
    /// The duplication that is open.
    open: Option<Finding>,
}

impl Elements for Reader {
    fn start(&mut self, open: &[String], element: &Element<'_>) -> Result<()> {
        match (inside(open), element.name()) {
            (Some("pmd-cpd"), "duplication") => {
                let lines = element.attribute("lines")?.unwrap_or_else(|| "some".to_owned());
                let message = format!("{lines} lines stand in several places");
                self.open = Some(finding("cpd", Level::Error, (None, None), None, &message));
            }
            (Some("duplication"), "file") => {
                let [path, line] = element.attributes(["path", "line"])?;
                if let Some(found) = self.open.as_mut().filter(|found| found.path.is_none()) {
                    found.path = path.map(|path| printable(&path, 1000));
                    found.line = line_number(line);
                }
            }
            (Some("pmd-cpd"), "error") => {
                let [file, message] = element.attributes(["filename", "msg"])?;
                let message = message.unwrap_or_else(|| "the file could not be processed".to_owned());
                let place = (file.as_deref(), None);
                self.tally.finding(finding("cpd", Level::Error, place, None, &message), Sort::Linter)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, _: &[String], _: &str) {}

    fn end(&mut self, open: &[String]) -> Result<()> {
        if inside(open) != Some("duplication") {
            return Ok(());
        }
        self.open.take().map_or(Ok(()), |found| self.tally.finding(found, Sort::Linter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn each_duplication_is_one_at_its_first_place() {
        let text = "<pmd-cpd xmlns='https://pmd-code.org/schema/cpd-report'><file path='A.java' totalNumberOfTokens='9'/>\
                    <duplication lines='33' tokens='239'><file column='1' line='5' path='A.java'/><file line='9' path='B.java'/>\
                    <codefragment><![CDATA[x]]></codefragment></duplication><error filename='C.java' msg='cannot parse'/></pmd-cpd>";
        let parsed = read(text).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.total), (Some(2), Some(2)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let first = details.findings.first().unwrap();
        let told = (first.path.as_deref(), first.line, first.message.as_str());
        assert_eq!(told, (Some("A.java"), Some(5), "33 lines stand in several places"));
        assert_eq!(read("<pmd-cpd/>").unwrap().figures.total, Some(0));
        assert_eq!(read("<pmd-cpd><duplication>").unwrap_err().reject(), Some(Reject::Malformed));
    }
}
