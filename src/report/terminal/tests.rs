//! The ledger of tests: what fails and since when, what flakes, and the life of one test.

use super::page::{Column, INDENT, Page};
use super::parts::{brief, maybe};
use super::text::{Tone, toned};
use crate::model::cases::{Outcome, TestCase};
use crate::model::ids::{Iteration, LoopId};
use crate::model::ledger::{Flaking, TestHistory, TestStanding};
use crate::report::Screen;
use crate::report::view::{ABSENT, counted, length};

/// Files that are named beside an iteration; `diff` lists them all.
const FILES: usize = 5;

/// A failing test.
#[derive(Clone, Debug)]
pub struct TestRow<'a> {
    /// Which.
    pub id: &'a str,
    /// What became of it.
    pub standing: TestStanding,
    /// What the reports told of it there, if they did.
    pub case: Option<&'a TestCase>,
    /// `A`, `M` or `D` and the path, of each file that the iteration changed that broke it.
    pub files: Vec<(char, String)>,
}

/// What `tests` shows.
#[derive(Clone, Copy, Debug)]
pub struct TestsView<'a> {
    /// The loop.
    pub loop_id: &'a LoopId,
    /// The iteration that is told of.
    pub iteration: Iteration,
    /// Tests that pass there; absent where reports tell failures alone.
    pub passed: Option<u64>,
    /// Tests that fail or error there.
    pub failed: u64,
    /// Tests that are skipped there, as `passed`.
    pub skipped: Option<u64>,
    /// Whether all tests are named, and not only those that fail.
    pub all_named: bool,
    /// The failing tests, those that broke last first; absent if they were not asked for.
    pub broken: Option<&'a [TestRow<'a>]>,
    /// The flaky tests by name; absent if they were not asked for.
    pub flaky: Option<&'a [(&'a String, &'a Flaking)]>,
}

/// What `tests --history` shows.
#[derive(Clone, Copy, Debug)]
pub struct HistoryView<'a> {
    /// The loop.
    pub loop_id: &'a LoopId,
    /// The test.
    pub history: &'a TestHistory,
    /// The files that each event's iteration changed, as [`TestRow::files`].
    pub files: &'a [Vec<(char, String)>],
}

/// The screen of `tests`.
pub fn tests(view: &TestsView<'_>, screen: Screen) -> String {
    let mut page = Page::new(screen);
    let others = view.passed.zip(view.skipped);
    let all = others.map(|(passed, skipped)| passed.saturating_add(view.failed).saturating_add(skipped));
    let all = all.map(|all| format!(": {}", counted(all, "test", "tests"))).unwrap_or_default();
    page.line(&toned(Tone::Strong, &format!("{}, iteration {}{all}", view.loop_id, view.iteration)));
    let fail = format!("{} fail", view.failed);
    let fail = if view.failed > 0 { toned(Tone::Bad, &fail) } else { fail };
    let [pass, skipped] = [(view.passed, "pass"), (view.skipped, "skipped")]
        .map(|(number, word)| number.map(|number| format!("{number} {word}")));
    let parts: Vec<String> = [pass, Some(fail), skipped].into_iter().flatten().collect();
    page.paragraph(INDENT, 0, &parts.join(", "));
    if !view.all_named {
        let told = "its report names the tests that fail, and not those that pass";
        page.paragraph(INDENT, INDENT, &toned(Tone::Dim, told));
    }
    if let Some(rows) = view.broken {
        broken(&mut page, rows, view.all_named);
        let more = view.failed.saturating_sub(length(rows));
        if !view.all_named && more > 0 {
            page.paragraph(INDENT, 0, &toned(Tone::Dim, &format!("and {more} more")));
        }
    }
    if let Some(found) = view.flaky {
        flaky(&mut page, found);
    }
    page.finish()
}

/// Failing tests, those that one iteration broke together, with what it changed.
fn broken(page: &mut Page, rows: &[TestRow<'_>], all_named: bool) {
    if rows.is_empty() {
        page.section("failing");
        page.paragraph(INDENT, 0, &toned(Tone::Good, "none"));
    }
    let key = |row: &TestRow<'_>| (row.standing.is_broken(), row.standing.bad_since);
    for group in rows.chunk_by(|a, b| key(a) == key(b)) {
        let Some(first) = group.first() else { continue };
        let since = first.standing.bad_since.map_or_else(|| ABSENT.to_owned(), |since| since.to_string());
        if first.standing.is_broken() {
            page.section(&format!("broken in iteration {since} ({})", group.len()));
        } else {
            let before = if all_named { ", never passed" } else { "" };
            page.section(&format!("failing since iteration {since}{before} ({})", group.len()));
        }
        for row in group {
            let last = row.standing.last_passed.filter(|_| row.standing.is_broken());
            let last =
                last.map(|last| toned(Tone::Dim, &format!(", passed last in iteration {last}"))).unwrap_or_default();
            let word = if row.standing.outcome == Outcome::Errored { " (in error)" } else { "" };
            page.paragraph(INDENT, INDENT, &format!("{}{word}{last}", toned(Tone::Bad, &brief(row.id))));
            if let Some(why) = row.case.and_then(why) {
                page.paragraph(2 * INDENT, 0, &toned(Tone::Dim, &why));
            }
        }
        if first.standing.is_broken() {
            page.paragraph(INDENT, INDENT, &format!("{} {}", toned(Tone::Dim, "it changed"), files(&first.files)));
        }
    }
}

/// `tests/test_cart.py:12: assert 1 == 2`, as far as it is known.
fn why(case: &TestCase) -> Option<String> {
    let place = case.file.as_ref().map(|file| match case.line {
        Some(line) => format!("{}:{line}", brief(file)),
        None => brief(file),
    });
    let parts: Vec<String> = place.into_iter().chain(case.message.as_deref().map(brief)).collect();
    (!parts.is_empty()).then(|| parts.join(": "))
}

fn flaky(page: &mut Page, found: &[(&String, &Flaking)]) {
    if found.is_empty() {
        page.section("flaky");
        page.paragraph(INDENT, 0, "none: no test failed and passed on one tree");
        return;
    }
    page.section(&format!("flaky: failed on a tree that they passed on ({})", found.len()));
    let columns = [
        Column::left("test").flexible(),
        Column::right("failed"),
        Column::right("of runs"),
        Column::left("in iterations").rank(1).flexible(),
    ];
    let row = |(id, flaking): &(&String, &Flaking)| {
        let iterations: Vec<String> = flaking.iterations.iter().map(ToString::to_string).collect();
        let runs = flaking.runs;
        vec![toned(Tone::Warn, &brief(id)), runs.failed.to_string(), runs.runs.to_string(), iterations.join(", ")]
    };
    page.table(INDENT, &columns, &found.iter().map(row).collect::<Vec<_>>());
}

/// Changed files in one line.
fn files(files: &[(char, String)]) -> String {
    if files.is_empty() {
        return "no file".to_owned();
    }
    let named: Vec<String> = files.iter().take(FILES).map(|(kind, path)| format!("{kind} {}", brief(path))).collect();
    let more = files.len().saturating_sub(FILES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// The screen of `tests --history`.
pub fn test_history(view: &HistoryView<'_>, screen: Screen) -> String {
    let mut page = Page::new(screen);
    let history = view.history;
    let id = history.ids.first().map(|id| brief(id)).unwrap_or_default();
    page.line(&toned(Tone::Strong, &format!("{}: {id}", view.loop_id)));
    for earlier in history.ids.iter().skip(1) {
        page.paragraph(INDENT, INDENT, &format!("{} {}", toned(Tone::Dim, "before:"), brief(earlier)));
    }
    page.gap();
    let columns = [
        Column::right("#"),
        Column::left("was"),
        Column::left("now"),
        Column::left("").rank(2),
        Column::left("files that changed").rank(1).flexible(),
    ];
    let row = |(event, changed): (&crate::model::ledger::Event, &Vec<(char, String)>)| {
        let (what, tone) = word(event.was, event.now);
        vec![
            event.iteration.to_string(),
            outcome(event.was).to_owned(),
            maybe(tone, outcome(event.now)),
            maybe(tone, what),
            if event.iteration == Iteration::BASELINE { String::new() } else { files(changed) },
        ]
    };
    page.table(INDENT, &columns, &history.events.iter().zip(view.files).map(row).collect::<Vec<_>>());
    page.gap();
    let runs = history.on_one_tree.runs;
    let flakes = if runs.failed > 0 {
        let iterations: Vec<String> = history.on_one_tree.iterations.iter().map(ToString::to_string).collect();
        let told = format!(
            "flaky: failed in {} of {} on trees that it passed on (iteration {})",
            runs.failed,
            counted(runs.runs.into(), "run", "runs"),
            iterations.join(", ")
        );
        toned(Tone::Warn, &told)
    } else {
        "never failed on a tree that it passed on".to_owned()
    };
    page.paragraph(INDENT, INDENT, &flakes);
    page.finish()
}

fn outcome(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        None => ABSENT,
        Some(Outcome::Passed) => "passed",
        Some(Outcome::Skipped) => "skipped",
        Some(Outcome::Failed) => "failed",
        Some(Outcome::Errored) => "error",
    }
}

/// What a change is called.
fn word(was: Option<Outcome>, now: Option<Outcome>) -> (&'static str, Option<Tone>) {
    let is_bad = |outcome| matches!(outcome, Outcome::Failed | Outcome::Errored);
    match (was, now) {
        (None, Some(_)) => ("added", None),
        (_, None) => ("gone", Some(Tone::Bad)),
        (Some(Outcome::Passed), Some(now)) if is_bad(now) => ("broke", Some(Tone::Bad)),
        (Some(was), Some(Outcome::Passed)) if is_bad(was) => ("fixed", Some(Tone::Good)),
        (Some(_), Some(Outcome::Skipped)) => ("skipped", Some(Tone::Warn)),
        (Some(Outcome::Skipped), Some(now)) => ("unskipped", is_bad(now).then_some(Tone::Bad)),
        (Some(_), Some(_)) => ("", None),
    }
}
