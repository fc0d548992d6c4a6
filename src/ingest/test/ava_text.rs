//! `ava-text`: what AVA prints by itself. Its definition is AVA's `lib/reporters/default.js`.
//! <https://github.com/avajs/ava>
//!
//! Its summary tells how many tests passed only if nothing failed; else they are counted by their marks. Before AVA 5 these
//! do not say what failed as expected, and a test that was skipped has a mere dash; before AVA 3 the messages stand below
//! the summary, which no rule announces. Its reporter `mini`, the one of a terminal before AVA 4, has no marks: it paints
//! behind a spinner how many passed so far.

use super::text_report::{Names, Summary, add_line, counted, no_result, say_last};
use super::text_runs::{Announced, Unannounced, cut};
use super::{UNITS_KEPT, stack};
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, is_number, printable};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `ava` prints.
pub const FORMAT: Format = Format {
    name: "ava-text",
    kind: ReportKind::Test,
    about: "terminal output of AVA",
    written_by: "ava",
    told_by: "\"2 tests passed\" or \"1 test failed\" below a line \"─\"",
    has_end: true,
    counting: "Tests by their marks: ✔ passed, ✘ failed, those that are skipped, to do or failed as expected skipped; \
               each uncaught exception, unhandled rejection, hook and file that failed by itself is one errored test. \
               It is a summary only if it tells all that the marks tell.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_some() {
        return Sniff::No;
    }
    let (mut rule_before, mut below_marks, mut has_spinner) = (false, false, false);
    for line in head.last_lines().map(str::trim_end) {
        if line.is_empty() {
            continue;
        }
        if rule_before && total(line).is_some() {
            return Sniff::Sure("line \"N tests passed\" or like it below \"─\"".into());
        }
        rule_before = line == RULE;
        has_spinner |= is_spinner(line);
        below_marks |= line.starts_with("  ✔ ") || line.starts_with("  ✖ ");
        below_marks |= has_spinner && so_far(line).is_some();
        if below_marks && total(line).is_some() {
            return Sniff::Maybe("line \"N tests passed\" or like it below tests of AVA".into());
        }
    }
    match head.lines().any(|line| line.starts_with("  ✘ [")) {
        true => Sniff::Maybe("line \"✘ [fail]: …\" of AVA".into()),
        false => Sniff::No,
    }
}

/// The last run. What is told below a summary may be more of it, as before AVA 3, or another run.
fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut whole, mut run, mut runs, mut last) = (Ava::default(), Ava::default(), 1_u64, 0);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim_end();
        if !line.ended {
            return Err(cut("AVA", last));
        }
        Announced::line(&mut whole, text).map_err(|error| error.line(last))?;
        let ended = Unannounced::line(&mut run, text).map_err(|error| error.line(last))?;
        runs += u64::from(ended.is_some());
    }
    if let Some(mut parsed) = Unannounced::report(run)? {
        say_last(&mut parsed, runs, "AVA");
        return Ok(parsed);
    }
    Unannounced::report(whole)?.ok_or_else(|| no_result("no summary of AVA at its end", last))
}

const RULE: &str = "  ─";

/// How the lines begin that tell of what failed in a file beside its tests.
const UNITS: [&str; 2] = ["  Uncaught exception in ", "  Unhandled rejection in "];

/// `  2 tests failed`, `  1 known failure`, `  1 uncaught exception`. Errored: of no test.
fn total(line: &str) -> Option<(Option<u64>, Outcome)> {
    let (number, what) = counted(line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?)?;
    let outcome = match what {
        "test passed" | "tests passed" => Outcome::Passed,
        "test failed" | "tests failed" => Outcome::Failed,
        "known failure" | "known failures" | "test skipped" | "tests skipped" | "test todo" | "tests todo" => {
            Outcome::Skipped
        }
        "uncaught exception" | "uncaught exceptions" | "unhandled rejection" | "unhandled rejections" => {
            Outcome::Errored
        }
        "hook failed" | "hooks failed" => Outcome::Errored,
        "test remained pending after a timeout" | "tests remained pending after a timeout" => Outcome::Errored,
        _ => return None,
    };
    Some((number, outcome))
}

/// `⠦ adds`: the test that ended last.
fn is_spinner(line: &str) -> bool {
    let mut chars = line.chars();
    chars.next().is_some_and(|c| matches!(c, '\u{2801}'..='\u{28ff}')) && matches!(chars.next(), None | Some(' '))
}

/// `  2 passed`, `  1 test failed`, `  1 skipped`: how far it came.
fn so_far(line: &str) -> Option<(Option<u64>, Outcome)> {
    let (number, what) = counted(line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?)?;
    match what {
        "passed" => Some((number, Outcome::Passed)),
        "skipped" | "todo" => Some((number, Outcome::Skipped)),
        "test passed" | "tests passed" | "test skipped" | "tests skipped" | "test todo" | "tests todo" => None,
        _ => total(line),
    }
}

/// What a failure says behind the test's name.
const REASONS: [&str; 4] = [
    " Error thrown in test",
    " Rejected promise returned by test",
    " Test finished without running any assertions",
    " Test was expected to fail, but succeeded, you should stop marking the test as failing",
];

/// The line of a test.
struct Mark<'l> {
    name: &'l str,
    outcome: Outcome,
    /// A word says what it means, as since AVA 5.
    has_label: bool,
}

/// `  ✔ cart › adds (126ms)`, `  ✘ [fail]: cart › fails`, `  - [skip] cart › waits`; `  ✖ cart › fails`, `  - cart › waits`.
fn mark(line: &str) -> Option<Mark<'_>> {
    let (mark, rest) = line.strip_prefix("  ")?.split_once(' ')?;
    let (labels, unlabelled, labelled): (&[&str], _, _) = match mark {
        "✔" | "✓" | "√" => (&["[expected fail] "], Some(Outcome::Passed), Outcome::Skipped),
        "✘" => (&["[fail]: ", "[unexpected pass]: "], None, Outcome::Failed),
        "✖" | "×" => {
            let unlabelled = (!is_of_a_file(rest)).then_some(Outcome::Failed);
            (&["[fail]: ", "[unexpected pass]: "], unlabelled, Outcome::Failed)
        }
        // Node's own "Require stack:" has dashes, too.
        "-" => (&["[skip] ", "[todo] "], (!is_path(rest)).then_some(Outcome::Skipped), Outcome::Skipped),
        _ => return None,
    };
    let told = labels.iter().find_map(|label| rest.strip_prefix(label));
    let (name, outcome) = told.map(|name| (name, labelled)).or_else(|| Some((rest, unlabelled?)))?;
    let name = REASONS.iter().find_map(|reason| name.strip_suffix(reason)).unwrap_or(name);
    // Its time.
    let name = name.strip_suffix("ms)").and_then(|name| name.rsplit_once(" (")).map_or(name, |(name, _)| name);
    Some(Mark { name: name.trim_end(), outcome, has_label: told.is_some() })
}

/// What stands behind the mark of what failed and is no test: `broken.test.js exited with a non-zero exit code: 1`.
fn is_of_a_file(rest: &str) -> bool {
    let begins = ["Timed out while ", "Exiting due to ", "Couldn’t find ", "Couldn't find ", "Internal error"];
    has_failed_by_itself(rest) || rest.contains(" remaining in ") || begins.iter().any(|begin| rest.starts_with(begin))
}

/// `/app/test.js`, `C:\\app\\test.js`.
fn is_path(rest: &str) -> bool {
    rest.starts_with('/') || rest.get(1..3) == Some(":\\")
}

/// Whether the line only stands around what differs, or around a frame.
fn is_context(message: Option<&str>, content: &str) -> bool {
    let is_difference = message.is_some_and(|message| message.starts_with("Difference"));
    content.starts_with(['›', '}']) || (is_difference && !content.starts_with(['-', '+']))
}

/// `3: test('adds', t => {});`, a line around the place of a failure.
fn is_of_source(content: &str) -> bool {
    content.split_once(':').is_some_and(|(number, _)| is_number(number))
}

fn has_failed_by_itself(rest: &str) -> bool {
    rest.contains(" exited ") || rest.contains("No tests found in ")
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Ava {
    names: Names,
    /// By the marks.
    marked: Summary,
    /// Marks of tests that were skipped, without a label; whether others had one, so that these are no marks.
    dashes: u64,
    has_labels: bool,
    /// Of those with labels, the ones that failed as expected; and how many the summary tells.
    marked_known: u64,
    told_known: u64,
    /// By the summary, which goes on as long as its lines come.
    told: Option<Summary>,
    is_closed: bool,
    /// It begins with tests that were skipped: what passed or failed stands above those, and may have been cut away.
    begins_skipped: bool,
    has_rule: bool,
    was_blank: bool,
    /// Files that failed as a whole, for an exception that is in the summary or for another reason.
    files: u64,
    /// Tests that a timeout ended, which not every version sums up.
    pending: u64,
    /// How far it came, as told below the last spinner, and whether that still goes on.
    so_far: Option<Summary>,
    is_below_spinner: bool,
    /// The test whose failure is told.
    told_of: Option<String>,
}

impl Ava {
    /// Whether a line of the summary belongs to it: it has begun, or begins without a rule.
    fn is_summary(&mut self) -> bool {
        let begins = self.was_blank || self.is_below_spinner;
        if !self.has_rule && begins && (self.told.is_none() || self.is_closed) {
            (self.told, self.told_known, self.is_closed) = (Some(Summary::default()), 0, false);
        }
        self.told.is_some() && !self.is_closed
    }

    /// Below the summary, or the first rule, stand messages with marks of their own.
    fn is_mark(&self, mark: &Mark<'_>) -> bool {
        mark.has_label
            || (self.so_far.is_none() && (self.told.is_none() || (!self.has_rule && mark.outcome != Outcome::Skipped)))
    }

    /// A line of what failed: the test's name, its place, the lines around that, a message, and frames.
    fn failure(&mut self, text: &str) {
        let Some(content) = text.strip_prefix("  ").map(str::trim).filter(|content| !content.is_empty()) else {
            return;
        };
        let id = printable(content, super::LONGEST_ID);
        if let Some(named) = self.names.get(&id).filter(|case| case.outcome.is_bad()) {
            self.told_of = Some(id).filter(|_| named.message.is_none());
            return;
        }
        let Some(case) = self.told_of.as_ref().and_then(|id| self.names.get_mut(id)) else { return };
        let found = stack::frame(content.strip_prefix("› ").unwrap_or(content));
        // Of the test itself the file and the line alone.
        let of_test = stack::numbered(content).filter(|(file, _)| !file.contains(' '));
        if let Some(place) = found.or(of_test).filter(|_| case.file.is_none()) {
            stack::put(case, place);
        } else if found.is_none() && !is_of_source(content) && !is_context(case.message.as_deref(), content) {
            add_line(&mut case.message, content);
        }
        // What follows a frame is nobody's.
        self.told_of.take_if(|_| found.is_some());
    }

    /// Whether the summary tells what was told last below a spinner; how many passed it does not tell if others failed.
    fn is_so_far(&self, told: &Summary) -> bool {
        self.so_far.as_ref().is_some_and(|so_far| {
            let others = |summary: &Summary| (summary.failed, summary.errored, summary.skipped);
            others(so_far) == others(told) && (told.passed == 0 || told.passed == so_far.passed)
        })
    }

    /// Tests that failed as expected with the mark of those that passed, and no label.
    fn unlabelled(&self) -> u64 {
        self.told_known.saturating_sub(self.marked_known)
    }

    /// Whether nothing was told of its tests one by one.
    fn is_without_marks(&self) -> bool {
        self.names.cases.is_empty() && self.marked == Summary::default() && self.dashes == 0 && self.so_far.is_none()
    }

    /// Whether the summary tells of tests whose marks were cut away: only these tell how many passed if others failed.
    fn lacks_marks(&self, told: &Summary) -> bool {
        let are_cut =
            told.failed > self.marked.failed || told.skipped > self.skips_marked().saturating_add(self.unlabelled());
        self.so_far.is_none() && (are_cut || self.is_without_marks())
    }

    fn skips_marked(&self) -> u64 {
        self.marked.skipped + if self.has_labels { 0 } else { self.dashes }
    }

    /// Whether the dashes are lines that a linter's fixes take out: without them, the marks are just what the summary tells.
    fn are_dashes_others(&self, told: &Summary) -> bool {
        let has_all = told.passed == self.marked.passed && told.skipped == self.marked.skipped;
        self.dashes > 0 && told.passed > 0 && has_all
    }
}

impl Announced for Ava {
    fn begins(_: &str) -> bool {
        false
    }

    fn line(&mut self, text: &str) -> Result<()> {
        // npm has spinners, too, also below the summary.
        if !self.has_rule && is_spinner(text) && !self.is_done() {
            (self.so_far, self.is_below_spinner) = (None, true);
            (self.told, self.told_known, self.is_closed, self.was_blank) = (None, 0, false, false);
            return Ok(());
        }
        if let Some((number, outcome)) = so_far(text).filter(|_| self.is_below_spinner) {
            return Summary::add(self.so_far.get_or_insert_default().slot(outcome), number);
        }
        if text == RULE {
            self.told_of = None;
            (self.told, self.told_known, self.has_rule) = (Some(Summary::default()), 0, true);
        } else if let Some((number, outcome)) = total(text)
            && self.is_summary()
            && let Some(told) = &mut self.told
        {
            if *told == Summary::default() {
                self.begins_skipped = outcome == Outcome::Skipped;
            }
            Summary::add(told.slot(outcome), number)?;
            if text.contains(" known failure") {
                Summary::add(&mut self.told_known, number)?;
            }
        } else if let Some(file) = UNITS.iter().find_map(|begin| text.strip_prefix(begin)) {
            Summary::add(&mut self.marked.errored, Some(1))?;
            self.names.unit(file);
        } else if text.starts_with("  ◌ ") {
            self.pending += 1;
        } else if ["  ✘ ", "  ✖ ", "  × "].iter().any(|mark| text.starts_with(mark)) && has_failed_by_itself(text)
        {
            self.files += 1;
        } else if let Some(mark) = mark(text).filter(|mark| self.is_mark(mark)) {
            if !self.has_rule {
                // What looked like a summary stood above tests: one of them printed it.
                (self.told, self.told_known, self.is_closed) = (None, 0, false);
            }
            self.has_labels |= mark.has_label;
            let is_known = mark.has_label && text.starts_with("  ✔");
            self.marked_known += u64::from(is_known);
            let is_dash = mark.outcome == Outcome::Skipped && !mark.has_label;
            let slot = if is_dash { &mut self.dashes } else { self.marked.slot(mark.outcome) };
            Summary::add(slot, Some(1))?;
            self.names.set(mark.name, mark.outcome);
        } else if text.is_empty() && !self.has_rule {
            self.is_closed = self.told.is_some();
        } else if self.told.is_some() {
            self.failure(text);
        }
        self.was_blank = text.is_empty();
        self.is_below_spinner &= text.is_empty();
        Ok(())
    }

    fn is_done(&self) -> bool {
        let Some(told) = &self.told else { return false };
        // A hook that failed has the mark of a test.
        let is_told = told.failed.saturating_add(told.errored)
            >= self.marked.failed.saturating_add(self.marked.errored)
            && (told.skipped >= self.skips_marked().saturating_add(self.unlabelled()) || self.are_dashes_others(told));
        // Without any failure it tells how many passed.
        let is_failing = told.failed > 0 || told.errored > 0;
        let is_whole = match self.so_far {
            Some(_) => self.is_so_far(told) && (self.has_rule || !is_failing),
            None if self.has_rule => true,
            None if self.is_without_marks() => !self.begins_skipped,
            None => self.is_closed,
        };
        is_whole && is_told && (is_failing || told.passed > 0 || told.skipped > 0)
    }

    fn report(mut self) -> Result<Parsed> {
        let told = self.told.clone().unwrap_or_default();
        if self.are_dashes_others(&told) {
            self.names.cases.retain(|_, case| case.outcome != Outcome::Skipped);
        }
        let marked = || self.marked.passed.saturating_sub(self.unlabelled());
        let so_far = self.so_far.as_ref().map(|so_far| so_far.passed);
        let passed = if told.passed > 0 { told.passed } else { so_far.unwrap_or_else(marked) };
        let errored = told.errored.max(self.files).max(self.pending);
        let is_untold = passed == 0 && self.lacks_marks(&told);
        // As tests they would be missed once they work.
        let Names { cases, units, .. } = &mut self.names;
        cases.retain(|name, case| {
            let is_one = case.outcome.is_bad() && is_hook(name);
            units.extend(Some(name.clone()).filter(|_| is_one && units.len() < UNITS_KEPT));
            !is_one
        });
        let mut parsed =
            self.names.report(&FORMAT, &Summary { passed, errored, unit_failures: errored, ..told }, false)?;
        if is_untold {
            let why = "lines of AVA's tests are missing in it: how many passed is not told, and none is counted";
            parsed.warnings.push(why.into());
        }
        Ok(parsed)
    }
}

/// `cart › before hook`, `afterEach.always hook for adds`.
fn is_hook(name: &str) -> bool {
    let title = name.rsplit(" › ").next().unwrap_or(name);
    title.split_once(" hook").is_some_and(|(hook, of)| {
        let hook = hook.strip_suffix(".always").unwrap_or(hook);
        matches!(hook, "before" | "beforeEach" | "after" | "afterEach") && (of.is_empty() || of.starts_with(" for "))
    })
}

impl Unannounced for Ava {
    fn line(&mut self, text: &str) -> Result<Option<Box<Parsed>>> {
        let goes_on = text.is_empty() || (total(text).is_some() && !self.was_blank);
        // A summary right above a test was printed by one: AVA leaves a blank line before the first.
        let is_printed = self.is_without_marks() && !self.is_closed && !self.has_rule && mark(text).is_some();
        let is_over = self.is_done() && !goes_on && !is_printed;
        let next = Ava { was_blank: self.was_blank, ..Ava::default() };
        let before = is_over.then(|| Announced::report(std::mem::replace(self, next)).map(Box::new)).transpose()?;
        Announced::line(self, text)?;
        Ok(before)
    }

    fn is_whole(&self) -> Option<bool> {
        Some(self.is_done())
    }

    fn is_tail(&self) -> bool {
        self.is_without_marks()
    }

    fn report(self) -> Result<Option<Parsed>> {
        if self.is_done() { Announced::report(self).map(Some) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "\n  9 tests passed\n  - [skip] cart › waits\n  ✔ cart › adds (126ms)\n  ✔ cart › sums\n  ✘ [fail]: cart › fails\n\
                       \x20 ✔ [expected fail] cart › known\n  Uncaught exception in broken.test.js\n  ✘ broken.test.js exited with a non-zero exit code: 1\n  ─\n\n\
                       \x20 cart › fails\n\n  Difference (- actual, + expected):\n\n  - 2\n  + 3\n\n  ─\n\n";
    const END: &str = "  1 test failed\n  1 known failure\n  1 test skipped\n  1 uncaught exception\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn marks_tell_what_passed_and_the_summary_the_rest() {
        let parsed = read(&format!("{RUN}{END}")).unwrap();
        assert_eq!(counts(&parsed), [6, 2, 1, 1, 2]);
        let details = details(&parsed);
        assert_eq!(
            (details.cases.outcome("cart › adds"), &*details.failed_units),
            (Some(Outcome::Passed), &["broken.test.js".to_owned()][..])
        );
        let fine = "  ✔ fine\n  ─\n\n  1 test passed\n";
        assert_eq!(counts(&read(fine).unwrap()), [1, 1, 0, 0, 0]);
        assert!(
            matches!(sniffed(&FORMAT, &format!("{RUN}{END}")), Sniff::Sure(_))
                && matches!(sniffed(&FORMAT, fine), Sniff::Sure(_))
        );
        assert_eq!(sniffed(&FORMAT, "  1 test passed\n"), Sniff::No);
    }

    #[test]
    fn failures_have_messages_and_places() {
        let marks = "\n  ✔ cart › adds\n  ✘ [fail]: cart › fails\n  ✘ [fail]: cart › throws Error thrown in test\n\
                     \x20 ✘ [fail]: cart › none Test finished without running any assertions\n  ─\n\n";
        let messages = "  cart › fails\n\n  at/cart.test.mjs:4\n\n   3: test('sums', t => {});\n\
                        \x20  4: test('fails', t => t.is(1 + 1, 3));\n\n\
                        \x20 Difference (- actual, + expected):\n\n    {\n  -   a: 2,\n  +   a: 3,\n    }\n\n\
                        \x20 › file://at/cart.test.mjs:4:22\n\n\n\n\
                        \x20 cart › throws\n\n  Error thrown in test:\n\n  Error {\n    message: 'boom',\n  }\n\n\
                        \x20 Error: boom\n\
                        \x20     at file:///home/dev/shop/at/cart.test.mjs:5:29\n\
                        \x20     at Test.run (file:///home/dev/shop/node_modules/ava/lib/test.js:534:33)\n\n\
                        \x20 cart › none\n\n  Error: Test finished without running any assertions\n\n";
        let sum = "  3 tests failed\n";
        let before_3 = marks.replace("[fail]: ", "").replace("  ─\n", "").replace('✘', "✖");
        for text in [format!("{marks}{messages}  ─\n\n{sum}"), format!("{before_3}{sum}\n{messages}npm ERR! code 1\n")]
        {
            let cases = details(&read(&text).unwrap()).cases.cases;
            let of = |id: &str| {
                let case = &cases[id];
                (case.message.as_deref(), case.file.as_deref(), case.line)
            };
            let difference = "Difference (- actual, + expected): | -   a: 2, | +   a: 3,";
            assert_eq!(of("cart › fails"), (Some(difference), Some("at/cart.test.mjs"), Some(4)), "{text}");
            let thrown = "Error thrown in test: | Error { | message: 'boom',";
            assert_eq!(of("cart › throws"), (Some(thrown), Some("/home/dev/shop/at/cart.test.mjs"), Some(5)));
            assert_eq!(of("cart › none"), (Some("Error: Test finished without running any assertions"), None, None));
            assert_eq!(of("cart › adds"), (None, None, None));
        }
    }

    #[test]
    fn before_version_5_marks_have_no_labels() {
        let marks = "\n  ✔ cart › adds\n  ✔ cart › known\n  - cart › waits\n  ✖ cart › fails Error thrown in test\n\
                     \x20 ✖ cart › before hook Rejected promise returned by test\n  ✖ 1 test remaining in cart.js\n\
                     \x20 - /app/broken.js\n";
        let sum = "\n  1 hook failed\n  1 test failed\n  1 known failure\n  1 test skipped\n";
        let messages = "\n  cart › fails\n\n  Difference:\n\n  - 2\n  + 3\n\n";
        for text in [format!("{marks}  ─\n{messages}  ─\n{sum}"), format!("{marks}{sum}{messages}")] {
            let parsed = read(&text).unwrap();
            assert_eq!(counts(&parsed), [5, 1, 1, 1, 2], "{text}");
            assert_eq!(details(&parsed).cases.outcome("cart › fails"), Some(Outcome::Failed));
            assert_eq!(details(&parsed).cases.outcome("cart › before hook"), None);
            assert_eq!(details(&parsed).failed_units, ["cart › before hook"]);
            let mut ava = Ava::default();
            let mut runs: Vec<_> = text.lines().filter_map(|line| Unannounced::line(&mut ava, line).unwrap()).collect();
            runs.extend(Unannounced::report(ava).unwrap().map(Box::new));
            assert_eq!(runs.iter().map(|run| counts(run)).collect::<Vec<_>>(), [[5, 1, 1, 1, 2]]);
        }
        let cut = format!("{marks}  ─\n\n  1 hook failed\n  1 test failed\n");
        assert_eq!(read(&cut).unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(read(&format!("{marks}{sum}")).unwrap_err().reject(), Some(Reject::NoResult));
    }

    #[test]
    fn the_lines_that_a_linter_takes_out_are_no_marks() {
        let ruff = "F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\nhelp: Remove unused import\n  |\n  - import os\n\nFound 1 error.\n";
        let parsed = read(&format!("{ruff}\n  ✔ ok\n  ─\n\n  1 test passed\n")).unwrap();
        assert_eq!(counts(&parsed), [1, 1, 0, 0, 0]);
        assert_eq!(details(&parsed).cases.cases.keys().collect::<Vec<_>>(), ["ok"]);
        // These may be its own.
        assert!(read(&format!("{ruff}\n  ✔ ok\n  ─\n\n  2 tests passed\n")).is_err());
    }

    #[test]
    fn a_spinner_counts_what_no_mark_tells() {
        let spinner = "\n⠋ \n⠙ a\n\n  1 passed\n⠦ b\n\n  2 passed\n";
        let passed = format!("{spinner}  2 tests passed\n");
        let failed = format!("{spinner}  1 test failed\n⠧ c\n\n  1 passed\n  1 test failed\n  1 todo\n  c\n\n  ─\n\n");
        let end = "  1 test failed\n  1 test todo\n";
        assert_eq!(counts(&read(&passed).unwrap()), [2, 2, 0, 0, 0]);
        assert_eq!(counts(&read(&format!("{failed}{end}⠙\n")).unwrap()), [3, 1, 1, 0, 1]);
        assert!(matches!(sniffed(&FORMAT, &passed), Sniff::Maybe(_)));
        for cut in [spinner, &failed, &format!("{failed}  1 test failed\n"), &passed.replace("  2 t", "  1 t")] {
            assert_eq!(read(cut).unwrap_err().reject(), Some(Reject::NoResult), "{cut}");
        }
        let of_npm = format!("⠙\n{RUN}{END}⠙\n");
        assert_eq!(counts(&read(&of_npm).unwrap()), [6, 2, 1, 1, 2]);
    }

    #[test]
    fn what_hangs_or_exits_is_errored() {
        let hangs = "\n  ✔ ok › one\n\n  ✖ Timed out while running tests\n\n  1 tests were pending in hang.js\n\n  ◌ hang › hangs\n\n";
        assert_eq!(counts(&read(&format!("{hangs}  ─\n\n  1 test passed\n")).unwrap()), [2, 1, 0, 1, 0]);
        let exits = "\n  ✔ ok › one\n  ✖ exits.js exited with a non-zero exit code: 3\n  ─\n\n  1 test passed\n";
        assert_eq!(counts(&read(exits).unwrap()), [2, 1, 0, 1, 0]);
    }

    fn runs(text: &str) -> Vec<[Option<u64>; 4]> {
        let mut ava = Ava::default();
        let mut runs: Vec<_> = text.lines().filter_map(|line| Unannounced::line(&mut ava, line).unwrap()).collect();
        runs.extend(Unannounced::report(ava).unwrap().map(Box::new));
        let figures = runs.iter().map(|run| &run.figures);
        figures.map(|of| [of.tests, of.passed, of.failed, of.skipped]).collect()
    }

    #[test]
    fn runs_one_after_the_other_are_told_apart() {
        let fine = "\n  ✔ fine\n  ─\n\n  1 test passed\n";
        let unlabelled = "\n  - waits\n  ✔ adds\n  ✖ fails\n  ✔ known\n  ─\n\n  fails\n\n  - 1\n  + 2\n\n  ─\n\n\
                          \x20 1 test failed\n  1 known failure\n  1 test skipped\n";
        let (one, four) = ([Some(1), Some(1), Some(0), Some(0)], [Some(4), Some(1), Some(1), Some(2)]);
        assert_eq!(runs(&format!("{fine}{unlabelled}")), [one, four]);
        assert_eq!(runs(&format!("{unlabelled}{fine}")), [four, one]);
        let both = read(&format!("{RUN}{END}{fine}")).unwrap();
        assert_eq!((counts(&both), both.warnings.len()), ([1, 1, 0, 0, 0], 1), "a file tells its last run");
    }

    #[test]
    fn of_a_failing_run_without_marks_what_failed_counts() {
        let unknown = [Some(3), Some(0), Some(2), Some(1)];
        let failed = "\n  2 tests failed\n  1 test todo\n";
        let passed = [Some(1), Some(1), Some(0), Some(0)];
        assert_eq!(runs(failed), [unknown]);
        assert_eq!(runs(&format!("{failed}  ─\n\n  1 test passed\n")), [unknown, passed]);
        assert_eq!(runs(&format!("{failed}\n  1 test passed\nFound 0 errors\n")), [unknown, passed]);
        assert_eq!(runs(&format!("\n  - 1\n  + 2\n\n  ─\n{failed}")), [unknown], "of a message");
        assert_eq!(read(failed).unwrap().warnings.len(), 1);
        assert_eq!(runs(&format!("{failed}\n  ✔ fine\n  ─\n\n  1 test passed\n")), [unknown, passed]);
        assert_eq!(runs(&format!("{failed}  ✔ fine\n  ─\n\n  1 test passed\n")), [passed], "a test printed it");
        for cut in ["  2 tests failed\n  1 test todo\n", "\n  1 known failure\n  1 test todo\n", "\n  1 test todo\n"] {
            assert!(runs(cut).is_empty(), "more may have stood above {cut}");
        }
    }

    #[test]
    fn a_summary_that_lacks_what_the_marks_tell_is_cut() {
        for text in [
            "",
            RUN,
            &format!("{RUN}  1 test failed\n"),
            &format!("{RUN}{}", END.replace("  1 uncaught exception\n", "")),
        ] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        assert_eq!(read(&format!("{RUN}  1 test fai")).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
