//! `codenarc-xml`: CodeNarc's XML report, for Groovy. Written after its documentation,
//! <https://codenarc.org/codenarc-XmlReportWriter.html>.

use super::LintTally;
use super::elements::{Elements, append, inside, line_number, walk};
use super::lines::finding;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::xml::Element;
use crate::ingest::{Finding, Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// CodeNarc's XML.
pub const FORMAT: Format = Format {
    name: "codenarc-xml",
    kind: ReportKind::Lint,
    about: "CodeNarc XML: violations by package and file",
    written_by: "CodeNarc, its plugins for Gradle, Maven and Grails",
    told_by: "root element CodeNarc",
    has_end: true,
    counting: "Each Violation by its priority: 1 is an error, 2 a warning, 3 and above notes; without one, an error.",
    sniff: |head| head.by_root(&["CodeNarc"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    reader.tally.tool("codenarc", Sort::Linter);
    walk(input, "CodeNarc", "CodeNarc", &mut reader)?;
    reader.tally.finish(&FORMAT)
}

#[derive(Default)]
struct Reader {
    tally: LintTally,
    /// The path of the package, and below it the file.
    package: String,
    file: String,
    /// The violation that is open; its message is still to come.
    open: Option<Finding>,
    message: String,
}

impl Elements for Reader {
    fn start(&mut self, open: &[String], element: &Element<'_>) -> Result<()> {
        match (inside(open), element.name()) {
            (_, "Package") => self.package = element.attribute("path")?.unwrap_or_default(),
            (_, "File") => {
                let name = element.attribute("name")?.unwrap_or_default();
                self.file = if self.package.is_empty() { name } else { format!("{}/{name}", self.package) };
            }
            (Some("File"), "Violation") => {
                let [rule, priority, line] = element.attributes(["ruleName", "priority", "lineNumber"])?;
                let level = match priority.as_deref().map(str::trim) {
                    None | Some("1") => Level::Error,
                    Some("2") => Level::Warning,
                    Some(_) => Level::Note,
                };
                self.message.clear();
                let place = (Some(self.file.as_str()), line_number(line));
                self.open = Some(finding("codenarc", level, place, rule.as_deref(), ""));
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, open: &[String], text: &str) {
        if inside(open) == Some("Message") {
            append(&mut self.message, text);
        }
    }

    fn end(&mut self, open: &[String]) -> Result<()> {
        let Some(found) = self.open.take_if(|_| inside(open) == Some("Violation")) else { return Ok(()) };
        self.tally.finding_with(found, &self.message, Sort::Linter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn violations_count_by_priority() {
        let text = "<?xml version='1.0'?><CodeNarc url='https://codenarc.org' version='3.3.0'><Report timestamp='x'/><Project title='A'>\
                    <SourceDirectory>src</SourceDirectory></Project><PackageSummary totalFiles='2' filesWithViolations='1'/>\
                    <Package path='src/a' totalFiles='2'><File name='B.groovy'><Violation ruleName='EmptyIf' priority='1' lineNumber='3'>\
                    <SourceLine><![CDATA[if (x) {}]]></SourceLine><Message><![CDATA[The if is empty]]></Message></Violation>\
                    <Violation ruleName='Long' priority='2' lineNumber=''/><Violation ruleName='Name' priority='3'/></File></Package>\
                    <Rules><Rule name='EmptyIf'><Description><![CDATA[d]]></Description></Rule></Rules></CodeNarc>";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("src/a/B.groovy"), Some(3), Some("EmptyIf"), "The if is empty"));
    }

    #[test]
    fn what_is_not_codenarc_s_is_rejected() {
        let error = parse(&Input::bytes("x", b"<pmd/>")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
    }
}
