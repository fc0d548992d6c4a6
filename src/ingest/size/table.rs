//! What the terminal tables of line counters have in common: a heading, rows of counts, and a line of sums.

use super::Sizes;
use crate::error::{Error, Reject, Result};
use crate::ingest::CUT_HELP;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::values::whole;
use crate::ingest::{Head, add};

/// What a column tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Files,
    Lines,
    Code,
    Comments,
    Blanks,
    /// Nothing that is used: a number, or a percentage.
    Other,
}

/// How a tool draws its tables.
pub(super) struct Layout {
    /// As errors name it.
    pub tool: &'static str,
    /// The columns after the first, if a line with these cells is a heading.
    pub heading: fn(&[&str]) -> Option<Vec<Column>>,
    /// The first cells of the line of sums.
    pub sums: &'static [&'static str],
    /// Every row tells all columns, and only the sums of a single row are left out.
    pub is_plain: bool,
}

/// What rows or sums tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub sizes: Sizes,
    pub lines: u64,
}

/// A table that was read to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// Its rows are languages.
    pub by_language: bool,
    /// The heading's columns after the first.
    columns: Vec<Column>,
    /// The rows, added up. One without a column of files is a file.
    pub rows: Counted,
    rows_read: u64,
    has_rule_below: bool,
    /// The line of sums.
    pub said: Option<Counted>,
}

impl Table {
    /// Whether its rows say how many files they stand for.
    fn has_files(&self) -> bool {
        self.columns.contains(&Column::Files)
    }
}

/// The cells of a line, however it is drawn.
pub(super) fn cells(line: &str) -> Vec<&str> {
    line.split(|c: char| c.is_whitespace() || matches!(c, '|' | '│' | '┃')).filter(|cell| !cell.is_empty()).collect()
}

/// Whether a line draws a table and says nothing.
fn is_rule(line: &str) -> bool {
    let is_drawn = |c: char| matches!(c, '-' | '=' | '|' | ':' | ' ' | '+' | '\u{2500}'..='\u{257f}');
    !line.trim().is_empty() && line.chars().all(is_drawn)
}

/// Whether a table of the tool's begins in the report, and no test printed it.
pub(super) fn is_in(head: &Head<'_>, layout: &Layout) -> bool {
    head.xml().is_none() && head.lines().any(|line| begins(line, layout)) && !head.is_of_tests()
}

/// Whether a table of the tool's begins with the line.
pub(super) fn begins(line: &str, layout: &Layout) -> bool {
    (line.contains("code") || line.contains("Code")) && (layout.heading)(&cells(line)).is_some()
}

/// All tables of a report.
///
/// # Errors
/// Not this format without a table; malformed if one is cut, or a row does not tell what the heading names.
pub(super) fn tables(input: &Input<'_>, layout: &Layout) -> Result<Vec<Table>> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut tables, mut open, mut last): (Vec<Table>, Option<Table>, u64) = (Vec::new(), None, 0);
    while let Some(line) = lines.next()? {
        last = line.number;
        let cells = cells(&line.text);
        if let Some(columns) = (layout.heading)(&cells) {
            tables.extend(open.take().map(|table| whole_table(table, layout, last)).transpose()?);
            open = Some(Table { by_language: cells.first() == Some(&"Language"), columns, ..Table::default() });
            continue;
        }
        let Some(table) = open.as_mut().filter(|_| !cells.is_empty()) else { continue };
        if is_rule(&line.text) {
            table.has_rule_below = table.rows_read > 0;
            continue;
        }
        let sums = cells.first().is_some_and(|first| layout.sums.contains(first));
        match counted(&cells, &table.columns) {
            // Cut, the last number may be another one.
            Some(said) if sums && !line.ended && !table.is_sum(said) => return Err(cut(layout, last)),
            Some(said) if sums => {
                table.said = Some(said);
                tables.extend(open.take());
            }
            Some(row) => table.take(row, &cells).map_err(|error| error.line(last))?,
            None if sums => return Err(bad_row(&line.text, last)),
            None if layout.is_plain && !table.has_rule_below => return Err(bad_row(&line.text, last)),
            // Below the rule of a table without sums, other text may follow.
            None if layout.is_plain => {
                tables.extend(open.take().map(|table| whole_table(table, layout, last)).transpose()?)
            }
            None => {}
        }
    }
    tables.extend(open.map(|table| whole_table(table, layout, last)).transpose()?);
    if tables.is_empty() {
        return Err(Error::report(Reject::NotThisFormat, format!("no table of {} is in it", layout.tool)));
    }
    Ok(tables)
}

/// A table without sums, if that is all there is to it.
fn whole_table(table: Table, layout: &Layout, line: u64) -> Result<Table> {
    if layout.is_plain && table.rows_read == 1 && table.has_rule_below { Ok(table) } else { Err(cut(layout, line)) }
}

fn cut(layout: &Layout, line: u64) -> Error {
    let why = format!("report ends before the sums of {}'s table", layout.tool);
    Error::report(Reject::Malformed, why).line(line).help(CUT_HELP)
}

fn bad_row(text: &str, line: u64) -> Error {
    let why =
        format!("{:?} does not tell in whole numbers what the heading of the table names", printable(text.trim(), 60));
    Error::report(Reject::Malformed, why).line(line).help(CUT_HELP)
}

impl Table {
    fn is_sum(&self, said: Counted) -> bool {
        let files = if self.has_files() { said.sizes.files } else { self.rows.sizes.files };
        Counted { sizes: Sizes { files, ..said.sizes }, ..said } == self.rows
    }

    fn take(&mut self, row: Counted, cells: &[&str]) -> Result<()> {
        let Counted { mut sizes, lines } = row;
        if !self.has_files() {
            sizes.files = 1;
        }
        if cells.first() == Some(&"|-") || cells.first() == Some(&"-") {
            // Embedded in files that are counted already.
            sizes.files = 0;
        }
        self.rows_read += 1;
        self.rows.sizes.add(sizes)?;
        self.rows.lines = add(self.rows.lines, lines)?;
        Ok(())
    }
}

/// The counts at the end of a row, which has a name before them.
fn counted(cells: &[&str], columns: &[Column]) -> Option<Counted> {
    let at = cells.len().checked_sub(columns.len()).filter(|at| *at > 0)?;
    let mut counted = Counted::default();
    for (cell, column) in cells.get(at..)?.iter().zip(columns) {
        let slot = match column {
            Column::Files => &mut counted.sizes.files,
            Column::Lines => &mut counted.lines,
            Column::Code => &mut counted.sizes.code,
            Column::Comments => &mut counted.sizes.comments,
            Column::Blanks => &mut counted.sizes.blanks,
            Column::Other => {
                cell.trim_end_matches('%').parse::<f64>().ok()?;
                continue;
            }
        };
        *slot = number(cell)?;
    }
    Some(counted)
}

/// A count, perhaps with marks between thousands.
fn number(cell: &str) -> Option<u64> {
    whole(cell).or_else(|| {
        let mut groups = cell.split([',', '_']);
        let is_first = groups.next().is_some_and(|group| (1..=3).contains(&group.len()));
        let are_groups = is_first && groups.all(|group| group.len() == 3);
        are_groups.then(|| whole(&cell.replace([',', '_'], ""))).flatten()
    })
}

/// What is said where several tables are in one report.
pub(super) fn several(tables: usize) -> Option<String> {
    (tables > 1).then(|| format!("{tables} tables are in it: the last one counts"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = Layout {
        tool: "nobody",
        heading: |cells| match cells {
            ["Name", "Files", "Code"] => Some(vec![Column::Files, Column::Code]),
            ["Name", "Code", "%"] => Some(vec![Column::Code, Column::Other]),
            _ => None,
        },
        sums: &["Sum"],
        is_plain: true,
    };

    fn read(text: &str) -> Result<Vec<(u64, u64, Option<u64>)>> {
        let tables = tables(&Input::bytes("x", text.as_bytes()), &LAYOUT)?;
        let told =
            |table: Table| (table.rows.sizes.files, table.rows.sizes.code, table.said.map(|said| said.sizes.code));
        Ok(tables.into_iter().map(told).collect())
    }

    #[test]
    fn rows_add_up_and_names_have_any_number_of_words() {
        let text = "x\nName Files Code\n---\na 1 10\nb c 2 1,020\n---\nSum 3 1,030\n---\nx y 1 2\n";
        assert_eq!(read(text).unwrap(), [(3, 1030, Some(1030))]);
        assert_eq!(read("Name Code %\na.c 10 40.5\nb 1 2%\n---\nSum 11 100\n").unwrap(), [(2, 11, Some(11))]);
        assert_eq!(read("Name Files Code\na 1 10\n---\n").unwrap(), [(1, 10, None)]);
        assert_eq!(read("Name Code %\na 10 50\nb 10 50\n---\nSum 20 100").unwrap(), [(2, 20, Some(20))]);
        assert_eq!(read("Name Files Code\na 1 10\n---\nother text\nName Files Code\nb 2 3\n-").unwrap().len(), 2);
    }

    #[test]
    fn what_is_cut_or_no_count_is_refused() {
        for cut in [
            "Name Files Code\n",
            "Name Files Code\na 1 10\n",
            "Name Files Code\na 1 10\nb 1 1",
            "Name Files Code\na 1 10\nb 1 10\n---\n",
            "Name Files Code\na 1 10\nb 1 10\n---\nSum 2 2",
            "Name Files Code\na 1 10\nb 1 10\n---\nSum 2\n",
            "Name Code %\na 10 50\nb 10 50\n---\nSum 2 100",
            "Name Files Code\na 1 1.5\n---\n",
            "Name Files Code\n1 10\n---\n",
            "Name Files Code\na 1 10\nName Files Code\nb 2 3\n---\n",
        ] {
            assert_eq!(read(cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
        assert_eq!(read("a 1 10\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }

    #[test]
    fn marks_stand_between_thousands_only() {
        assert_eq!((number("1,234"), number("1_234_567"), number("12")), (Some(1234), Some(1_234_567), Some(12)));
        for odd in ["1,23", "1234,567", ",123", "1,2345", "1.5", "-1", ""] {
            assert_eq!(number(odd), None, "{odd}");
        }
        assert!(is_rule("---|---:") && is_rule("━━━━") && !is_rule("- a") && !is_rule(" "));
    }
}
