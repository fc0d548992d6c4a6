//! `pygount-text`: the table that pygount prints.

use super::compare_declared;
use super::table::{self, Column, Layout, several, tables};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// pygount's table.
pub const FORMAT: Format = Format {
    name: "pygount-text",
    kind: ReportKind::Size,
    about: "table of pygount: code and comments of each language",
    written_by: "pygount --format summary",
    told_by: "a table with the columns Language, Files, Code and Comment, and percentages",
    has_end: true,
    counting: "The languages added up; Sum is only compared. Empty lines are not told.",
    sniff,
    parse,
};

const LAYOUT: Layout = Layout { tool: "pygount", heading, sums: &["Sum"], is_plain: true };

fn heading(cells: &[&str]) -> Option<Vec<Column>> {
    let is_ours = matches!(cells, ["Language", "Files", "%", "Code", "%", "Comment", "%"]);
    let columns = [Column::Files, Column::Other, Column::Code, Column::Other, Column::Comments, Column::Other];
    is_ours.then(|| columns.to_vec())
}

fn sniff(head: &Head<'_>) -> Sniff {
    if table::is_in(head, &LAYOUT) { Sniff::Sure("a table of pygount's columns".into()) } else { Sniff::No }
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
    if let Some(said) = table.said {
        compare_declared(&mut parsed, said.sizes);
    }
    parsed.figures.blanks = None;
    parsed.warnings.extend(several(count));
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    #[test]
    fn rows_are_drawn_in_boxes_and_blank_lines_are_not_known() {
        let text = "┏━━━━┳━━━━┓\n┃ Language ┃ Files ┃ % ┃ Code ┃ % ┃ Comment ┃ % ┃\n┡━━━━╇━━━━┩\n│ C++ │ 1 │ 50.0 │ 19 │ 63.3 │ 3 │ 10.0 │\n\
            │ Emacs Lisp │ 1 │ 50.0 │ 8 │ 47.1 │ 1 │ 5.9 │\n├────┼────┤\n│ Sum │ 2 │ 100.0 │ 27 │ 62.4 │ 4 │ 8.3 │\n└────┴────┘\n";
        let read = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None);
        let parsed = read(text).unwrap();
        assert_eq!(parsed.figures.counts(), [("files", 2), ("code", 27), ("comments", 4)]);
        assert_eq!(parsed.warnings.len(), 0);
        for bad in [
            text.replace("│ 19", "│ 1…"),
            text.replace("│ Sum", "│ other"),
            text.replace("│ 4 │ 8.3 │\n└────┴────┘\n", "│ 4"),
        ] {
            assert_eq!(read(&bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
    }
}
