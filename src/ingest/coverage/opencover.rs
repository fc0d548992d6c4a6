//! `opencover`: the XML of OpenCover, which coverlet, AltCover and dotnet-coverage write too. It counts sequence points,
//! that is statements, and branch points; several points may be on one line.

use std::collections::BTreeMap;

use super::compare_declared;
use super::elements::{Elements, read};
use super::totals::{Part, Totals};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::{whole, whole_or_below};
use crate::ingest::xml::Element;
use crate::ingest::{Format, Parsed};
use crate::model::figures::{Figures, ReportKind};

/// OpenCover XML.
pub const FORMAT: Format = Format {
    name: "opencover",
    kind: ReportKind::Coverage,
    about: "OpenCover XML: sequence points and branch points of each method",
    written_by: "OpenCover, coverlet, AltCover",
    told_by: "root element CoverageSession",
    has_end: true,
    counting: "Each sequence point is a statement, each branch point a branch, covered if it was visited. The summaries are \
               only compared.",
    sniff: |head| head.by_root(&["CoverageSession"]),
    parse,
};

fn parse(input: &Input<'_>) -> Result<Parsed> {
    read::<Reader>(input, "CoverageSession", "an OpenCover report")
}

#[derive(Default)]
struct Reader {
    depth: u64,
    totals: Totals,
    has_modules: bool,
    /// Points that do not tell their visits.
    unusable: u64,
    declared: Figures,
}

impl Elements for Reader {
    fn start(&mut self, element: &Element<'_>) -> Result<()> {
        self.depth += 1;
        match (self.depth, element.name()) {
            (2, "Summary") => self.declare(element),
            (2, "Modules") => {
                self.has_modules = true;
                Ok(())
            }
            (_, "SequencePoint") => point(element, &mut self.totals.statements, &mut self.unusable),
            (_, "BranchPoint") => point(element, &mut self.totals.branches, &mut self.unusable),
            _ => Ok(()),
        }
    }

    fn end(&mut self) -> Result<()> {
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    fn finish(self) -> Result<Parsed> {
        if !self.has_modules {
            return Err(Error::report(Reject::NotThisFormat, "not an OpenCover report: it has no modules"));
        }
        if self.totals.statements.total == 0 && self.unusable > 0 {
            return Err(Error::report(Reject::Malformed, "no point tells its visits"));
        }
        let mut parsed = self.totals.finish(&FORMAT, BTreeMap::new())?;
        compare_declared(&mut parsed, self.declared);
        if self.unusable > 0 {
            parsed.warnings.push(format!("{} points that do not tell their visits are left out", self.unusable));
        }
        Ok(parsed)
    }
}

impl Reader {
    fn declare(&mut self, summary: &Element<'_>) -> Result<()> {
        let names = ["visitedSequencePoints", "numSequencePoints", "visitedBranchPoints", "numBranchPoints"];
        let [covered, total, taken, branches] = summary.attributes(names)?;
        let count = |value: Option<String>| value.as_deref().and_then(whole);
        self.declared.statements_covered = count(covered);
        self.declared.statements_total = count(total);
        self.declared.branches_covered = count(taken);
        self.declared.branches_total = count(branches);
        Ok(())
    }
}

fn point(element: &Element<'_>, part: &mut Part, unusable: &mut u64) -> Result<()> {
    let Some(visits) = element.attribute("vc")? else {
        *unusable += 1;
        return Ok(());
    };
    let bad = || Error::report(Reject::Malformed, format!("vc {:?} is no whole number", printable(&visits, 40)));
    part.count(whole_or_below(&visits).ok_or_else(bad)? > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(points: &str) -> Result<Parsed> {
        let text = format!("<CoverageSession>\n<Modules><Module>{points}</Module></Modules></CoverageSession>");
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn each_point_counts_once_and_a_method_s_own_not_at_all() {
        let points =
            "<SequencePoint vc='2' sl='1'/><SequencePoint vc='0' sl='1'/><BranchPoint vc='-1'/><MethodPoint vc='1'/>";
        let counts: Vec<u64> = read(points).unwrap().figures.counts().into_iter().map(|(_, count)| count).collect();
        assert_eq!(counts, [0, 1, 1, 2]);
        assert_eq!(read("").unwrap().figures.statements_total, Some(0));
    }

    #[test]
    fn visits_that_are_absent_are_warned_of_and_those_that_are_no_number_refused() {
        assert_eq!(read("<SequencePoint vc='1'/><SequencePoint/>").unwrap().warnings.len(), 1);
        assert_eq!(read("<SequencePoint/>").unwrap_err().reject(), Some(Reject::Malformed));
        let error = read("<SequencePoint vc='1.5'/>").unwrap_err();
        assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(2)));
        let none = parse(&Input::bytes("x", b"<CoverageSession/>")).unwrap_err();
        assert_eq!(none.reject(), Some(Reject::NotThisFormat));
    }
}
