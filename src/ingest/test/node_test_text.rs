//! `node-test-text`: what `node --test` prints with its `spec` reporter. Its definition is Node's
//! `lib/internal/test_runner/reporter/spec.js`. The last summary gives the counts, the tree gives names, and the list of
//! failing tests their places. Mocha and many others print such marks, too: only as many lines as the summary counts tests
//! and suites are the tree's own, those above it, and what passed has its time.

use std::collections::{BTreeMap, VecDeque};

use super::milliseconds;
use super::text_report::{KILLED_HELP, Names, Summary, is_foreign, no_result, say_last};
use super::text_runs::{Enclosing, Unannounced};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, first_lines, is_number, printable};
use crate::ingest::values::whole;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// What `node --test` prints.
pub const FORMAT: Format = Format {
    name: "node-test-text",
    kind: ReportKind::Test,
    about: "terminal output of Node's test runner",
    written_by: "node --test (--test-reporter=spec)",
    told_by: "its lines \"ℹ tests\" to \"ℹ duration_ms\", or with \"#\" where the TAP above them is missing",
    has_end: true,
    counting: "The last summary: pass passed, fail failed, cancelled errored, skipped and todo skipped. A test that \
               holds others is a test too, as node counts it; a suite is none, but is one errored where nothing else \
               failed. A file that does not load is among those that failed.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) {
        return Sniff::No;
    }
    let mut block = Block::default();
    if head.last_lines().any(|line| block.line(line)) {
        return Sniff::Sure("lines \"ℹ tests\" to \"ℹ duration_ms\"".into());
    }
    // The failing tests are told after the summary, and can be long.
    let is_result =
        |line: &&str| matches!(tree(line), Some((0, mark, _, Some(time))) if mark != '▶' && time.contains('.'));
    if head.lines().filter(is_result).take(2).count() == 2 {
        return Sniff::Maybe("lines \"✔ name (1.234ms)\"".into());
    }
    Sniff::No
}

/// The lines of a summary, as far as they were met: in order, with nothing between them.
#[derive(Debug, Default)]
struct Block {
    /// How many titles were met or passed over.
    at: usize,
    /// By title; none if the number is too large.
    counts: BTreeMap<&'static str, Option<u64>>,
    /// TAP has begun: what it says in comments is `tap`'s. Of `node --test | tail` they are all that is left.
    is_tap: bool,
}

/// Older versions do not count suites.
const TITLES: [&str; 7] = ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo"];

impl Block {
    /// Takes a line; `true` if it is the last one of a summary.
    fn line(&mut self, line: &str) -> bool {
        self.is_tap |= ["TAP version ", "ok 1 ", "not ok 1 "].iter().any(|begin| line.starts_with(begin));
        let comment = line.strip_prefix("# ").filter(|_| !self.is_tap).map(str::trim_end);
        let said = told(line.trim_end()).or(comment).and_then(|rest| rest.split_once(' '));
        let Some((title, number)) = said else {
            self.reset();
            return false;
        };
        if title == "duration_ms" && self.at == TITLES.len() {
            self.at = 0;
            return true;
        }
        let Some(at) = TITLES.iter().position(|known| *known == title).filter(|_| is_number(number)) else {
            self.reset();
            return false;
        };
        let follows = at == self.at || (self.at, at) == (1, 2);
        if at == 0 || !follows {
            self.reset();
        }
        if at == 0 || follows {
            self.at = at + 1;
            self.counts.extend(TITLES.get(at).map(|title| (*title, whole(number))));
        }
        false
    }

    fn reset(&mut self) {
        *self = Block { is_tap: self.is_tap, ..Block::default() };
    }

    /// Tests and suites, each of which has a line with its result; none if the version does not count all of them.
    fn results(&self) -> Option<u64> {
        let count = |title| self.counts.get(title).copied().flatten();
        count("tests")?.checked_add(count("suites")?)
    }

    fn summary(&self) -> Result<Summary> {
        let mut summary = Summary::default();
        for (title, number) in &self.counts {
            let slot = match *title {
                "pass" => &mut summary.passed,
                "fail" => &mut summary.failed,
                "cancelled" => &mut summary.errored,
                "skipped" | "todo" => &mut summary.skipped,
                _ => continue,
            };
            Summary::add(slot, *number)?;
        }
        Ok(summary)
    }
}

/// What stands behind the sign `ℹ`, of which Windows' code pages make two or three others.
fn told(line: &str) -> Option<&str> {
    let (sign, rest) = line.split_once(' ')?;
    let is_sign = !sign.is_empty() && !sign.chars().any(|c| c.is_ascii()) && sign.chars().count() <= 3;
    is_sign.then_some(rest)
}

/// Depth, mark, name and time of `    ✖ child fails (101.330661ms) # reason`.
fn tree(line: &str) -> Option<(usize, char, &str, Option<&str>)> {
    let content = line.trim_start_matches(' ');
    let depth = line.len().checked_sub(content.len())?;
    let mark = content.chars().next().filter(|mark| "✔✖﹣⚠▶".contains(*mark))?;
    let name = content.strip_prefix(mark)?.strip_prefix(' ')?.trim_end();
    if let Some(name) = name.strip_suffix("ms)").or_else(|| name.split_once("ms) # ").map(|(name, _)| name))
        && let Some((name, time)) = name.rsplit_once(" (")
        && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return Some((depth / 2, mark, name, Some(time)));
    }
    Some((depth / 2, mark, name.split_once(" # ").map_or(name, |(name, _)| name), None))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut run, mut block, mut found) = (Run::default(), Block::default(), None);
    let (mut last, mut runs) = (0, 0_u64);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim_end();
        if block.line(text) {
            let summary = block.summary().map_err(|error| error.line(last))?;
            found = Some((summary, std::mem::take(&mut run).told(block.results())));
            runs = add(runs, 1)?;
        } else if !found.as_mut().is_some_and(|(_, run)| run.failing(text)) {
            run.line(text);
        }
    }
    let Some((summary, told)) = found.filter(|_| !run.has_results()) else {
        return Err(no_result("no summary of node's test runner at its end", last));
    };
    let mut parsed = told.report(summary).map_err(|error| error.line(last))?;
    say_last(&mut parsed, runs, "node's test runner");
    Ok(parsed)
}

/// One run of the test runner.
#[derive(Debug, Default)]
struct Run {
    /// The last lines of the tree before the summary, and how many of them tell a result.
    rows: VecDeque<Row>,
    results: usize,
    bytes: usize,
    names: Names,
    /// The tests and suites around the line that is next, and whether something in them failed.
    open: Vec<(String, bool)>,
    /// Ids by name alone, of those that failed and whose place is not told yet.
    failed: BTreeMap<String, VecDeque<String>>,
    place: Option<(String, u64)>,
    /// The failing test whose message is expected.
    told: Option<String>,
    /// Tests and suites that failed by themselves, as the tree tells, and as the list of failing tests does.
    failing: u64,
    listed: u64,
    /// What of the list the tree does not tell as a test.
    suites: Vec<String>,
}

/// Bytes of lines that wait for the summary.
const ROWS_BYTES: usize = 20 * 1024 * 1024;

/// A line of the tree.
#[derive(Debug)]
struct Row {
    text: String,
    /// It tells a result, and does not just open what stands below it.
    is_result: bool,
}

impl Run {
    /// A line before the summary.
    fn line(&mut self, text: &str) {
        let Some((_, mark, _, time)) = tree(text) else { return };
        // What was cancelled before it ran has none.
        if mark == '✔' && time.is_none() {
            return;
        }
        let is_result = mark != '▶' || time.is_some();
        self.results += usize::from(is_result);
        self.bytes += text.len();
        self.rows.push_back(Row { text: text.to_owned(), is_result });
        while self.rows.len() > 2 * super::CASES_KEPT || (self.bytes > ROWS_BYTES && self.rows.len() > 1) {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        let Some(row) = self.rows.pop_front() else { return };
        self.bytes = self.bytes.saturating_sub(row.text.len());
        self.results = self.results.saturating_sub(usize::from(row.is_result));
    }

    /// Whether tests ended that no summary counts. What has no time may be another tool's: `✖ 6 problems (3 errors, 3 warnings)`.
    fn has_results(&self) -> bool {
        self.rows.iter().any(|row| matches!(tree(&row.text), Some((_, _, _, Some(_)))))
    }

    /// The summary came, which counts so many results.
    fn told(mut self, results: Option<u64>) -> Run {
        let own = results.and_then(|results| usize::try_from(results).ok()).unwrap_or(usize::MAX);
        while self.results > own && !self.rows.is_empty() {
            self.drop_first();
        }
        for row in std::mem::take(&mut self.rows) {
            self.row(&row.text);
        }
        self
    }

    fn row(&mut self, text: &str) {
        let Some((depth, mark, name, time)) = tree(text) else { return };
        let closed = self.open.get(depth).filter(|(open, _)| open == name).map(|(_, has_failed)| *has_failed);
        self.open.truncate(depth);
        if mark == '✖' && time.is_some() && !is_to_do(text) {
            self.failing = self.failing.saturating_add(u64::from(closed != Some(true)));
            self.open.iter_mut().for_each(|(_, has_failed)| *has_failed = true);
        }
        if closed.is_some() {
            return;
        }
        let outcome = match mark {
            '✔' => Outcome::Passed,
            '✖' => Outcome::Failed,
            '▶' => return self.open.push((name.to_owned(), false)),
            _ => Outcome::Skipped,
        };
        let outcome = if is_to_do(text) { Outcome::Skipped } else { outcome };
        let id = self.open.iter().map(|(open, _)| open.as_str()).chain([name]).collect::<Vec<_>>().join("::");
        let id = printable(&id, super::LONGEST_ID);
        let is_known = self.names.get(&id).is_some_and(|case| case.outcome == Outcome::Failed);
        let Some(case) = self.names.set(&id, outcome) else { return };
        case.duration_ms = time.and_then(milliseconds).map(|thousandths| thousandths / 1000);
        if outcome == Outcome::Failed && !is_known {
            self.failed.entry(name.to_owned()).or_default().push_back(id);
        }
    }

    /// A line after the summary; `false` if it is not of the list of failing tests, but of another run.
    fn failing(&mut self, text: &str) -> bool {
        if let Some(place) = text.strip_prefix("test at ") {
            let mut parts = place.rsplitn(3, ':').skip(1);
            let line = parts.next().and_then(|line| line.parse().ok()).filter(|line| *line > 0);
            self.place = line.zip(parts.next()).map(|(line, file)| (printable(file, 1000), line));
            self.told = None;
            return true;
        }
        let Some((0, mark, name, _)) = tree(text) else {
            self.message(text.trim());
            return true;
        };
        if name == "failing tests:" {
            return true;
        }
        let Some((file, line)) = self.place.take() else { return false };
        self.told = self.failed.get_mut(name).and_then(VecDeque::pop_front);
        if mark == '✖' && !is_to_do(text) {
            self.listed = self.listed.saturating_add(1);
            if self.told.is_none() && self.suites.len() < super::CASES_KEPT {
                self.suites.push(printable(name, super::LONGEST_ID));
            }
        }
        if let Some(case) = self.told.as_ref().and_then(|id| self.names.get_mut(id)) {
            (case.file, case.line) = (Some(file), Some(line));
        }
        true
    }

    /// The report of the run. Suites are not counted: where no test failed, those that failed by themselves, in their hooks or
    /// their own code, show in the list of what failed alone.
    fn report(mut self, mut summary: Summary) -> Result<Parsed> {
        let no_test = summary.failed == 0 && summary.errored == 0;
        if no_test && self.listed < self.failing {
            return Err(Error::report(Reject::NoResult, "the list of what failed did not come").help(KILLED_HELP));
        }
        if no_test && self.listed > 0 {
            // What the tree tells of as of a test is a suite, too, that came to no test.
            let is_suite = |case: &TestCase| case.outcome == Outcome::Failed;
            self.suites.extend(self.names.cases.iter().filter(|(_, case)| is_suite(case)).map(|(id, _)| id.clone()));
            self.names.cases.retain(|_, case| !is_suite(case));
            self.suites.iter().for_each(|name| self.names.unit(name));
            (summary.errored, summary.unit_failures) = (self.listed, self.listed);
        }
        self.names.report(&FORMAT, &summary, false)
    }

    fn message(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let told = self.told.take();
        let Some(case) = told.and_then(|id| self.names.get_mut(&id)) else { return };
        case.message = first_lines(text.trim_matches('\''));
        let cancelled = ["cancelled", "test timed out after", "still pending but the event loop has already resolved"];
        if text.starts_with('\'') && cancelled.iter().any(|why| text.contains(why)) {
            case.outcome = Outcome::Errored;
        }
    }
}

/// Whether a test failed as it may.
fn is_to_do(text: &str) -> bool {
    text.contains("ms) # ") || text.ends_with(" # TODO")
}

/// Whether a line of the tree tells the result of a test or a suite.
fn is_result(text: &str) -> bool {
    match tree(text) {
        Some((_, '▶' | '✔', _, time)) => time.is_some(),
        Some((_, _, name, _)) => name != "failing tests:",
        None => false,
    }
}

/// Its runs in a stream in which others speak too.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Told {
    run: Run,
    block: Block,
    found: Option<(Summary, Run)>,
    /// Results that the tree told since the last summary that counts just as many.
    results: u64,
    enclosing: Enclosing,
    /// The line before gave the place of a failing test, whose name follows.
    after_place: bool,
}

impl Unannounced for Told {
    fn line(&mut self, text: &str) -> Result<Option<Box<Parsed>>> {
        let mut before = None;
        let is_result = !std::mem::replace(&mut self.after_place, text.starts_with("test at ")) && is_result(text);
        self.results = self.results.saturating_add(u64::from(is_result));
        if self.block.line(text) {
            if self.found.is_some() {
                self.enclosing.next();
            }
            self.enclosing.is_proven = self.results > 0 && self.block.results() == Some(self.results);
            self.results = if self.enclosing.is_proven { 0 } else { self.results };
            let run = std::mem::take(&mut self.run).told(self.block.results());
            before = self.found.replace((self.block.summary()?, run));
        } else if !self.found.as_mut().is_some_and(|(_, run)| run.failing(text)) {
            self.run.line(text);
        }
        match before.map(|(summary, run)| run.report(summary).map(Box::new)).transpose() {
            // A test printed it.
            Err(error) if error.reject() == Some(Reject::NoResult) => Ok(None),
            told => told,
        }
    }

    fn encloses(&self) -> usize {
        self.enclosing.runs()
    }

    fn is_whole(&self) -> Option<bool> {
        Some(self.found.is_some())
    }

    fn report(self) -> Result<Option<Parsed>> {
        self.found.map(|(summary, run)| run.report(summary)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const TREE: &str = "✔ adds (1.416135ms)\nℹ tests 99\n▶ Cart\n  ✔ in (1.5ms)\n  ▶ Inner\n    ✖ deep (0.1ms)\n  ✖ Inner (0.2ms)\n\
                        ✖ Cart (0.3ms)\n✖ never\n⚠ later (1.5ms) # soon\n﹣ skipped (0.1ms) # SKIP\n";

    fn end(fail: &str) -> String {
        format!(
            "ℹ tests 6\nℹ suites 2\nℹ pass 2\nℹ fail {fail}\nℹ cancelled 1\nℹ skipped 1\nℹ todo 1\nℹ duration_ms 12.5\n"
        )
    }

    const FAILING: &str = "\n✖ failing tests:\n\ntest at a/cart.test.js:19:3\n✖ deep (0.1ms)\n  AssertionError: no\n  more\n\n\
                           test at a/cart.test.js:9:1\n⚠ later (1.5ms) # soon\n  Error: todo\n\ntest at C:\\b.test.js:2:80\n✖ never\n  'test did not finish before its parent and was cancelled'\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn what_another_tool_says_with_a_mark_is_no_run_that_was_killed() {
        let own = format!("{TREE}{}{FAILING}", end("1"));
        let text = format!("{own}\n✖ 6 problems (3 errors, 3 warnings)\n");
        assert_eq!(counts(&read(&text).unwrap()), counts(&read(&own).unwrap()));
        assert!(read(&format!("{own}✔ adds (1.416135ms)\n")).is_err());
    }

    #[test]
    fn a_summary_among_the_results_that_another_counts_is_no_run() {
        let printed =
            "ℹ tests 99\nℹ suites 0\nℹ pass 99\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 5.1\n";
        let console = |text: &str| -> Vec<_> {
            crate::ingest::console::console(&Input::bytes("x", text.as_bytes())).iter().map(counts).collect()
        };
        let own = |tree: &str| format!("{tree}{}{FAILING}", end("1"));
        let results = "✔ adds (1.416135ms)\n▶ Cart\n  ✔ in (1.5ms)\n  ▶ Inner\n    ✖ deep (0.1ms)\n  ✖ Inner (0.2ms)\n\
                       ✖ Cart (0.3ms)\n✖ never\n⚠ later (1.5ms) # soon\n﹣ skipped (0.1ms) # SKIP\n";
        let within = results.replace("▶ Cart\n", &format!("{printed}▶ Cart\n"));
        for tree in [format!("{printed}{results}"), within, format!("{results}{printed}")] {
            assert_eq!(console(&own(&tree)), [[6, 2, 1, 1, 2]], "{tree}");
        }
        assert_eq!(console(&format!("{}✔ is (1.5ms)\n✔ a (1.5ms)\n{}", own(results), end("2"))).len(), 2);
    }

    #[test]
    fn the_last_summary_counts() {
        let parsed = read(&format!("{TREE}{}{FAILING}", end("1"))).unwrap();
        assert_eq!(counts(&parsed), [6, 2, 1, 1, 2]);
        let twice = read(&format!("{TREE}{}{FAILING}✔ a (1.5ms)\n{}", end("1"), end("3"))).unwrap();
        assert_eq!((counts(&twice), twice.warnings.len()), ([8, 2, 3, 1, 2], 1));
        for sign in ["Γä╣", "Ôä╣", "â„¹", "в„№"] {
            assert_eq!(counts(&read(&end("1").replace('ℹ', sign)).unwrap()), [6, 2, 1, 1, 2], "{sign}");
        }
        let older = end("1").replace("ℹ suites 2\n", "");
        assert_eq!(counts(&read(&older).unwrap()), [6, 2, 1, 1, 2]);
    }

    /// Node 20: hooks of suites, and what stands in them beside tests.
    #[test]
    fn a_suite_that_failed_by_itself_is_no_success() {
        let end = |fail: u64| {
            format!(
                "ℹ tests 2\nℹ suites 1\nℹ pass {}\nℹ fail {fail}\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 2.5\n\n✖ failing tests:\n",
                2 - fail
            )
        };
        let listed = |name: &str| format!("\ntest at nt/ha.test.js:2:1\n✖ {name} (1.4ms)\n  Error: ha\n      at x\n");
        let hook = "▶ HA\n  ✔ y1 (0.5ms)\n  ✔ y2 (0.5ms)\n✖ HA (1.4ms)\n\n  Error: ha\n\n";
        let body = "✔ good (0.8ms)\n✔ fine (0.8ms)\n✖ HA (1.4ms)\n  Error: ha\n\n";
        for tree in [hook, body] {
            let text = format!("{tree}{}{}", end(0), listed("HA"));
            let parsed = read(&text).unwrap();
            assert_eq!(counts(&parsed), [3, 2, 0, 1, 0], "{tree}");
            let details = details(&parsed);
            assert_eq!((details.failed_units, details.unit_failures), (vec!["HA".to_owned()], 1), "{tree}");
            assert_eq!(details.cases.cases.len(), 2, "{tree}");
            let console =
                crate::ingest::console::console(&Input::bytes("x", format!("$ node --test\n{text}").as_bytes()));
            assert_eq!(console.iter().map(counts).collect::<Vec<_>>(), [[3, 2, 0, 1, 0]]);
            // The list did not come.
            assert_eq!(read(&format!("{tree}{}", end(0))).unwrap_err().reject(), Some(Reject::NoResult), "{tree}");
        }
        let nested =
            format!("▶ Outer\n  ▶ HA\n    ✔ y1 (0.5ms)\n  ✖ HA (1.4ms)\n✖ Outer (2.1ms)\n{}{}", end(0), listed("HA"));
        assert_eq!(counts(&read(&nested).unwrap()), [3, 2, 0, 1, 0]);
        // What its test failed with is the test's.
        let child = hook.replace("✔ y2", "✖ y2");
        assert_eq!(counts(&read(&format!("{child}{}{}", end(1), listed("y2"))).unwrap()), [2, 1, 1, 0, 0]);
    }

    #[test]
    fn the_tree_gives_names_and_the_list_their_places() {
        let details = details(&read(&format!("{TREE}{}{FAILING}", end("1"))).unwrap());
        let deep = &details.cases.cases["Cart::Inner::deep"];
        assert_eq!((deep.file.as_deref(), deep.line), (Some("a/cart.test.js"), Some(19)));
        assert_eq!((deep.outcome, deep.message.as_deref()), (Outcome::Failed, Some("AssertionError: no")));
        let never = &details.cases.cases["never"];
        assert_eq!((never.outcome, never.file.as_deref()), (Outcome::Errored, Some("C:\\b.test.js")));
        assert_eq!((details.cases.cases["Cart::in"].duration_ms, details.dropped), (Some(1), 0));
        assert_eq!(details.cases.outcome("later"), Some(Outcome::Skipped));
        assert_eq!(details.cases.cases.len(), 6);
    }

    #[test]
    fn lines_of_others_are_no_tests() {
        let others =
            "✔ compiled 3 files\n    ✔ of mocha\n    ✔ slow (52ms)\n  - left out\n    ✔ another (53ms)\n▶ start\n";
        let text = format!("{others}{TREE}{}{FAILING}", end("1"));
        let mut told = Told::default();
        assert!(text.lines().all(|line| told.line(line).unwrap().is_none()));
        for parsed in [read(&text).unwrap(), told.report().unwrap().unwrap()] {
            let details = details(&parsed);
            assert_eq!((details.cases.cases.len(), details.dropped), (6, 0), "{:?}", details.cases.cases.keys());
            assert!(details.cases.cases.contains_key("Cart::Inner::deep"));
        }
        // Nobody can tell how many were theirs where suites are not counted.
        let older = read(&format!("✔ slow (52ms)\n{TREE}{}", end("1").replace("ℹ suites 2\n", ""))).unwrap();
        assert_eq!(details(&older).cases.cases.len(), 7);
        assert_eq!(counts(&read(&format!("{}✔ compiled 3 files\n", end("1"))).unwrap()), [6, 2, 1, 1, 2]);
    }

    #[test]
    fn a_run_without_its_summary_is_no_result() {
        let gap = end("1").replace("ℹ fail", "printed\nℹ fail");
        let started_again = format!("{}✔ adds (1.5ms)\n", end("1"));
        for text in [TREE, "", "ℹ tests 3\nℹ duration_ms 3\n", &gap, &started_again] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        assert_eq!(read(&end("18446744073709551616")).unwrap_err().reject(), Some(Reject::Malformed));
    }

    /// `node --test | tail`, which writes TAP.
    #[test]
    fn the_comments_of_tap_count_where_its_points_are_gone() {
        let end = END_OF_TAP;
        let tail = format!("  duration_ms: 4.6\n  ...\n1..5\n{end}");
        assert_eq!(counts(&read(&tail).unwrap()), [6, 2, 2, 0, 2]);
        let whole = format!("TAP version 13\n# Subtest: a\nok 1 - a\n1..1\n{end}");
        assert!(matches!(sniffed(&FORMAT, &whole), Sniff::No));
        assert_eq!(read(&whole).unwrap_err().reject(), Some(Reject::NoResult));
    }

    const END_OF_TAP: &str =
        "# tests 6\n# suites 1\n# pass 2\n# fail 2\n# cancelled 0\n# skipped 1\n# todo 1\n# duration_ms 276.4\n";

    #[test]
    fn it_is_told_by_its_summary() {
        assert!(matches!(sniffed(&FORMAT, &format!("{TREE}{}", end("1"))), Sniff::Sure(_)));
        assert!(matches!(sniffed(&FORMAT, TREE), Sniff::Maybe(_)));
        for none in ["ℹ tests 3\n", "  ✔ adds (52ms)\n  ✔ subtracts (12ms)\n", "✔ built (1.5ms)\n"] {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }
}
