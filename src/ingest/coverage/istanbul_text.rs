//! `istanbul-text`: Istanbul's reporters `text` and `text-summary`, which nyc, c8, Jest and Vitest print; and Bun's table,
//! which looks the same. Written after Istanbul's reporters, <https://istanbul.js.org/docs/advanced/alternative-reporters/>.
//!
//! The summary tells counts, the table percentages alone. A summary may come after a table, so that a table's end is not
//! surely the report's.

use std::collections::BTreeMap;

use super::totals::{Part, Totals};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::values::whole;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;
use crate::model::units::Percent;

/// Istanbul's text reports.
pub const FORMAT: Format = Format {
    name: "istanbul-text",
    kind: ReportKind::Coverage,
    about: "terminal output of Istanbul: its table, and its summary",
    written_by: "nyc, c8, jest, vitest (reporters text and text-summary), bun test --coverage",
    told_by: "a table with the columns File, % Funcs and % Lines, or \"Lines : 75% ( 6/8 )\" under \"Coverage summary\"",
    has_end: false,
    counting: "The counts of the summary. A table alone gives the percentage of lines of all files, and no counts.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_some() {
        return Sniff::No;
    }
    let has_table = head.lines().any(|line| column_of_lines(line).is_some());
    if has_table && !head.is_of_tests() {
        return Sniff::Sure("a table with the columns File, % Funcs and % Lines".into());
    }
    let has_counts = || head.lines().any(|line| counts(line.trim()).is_some());
    if !has_table && head.lines().any(|line| is_heading(line.trim())) && has_counts() && !head.is_of_tests() {
        return Sniff::Sure("counts under \"Coverage summary\"".into());
    }
    Sniff::No
}

/// Whether a table or a summary begins with the line.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    line.starts_with("File") && column_of_lines(line).is_some() || line.starts_with('=') && is_heading(line)
}

/// Which cell tells the share of lines, in the heading of a table.
fn column_of_lines(line: &str) -> Option<usize> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let is_table = cells.first() == Some(&"File") && cells.contains(&"% Funcs");
    cells.iter().position(|cell| *cell == "% Lines").filter(|_| is_table)
}

/// `=== Coverage summary ===`.
fn is_heading(text: &str) -> bool {
    text.len() > 30 && text.trim_matches('=').trim() == "Coverage summary"
}

/// Unit, covered and total of `Lines        : 75% ( 6/8 ), 1 ignored`.
fn counts(text: &str) -> Option<(&str, Part)> {
    let (unit, rest) = text.split_once(':')?;
    let (covered, total) = rest.split_once("% ( ")?.1.split_once(" )")?.0.split_once('/')?;
    Some((unit.trim_end(), Part { covered: whole(covered)?, total: whole(total)? }))
}

/// What is open while a report is read.
enum Open {
    /// The rows of a table: the cell of the lines, how many lines of dashes came, and whether the sum did: before version 2,
    /// it stands below the second of them.
    Table { column: usize, rules: u64, rows: u64, is_summed: bool },
    /// The lines of a summary.
    Summary(Totals),
}

#[derive(Default)]
struct Reader {
    open: Option<Open>,
    /// The last line of dashes: a table's are all alike.
    rule: String,
    percent: Option<Percent>,
    /// A table of no file says 0 %, where there is nothing that could be covered.
    is_of_nothing: bool,
    totals: Option<Totals>,
    found: u64,
}

impl Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        match &mut self.open {
            None => {
                if let Some(column) = column_of_lines(text) {
                    self.open = Some(Open::Table { column, rules: 0, rows: 0, is_summed: false });
                } else if is_heading(text) {
                    self.open = Some(Open::Summary(Totals::default()));
                } else if is_rule(text) {
                    text.clone_into(&mut self.rule);
                }
                Ok(())
            }
            Some(Open::Table { column, rules, rows, is_summed }) => {
                if is_rule(text) && text == self.rule {
                    *rules += 1;
                    if *rules >= 2 && *is_summed {
                        (self.is_of_nothing, self.found) = (*rows < 2, self.found + 1);
                        self.open = None;
                    }
                    return Ok(());
                }
                let mut cells = text.split('|').map(str::trim);
                let is_sum = cells.next() == Some("All files");
                *rows += u64::from(text.contains('|'));
                if is_sum {
                    let share = cells.nth(column.saturating_sub(1)).unwrap_or_default();
                    let percent = share.parse().ok().and_then(Percent::new);
                    self.percent = Some(percent.ok_or_else(|| malformed("percentage", text))?);
                    *is_summed = true;
                }
                Ok(())
            }
            Some(Open::Summary(totals)) => {
                if text.len() > 30 && text.bytes().all(|byte| byte == b'=') {
                    if totals.lines.is_none() {
                        return Err(malformed("count of lines above it", text));
                    }
                    self.totals = Some(std::mem::take(totals));
                    (self.open, self.found) = (None, self.found + 1);
                    return Ok(());
                }
                match counts(text) {
                    Some(("Lines", part)) => totals.lines = Some(part),
                    Some(("Statements", part)) => totals.statements = part,
                    Some(("Branches", part)) => totals.branches = part,
                    Some(("Functions", part)) => totals.functions = part,
                    _ => {}
                }
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<Parsed> {
        if self.open.is_some() {
            return Err(Error::report(Reject::Malformed, "report ends inside its table or summary").help(CUT_HELP));
        }
        let is_alone = self.totals.is_none();
        let totals = match (self.totals, self.percent) {
            (Some(totals), _) => totals,
            (None, Some(_)) => Totals { lines: Some(Part::default()), ..Totals::default() },
            (None, None) => {
                return Err(Error::report(Reject::NotThisFormat, "no table and no summary of Istanbul is in it"));
            }
        };
        let mut parsed = totals.finish(&FORMAT, BTreeMap::new())?;
        if is_alone && !self.is_of_nothing {
            (parsed.figures.lines_covered, parsed.figures.lines_total) = (None, None);
            parsed.figures.percent_covered = self.percent;
        }
        if self.found > 2 {
            parsed.warnings.push(format!("{} tables and summaries are in it: the last ones count", self.found));
        }
        Ok(parsed)
    }
}

fn malformed(what: &str, text: &str) -> Error {
    Error::report(Reject::Malformed, format!("{:?} has no {what}", printable(text, 60))).help(CUT_HELP)
}

/// Whether a table or a summary ends with that line: a summary's heading begins with fewer signs.
fn is_last(text: &str, rule: &str) -> bool {
    (is_rule(text) && text == rule) || (text.len() > 60 && text.bytes().all(|byte| byte == b'='))
}

/// `----------|---------|`.
fn is_rule(text: &str) -> bool {
    text.contains("-|-") && text.bytes().all(|byte| matches!(byte, b'-' | b'|'))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut last = 0;
    let mut is_cut = false;
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim();
        is_cut = !line.ended && !is_last(text, &reader.rule);
        reader.line(text).map_err(|error| error.line(last))?;
    }
    if is_cut && reader.found > 0 {
        let why = "report ends inside a line";
        return Err(Error::report(Reject::Malformed, why).line(last).help(CUT_HELP));
    }
    reader.finish().map_err(|error| error.line(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    fn table(rows: &str) -> String {
        let rule = "----------|---------|----------|---------|---------|-------------------";
        let heading = "File      | % Stmts | % Branch | % Funcs | % Lines | Uncovered Line #s ";
        format!("PASS x\n{rule}\n{heading}\n{rule}\n{rows}{rule}\n")
    }

    const SUMMARY: &str = "=============================== Coverage summary ===============================\n\
        Statements   : 87.5% ( 7/8 ), 1 ignored\nBranches     : 50% ( 3/6 )\nFunctions    : 100% ( 1/1 )\nLines        : 75% ( 6/8 )\n\
        ================================================================================\n";

    #[test]
    fn a_table_of_before_version_2_has_its_sum_below() {
        let rule = "----------------|----------|----------|----------|----------|----------------|";
        let heading = "File            |  % Stmts | % Branch |  % Funcs |  % Lines |Uncovered Lines |";
        let rows = "  a.js          |       75 |      100 |       50 |    66.67 |            3,4 |\n";
        let sum = "All files       |       75 |      100 |       50 |    66.67 |                |";
        let text = format!("{rule}\n{heading}\n{rule}\n{rows}{rule}\n{sum}\n{rule}\n");
        assert_eq!(read(&text).unwrap().figures.percent_covered, Percent::new(66.67));
        let cut = format!("{rule}\n{heading}\n{rule}\n{rows}{rule}\n");
        assert_eq!(read(&cut).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn a_table_gives_a_percentage_and_a_summary_counts() {
        let rows = "All files |      75 |       50 |     100 |   85.71 |                   \n a.js     |      75 |       50 |     100 |   85.71 | 8-9               \n";
        let figures = read(&table(rows)).unwrap().figures;
        assert_eq!((figures.percent_covered, figures.lines_total), (Percent::new(85.71), None));
        for text in [SUMMARY.to_owned(), format!("{}\n{SUMMARY}", table(rows))] {
            let figures = read(&text).unwrap().figures;
            assert_eq!(figures.percent_covered, None);
            let counts: Vec<u64> = figures.counts().into_iter().map(|(_, count)| count).collect();
            assert_eq!(counts, [6, 8, 3, 6, 1, 1, 7, 8], "lines, branches, functions, statements");
        }
    }

    #[test]
    fn other_columns_are_found_by_their_names() {
        let bun = "-------------|---------|---------|-------------------\nFile         | % Funcs | % Lines | Uncovered Line #s\n\
            -------------|---------|---------|-------------------\nAll files    |   66.67 |   77.78 |\n a.ts        |   66.67 |   77.78 | 3\n\
            -------------|---------|---------|-------------------\n";
        assert_eq!(read(bun).unwrap().figures.percent_covered, Percent::new(77.78));
    }

    #[test]
    fn nothing_at_all_is_zero_of_zero() {
        let none = table("All files |       0 |        0 |       0 |       0 |                   \n");
        let figures = read(&none).unwrap().figures;
        assert_eq!((figures.percent_covered, figures.lines_covered, figures.lines_total), (None, Some(0), Some(0)));
        let none = SUMMARY.replace("75% ( 6/8 )", "Unknown% ( 0/0 )");
        assert_eq!(read(&none).unwrap().figures.lines_total, Some(0));
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let rows = "All files |      75 |       50 |     100 |   85.71 |                   \n a.js     |      75 |\n";
        for whole in [table(rows), SUMMARY.to_owned()] {
            let whole = whole.trim_end();
            let figures = read(whole).unwrap().figures;
            for length in whole.find("% Lines").unwrap_or(100) + 10..whole.len() {
                match read(whole.get(..length).unwrap()) {
                    // Of a summary's last line it is enough that it begins.
                    Ok(parsed) => assert_eq!(parsed.figures, figures, "{length}"),
                    Err(error) => assert_eq!(error.reject(), Some(Reject::Malformed), "{length}"),
                }
            }
            let half = whole.get(..whole.len() / 2 + 40).unwrap();
            assert_eq!(read(half).unwrap_err().reject(), Some(Reject::Malformed), "{half}");
        }
        for odd in ["101", "-1", "NaN", "inf", "x", ""] {
            let error = read(&table(&format!("All files | 1 | 1 | 1 | {odd} | 3\n"))).unwrap_err();
            assert_eq!((error.reject(), error.place.line), (Some(Reject::Malformed), Some(5)), "{odd}");
        }
        assert_eq!(read("all well\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
