//! `phpcs-xml`: PHP_CodeSniffer's XML report. <https://github.com/PHPCSStandards/PHP_CodeSniffer/wiki/Reporting>

use super::LintTally;
use super::elements::{Elements, append, inside, line_number, walk};
use super::lines::finding;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::xml::Element;
use crate::ingest::{Finding, Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// PHP_CodeSniffer's XML.
pub const FORMAT: Format = Format {
    name: "phpcs-xml",
    kind: ReportKind::Lint,
    about: "PHP_CodeSniffer's XML: messages by file",
    written_by: "phpcs --report=xml",
    told_by: "root element phpcs",
    has_end: true,
    counting: "Each error and each warning of a file.",
    sniff: |head| head.by_root(&["phpcs"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    reader.tally.tool("phpcs", Sort::Linter);
    walk(input, "phpcs", "PHP_CodeSniffer", &mut reader)?;
    reader.tally.finish(&FORMAT)
}

#[derive(Default)]
struct Reader {
    tally: LintTally,
    file: Option<String>,
    /// The message that is open, whose text is still to come.
    open: Option<Finding>,
    message: String,
}

impl Elements for Reader {
    fn start(&mut self, open: &[String], element: &Element<'_>) -> Result<()> {
        let level = match (inside(open), element.name()) {
            (Some("phpcs"), "file") => {
                self.file = element.attribute("name")?;
                return Ok(());
            }
            (Some("file"), "error") => Level::Error,
            (Some("file"), "warning") => Level::Warning,
            _ => return Ok(()),
        };
        let [line, rule] = element.attributes(["line", "source"])?;
        self.message.clear();
        self.open = Some(finding("phpcs", level, (self.file.as_deref(), line_number(line)), rule.as_deref(), ""));
        Ok(())
    }

    fn text(&mut self, open: &[String], text: &str) {
        if matches!(inside(open), Some("error" | "warning")) {
            append(&mut self.message, text);
        }
    }

    fn end(&mut self, open: &[String]) -> Result<()> {
        let Some(found) = self.open.take_if(|_| matches!(inside(open), Some("error" | "warning"))) else {
            return Ok(());
        };
        self.tally.finding_with(found, &self.message, Sort::Linter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    #[test]
    fn errors_and_warnings_of_files_count() {
        let text = "<?xml version=\"1.0\"?>\n<phpcs version=\"3.7.1\">\n<file name=\"a.php\" errors=\"9\" warnings=\"9\">\n\
                    <error line=\"3\" source=\"PSR12.A\">Class name &quot;cart&quot;</error>\n\
                    <warning line=\"0\" source=\"Internal.NoCode\">no code</warning>\n</file>\n<error line=\"1\">of no file</error></phpcs>";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!(
            (parsed.format.name, parsed.figures.errors, parsed.figures.warnings),
            ("phpcs-xml", Some(1), Some(1))
        );
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let [first, second] = &details.findings[..] else { panic!("two") };
        assert_eq!(
            (first.path.as_deref(), first.line, first.rule.as_deref()),
            (Some("a.php"), Some(3), Some("PSR12.A"))
        );
        assert_eq!((first.message.as_str(), second.line), ("Class name \"cart\"", None));
    }
}
