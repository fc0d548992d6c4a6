//! Two iterations side by side.

use super::page::{INDENT, Page};
use super::parts::{brief, maybe, pair_table};
use super::text::{Tone, toned};
use crate::model::trajectory::Point;
use crate::model::verdict::Deltas;
use crate::report::Screen;
use crate::report::rows::pair_rows;
use crate::report::view::{POINTS, class_name};

/// What `diff` shows. Tests are listed by name, files by path.
#[derive(Clone, Copy, Debug)]
pub struct DiffView<'a> {
    /// From.
    pub a: &'a Point,
    /// To.
    pub b: &'a Point,
    /// From the first to the second.
    pub deltas: &'a Deltas,
    /// In the first, gone in the second.
    pub lost: &'a [String],
    /// New in the second.
    pub added: &'a [String],
    /// Passed in the first, failing in the second.
    pub broken: &'a [String],
    /// Failing in the first, passing in the second.
    pub fixed: &'a [String],
    /// The reports of both name their tests.
    pub tests_are_named: bool,
    /// `A`, `M` or `D` and the path, of each file that differs.
    pub files: &'a [(char, String)],
}

/// The screen of `diff`.
pub fn diff(view: &DiffView<'_>, screen: Screen) -> String {
    let mut page = Page::new(screen);
    let (a, b) = (view.a.iteration, view.b.iteration);
    page.line(&toned(Tone::Strong, &format!("iteration {a} → iteration {b}")));
    let classes = [view.a, view.b].map(|point| class_name(point.classification, &point.recommendation));
    page.paragraph(INDENT, 0, &classes.join(" → "));
    page.gap();
    let rows = pair_rows(view.a, view.b, Some(view.deltas), POINTS);
    pair_table(&mut page, &format!("iteration {a}"), &format!("iteration {b}"), &rows);
    tests(&mut page, view);
    files(&mut page, view);
    page.finish()
}

fn tests(page: &mut Page, view: &DiffView<'_>) {
    let lists = [
        ("tests lost", view.lost, Some(Tone::Bad)),
        ("tests broken", view.broken, Some(Tone::Bad)),
        ("tests fixed", view.fixed, Some(Tone::Good)),
        ("tests added", view.added, None),
    ];
    if lists.iter().all(|(_, names, _)| names.is_empty()) {
        page.section("tests");
        let why = if view.tests_are_named {
            "the same by name and outcome"
        } else {
            "not compared by name: the reports of one of the two name no tests"
        };
        page.paragraph(INDENT, INDENT, why);
    }
    for (title, names, tone) in lists.into_iter().filter(|(_, names, _)| !names.is_empty()) {
        page.section(&format!("{title} ({})", names.len()));
        for name in names {
            page.paragraph(INDENT, INDENT, &maybe(tone, &brief(name)));
        }
    }
}

fn files(page: &mut Page, view: &DiffView<'_>) {
    if view.files.is_empty() {
        page.section("files");
        page.paragraph(INDENT, 0, "the same");
        return;
    }
    page.section(&format!("files ({})", view.files.len()));
    for (kind, path) in view.files {
        let tone = match kind {
            'A' => Some(Tone::Good),
            'D' => Some(Tone::Bad),
            _ => None,
        };
        page.hung(INDENT, &format!("{} ", maybe(tone, &kind.to_string())), &brief(path));
    }
}
