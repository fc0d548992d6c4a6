//! `vnu-xml`: the XML of the Nu Html Checker. <https://github.com/validator/validator/wiki/Output-%C2%BB-XML>

use super::LintTally;
use super::elements::{Elements, append, inside, line_number, walk};
use super::lines::finding;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::xml::Element;
use crate::ingest::{Finding, Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// XML of the Nu Html Checker.
pub const FORMAT: Format = Format {
    name: "vnu-xml",
    kind: ReportKind::Lint,
    about: "messages of the Nu Html Checker",
    written_by: "vnu --format xml",
    told_by: "root element messages, in the namespace of validator.nu",
    has_end: true,
    counting: "Errors, and those without a document, are errors; infos of the type warning are warnings, others notes.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |space: &str| space == "http://n.validator.nu/messages/" || space == "http://validator.nu/messages/";
    match head.rooted(&["messages"]).and_then(|xml| xml.namespace.as_deref()) {
        Some(space) if is_ours(space) => Sniff::Sure("root element messages, as vnu writes it".into()),
        _ => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    reader.tally.tool("vnu", Sort::Linter);
    walk(input, "messages", "the Nu Html Checker", &mut reader)?;
    reader.tally.finish(&FORMAT)
}

#[derive(Default)]
struct Reader {
    tally: LintTally,
    /// The finding that is open, whose message is still to come.
    open: Option<Finding>,
    message: String,
}

/// Whether it is the element of a finding.
fn is_finding(name: &str) -> bool {
    matches!(name, "error" | "info" | "non-document-error")
}

impl Elements for Reader {
    fn start(&mut self, open: &[String], element: &Element<'_>) -> Result<()> {
        if inside(open) != Some("messages") || !is_finding(element.name()) {
            return Ok(());
        }
        let [path, line, kind] = element.attributes(["url", "last-line", "type"])?;
        let level = match (element.name(), kind.as_deref()) {
            ("info", Some("warning")) => Level::Warning,
            ("info", _) => Level::Note,
            _ => Level::Error,
        };
        self.message.clear();
        let path = path.as_deref().map(|path| path.strip_prefix("file:").unwrap_or(path));
        self.open = Some(finding("vnu", level, (path, line_number(line)), None, ""));
        Ok(())
    }

    fn text(&mut self, open: &[String], text: &str) {
        // What it quotes is an element of its own.
        if open.iter().any(|name| name == "message") {
            append(&mut self.message, text);
        }
    }

    fn end(&mut self, open: &[String]) -> Result<()> {
        let Some(found) = self.open.take_if(|_| inside(open).is_some_and(is_finding)) else { return Ok(()) };
        self.tally.finding_with(found, &self.message, Sort::Linter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn messages_count_by_their_element_and_type() {
        let text = "<?xml version='1.0'?>\n<messages xmlns=\"http://n.validator.nu/messages/\">\n\
            <error url=\"file:/p/a.html\" last-line=\"3\" last-column=\"6\"><message>Expected <code xmlns=\"http://www.w3.org/1999/xhtml\">x</code>.</message>\
            <extract><m>y</m></extract></error><info type=\"warning\"><message>w</message></info><info><message>i</message></info>\
            <non-document-error type=\"io\"><message>n</message></non-document-error></messages>";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("/p/a.html"), Some(3), None, "Expected x."));
        assert_eq!(parse(&Input::bytes("x", b"<pmd/>")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
