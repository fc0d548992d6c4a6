//! `valgrind-xml`: what Valgrind's tools write with `--xml=yes`. Its definition is `docs/internals/xml-output-protocol4.txt` of
//! its source.
//!
//! The place is that of the first frame whose source is known. What Valgrind suppressed is not in it.

use super::LintTally;
use super::elements::{Elements, append, inside, line_number, walk};
use super::lines::finding;
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// Valgrind's XML.
pub const FORMAT: Format = Format {
    name: "valgrind-xml",
    kind: ReportKind::Lint,
    about: "Valgrind XML: errors and leaks with their stacks",
    written_by: "valgrind --xml=yes: Memcheck, Helgrind, DRD",
    told_by: "root element valgrindoutput",
    has_end: true,
    counting: "Each error is an error, a leak too.",
    sniff: |head| head.by_root(&["valgrindoutput"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    reader.tally.tool("valgrind", Sort::Linter);
    walk(input, "valgrindoutput", "Valgrind", &mut reader)?;
    reader.tally.finish(&FORMAT)
}

#[derive(Default)]
struct Reader {
    tally: LintTally,
    /// Of the error that is open.
    kind: String,
    what: String,
    /// Of the frame that is open, until one has both.
    file: String,
    line: String,
    has_place: bool,
}

impl Elements for Reader {
    fn start(&mut self, _: &[String], element: &Element<'_>) -> Result<()> {
        match element.name() {
            "error" => *self = Reader { tally: std::mem::take(&mut self.tally), ..Reader::default() },
            "frame" if !self.has_place => (self.file, self.line) = (String::new(), String::new()),
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, open: &[String], text: &str) {
        let [.., parent, name] = open else { return };
        let kept = match (parent.as_str(), name.as_str()) {
            ("error", "kind") => &mut self.kind,
            ("error", "what") | ("xwhat", "text") => &mut self.what,
            ("frame", "file") if !self.has_place => &mut self.file,
            ("frame", "line") if !self.has_place => &mut self.line,
            _ => return,
        };
        append(kept, text);
    }

    fn end(&mut self, open: &[String]) -> Result<()> {
        match inside(open) {
            Some("frame") => self.has_place |= !self.file.is_empty(),
            Some("error") => {
                let path = Some(self.file.trim()).filter(|_| self.has_place);
                let line = line_number(Some(self.line.trim().to_owned())).filter(|_| self.has_place);
                let found = finding("valgrind", Level::Error, (path, line), Some(self.kind.trim()), &self.what);
                return self.tally.finding(found, Sort::Linter);
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
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn errors_have_the_first_place_whose_source_is_known() {
        let text = "<?xml version=\"1.0\"?>\n<valgrindoutput><tool>memcheck</tool><error><unique>0x0</unique><kind>InvalidRead</kind>\
                    <what>Invalid read of size 4</what><stack><frame><obj>/lib/libc.so</obj></frame><frame><fn>f</fn><file>a.c</file>\
                    <line>3</line></frame><frame><file>b.c</file><line>9</line></frame></stack></error>\
                    <error><kind>Leak_PossiblyLost</kind><xwhat><text>8 bytes lost</text></xwhat></error></valgrindoutput>";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.total), (Some(2), Some(2)));
        assert_eq!(first_finding(&parsed), (Some("a.c"), Some(3), Some("InvalidRead"), "Invalid read of size 4"));
    }

    #[test]
    fn what_is_not_valgrind_s_is_rejected() {
        let error = parse(&Input::bytes("x", b"<results/>")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
    }
}
