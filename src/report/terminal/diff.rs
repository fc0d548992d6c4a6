//! Two iterations side by side.

use super::findings::{ALL, renamed};
use super::page::{INDENT, Page};
use super::parts::{brief, maybe, pair_table};
use super::text::{Tone, toned};
use crate::model::trajectory::Point;
use crate::model::transitions::Renamed;
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
    /// By name; absent if the reports of one of the two name no tests.
    pub tests: Option<DiffTests<'a>>,
    /// `A`, `M` or `D` and the path, of each file that differs.
    pub files: &'a [(char, String)],
}

/// Tests that differ, by name.
#[derive(Clone, Copy, Debug)]
pub struct DiffTests<'a> {
    /// In the first, gone in the second.
    pub lost: &'a [String],
    /// Passed in the first, failing in the second.
    pub broken: &'a [String],
    /// Failing in the first, passing in the second.
    pub fixed: &'a [String],
    /// Ran in the first, skipped in the second.
    pub newly_skipped: &'a [String],
    /// Skipped in the first, ran in the second.
    pub unskipped: &'a [String],
    /// New in the second.
    pub added: &'a [String],
    /// Under another id in the second.
    pub renamed: &'a [Renamed],
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

/// Which of the two names no tests, and why.
fn why_unnamed(view: &DiffView<'_>) -> String {
    let why = |point: &Point| {
        let number = point.iteration;
        match &point.metrics.testing {
            None => Some(format!("no test report was read at iteration {number}")),
            Some(testing) if testing.cases.is_some() => None,
            Some(_) if point.metrics.failures_alone().is_some() => {
                Some(format!("the report of iteration {number} tells failures alone"))
            }
            Some(_) => Some(format!("the report of iteration {number} names no tests")),
        }
    };
    [view.a, view.b].into_iter().filter_map(why).collect::<Vec<_>>().join("; ")
}

fn tests(page: &mut Page, view: &DiffView<'_>) {
    let Some(tests) = &view.tests else {
        page.section("tests");
        page.paragraph(INDENT, INDENT, &format!("not compared by name: {}", why_unnamed(view)));
        return;
    };
    let lists = [
        ("tests lost", tests.lost, Some(Tone::Bad)),
        ("tests broken", tests.broken, Some(Tone::Bad)),
        ("tests fixed", tests.fixed, Some(Tone::Good)),
        ("tests newly skipped", tests.newly_skipped, Some(Tone::Warn)),
        ("tests unskipped", tests.unskipped, None),
        ("tests added", tests.added, None),
    ];
    if lists.iter().all(|(_, names, _)| names.is_empty()) && tests.renamed.is_empty() {
        page.section("tests");
        page.paragraph(INDENT, INDENT, "the same by name and outcome");
    }
    for (title, names, tone) in lists.into_iter().filter(|(_, names, _)| !names.is_empty()) {
        page.section(&format!("{title} ({})", names.len()));
        for name in names {
            page.paragraph(INDENT, INDENT, &maybe(tone, &brief(name)));
        }
    }
    let count = u64::try_from(tests.renamed.len()).unwrap_or(u64::MAX);
    renamed(page, count, tests.renamed, ALL);
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
