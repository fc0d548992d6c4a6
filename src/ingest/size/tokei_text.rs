//! `tokei-text`: the table that tokei prints. Its definition is tokei's README, and the table itself of versions 12 and 15.

use super::table::{self, Column, Counted, Layout, several, tables};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// tokei's table.
pub const FORMAT: Format = Format {
    name: "tokei-text",
    kind: ReportKind::Size,
    about: "table of tokei: lines, code, comments and blank lines of each language",
    written_by: "tokei, tokei --files, tokei --compact",
    told_by: "a table with the columns Language, Files, Lines, Code, Comments and Blanks",
    has_end: true,
    counting: "Each language's own lines and those embedded in its files, added up: Total left the latter out before \
               tokei 13. Where the rows leave them out (--compact), Total. Of several tables the last.",
    sniff,
    parse,
};

const LAYOUT: Layout = Layout { tool: "tokei", heading, sums: &["Total"], is_plain: false };

fn heading(cells: &[&str]) -> Option<Vec<Column>> {
    let is_ours = matches!(cells, ["Language", "Files", "Lines", "Code", "Comments", "Blanks"]);
    is_ours.then(|| vec![Column::Files, Column::Lines, Column::Code, Column::Comments, Column::Blanks])
}

fn sniff(head: &Head<'_>) -> Sniff {
    if table::is_in(head, &LAYOUT) { Sniff::Sure("a table of tokei's columns".into()) } else { Sniff::No }
}

/// Whether a table begins with the line.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    table::begins(line, &LAYOUT)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut told = tables(input, &LAYOUT)?;
    let count = told.len();
    let table = told.pop().unwrap_or_default();
    let said = table.said.filter(|said| said.lines > table.rows.lines);
    let Counted { sizes, lines } = said.unwrap_or(table.rows);
    let mut parsed = sizes.finish(&FORMAT);
    parsed.figures.lines = Some(lines);
    parsed.warnings.extend(several(count));
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    fn read(text: &str) -> Result<Vec<u64>> {
        let figures = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)?.figures;
        Ok(figures.counts().into_iter().map(|(_, count)| count).collect())
    }

    const TABLE: &str = "=====\n Language Files Lines Code Comments Blanks\n=====\n C Header 1 9 5 1 3\n-----\n a.h 9 5 1 3\n-----\n HTML 1 11 10 1 0\n \
        |- CSS 1 2 1 1 0\n (Total) 13 11 2 0\n=====\n Total 2 20 15 2 3\n=====\n";

    #[test]
    fn what_is_embedded_counts_and_files_do_not_count_again() {
        assert_eq!(read(TABLE).unwrap(), [2, 22, 16, 3, 3], "version 12 leaves CSS out of Total");
        assert_eq!(read(&TABLE.replace("Total 2 20 15 2 3", "Total 2 22 16 3 3")).unwrap(), [2, 22, 16, 3, 3]);
        let compact = TABLE.replace(" |- CSS 1 2 1 1 0\n", "").replace("Total 2 20 15 2 3", "Total 2 22 16 3 3");
        assert_eq!(read(&compact).unwrap(), [2, 22, 16, 3, 3]);
        assert_eq!(read("Language Files Lines Code Comments Blanks\n===\nTotal 0 0 0 0 0\n").unwrap(), [0; 5]);
    }

    #[test]
    fn a_table_without_its_total_is_cut() {
        let end = TABLE.find(" 2 3\n===").unwrap();
        for length in [end, end + 2, end + 4, TABLE.find(" Total 2").unwrap()] {
            let error = read(TABLE.get(..length).unwrap()).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::Malformed), "{length}");
        }
    }
}
