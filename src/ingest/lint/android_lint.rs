//! `android-lint`: XML of Android Lint (`lint-results*.xml`).
//!
//! Written after the reports of the Android Gradle plugin: `issues/issue` with id, severity and message, places as
//! `location` elements of which the first is the finding's own. A baseline has the same elements and is no report. It does
//! not tell what was looked at.

use super::LintTally;
use super::elements::{Elements, inside, level_or_error, place_first, walk};
use super::lines::finding;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::xml::Element;
use crate::ingest::{Finding, Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Android Lint XML.
pub const FORMAT: Format = Format {
    name: "android-lint",
    kind: ReportKind::Lint,
    about: "Android Lint XML: issues with their places",
    written_by: "Android Lint",
    told_by: "root element issues with format",
    has_end: true,
    counting: "Each issue by its severity: Fatal and Error, Warning, Information (a note), Ignore (nothing); without \
               one, an error.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let Some(xml) = head.rooted(&["issues"]) else { return Sniff::No };
    if xml.has_attribute("format") {
        Sniff::Sure("root element issues with format".into())
    } else if xml.has_child("issue") {
        Sniff::Maybe("root element issues with issue".into())
    } else {
        Sniff::No
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    reader.tally.tool("android-lint", Sort::Linter);
    walk(input, "issues", "Android Lint", &mut reader)?;
    if reader.has_issues && !reader.has_severities {
        return Err(baseline());
    }
    let mut parsed = reader.tally.finish(&FORMAT)?;
    parsed.warnings.extend(reader.odd);
    Ok(parsed)
}

fn baseline() -> Error {
    Error::report(Reject::NotThisFormat, "a baseline of Android Lint, not a report")
        .help("a baseline lists what is ignored; the report is lint-results.xml")
}

#[derive(Default)]
struct Reader {
    tally: LintTally,
    open: Option<Finding>,
    /// Whether issues came, and whether one has a severity: before version 7, a baseline is told by that alone.
    has_issues: bool,
    has_severities: bool,
    odd: Option<String>,
}

impl Elements for Reader {
    fn start(&mut self, open: &[String], element: &Element<'_>) -> Result<()> {
        match (inside(open), element.name()) {
            (None, _) if element.attribute("type")?.as_deref() == Some("baseline") => {
                return Err(baseline());
            }
            (Some("issues"), "issue") => {
                let [id, severity, message] = element.attributes(["id", "severity", "message"])?;
                self.has_issues = true;
                self.has_severities |= severity.is_some();
                let level = match severity.as_deref() {
                    None => Level::Error,
                    Some("Ignore") => return Ok(()),
                    Some(severity) => level_or_error(severity, &mut self.odd),
                };
                let message = message.unwrap_or_default();
                self.open = Some(finding("android-lint", level, (None, None), id.as_deref(), &message));
            }
            (Some("issue"), "location") => {
                if let Some(finding) = &mut self.open {
                    place_first(finding, element)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, _: &[String], _: &str) {}

    fn end(&mut self, open: &[String]) -> Result<()> {
        match self.open.take_if(|_| inside(open) == Some("issue")) {
            Some(finding) => self.tally.finding(finding, Sort::Linter),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn severities_count_and_a_baseline_is_no_report() {
        let issue =
            |severity: &str| format!("<issue id='A' {severity} message='m'><location file='a.xml' line='2'/></issue>");
        let issues: String =
            ["severity='Fatal'", "severity='Warning'", "severity='Information'", "severity='Ignore'", ""]
                .map(issue)
                .concat();
        let parsed = read(&format!("<issues format='6' by='lint 8.0'>{issues}</issues>")).unwrap();
        let figures = &parsed.figures;
        assert_eq!((figures.errors, figures.warnings, figures.notes), (Some(2), Some(1), Some(1)));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        let first = details.findings.first().unwrap();
        assert_eq!((first.path.as_deref(), first.line, first.rule.as_deref()), (Some("a.xml"), Some(2), Some("A")));
        for baseline in ["format='6' type='baseline'", "format='4' by='lint 2.3.0'"] {
            let error = read(&format!("<issues {baseline}><issue id='A' message='m'/></issues>")).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{baseline}");
        }
    }
}
