//! `pmd`: XML by file of PMD and PHPMD.
//!
//! Written after PMD's report schema (`report_2_0_0.xsd`): `pmd/file/violation` with a priority from 1 to 5 and the
//! message as text; `error` for a file that could not be read. What was suppressed on purpose is no finding. It does not
//! tell which files were clean.

use super::LintTally;
use super::elements::{Elements, append, inside, line_number, walk};
use super::lines::finding;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::xml::Element;
use crate::ingest::{Finding, Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// PMD XML.
pub const FORMAT: Format = Format {
    name: "pmd",
    kind: ReportKind::Lint,
    about: "PMD XML: violations by file",
    written_by: "PMD, PHPMD",
    told_by: "root element pmd",
    has_end: true,
    counting: "Each violation by its priority: 1 and 2 are errors, 3 and 4 warnings, 5 notes; without one, an error. A file \
               that could not be processed is an error.",
    sniff: |head| head.by_root(&["pmd"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    reader.tally.tool("pmd", Sort::Linter);
    walk(input, "pmd", "PMD", &mut reader)?;
    reader.tally.finish(&FORMAT)
}

#[derive(Default)]
struct Reader {
    tally: LintTally,
    file: Option<String>,
    /// The violation that is open; its message is still to come.
    open: Option<Finding>,
    message: String,
}

impl Elements for Reader {
    fn start(&mut self, open: &[String], element: &Element<'_>) -> Result<()> {
        match (inside(open), element.name()) {
            (Some("pmd"), "file") => self.file = element.attribute("name")?,
            (Some("file"), "violation") => {
                let [priority, line, rule, early] = element.attributes(["priority", "beginline", "rule", "line"])?;
                let place = (self.file.as_deref(), line_number(line.or(early)));
                self.message.clear();
                self.open = Some(finding("pmd", level(priority.as_deref())?, place, rule.as_deref(), ""));
            }
            (Some("pmd" | "file"), "error") => {
                let [file, message] = element.attributes(["filename", "msg"])?;
                let path = file.as_deref().or(self.file.as_deref());
                let message = message.unwrap_or_else(|| "the file could not be processed".to_owned());
                self.tally.finding(finding("pmd", Level::Error, (path, None), None, &message), Sort::Linter)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, open: &[String], text: &str) {
        if inside(open) == Some("violation") {
            append(&mut self.message, text);
        }
    }

    fn end(&mut self, open: &[String]) -> Result<()> {
        if inside(open) != Some("violation") {
            return Ok(());
        }
        let Some(found) = self.open.take() else { return Ok(()) };
        self.tally.finding_with(found, &self.message, Sort::Linter)
    }
}

fn level(priority: Option<&str>) -> Result<Level> {
    match priority.map(str::trim) {
        None | Some("1" | "2") => Ok(Level::Error),
        Some("3" | "4") => Ok(Level::Warning),
        Some("5") => Ok(Level::Note),
        Some(other) => {
            let why = format!("a violation has the priority {:?}, which is not from 1 to 5", printable(other, 40));
            Err(Error::report(Reject::Malformed, why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    fn read(inner: &str) -> Result<Parsed> {
        let text = format!("<pmd xmlns='http://pmd.sourceforge.net/report/2.0.0' version='7.0.0'>{inner}</pmd>");
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn priorities_and_errors_count_and_suppressions_do_not() {
        let parsed = read(
            "<file name='A.java'><violation beginline='3' rule='R' priority='1'>\n one\n</violation>\
             <violation priority='4' rule='S'/><violation priority='5'>n</violation></file>\
             <suppressedviolation filename='A.java' msg='m'/><error filename='B.java' msg='cannot parse'>trace</error>\
             <configerror rule='R' msg='bad'/>",
        )
        .unwrap();
        let figures = &parsed.figures;
        assert_eq!((figures.errors, figures.warnings, figures.notes), (Some(2), Some(1), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let told: Vec<_> = details
            .findings
            .iter()
            .map(|f| (f.path.as_deref().unwrap(), f.line, f.rule.as_deref(), f.message.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                ("A.java", Some(3), Some("R"), "one"),
                ("A.java", None, Some("S"), "S"),
                ("A.java", None, None, "n"),
                ("B.java", None, None, "cannot parse"),
            ]
        );
    }

    #[test]
    fn a_priority_that_is_none_is_refused() {
        let error = read("<file name='A'>\n<violation priority='9'/></file>").unwrap_err();
        assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(2)));
    }
}
