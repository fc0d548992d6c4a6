//! A screen as it is written: lines, paragraphs and tables, none wider than the screen.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};

use super::text::{Tone, padded, paint, toned, width, wrap};
use crate::report::Screen;

/// Blanks before what belongs to a section.
pub(super) const INDENT: usize = 2;

/// A screen in the making.
pub(super) struct Page {
    text: String,
    screen: Screen,
}

impl Page {
    pub(super) fn new(screen: Screen) -> Page {
        Page { text: String::new(), screen }
    }

    /// Columns of the screen.
    pub(super) fn width(&self) -> usize {
        self.screen.width
    }

    /// An empty line, unless the page begins or has one already.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A paragraph, `indent` columns in; further lines are further in by `hang`.
    pub(super) fn paragraph(&mut self, indent: usize, hang: usize, text: &str) {
        // At least some room for text remains, however deep it is indented.
        let first = indent.min(self.screen.width / 2);
        let rest = (indent + hang).min(self.screen.width / 2);
        let lines = wrap(text, self.screen.width.saturating_sub(first), self.screen.width.saturating_sub(rest));
        for (n, line) in lines.iter().enumerate() {
            self.push(if n == 0 { first } else { rest }, line);
        }
    }

    /// A line of text; broken only if it does not fit.
    pub(super) fn line(&mut self, text: &str) {
        self.paragraph(0, INDENT, text);
    }

    /// Text beside what stands before it; further lines begin where the text began.
    pub(super) fn hung(&mut self, indent: usize, before: &str, text: &str) {
        let column = indent + width(before);
        // Too little room beside it: the text goes below.
        if self.screen.width < column + 16 {
            self.push(indent, before);
            self.paragraph(indent + INDENT, 0, text);
            return;
        }
        let room = self.screen.width - column;
        for (n, line) in wrap(text, room, room).iter().enumerate() {
            if n == 0 {
                self.push(indent, &format!("{before}{line}"));
            } else {
                self.push(column, line);
            }
        }
    }

    /// A name in a column of its own, and the text beside it.
    pub(super) fn field(&mut self, name: &str, columns: usize, text: &str) {
        self.hung(INDENT, &padded(&toned(Tone::Dim, name), columns + 1), text);
    }

    /// A section's head, after an empty line.
    pub(super) fn section(&mut self, title: &str) {
        self.gap();
        self.paragraph(0, INDENT, &toned(Tone::Strong, title));
    }

    /// A table, `indent` columns in; the titles of the columns that had room.
    pub(super) fn table<'c>(&mut self, indent: usize, columns: &[Column<'c>], rows: &[Vec<String>]) -> Vec<&'c str> {
        let limit = self.screen.width.saturating_sub(indent);
        let widths = widths(columns, rows);
        let kept = kept(columns, &widths, limit);
        for line in layout(columns, &kept, &widths, rows, limit) {
            self.push(indent, &line);
        }
        kept.iter().filter_map(|at| columns.get(*at)).map(|column| column.title).collect()
    }

    /// A line that is known to fit.
    pub(super) fn push(&mut self, indent: usize, line: &str) {
        self.text.push_str(&" ".repeat(indent));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The page as it is printed.
    pub(super) fn finish(self) -> String {
        paint(&self.text, self.screen.colour)
    }
}

/// One column of a table.
#[derive(Clone, Copy)]
pub(super) struct Column<'a> {
    /// Its head.
    pub title: &'a str,
    /// Numbers stand at the right.
    pub right: bool,
    /// 0 always stays; of the others the highest goes first where the screen is too narrow.
    pub rank: u8,
    /// It may be broken into lines; others keep their width as long as there is any room.
    pub flexible: bool,
}

impl<'a> Column<'a> {
    /// A column of words that always stays.
    pub(super) fn left(title: &'a str) -> Column<'a> {
        Column { title, right: false, rank: 0, flexible: false }
    }

    /// A column of numbers that always stays.
    pub(super) fn right(title: &'a str) -> Column<'a> {
        Column { title, right: true, rank: 0, flexible: false }
    }

    /// The same, but it goes where the screen is too narrow.
    pub(super) fn rank(self, rank: u8) -> Column<'a> {
        Column { rank, ..self }
    }

    /// The same, but broken into lines where it is too long.
    pub(super) fn flexible(self) -> Column<'a> {
        Column { flexible: true, ..self }
    }
}

/// Columns between two columns.
const BETWEEN: u16 = 2;

/// Least width of a flexible column that is worth having.
const FLEXIBLE_MIN: usize = 12;

/// The lines of a table of the columns that are kept, none wider than `limit`.
fn layout(columns: &[Column<'_>], kept: &[usize], widths: &[usize], rows: &[Vec<String>], limit: usize) -> Vec<String> {
    let heads: Vec<&Column<'_>> = kept.iter().filter_map(|at| columns.get(*at)).collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(limit).unwrap_or(u16::MAX));
    if heads.iter().any(|column| !column.title.is_empty()) {
        table.set_header(heads.iter().map(|column| toned(Tone::Dim, column.title)).collect::<Vec<_>>());
    }
    for row in rows {
        table.add_row(kept.iter().filter_map(|at| row.get(*at)).collect::<Vec<_>>());
    }
    // What holds tones and numbers is not broken, unless nothing else is left to break.
    let is_crowded = total(kept, widths) > limit && !heads.iter().any(|column| column.flexible);
    for (n, column) in heads.iter().enumerate() {
        let is_last = n + 1 == heads.len();
        if let Some(cells) = table.column_mut(n) {
            cells.set_padding((0, if is_last { 0 } else { BETWEEN }));
            cells.set_cell_alignment(if column.right { CellAlignment::Right } else { CellAlignment::Left });
            if !column.flexible && !is_crowded {
                cells.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
    }
    table.lines().collect()
}

/// Columns that each column of the table takes at least.
fn widths(columns: &[Column<'_>], rows: &[Vec<String>]) -> Vec<usize> {
    let at_least = |(at, column): (usize, &Column<'_>)| {
        let widest = rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell)).max().unwrap_or(0);
        let widest = if column.flexible { widest.min(FLEXIBLE_MIN) } else { widest };
        widest.max(width(column.title))
    };
    columns.iter().enumerate().map(at_least).collect()
}

/// The columns that stay, by position.
fn kept(columns: &[Column<'_>], widths: &[usize], limit: usize) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    while total(&kept, widths) > limit {
        let rank = |at: &usize| columns.get(*at).map_or(0, |column| column.rank);
        let Some(first_to_go) = kept.iter().copied().filter(|at| rank(at) > 0).max_by_key(rank) else { break };
        kept.retain(|at| *at != first_to_go);
    }
    kept
}

/// Columns that the table takes at least.
fn total(kept: &[usize], widths: &[usize]) -> usize {
    let content: usize = kept.iter().filter_map(|at| widths.get(*at)).sum();
    content + usize::from(BETWEEN) * kept.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(columns: &[Column<'_>], rows: &[Vec<String>], limit: usize) -> Vec<String> {
        let widths = widths(columns, rows);
        layout(columns, &kept(columns, &widths, limit), &widths, rows, limit)
    }

    fn rows() -> Vec<Vec<String>> {
        vec![vec!["1".into(), "regression".into(), "a long remark of many words".into()]]
    }

    #[test]
    fn a_flexible_column_is_broken_and_the_others_keep_their_width() {
        let columns = [Column::right("n"), Column::left("class"), Column::left("remark").flexible()];
        let lines = lines(&columns, &rows(), 34);
        assert!(lines.len() > 2, "{lines:?}");
        assert!(lines.iter().all(|line| width(line) <= 34), "{lines:?}");
        assert!(lines[1].contains("regression"), "{lines:?}");
    }

    #[test]
    fn columns_go_by_rank_and_those_without_one_stay() {
        let columns = [Column::right("n"), Column::left("class").rank(1), Column::left("remark").rank(2)];
        let text = lines(&columns, &rows(), 16).join("\n");
        assert!(text.contains("regression") && !text.contains("remark"), "{text}");
        let text = lines(&columns, &rows(), 8).join("\n");
        assert!(!text.contains("regression") && text.contains('1'), "{text}");
    }

    #[test]
    fn a_table_without_room_is_broken_but_never_too_wide() {
        let columns = [Column::left("path"), Column::left("word")];
        let rows = vec![vec!["x".repeat(70), "y".repeat(70)]];
        assert!(lines(&columns, &rows, 40).iter().all(|line| width(line) <= 40));
    }
}
