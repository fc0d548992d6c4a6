//! `gcovr-text`: the table that gcovr prints. <https://gcovr.com/en/stable/output/txt.html>

use std::collections::BTreeMap;

use super::table::{cells, is_share, last_total, several};
use super::totals::{Part, Totals};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::split_at;
use crate::ingest::values::whole;
use crate::ingest::{CoverageDetails, Details, Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};

/// gcovr's table.
pub const FORMAT: Format = Format {
    name: "gcovr-text",
    kind: ReportKind::Coverage,
    about: "table of gcovr: lines or branches of each file, and how many ran",
    written_by: "gcovr, gcovr --txt",
    told_by: "a table with the columns File, Lines, Exec and Cover, or File, Branches, Taken and Cover",
    has_end: true,
    counting: "Lines and Exec of the line TOTAL, or Branches and Taken, with --txt-metric branch. Of several tables \
               the last.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_none() && head.lines().any(|line| heading(line).is_some()) && !head.is_of_tests() {
        return Sniff::Sure("a table with the columns of gcovr".into());
    }
    Sniff::No
}

/// Whether a table begins with the line.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    line.starts_with("File") && heading(line).is_some()
}

/// What a table counts.
#[derive(Clone, Copy)]
enum Metric {
    Lines,
    Branches,
}

fn heading(line: &str) -> Option<Metric> {
    // Nearly every line is told by that alone.
    split_at(line, "Cover")?;
    match cells(line).as_slice() {
        ["File", "Lines", "Exec", "Cover", "Missing"] => Some(Metric::Lines),
        ["File", "Branches", "Taken", "Cover", "Missing"] => Some(Metric::Branches),
        _ => None,
    }
}

fn total(metric: Metric, cells: &[&str]) -> Option<(Metric, Part)> {
    let [total, ran, share] = cells else { return None };
    is_share(share).then_some((metric, Part { covered: whole(ran)?, total: whole(total)? }))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let ((metric, part), tables) = last_total(input, "gcovr", heading, |metric, cells| total(*metric, cells))?;
    let mut parsed = match metric {
        Metric::Lines => Totals { lines: Some(part), ..Totals::default() }.finish(&FORMAT, BTreeMap::new())?,
        Metric::Branches => {
            let (branches_covered, branches_total) = (Some(part.covered), Some(part.total));
            let figures = Figures { branches_covered, branches_total, ..Figures::default() };
            Parsed::new(&FORMAT, figures, Details::Coverage(CoverageDetails::default()))
        }
    };
    parsed.warnings.extend(several(tables, "tables"));
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    #[test]
    fn the_total_counts() {
        let read = |total: &str| {
            let text = format!(
                "GCC Code Coverage Report\n---\nFile   Lines  Exec  Cover  Missing\n---\na.cpp  15  14  93%  10\n---\n{total}\n---\n"
            );
            crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
        };
        let figures = read("TOTAL   15   14   93%").unwrap().figures;
        assert_eq!((figures.lines_covered, figures.lines_total), (Some(14), Some(15)));
        assert_eq!(read("TOTAL 0 0 --%").unwrap().figures.lines_total, Some(0));
        for bad in ["TOTAL 15 14", "TOTAL 15 14 93", "TOTAL 14 15 107%", "TOTAL x 1 1%", ""] {
            assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
    }

    #[test]
    fn a_table_of_branches_tells_of_no_lines() {
        let text =
            "GCC Code Coverage Report\n---\nFile   Branches  Taken  Cover  Missing\n---\nTOTAL  26  11  42%\n---\n";
        let figures = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap().figures;
        assert_eq!((figures.branches_covered, figures.branches_total), (Some(11), Some(26)));
        assert_eq!((figures.lines_total, figures.statements_total), (None, None));
    }
}
