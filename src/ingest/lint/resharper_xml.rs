//! `resharper-xml`: the XML of ReSharper's InspectCode, which Rider's inspections write, too. Written after JetBrains'
//! documentation of the tool, <https://www.jetbrains.com/help/resharper/InspectCode.html>.
//!
//! The severity stands at the type of an issue, above all issues.

use std::collections::BTreeMap;

use super::LintTally;
use super::elements::{Elements, inside, level_or_error, line_number, walk};
use super::lines::finding;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// InspectCode's XML.
pub const FORMAT: Format = Format {
    name: "resharper-xml",
    kind: ReportKind::Lint,
    about: "ReSharper's XML: issues by project, and their types",
    written_by: "jb inspectcode -f=Xml, Rider",
    told_by: "root element Report with IssueTypes and Issues in it",
    has_end: true,
    counting: "Each Issue by its severity, else that of its type: ERROR, WARNING, SUGGESTION and HINT (notes), DO_NOT_SHOW \
               (nothing); without one, an error.",
    sniff,
    parse,
};

/// Types that are kept: the tool knows some 3,000.
const TYPES_KEPT: usize = 20_000;

fn sniff(head: &Head<'_>) -> Sniff {
    match head.rooted(&["Report"]) {
        Some(xml) if xml.has_child("IssueTypes") => Sniff::Sure("root element Report with IssueTypes".into()),
        _ => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    reader.tally.tool("resharper", Sort::Linter);
    walk(input, "Report", "ReSharper", &mut reader)?;
    let mut parsed = reader.tally.finish(&FORMAT)?;
    parsed.warnings.extend(reader.odd);
    Ok(parsed)
}

#[derive(Default)]
struct Reader {
    tally: LintTally,
    severities: BTreeMap<String, String>,
    odd: Option<String>,
}

impl Elements for Reader {
    fn start(&mut self, open: &[String], element: &Element<'_>) -> Result<()> {
        match (inside(open), element.name()) {
            (Some("IssueTypes"), "IssueType") => {
                let [id, severity] = element.attributes(["Id", "Severity"])?;
                if let (Some(id), Some(severity), true) = (id, severity, self.severities.len() < TYPES_KEPT) {
                    self.severities.insert(id, severity);
                }
            }
            (Some("Project" | "Issues"), "Issue") => {
                let [rule, severity, path, line, message] =
                    element.attributes(["TypeId", "Severity", "File", "Line", "Message"])?;
                let of_type = || rule.as_ref().and_then(|rule| self.severities.get(rule)).cloned();
                let level = match severity.or_else(of_type).as_deref() {
                    None => Level::Error,
                    Some("DO_NOT_SHOW") => return Ok(()),
                    Some(severity) => level_or_error(severity, &mut self.odd),
                };
                let place = (path.as_deref(), line_number(line));
                let found = finding("resharper", level, place, rule.as_deref(), message.as_deref().unwrap_or_default());
                return self.tally.finding(found, Sort::Linter);
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, _: &[String], _: &str) {}

    fn end(&mut self, _: &[String]) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn issues_have_the_severities_of_their_types() {
        let text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Report ToolsVersion=\"2023.3\"><Information><Solution>A.sln</Solution></Information>\
                    <IssueTypes><IssueType Id=\"Unused\" Category=\"c\" Severity=\"WARNING\"/><IssueType Id=\"Convert\" Severity=\"SUGGESTION\"/>\
                    <IssueType Id=\"CSharpErrors\" Severity=\"ERROR\"/><IssueType Id=\"Hidden\" Severity=\"DO_NOT_SHOW\"/></IssueTypes>\
                    <Issues><Project Name=\"A\"><Issue TypeId=\"Unused\" File=\"A\\b.cs\" Offset=\"1-2\" Line=\"3\" Message=\"is never used\"/>\
                    <Issue TypeId=\"Convert\" File=\"A\\b.cs\" Message=\"m\"/><Issue TypeId=\"CSharpErrors\" File=\"A\\b.cs\" Message=\"m\"/>\
                    <Issue TypeId=\"Hidden\" File=\"A\\b.cs\" Message=\"m\"/><Issue TypeId=\"Unused\" Severity=\"HINT\" Message=\"m\"/>\
                    <Issue TypeId=\"Other\" Message=\"m\"/></Project></Issues></Report>";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(1), Some(2)]);
        assert_eq!(first_finding(&parsed), (Some("A\\b.cs"), Some(3), Some("Unused"), "is never used"));
    }

    #[test]
    fn what_is_not_resharper_s_is_rejected() {
        let error = parse(&Input::bytes("x", b"<report/>")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
    }
}
