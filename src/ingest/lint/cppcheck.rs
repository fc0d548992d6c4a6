//! `cppcheck`: XML of Cppcheck, versions 1 and 2.
//!
//! Written after Cppcheck's manual and its `cppcheck-errors.rng`: `results/errors/error` with id, severity and msg, places
//! as `location` elements of which the first is the finding's own; in version 1, `results/error` with file and line. It
//! does not tell which files were clean.

use super::LintTally;
use super::elements::{Elements, inside, level_or_error, line_number, place_first, walk};
use super::lines::finding;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::xml::Element;
use crate::ingest::{Finding, Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Cppcheck XML.
pub const FORMAT: Format = Format {
    name: "cppcheck",
    kind: ReportKind::Lint,
    about: "Cppcheck XML: findings with their places",
    written_by: "cppcheck --xml",
    told_by: "root element results with cppcheck or errors",
    has_end: true,
    counting: "Each error element by its severity: error, warning; style, performance, portability and information are \
               notes; without one, an error.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let Some(xml) = head.rooted(&["results"]) else { return Sniff::No };
    if xml.has_child("cppcheck") {
        return Sniff::Sure("root element results with cppcheck".into());
    }
    if xml.has_child("errors") || (xml.has_child("error") && xml.has_attribute("version")) {
        return Sniff::Sure("root element results with errors".into());
    }
    if xml.has_child("error") { Sniff::Maybe("root element results with an error".into()) } else { Sniff::No }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    reader.tally.tool("cppcheck", Sort::Linter);
    walk(input, "results", "Cppcheck", &mut reader)?;
    if !reader.is_ours {
        return Err(Error::report(Reject::NotThisFormat, "not a report of Cppcheck: it has no errors element"));
    }
    if reader.placeless > CATALOGUE && !reader.has_place {
        let why = "it lists what Cppcheck can find, not what it found: no error has a place";
        return Err(Error::report(Reject::NoResult, why).help("leave out --errorlist"));
    }
    let mut parsed = reader.tally.finish(&FORMAT)?;
    parsed.warnings.extend(reader.odd);
    Ok(parsed)
}

/// How many kinds of errors without a place one run has at most: what it says of itself, its configuration and its headers.
/// `cppcheck --errorlist` has some three hundred.
const CATALOGUE: u64 = 100;

#[derive(Default)]
struct Reader {
    tally: LintTally,
    open: Option<Finding>,
    /// Errors without a file.
    placeless: u64,
    has_place: bool,
    is_ours: bool,
    odd: Option<String>,
}

impl Reader {
    fn level(&mut self, severity: Option<&str>) -> Level {
        match severity {
            None => Level::Error,
            Some("performance" | "portability" | "debug" | "none" | "internal") => Level::Note,
            Some(severity) => level_or_error(severity, &mut self.odd),
        }
    }
}

impl Elements for Reader {
    fn start(&mut self, open: &[String], element: &Element<'_>) -> Result<()> {
        match (inside(open), element.name()) {
            (Some("results"), "cppcheck" | "errors") => self.is_ours = true,
            (Some("results" | "errors"), "error") => {
                self.is_ours = true;
                let [id, severity, message, file, line] =
                    element.attributes(["id", "severity", "msg", "file", "line"])?;
                let level = self.level(severity.as_deref());
                let place = (file.as_deref(), line_number(line));
                let message = message.unwrap_or_default();
                self.open = Some(finding("cppcheck", level, place, id.as_deref(), &message));
            }
            (Some("error"), "location") => {
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
        let Some(finding) = self.open.take_if(|_| inside(open) == Some("error")) else { return Ok(()) };
        match finding.path {
            Some(_) => self.has_place = true,
            None => self.placeless += 1,
        }
        self.tally.finding(finding, Sort::Linter)
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
    fn both_versions_are_read() {
        let first = "<results><error file='a.c' line='4' id='memleak' severity='error' msg='Leak'/>\
                     <error file='a.c' line='5' id='u' severity='style' msg='s'/></results>";
        let second = "<results version='2'><cppcheck version='2.10'/><errors>\
                      <error id='memleak' severity='error' msg='Leak'><location file='a.c' line='4'/><location file='b.c' line='9'/>\
                      <symbol>x</symbol></error><error id='u' severity='performance' msg='s'/></errors></results>";
        for text in [first, second] {
            let parsed = read(text).unwrap();
            let figures = &parsed.figures;
            assert_eq!((figures.errors, figures.warnings, figures.notes), (Some(1), Some(0), Some(1)));
            let Details::Lint(details) = parsed.details else { panic!("lint") };
            let first = details.findings.first().unwrap();
            assert_eq!(
                (first.path.as_deref(), first.line, first.rule.as_deref()),
                (Some("a.c"), Some(4), Some("memleak"))
            );
        }
        assert_eq!(
            read("<results version='2'><cppcheck version='2'/><errors/></results>").unwrap().figures.total,
            Some(0)
        );
        assert!(read("<results><other/></results>").is_err());
        let catalogue = |end: &str| {
            let kinds = "<error id='x' severity='style' msg='m'><location file='' line='1'/></error>".repeat(200);
            read(&format!("<results version='2'><cppcheck version='2'/><errors>{kinds}{end}</errors></results>"))
        };
        assert_eq!(catalogue("").unwrap_err().reject(), Some(Reject::NoResult));
        assert!(catalogue("<error severity='style'><location file='a.c' line='1'/></error>").is_ok());
        let odd = read("<results><errors><error severity='odd'/></errors></results>").unwrap();
        assert_eq!((odd.figures.errors, odd.warnings.len()), (Some(1), 1));
    }
}
