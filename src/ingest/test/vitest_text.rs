//! `vitest-text`: what Vitest prints. Its last `Tests` line gives the counts, the tree and the `FAIL` lines give names.

use std::collections::BTreeSet;

use self::beside::{Beside, begins_script, begins_task};
use super::runs::{self, Runs};
use super::stack;
use super::text_report::{MESSAGES_HELD, Names, Summary, counted, is_foreign, no_result, titled};
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::metric::vitest_bench_text;
use crate::ingest::text::{Lines, LongLine, first_lines, is_number, printable};
use crate::ingest::{Details, Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

mod beside;

/// What `vitest run` prints.
pub const FORMAT: Format = Format {
    name: "vitest-text",
    kind: ReportKind::Test,
    about: "terminal output of Vitest",
    written_by: "vitest",
    told_by: "its lines \"Test Files\" and \"Tests\"",
    has_end: true,
    counting: "The last \"Tests\" line: passed, failed, skipped and todo as skipped. \"Failed Suites N\" adds as many \
               errored tests; errors outside of tests, and else the files that failed, count where nothing else \
               failed. Benchmarks in tests: bench.FILE > TEST > NAME.time (ms, lower), FILE without its folders.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) {
        return Sniff::No;
    }
    let tail = || head.last_lines();
    if tail().any(|line| totals(line, "Test Files").is_some()) && tail().any(|line| totals(line, "Tests").is_some()) {
        return Sniff::Sure("lines \"Test Files\" and \"Tests\"".into());
    }
    // Benchmarks are no tests.
    if head.lines().any(vitest_bench_text::is_heading) {
        return Sniff::No;
    }
    if head.lines().take(50).any(begins) { Sniff::Sure("line \"RUN v…\" of Vitest".into()) } else { Sniff::No }
}

/// The counts of `      Tests  1 failed | 6 passed (7)`; empty for `Tests  no tests`, and for `Tests   (7)`, of which none ran.
fn totals<'l>(line: &'l str, title: &str) -> Option<Vec<(Option<u64>, &'l str)>> {
    let rest = line.trim().strip_prefix(title)?;
    let rest = rest.strip_prefix("  ")?;
    if rest == "no tests" {
        return Some(Vec::new());
    }
    if is_unfinished(rest) {
        return Some(Vec::new());
    }
    let (counts, total) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    is_number(total).then(|| counts.split(" | ").map(counted).collect())?
}

/// How many failed.
fn failed(counts: &[(Option<u64>, &str)]) -> u64 {
    counts.iter().find(|(_, word)| *word == "failed").and_then(|(number, _)| *number).unwrap_or(0)
}

/// ` (7)`, where other counts have outcomes before the sum.
fn is_unfinished(counts: &str) -> bool {
    counts.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')')).is_some_and(is_number)
}

/// `2` of `⎯⎯⎯ Failed Suites 2 ⎯⎯⎯`. Windows' code pages make something else of the rule.
fn failed_suites(line: &str) -> Option<u64> {
    let (rule, rest) = line.trim().split_once(" Failed Suites ")?;
    let is_rule = !rule.is_empty() && !rule.contains(|c: char| c.is_ascii());
    rest.split(' ').next().filter(|_| is_rule)?.parse().ok()
}

/// Whether the line counts in a summary.
fn is_of_summary(content: &str) -> bool {
    ["Test Files  ", "Tests  ", "Errors  ", "Type Errors  "].iter().any(|title| content.starts_with(title))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut run, mut done) = (Run::default(), None);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut last, mut is_over) = (0, false);
    while let Some(line) = lines.next()? {
        last = line.number;
        let content = line.text.trim_start();
        if begins(line.text.trim_end()) {
            (is_over, done) = (false, None);
        }
        if is_over && ["Test Files  ", "Tests  "].iter().any(|title| content.starts_with(title)) {
            done = Some(std::mem::take(&mut run));
            is_over = false;
        }
        run.line(&line.text).map_err(|error| error.line(last))?;
        // Errors outside of tests are told after the tests; without them the line before stands alone.
        is_over |= line.ended && run.counts.is_some() && content.starts_with("Start at");
        run.errors_known |= is_over;
    }
    // What is like a summary below one that is whole is somebody's word, unless another run has begun.
    if let Some(done) = done.filter(|_| !run.errors_known) {
        run = done;
    }
    if run.counts.is_none() {
        return Err(no_result("no \"Tests\" line of Vitest in it", last));
    }
    if run.tells_nothing() {
        return Err(no_result("Vitest ended before any of its tests did", last));
    }
    if !run.errors_known {
        return Err(no_result("Vitest's summary is cut: its line \"Start at\" is missing", last));
    }
    run.finish()
}

/// One run of Vitest.
#[derive(Debug, Default)]
struct Run {
    names: Names,
    file: String,
    /// The tests whose failure is told: several that failed alike stand above one message.
    told: Vec<String>,
    /// Their message came.
    has_message: bool,
    suites: u64,
    /// Below `Failed Suites`, where blocks of tests whose hooks failed stand like tests.
    in_suites: bool,
    /// The blocks that the line of the tree before stands in, with their columns.
    blocks: Vec<(usize, String)>,
    failed_files: u64,
    counts: Option<Summary>,
    /// Tests were there, and no outcome of any.
    is_unfinished: bool,
    errors: u64,
    errors_known: bool,
    benchmarks: vitest_bench_text::Tables,
}

impl Run {
    fn line(&mut self, text: &str) -> Result<()> {
        let text = text.trim_end();
        let content = text.trim_start();
        self.benchmarks.line(text);
        if self.counts.is_some() && (tells_of_tests(text) || is_crash(text)) {
            // A test printed that summary: Vitest's own stands below all of them.
            (self.counts, self.is_unfinished, self.failed_files) = (None, false, 0);
            (self.errors, self.errors_known) = (0, false);
        }
        if let Some(counts) = totals(text, "Tests") {
            let mut summary = Summary::default();
            for (number, word) in counts {
                let slot = match word {
                    "passed" => &mut summary.passed,
                    "failed" => &mut summary.failed,
                    "skipped" | "todo" | "expected fail" => &mut summary.skipped,
                    _ => continue,
                };
                Summary::add(slot, number)?;
            }
            self.counts = Some(summary);
            self.is_unfinished = text.trim_start().strip_prefix("Tests  ").is_some_and(is_unfinished);
        } else if let Some(files) = totals(text, "Test Files") {
            self.failed_files = failed(&files);
        } else if let Some(suites) = failed_suites(text) {
            (self.suites, self.in_suites) = (suites, true);
        } else if content.contains(" Failed Tests ") {
            self.in_suites = false;
        } else if let Some((number, _)) = content.strip_prefix("Errors  ").and_then(counted) {
            Summary::add(&mut self.errors, number)?;
        } else if content.starts_with("RUN  v") || content.starts_with("RERUN  ") {
            *self = Run::default();
        } else if let Some(name) = content.strip_prefix("FAIL  ") {
            self.fail(without_project(name));
        } else if let Some(file) = tree_file(content) {
            self.file = file.to_owned();
            self.blocks.clear();
            self.told.clear();
        } else if let Some((columns, name)) = block(text).filter(|_| !self.file.is_empty()) {
            self.blocks.retain(|(before, _)| *before < columns);
            self.blocks.push((columns, name.to_owned()));
        } else if let Some((outcome, name)) = verbose_test(text) {
            self.told.clear();
            self.names.set(&titled(None, name), outcome);
        } else if let Some((columns, outcome, name)) = tree_test(text).filter(|_| !self.file.is_empty()) {
            self.told.clear();
            self.tree_test(columns, outcome, name);
        } else if !content.is_empty() {
            self.failure(content);
        }
        Ok(())
    }

    /// A line below the names of tests that failed: their message, or its place.
    fn failure(&mut self, content: &str) {
        let has_message = std::mem::replace(&mut self.has_message, true);
        if content.starts_with('⎯') {
            self.told.clear();
        }
        let place = content.strip_prefix("❯ ").and_then(|place| stack::frame(place.rsplit(' ').next()?));
        for id in &self.told {
            let Some(case) = self.names.get_mut(id) else { continue };
            if !has_message {
                case.message = case.message.take().or_else(|| first_lines(content));
            } else if let Some(place) = place.filter(|_| case.line.is_none()) {
                stack::put(case, place);
            }
        }
    }

    /// Names a test of the tree by the blocks above it. The default reporter of Vitest 4 leaves them out: further in than
    /// a file's own tests, a name alone tells no test.
    fn tree_test(&mut self, columns: usize, outcome: Outcome, name: &str) {
        self.blocks.retain(|(before, _)| *before < columns);
        if columns > 3 + 2 * self.blocks.len() {
            return;
        }
        let blocks = self.blocks.iter().map(|(_, name)| name.as_str());
        let id = [self.file.as_str()].into_iter().chain(blocks).chain(name.split(" > ")).collect::<Vec<_>>().join("::");
        self.names.set(&id, outcome);
    }

    /// `vt/cart.test.js > Cart > fails`, or `vt/broken.test.js [ vt/broken.test.js ]` for a file.
    fn fail(&mut self, name: &str) {
        if std::mem::take(&mut self.has_message) {
            self.told.clear();
        }
        if let Some((file, _)) = name.split_once(" [ ") {
            self.names.unit(file);
        } else if self.in_suites {
            self.names.unit(name);
        } else if name.contains(" > ") {
            let id = printable(&titled(None, name), super::LONGEST_ID);
            if let Some(case) = self.names.set(&id, Outcome::Failed) {
                case.file = name.split(" > ").next().map(|file| printable(file, 1000));
            }
            if self.told.len() < MESSAGES_HELD {
                self.told.push(id);
            }
        }
    }

    /// Neither an outcome of a test is told, nor that something else failed.
    fn tells_nothing(&self) -> bool {
        self.is_unfinished && [self.errors, self.suites, self.failed_files] == [0; 3]
    }

    fn finish(self) -> Result<Parsed> {
        let mut summary = self.counts.unwrap_or_default();
        let other = match summary.failed == 0 && self.suites == 0 {
            true if self.errors > 0 => self.errors,
            true => self.failed_files,
            false => 0,
        };
        summary.errored = add(self.suites, other)?;
        summary.unit_failures = summary.errored;
        let mut names = self.names;
        names.units.truncate(usize::try_from(summary.errored).unwrap_or(usize::MAX));
        let mut parsed = names.report(&FORMAT, &summary, false)?;
        self.benchmarks.metrics.put_into(&mut parsed);
        Ok(parsed)
    }
}

/// Reads the runs in a stream.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Stream {
    run: Run,
    /// What runs next are benchmarks.
    benches: bool,
    /// A run has begun; its own summary has come.
    begun: bool,
    done: bool,
    /// Runs that the output of a test holds, and whose summary has not come.
    nested: u32,
    /// Tasks that were announced, and have not begun to run.
    tasks: u32,
    /// The line above, if npm may name a script in it.
    before: String,
    /// Others that run at the same time.
    beside: Option<Beside>,
    files: BTreeSet<String>,
    /// How many files ran, and how many of them failed, as the last line `Test Files` counts them.
    all_files: Option<u64>,
    failed_files: u64,
    /// Files that passed were told of: not under an agent.
    tells_passed: bool,
    /// What a test printed stands there: under an agent, not of tests that passed.
    tells_output: bool,
    /// A summary below that which seemed to be the last.
    later: Option<Run>,
    /// Marks of the dot reporter came; files came with their tests.
    has_dots: bool,
    has_list: bool,
    /// Inside the messages of what failed, which may stand on another stream and come after the summary.
    in_failures: bool,
    /// Nothing but blank lines came since a rule.
    below_rule: bool,
    /// The folder that it says to run in.
    root: Option<String>,
    /// A summary of a run whose beginning is not there, and whether it tells when the run began.
    footer: Option<(Run, bool)>,
    runs: Vec<runs::Run>,
}

impl Stream {
    fn close(&mut self) -> Result<()> {
        let (run, mut files) = (std::mem::take(&mut self.run), std::mem::take(&mut self.files));
        if self.beside.is_some() || !self.tells_passed && u64::try_from(files.len()).ok() < self.all_files {
            // Of those that failed alone nobody knows what else ran.
            files.clear();
        }
        if run.counts.is_some() && !run.tells_nothing() {
            let (is_certain, root) = (self.done, self.root.take());
            let mut parsed = run.finish()?;
            if let Some(beside) = &self.beside {
                parsed.is_of_several = true;
                if let Details::Tests(tests) = &mut parsed.details {
                    tests.only_failed |= beside.is_cut;
                }
            }
            self.runs.push(runs::Run { is_certain, root, ..runs::Run::of(parsed, files) });
        }
        *self = Stream { runs: std::mem::take(&mut self.runs), tasks: self.tasks, ..Stream::default() };
        Ok(())
    }

    /// A line where no run has begun: `vitest run | tail` leaves the summary, whose four lines nobody else writes.
    fn beheaded(&mut self, text: &str) -> Result<()> {
        if totals(text, "Test Files").is_some() {
            self.footer = Some((Run::default(), false));
        }
        let Some((run, has_start)) = &mut self.footer else { return Ok(()) };
        let content = text.trim_start();
        if is_of_summary(content) {
            return run.line(text);
        }
        if content.starts_with("Start at  ") {
            *has_start = true;
            return Ok(());
        }
        let footer = self.footer.take();
        if let Some((run, true)) = footer.filter(|(run, _)| content.starts_with("Duration  ") && run.counts.is_some()) {
            self.runs.push(runs::Run::of(run.finish()?, BTreeSet::new()));
        }
        Ok(())
    }

    /// A line below a summary: if another one stands there, that is the run's own.
    fn later_summary(&mut self, text: &str) -> Result<()> {
        if totals(text, "Test Files").is_some() {
            self.later = Some(Run::default());
        }
        let Some(later) = &mut self.later else { return Ok(()) };
        let content = text.trim_start();
        if is_of_summary(content) {
            later.line(text)?;
        } else if content.starts_with("Duration  ")
            && let Some(later) = self.later.take().filter(|later| later.counts.is_some())
        {
            self.run.counts = later.counts;
            self.run.is_unfinished = later.is_unfinished;
            (self.run.failed_files, self.run.errors) = (later.failed_files, later.errors);
        }
        Ok(())
    }
}

impl Runs for Stream {
    fn line(&mut self, text: &str) -> Result<()> {
        let text = text.trim_end();
        if begins(text) {
            let is_task = self.tasks > 0;
            self.tasks = self.tasks.saturating_sub(1);
            if !self.holds(text) {
                let benches = self.benches;
                self.close()?;
                self.begun = !benches;
                self.root = root(text).map(|root| printable(root, super::LONGEST_ID));
            } else if let Some(beside) = &mut self.beside {
                beside.begin();
            } else if is_task {
                self.beside = Some(Beside::of(&self.run));
            } else {
                self.nested += 1;
            }
            return Ok(());
        }
        if !self.holds(text) {
            self.tasks = self.tasks.saturating_add(u32::from(begins_script(&self.before, text)));
            self.before = if text.starts_with("> ") { text.to_owned() } else { String::new() };
        }
        self.tasks = self.tasks.saturating_add(u32::from(begins_task(text)));
        self.benches |= vitest_bench_text::begins(text);
        if !self.begun {
            return if self.benches { Ok(()) } else { self.beheaded(text) };
        }
        if let Some(beside) = &mut self.beside {
            if beside.line(&mut self.run, text)? {
                (self.done, self.in_failures) = (true, false);
            }
            return Ok(());
        }
        if text.starts_with("No test files found, exiting with code ") && self.files.is_empty() {
            return self.close();
        }
        let is_rule = text.starts_with('⎯');
        if is_rule {
            let title = text.trim_matches(['⎯', ' ']);
            let is_last =
                |title: &str| title.trim_matches(['[', ']']).split_once('/').is_some_and(|(at, all)| at == all);
            self.in_failures = (self.in_failures && !is_last(title)) || title.starts_with("Failed ");
        }
        // One that could not be loaded may stand below the title alone.
        let unloaded = if self.in_failures { unloaded_file(text) } else { None };
        let listed = file_of(text.trim_start());
        self.has_list |= listed.is_some();
        self.tells_passed |= listed.is_some() && text.trim_start().starts_with(['✓', '↓']);
        self.tells_output |= text.starts_with("stdout | ") || text.starts_with("stderr | ");
        if let Some(file) = unloaded.or(listed).filter(|_| self.files.len() < super::CASES_KEPT) {
            self.files.insert(printable(file, super::LONGEST_ID));
        }
        // What a test prints may follow the marks in their line. A terminal has a star for each test that runs.
        let has_mark = text.starts_with('·');
        if has_mark || (!text.is_empty() && text.chars().all(|mark| matches!(mark, 'x' | '-' | '*'))) {
            self.has_dots = !text.ends_with('*');
        }
        if let Some(files) = totals(text, "Test Files") {
            // Behind them stands how many there are, of which --bail leaves some out.
            self.all_files = files.iter().try_fold(0, |sum: u64, (number, _)| sum.checked_add((*number)?));
            self.failed_files = failed(&files);
            // Of a test that failed in several ways, not every number is told.
            self.in_failures &= !self.below_rule;
        }
        self.below_rule = is_rule || (self.below_rule && text.is_empty());
        self.done &= listed.is_none() && !(has_mark && self.has_dots && !self.has_list);
        if self.done && !self.in_failures {
            self.later_summary(text)?;
        }
        if !self.done || self.in_failures || is_rule {
            self.run.line(text)?;
        }
        let is_end = text.trim_start().starts_with("Duration  ") && self.run.counts.is_some();
        // A summary that counts more files than were told of is not the run's own. The dot reporter tells of none.
        let told = u64::try_from(self.files.len()).ok();
        let none_ran = self.files.is_empty() && self.run.is_unfinished;
        // Under an agent it tells of files that failed alone.
        let is_brief =
            !self.tells_passed && told == Some(self.failed_files) && (self.failed_files > 0 || !self.tells_output);
        let is_told = none_ran
            || is_brief
            || (self.has_dots && !self.has_list)
            || (!self.files.is_empty() && told >= self.all_files);
        if is_end && self.nested > 0 {
            self.nested -= 1;
        } else {
            self.done |= is_end && is_told;
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<bool> {
        if self.begun && !self.holds("") {
            self.close()?;
        }
        Ok(true)
    }

    fn count(&self) -> usize {
        self.runs.len()
    }

    fn holds(&self, _: &str) -> bool {
        self.begun && (!self.done || self.in_failures)
    }

    fn finish(mut self: Box<Self>) -> Vec<runs::Run> {
        // What cannot be added up is not there.
        let _ = self.close();
        self.runs
    }
}

/// Whether the line tells of tests that ran: of a file, or with marks of the dot reporter.
fn tells_of_tests(text: &str) -> bool {
    file_of(text.trim_start()).is_some() || text.starts_with('·')
}

/// `⎯⎯⎯ Unhandled Error ⎯⎯⎯`, without an `s`: Vitest itself came to its end, and has no summary.
fn is_crash(text: &str) -> bool {
    text.starts_with('⎯') && text.trim_matches(['⎯', ' ']) == "Unhandled Error"
}

/// The file in a line of the tree, or of a test as the verbose reporter tells it: ` ✓ vt/a.test.js > Cart > adds 1ms`.
fn file_of(content: &str) -> Option<&str> {
    tree_file(content).or_else(|| verbose_test(content)?.1.split(" > ").next())
}

/// The file in ` FAIL  vt/a.test.js [ vt/a.test.js ]`, ` FAIL  |unit| vt/a.test.js [ vt/a.test.js ]`.
fn unloaded_file(text: &str) -> Option<&str> {
    let (_, file) = text.trim_start().strip_prefix("FAIL  ")?.rsplit_once(" [ ")?;
    file.strip_suffix(" ]")
}

/// Outcome and name, with its file, of ` ✓ vt/a.test.js > Cart > adds 1ms`. A project may stand before the file:
/// ` ✓ |unit| vt/a.test.js > Cart > adds`.
fn verbose_test(text: &str) -> Option<(Outcome, &str)> {
    let (outcome, name) = marked(text.trim_start())?;
    let name = without_project(name);
    let (file, _) = name.split_once(" > ")?;
    (text.len() - text.trim_start().len() <= 1 && file.contains('.') && !file.contains(' ')).then_some((outcome, name))
}

/// What stands behind the project, `|unit| a.test.js`; where there are colours, and since version 5, ` unit  a.test.js`.
fn without_project(name: &str) -> &str {
    let name = name.trim_start();
    let badge = || name.split_once("  ").filter(|(project, rest)| !project.contains(" > ") && !rest.starts_with('('));
    let plain = name.strip_prefix('|').and_then(|rest| rest.split_once("| "));
    plain.or_else(badge).map_or(name, |(_, rest)| rest.trim_start())
}

/// ` RUN  v3.2.7 /home/dev/x`.
fn begins(line: &str) -> bool {
    let version = line.trim_start().strip_prefix("RUN  v").or_else(|| line.trim_start().strip_prefix("DEV  v"));
    version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// The folder in ` RUN  v3.2.7 /app/packages/web`.
fn root(line: &str) -> Option<&str> {
    let (_, rest) = line.trim().split_once("  v")?;
    rest.split_once(' ').map(|(_, root)| root.trim()).filter(|root| !root.is_empty())
}

/// The file in ` ❯ vt/cart.test.js (9 tests | 1 failed) 11ms`, ` ❯ |unit| vt/cart.test.js (1 test)`.
fn tree_file(content: &str) -> Option<&str> {
    let rest = without_project(content.strip_prefix(['❯', '✓', '×', '↓'])?);
    let (file, counts) = rest.split_once(" (")?;
    let (counts, _) = counts.split_once(')')?;
    let (number, word) = counted(counts.split(" | ").next()?)?;
    let file = file.trim();
    (number.is_some() && matches!(word, "test" | "tests") && !file.contains(" > ")).then_some(file)
}

/// Columns and name of a block of tests, as the reporter `tree` and Vitest 4 tell it: `   ❯ Cart (4)`, `   ✓ Cart (2) 5ms`.
fn block(text: &str) -> Option<(usize, &str)> {
    let content = text.strip_prefix("   ")?.trim_start();
    let rest = content.strip_prefix(['❯', '✓', '×', '↓'])?.strip_prefix(' ')?;
    let rest = match rest.rsplit_once(' ') {
        Some((before, time)) if is_time(time) => before.trim_end(),
        _ => rest,
    };
    let (name, number) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    is_number(number).then_some((text.len() - content.len(), name))
}

/// Columns, outcome and name of `   ✓ Cart > adds 1ms`.
fn tree_test(text: &str) -> Option<(usize, Outcome, &str)> {
    let content = text.strip_prefix("   ")?.trim_start();
    let (outcome, name) = marked(content)?;
    Some((text.len() - content.len(), outcome, name))
}

/// What the mark and the time around a name leave.
fn marked(content: &str) -> Option<(Outcome, &str)> {
    let (mark, name) = content.split_once(' ')?;
    let outcome = match mark {
        "✓" => Outcome::Passed,
        "×" => Outcome::Failed,
        "↓" | "□" => Outcome::Skipped,
        _ => return None,
    };
    let name = name.trim().split(" (retry x").next().unwrap_or_default();
    let name = match name.rsplit_once(' ') {
        Some((before, time)) if is_time(time) => before.trim_end(),
        _ => name,
    };
    (!name.is_empty()).then_some((outcome, name))
}

fn is_time(text: &str) -> bool {
    let number = text.strip_suffix("ms").or_else(|| text.strip_suffix('s')).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::console::console;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = " RUN  v3.2.7 /home/dev/x\n\n ❯ vt/a.test.js (2 tests | 1 failed) 11ms\n   ✓ Cart > adds 1ms\n   × Cart > fails 6ms\n\
                       \n⎯⎯ Failed Suites 1 ⎯⎯\n\n FAIL  vt/b.test.js [ vt/b.test.js ]\nError: no module\n\n⎯⎯ Failed Tests 1 ⎯⎯\n\n\
                       \x20FAIL  vt/a.test.js > Cart > fails\nAssertionError: no\n\n";
    const END: &str =
        " Test Files  2 failed (2)\n      Tests  1 failed | 1 passed | 1 skipped | 1 todo (4)\n   Start at  20:43:56\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_last_tests_line_and_failed_suites_count() {
        let parsed = read(&format!("{RUN}{END}")).unwrap();
        assert_eq!(counts(&parsed), [5, 1, 1, 1, 2]);
        let of_a_code_page = RUN.replace('⎯', "ΓÄ»").replace('❯', "Γ¥»");
        assert_eq!(counts(&read(&format!("{of_a_code_page}{END}")).unwrap()), [5, 1, 1, 1, 2]);
        let details = details(&parsed);
        assert_eq!(details.cases.cases["vt/a.test.js::Cart::fails"].message.as_deref(), Some("AssertionError: no"));
        assert_eq!(details.cases.outcome("vt/a.test.js::Cart::adds"), Some(Outcome::Passed));
        assert_eq!((details.failed_units, details.dropped), (vec!["vt/b.test.js".to_owned()], 2));
    }

    #[test]
    fn failures_have_messages_and_lines() {
        let failed = "⎯⎯ Failed Tests 3 ⎯⎯\n\n FAIL  vt/a.test.js > Cart > fails\n\
                      \x20FAIL  |unit| vt/a.test.js > alike\nAssertionError: no\n\n\
                      - 1\n+ 0\n\n ❯ total src/cart.js:3:9\n ❯ vt/a.test.js:5:54\n ❯ vt/a.test.js:9:1\n\
                      \x20     5|   test('fails', () => {});\n\n⎯⎯[1/3]⎯\n\n\
                      \x20FAIL  vt/b.test.js > other\nError: boom\n ❯ Object.f node_modules/x/b.js:3:1\n\n⎯⎯[3/3]⎯\n\
                      \n ❯ vt/b.test.js:2:1\n";
        let cases = details(&read(&format!(" RUN  v4.1.0 /app\n\n{failed}{END}")).unwrap()).cases.cases;
        let of = |id: &str| (cases[id].message.as_deref(), cases[id].file.as_deref(), cases[id].line);
        assert_eq!(of("vt/a.test.js::Cart::fails"), (Some("AssertionError: no"), Some("vt/a.test.js"), Some(5)));
        assert_eq!(of("vt/a.test.js::alike"), of("vt/a.test.js::Cart::fails"));
        assert_eq!(of("vt/b.test.js::other"), (Some("Error: boom"), Some("vt/b.test.js"), None));
    }

    #[test]
    fn tests_have_the_names_of_their_blocks() {
        let end = " Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)\n   Start at  20:43:56\n";
        let names = |lines: &str| {
            let parsed = read(&format!(" RUN  v4.1.0 /app\n\n{lines}\n{end}")).unwrap();
            details(&parsed).cases.cases.into_keys().collect::<Vec<_>>()
        };
        let tree = " ❯ vt/a.test.js (3 tests | 1 failed) 5ms\n   ❯ Cart (2)\n     ✓ Sum (1) 2ms\n       ✓ adds 1ms\n\
                    \x20    × fails 6ms\n   ✓ alone 1ms\n";
        let all = ["vt/a.test.js::Cart::Sum::adds", "vt/a.test.js::Cart::fails", "vt/a.test.js::alone"];
        assert_eq!(names(tree), all);
        let without_blocks = tree.replace("   ❯ Cart (2)\n     ✓ Sum (1) 2ms\n", "");
        assert_eq!(names(&without_blocks), ["vt/a.test.js::alone"]);
        let verbose = " ✓ vt/a.test.js > Cart > Sum > adds 1ms\n × |unit| vt/a.test.js > Cart > fails 6ms\n   → no\n\
                       \x20✓ vt/a.test.js > alone\n";
        assert_eq!(names(verbose), all);
        let failed =
            |project: &str| format!("⎯⎯ Failed Tests 1 ⎯⎯\n\n FAIL  {project}vt/a.test.js > Cart > fails\nError: no\n");
        for project in ["|unit| ", " unit  ", " unit (bench)  "] {
            assert_eq!(names(&tree.replace("vt/", &format!("{project}vt/"))), all, "{project}");
            assert_eq!(names(&verbose.replace("|unit| ", project)), all, "{project}");
            assert_eq!(names(&failed(project)), ["vt/a.test.js::Cart::fails"], "{project}");
        }
        let hooks = "⎯⎯ Failed Suites 1 ⎯⎯\n\n FAIL  vt/a.test.js > Cart\nError: no\n";
        assert_eq!(names(hooks), [""; 0]);
    }

    #[test]
    fn files_that_failed_count_where_nothing_else_does() {
        let end = " Test Files  2 failed | 1 passed (3)\n      Tests  3 passed (3)\n   Start at  20:43:56\n";
        assert_eq!(counts(&read(end).unwrap()), [5, 3, 0, 2, 0]);
    }

    #[test]
    fn errors_outside_of_tests_count_where_nothing_else_failed() {
        let end = |counts: &str| {
            format!(" Test Files  1 passed (1)\n      Tests  {counts}\n     Errors  2 errors\n   Start at  20:43:56\n")
        };
        assert_eq!(counts(&read(&end("3 passed (3)")).unwrap()), [5, 3, 0, 2, 0]);
        assert_eq!(counts(&read(&end("1 failed | 2 passed (3)")).unwrap()), [3, 2, 1, 0, 0]);
        assert_eq!(counts(&read(&end("no tests")).unwrap()), [2, 0, 0, 2, 0]);
        assert_eq!(counts(&read(&end(" (3)")).unwrap()), [2, 0, 0, 2, 0]);
        let interrupted = end(" (3)").replace("     Errors  2 errors\n", "");
        assert_eq!(read(&interrupted).unwrap_err().reject(), Some(Reject::NoResult));
    }

    /// As Vitest 5 ends on a Node.js that is too old for it.
    #[test]
    fn a_summary_that_a_test_printed_is_not_that_of_the_run() {
        let printed =
            " Test Files  1 passed (1)\n      Tests  9 passed (9)\n   Start at  20:43:56\n   Duration  1.00s\n";
        let listed = " ✓ b.test.js (1 test) 8ms\n";
        let own = " Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 1 passed (2)\n   Start at  20:43:56\n\
                   \x20  Duration  1.11s\n";
        let console = |text: &str| -> Vec<_> {
            crate::ingest::console::console(&Input::bytes("x", text.as_bytes())).iter().map(counts).collect()
        };
        let first = " RUN  v5.1.1 /app\n\n ❯ a.test.js (1 test | 1 failed) 9ms\n   × fails 5ms\n";
        let crash = "⎯⎯⎯ Failed Tests 1 ⎯⎯⎯\n\n\n⎯⎯⎯ Unhandled Error ⎯⎯⎯\nTypeError: Map.groupBy is not a function\n";
        for cut in [format!("{first}{printed}{listed}{crash}"), format!("{first}{listed}{printed}{crash}")] {
            assert_eq!(read(&cut).unwrap_err().reject(), Some(Reject::NoResult), "{cut}");
        }
        assert!(console(&format!("{first}{printed}{listed}{crash}")).is_empty());
        let dots = " RUN  v4.1.12 /app\n\n·";
        let dots_of_a_terminal = " RUN  v4.1.12 /app\n\n*\nstdout | a.test.js > a\n";
        for whole in [
            format!("{first}{printed}{listed}\n{own}"),
            format!("{first}{listed}{printed}\n{own}"),
            format!("{dots}{printed}x\n{own}"),
            format!("{dots_of_a_terminal}{printed}\n·x\n{own}"),
        ] {
            assert_eq!(counts(&read(&whole).unwrap()), [2, 1, 1, 0, 0], "{whole}");
            assert_eq!(console(&whole), [[2, 1, 1, 0, 0]], "{whole}");
        }
    }

    #[test]
    fn a_run_without_its_summary_is_no_result() {
        for text in [RUN.to_owned(), String::new(), format!("{END}{RUN}"), END.replace("   Start at  20:43:56\n", "")] {
            assert_eq!(read(&text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        let large = END.replace("1 passed", "18446744073709551616 passed");
        assert_eq!(read(&large).unwrap_err().reject(), Some(Reject::Malformed));
    }

    /// `vitest run | tail -6`.
    #[test]
    fn of_a_run_the_summary_may_be_all_that_is_left() {
        let end = " Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)\n   Start at  12:00:00\n   Duration  334ms\n";
        let told = |text: &str| console(&Input::bytes("x", text.as_bytes())).iter().map(counts).collect::<Vec<_>>();
        assert_eq!(told(end), [[3, 2, 1, 0, 0]]);
        let second = end.replace("1 failed | 2 passed (3)", "5 passed (5)").replace("1 failed (1)", "1 passed (1)");
        assert_eq!(told(&format!("{end}\n{second}")), [[3, 2, 1, 0, 0], [5, 5, 0, 0, 0]]);
        assert!(told(&end.replace("   Start at  12:00:00\n", "")).is_empty(), "as somebody writes who tells of it");
        assert!(told(&end.replace("   Start", "said\n   Start")).is_empty());
        for word in
            ["Tests  30 passed (30)\n", " Test Files  6 passed (6)\n      Tests  30 passed (30)\nAll good now.\n"]
        {
            assert_eq!(counts(&read(&format!("{end}\n{word}")).unwrap()), [3, 2, 1, 0, 0], "{word}");
            let killed = format!("{end}\n{word}\n RUN  v3.2.7 /x\n\n");
            assert_eq!(read(&killed).unwrap_err().reject(), Some(Reject::NoResult), "another run began");
        }
    }

    #[test]
    fn it_is_told_by_its_first_or_last_lines() {
        for text in [RUN, END] {
            assert!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)), "{text}");
        }
        for none in ["Tests:       1 failed, 1 total\n", "RUN  tests\n", "Tests  3\n"] {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }
}
