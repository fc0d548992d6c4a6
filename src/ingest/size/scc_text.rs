//! `scc-text`: the tables that scc prints, narrow or wide. Written after the source of its formatter, versions 2 and 3; no scc
//! was at hand.

use super::compare_declared;
use super::table::{self, Column, Layout, several, tables};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// scc's tables.
pub const FORMAT: Format = Format {
    name: "scc-text",
    kind: ReportKind::Size,
    about: "table of scc: lines, code, comments and blank lines of each language",
    written_by: "scc, scc --wide, scc --by-file, scc --no-complexity",
    told_by: "a table with the columns Language, Files, Lines, Blanks, Comments, Code and Complexity",
    has_end: true,
    counting: "The languages added up; Total is only compared, and files are the same once more. Complexity is a count of \
               branching keywords and is left out. Of several tables the last.",
    sniff,
    parse,
};

const LAYOUT: Layout = Layout { tool: "scc", heading, sums: &["Total"], is_plain: false };

fn heading(cells: &[&str]) -> Option<Vec<Column>> {
    let ["Language", "Files", "Lines", counts @ ..] = cells else { return None };
    let (counts, more) = counts.split_at_checked(3)?;
    let counts = match (counts, more) {
        (["Blanks", "Comments", "Code"], _) => [Column::Blanks, Column::Comments, Column::Code],
        // Of version 2; without complexity it would be tokei's.
        (["Code", "Comments", "Blanks"], ["Complexity", ..]) => [Column::Code, Column::Comments, Column::Blanks],
        _ => return None,
    };
    let more = match more {
        [] => 0,
        ["Complexity"] => 1,
        ["Complexity", "Complexity/Lines"] => 2,
        _ => return None,
    };
    let columns = [Column::Files, Column::Lines].into_iter().chain(counts);
    Some(columns.chain(std::iter::repeat_n(Column::Other, more)).collect())
}

fn sniff(head: &Head<'_>) -> Sniff {
    if table::is_in(head, &LAYOUT) { Sniff::Sure("a table of scc's columns".into()) } else { Sniff::No }
}

/// Whether a table begins with the line.
pub(in crate::ingest) fn begins(line: &str) -> bool {
    table::begins(line, &LAYOUT)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut told = tables(input, &LAYOUT)?;
    let count = told.len();
    let table = told.pop().unwrap_or_default();
    let mut parsed = table.rows.sizes.finish(&FORMAT);
    parsed.figures.lines = Some(table.rows.lines);
    if let Some(said) = table.said {
        compare_declared(&mut parsed, said.sizes);
    }
    parsed.warnings.extend(several(count));
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    fn read(text: &str) -> Result<Vec<u64>> {
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)?;
        assert_eq!((parsed.format, parsed.warnings.len()), (&FORMAT, 0), "{text}");
        Ok(parsed.figures.counts().into_iter().map(|(_, count)| count).collect())
    }

    #[test]
    fn every_layout_tells_the_same() {
        let narrow = "─────\nLanguage Files Lines Blanks Comments Code Complexity\n─────\nC Header 1 12 3 1 8 2\nGo 2 20 5 5 10 4\n─────\n\
            Total 3 32 8 6 18 6\n─────\nEstimated Cost to Develop (organic) $46\n─────\nProcessed 900 bytes, 0.001 megabytes (SI)\n─────\n";
        let files = narrow.replace("Go 2", "~folder/a.h 12 3 1 8 2\n─────\nGo 2");
        let wide = narrow
            .replace("Code Complexity", "Code Complexity Complexity/Lines")
            .replace("8 2\n", "8 2 25.00\n")
            .replace("10 4\n", "10 4 40.00\n")
            .replace("18 6\n", "18 6 65.00\n");
        let plain = "-----\nLanguage Files Lines Blanks Comments Code\n-----\nC Header 1 12 3 1 8\nGo 2 20 5 5 10\n-----\nTotal 3 32 8 6 18\n-----\n";
        let old = "-----\nLanguage Files Lines Code Comments Blanks Complexity\n-----\nC Header 1 12 8 1 3 2\nGo 2 20 10 5 5 4\n-----\n\
            Total 3 32 18 6 8 6\n-----\n";
        for text in [narrow, &files, &wide, plain, old] {
            assert_eq!(read(text).unwrap(), [3, 32, 18, 6, 8], "{text}");
        }
        let cut = narrow.get(..narrow.find("18 6\n").unwrap()).unwrap();
        assert_eq!(read(cut).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
