//! `dotcover-xml`: JetBrains dotCover's XML reports, the plain and the detailed one. Written after its documentation,
//! <https://www.jetbrains.com/help/dotcover/dotCover__Console_Runner_Commands.html>, and reports in public repositories' logs.

use std::collections::BTreeMap;

use super::compare_declared;
use super::elements::{Elements, read};
use super::totals::{Part, Totals};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::whole;
use crate::ingest::xml::Element;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};

/// dotCover XML.
pub const FORMAT: Format = Format {
    name: "dotcover-xml",
    kind: ReportKind::Coverage,
    about: "dotCover XML: sums of statements of each assembly",
    written_by: "dotCover (ReportType XML, DetailedXML)",
    told_by: "root element Root with CoveredStatements and TotalStatements",
    has_end: true,
    counting: "The sums of the assemblies; those of the whole report only if there are none.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |name: &str| head.rooted(&["Root"]).is_some_and(|xml| xml.has_attribute(name));
    match is_ours("CoveredStatements") && is_ours("TotalStatements") {
        true => Sniff::Sure("root element Root with CoveredStatements".into()),
        false => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    read::<Reader>(input, "Root", "a report of dotCover")
}

#[derive(Default)]
struct Reader {
    depth: u64,
    root: Part,
    assemblies: Option<Part>,
}

impl Elements for Reader {
    fn start(&mut self, element: &Element<'_>) -> Result<()> {
        self.depth += 1;
        match (self.depth, element.name()) {
            (1, _) => self.root = statements(element)?,
            (2, "Assembly") => {
                let Part { covered, total } = statements(element)?;
                self.assemblies.get_or_insert_default().add(covered, total)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    fn finish(self) -> Result<Parsed> {
        let statements = self.assemblies.unwrap_or(self.root);
        let mut parsed = Totals { statements, ..Totals::default() }.finish(&FORMAT, BTreeMap::new())?;
        let (statements_covered, statements_total) = (Some(self.root.covered), Some(self.root.total));
        compare_declared(&mut parsed, Figures { statements_covered, statements_total, ..Figures::default() });
        Ok(parsed)
    }
}

fn statements(element: &Element<'_>) -> Result<Part> {
    let [covered, total] = element.attributes(["CoveredStatements", "TotalStatements"])?;
    let number = |value: Option<String>| {
        let value = value.unwrap_or_default();
        let bad =
            || Error::report(Reject::Malformed, format!("{:?} is no number of statements", printable(&value, 40)));
        whole(&value).ok_or_else(bad)
    };
    Ok(Part { covered: number(covered)?, total: number(total)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assemblies_add_up_and_another_sum_is_warned_of() {
        let read = |inside: &str| {
            let text = format!(
                "<Root CoveredStatements='3' TotalStatements='4' CoveragePercent='75' ReportType='Xml'>{inside}</Root>"
            );
            let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)?;
            let counts = parsed.figures.counts().into_iter().map(|(_, count)| count).collect::<Vec<_>>();
            Ok::<_, Error>((counts, parsed.warnings.len()))
        };
        let assembly =
            "<Assembly Name='Shop' CoveredStatements='1' TotalStatements='2'><Type CoveredStatements='1'/></Assembly>";
        assert_eq!(read("<FileIndices/>").unwrap(), (vec![3, 4], 0));
        assert_eq!(read(&format!("{assembly}{assembly}")).unwrap(), (vec![2, 4], 1));
        assert_eq!(read("<Assembly CoveredStatements='1'/>").unwrap_err().reject(), Some(Reject::Malformed));
    }
}
