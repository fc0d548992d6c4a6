//! Figures of coverage formats that tell sums, or units other than lines.

use std::collections::BTreeMap;

use super::{FileBranches, FileCoverage, Listed};
use crate::error::Result;
use crate::ingest::{CoverageDetails, Details, Format, Parsed, add};
use crate::model::figures::Figures;

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub covered: u64,
    pub total: u64,
}

impl Part {
    /// Adds a sum.
    ///
    /// # Errors
    /// Malformed if it does not fit.
    pub(super) fn add(&mut self, covered: u64, total: u64) -> Result<()> {
        *self = Part { covered: add(self.covered, covered)?, total: add(self.total, total)? };
        Ok(())
    }

    /// Adds one.
    ///
    /// # Errors
    /// Likewise.
    pub(super) fn count(&mut self, covered: bool) -> Result<()> {
        self.add(u64::from(covered), 1)
    }

    /// As figures: absent where the report has none.
    fn if_any(self) -> (Option<u64>, Option<u64>) {
        let some = |count| Some(count).filter(|_| self.total > 0);
        (some(self.covered), some(self.total))
    }
}

/// What a report counts. Lines, or else statements, are what it is about and are told even if there are none.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub lines: Option<Part>,
    pub branches: Part,
    pub functions: Part,
    pub statements: Part,
    pub regions: Part,
}

impl Totals {
    /// As figures, with the lines of each file if they come to the same: where the report's sums count something else
    /// (statements, or lines that it does not list), its lines would contradict its figures. So it is with branches.
    pub(super) fn finish(self, format: &'static Format, mut files: BTreeMap<String, FileCoverage>) -> Result<Parsed> {
        let mut figures = Figures::default();
        (figures.branches_covered, figures.branches_total) = self.branches.if_any();
        (figures.functions_covered, figures.functions_total) = self.functions.if_any();
        (figures.statements_covered, figures.statements_total) = self.statements.if_any();
        (figures.regions_covered, figures.regions_total) = self.regions.if_any();
        match self.lines {
            Some(lines) => (figures.lines_covered, figures.lines_total) = (Some(lines.covered), Some(lines.total)),
            None => {
                let statements = self.statements;
                (figures.statements_covered, figures.statements_total) =
                    (Some(statements.covered), Some(statements.total));
            }
        }
        let (mut lines, mut branches) = (Part::default(), Part::default());
        for file in files.values() {
            lines.add(file.lines.covered(), file.lines.total())?;
            branches.add(file.branches.taken(), file.branches.total())?;
        }
        if self.lines != Some(lines) {
            files.clear();
        }
        if self.branches != branches {
            files.values_mut().for_each(|file| file.branches = FileBranches::default());
        }
        Ok(Parsed::new(format, figures, Details::Coverage(CoverageDetails { files })))
    }

    /// Likewise with lines that may have been too many to keep.
    pub(super) fn finish_listed(self, format: &'static Format, files: Listed) -> Result<Parsed> {
        let (files, warning) = files.finish();
        let mut parsed = self.finish(format, files)?;
        parsed.warnings.extend(warning.map(str::to_owned));
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lcov::FORMAT;
    use super::super::{FileLines, LineBranches};
    use super::*;

    /// Lines and branches that are told by file.
    fn told(parsed: &Parsed) -> (u64, u64) {
        let Details::Coverage(details) = &parsed.details else { panic!("coverage") };
        details.files.values().map(|file| (file.lines.total(), file.branches.total())).next().unwrap_or_default()
    }

    #[test]
    fn lines_and_branches_that_contradict_the_sums_are_not_told() {
        let lines = FileLines::new([(1, true), (2, false)]);
        let branches = FileBranches::new([LineBranches::new(1, 3, 4)]);
        let files = BTreeMap::from([("a".to_owned(), FileCoverage { lines, branches })]);
        let part = |covered, total| Part { covered, total };
        for (lines, branches, expected) in [
            (Some(part(1, 2)), part(3, 4), (2, 4)),
            (Some(part(1, 2)), part(4, 4), (2, 0)),
            (Some(part(2, 2)), part(3, 4), (0, 0)),
            (None, part(3, 4), (0, 0)),
        ] {
            let totals = Totals { lines, branches, ..Totals::default() };
            assert_eq!(told(&totals.finish(&FORMAT, files.clone()).unwrap()), expected);
        }
    }

    #[test]
    fn what_there_is_none_of_is_absent_but_for_the_main_unit() {
        let keys = |totals: Totals| totals.finish(&FORMAT, BTreeMap::new()).unwrap().figures.counts();
        assert_eq!(keys(Totals::default()), [("statements_covered", 0), ("statements_total", 0)]);
        let mut totals = Totals { lines: Some(Part::default()), ..Totals::default() };
        totals.branches.count(true).unwrap();
        totals.branches.count(false).unwrap();
        let expected = [("lines_covered", 0), ("lines_total", 0), ("branches_covered", 1), ("branches_total", 2)];
        assert_eq!(keys(totals), expected);
        assert!(Part { covered: 0, total: u64::MAX }.count(false).is_err());
    }
}
