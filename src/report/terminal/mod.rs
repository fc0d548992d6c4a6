//! The screens. Home of comfy-table.
//!
//! The first thing that the eye meets is the verdict and what to do; numbers follow, then findings, then where the numbers
//! came from. No line is wider than the screen: columns of low rank go, text is broken.

mod diff;
mod findings;
mod log;
mod page;
mod parts;
mod recorded;
mod selected;
mod status;
mod tests;
mod text;

use page::{Column, Page};

use super::Screen;
use super::view::{ABSENT, fixed, number, plain};
use crate::model::figures::Figures;
use crate::model::levels::{LevelChange, MetricLevels};
use crate::model::metrics::Direction;

pub use diff::{DiffTests, DiffView, diff};
pub use log::log;
pub use recorded::{recorded, show, watched};
pub use selected::{Destination, RestoredView, restored, selected};
pub use status::{StatusView, status};
pub use tests::{HistoryView, TestRow, TestsView, test_history, tests};

/// The metrics that a report tells.
pub fn metrics(figures: &Figures, screen: Screen) -> String {
    let rows: Vec<Vec<String>> = figures
        .metrics
        .iter()
        .map(|(name, figure)| {
            let better = match figure.direction {
                Some(Direction::Lower) => "lower",
                Some(Direction::Higher) => "higher",
                None => ABSENT,
            };
            let unit = figure.unit.clone().unwrap_or_default();
            let samples = figure.samples.len().max(usize::from(figure.value.is_some()));
            vec![name.clone(), number(figure.value), unit, samples.to_string(), better.to_owned()]
        })
        .collect();
    table(&["metric", "value", "unit", "samples", "better"], &rows, screen)
}

/// Where the level of each metric changed for good: a row a change, or one that says why there is none.
pub fn level_changes(metrics: &[MetricLevels], screen: Screen) -> String {
    let rows = metrics.iter().flat_map(|one| {
        let told = |cells: [String; 4]| [vec![one.metric.clone()], cells.to_vec()].concat();
        let text = |value: f64| number(Some(value));
        let change = |change: &LevelChange| {
            let levels = [text(change.before), text(change.after)].join(" → ");
            let p = if change.p < 0.001 { "below 0.001".to_owned() } else { fixed(Some(change.p), 3) };
            told([change.iteration.to_string(), levels, p, change.seen_at.to_string()])
        };
        let alone = |what: String| told([ABSENT.to_owned(), what, ABSENT.to_owned(), ABSENT.to_owned()]);
        let trend = one.trend.map(|slope| alone(format!("a trend: {} an iteration", signed_number(slope))));
        let none = one.why_none.clone().map(alone);
        one.changes.iter().map(change).chain(trend).chain(none).collect::<Vec<_>>()
    });
    table(&["metric", "from iteration", "level", "p", "could be seen at"], &rows.collect::<Vec<_>>(), screen)
}

fn signed_number(value: f64) -> String {
    let text = number(Some(value));
    if value > 0.0 { format!("+{text}") } else { text }
}

/// Text beside what stands before it; further lines begin where the text began.
pub fn beside(before: &str, text: &str, screen: Screen) -> String {
    let mut page = Page::new(screen);
    page.hung(0, before, &plain(text));
    page.finish()
}

/// Lines of text, broken where the screen is too narrow.
pub fn prose(text: &str, screen: Screen) -> String {
    let mut page = Page::new(screen);
    text.lines().for_each(|line| page.paragraph(0, 0, &plain(line)));
    page.finish()
}

/// A table for lists of any kind: the cells are escaped, broken into lines where the screen is too narrow.
pub fn table(headers: &[&str], rows: &[Vec<String>], screen: Screen) -> String {
    let columns: Vec<Column<'_>> = headers.iter().map(|title| Column::left(title).flexible()).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let mut page = Page::new(screen);
    page.table(0, &columns, &rows);
    page.finish()
}
