//! `go-test-text`: what `go test` prints without `-json`. Without `-v` only tests that failed are in it; a package's line
//! comes after those of its tests.

use std::collections::BTreeSet;

use super::brief_test_text::ginkgo;
use super::runs::{Run, Runs};
use super::text_report::{Names, Summary, is_foreign_line, no_result};
use super::{gotestsum_text, milliseconds};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::metric::go_bench_text::{self, is_benchmarks};
use crate::ingest::text::{Lines, LongLine, first_lines, is_number, printable};
use crate::ingest::{Details, Format, Head, Parsed, Sniff, add};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;
use crate::model::metrics::BuildStatus;

/// What `go test` prints.
pub const FORMAT: Format = Format {
    name: "go-test-text",
    kind: ReportKind::Test,
    about: "terminal output of go test",
    written_by: "go test, go test -v",
    told_by: "lines \"--- FAIL: Test…\", \"ok\" or \"FAIL\" with a package",
    has_end: false,
    counting: "Each line \"--- PASS\", \"--- FAIL\" or \"--- SKIP\", parents and subtests alike, is one test. A \
               package that failed without such a line since the package before, or did not build, is one errored \
               test. Without -v passed tests are not in it.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_anothers = gotestsum_text::is_ours(head) || head.last_lines().any(ginkgo::has_ended);
    if head.xml().is_some() || is_benchmarks(head) || is_anothers {
        return Sniff::No;
    }
    let (mut found, mut unbuilt, mut has_failed) = (false, false, false);
    for line in head.lines() {
        // The stream of `go test -json`, and what other tools print before a test of theirs prints such lines.
        let names = ["\"Package\":\"", "\"Test\":\"", "\"ImportPath\":\""];
        let is_event =
            line.starts_with('{') && line.contains("\"Action\":\"") && names.iter().any(|name| line.contains(name));
        if is_event || (!found && is_foreign_line(line)) {
            return Sniff::No;
        }
        match read(line) {
            Line::Unbuilt(_) => unbuilt = true,
            Line::Package(_) | Line::Failed(_) => found = true,
            // At the line's start only: further in it may be quoted.
            Line::Test(_) if line.starts_with("---") => found = true,
            Line::Run if line.starts_with("=== ") => found = true,
            // The run's own end, which `go test -json` does not print.
            Line::Other if line.trim_end() == "FAIL" => has_failed = true,
            _ => {}
        }
    }
    match (found || (unbuilt && has_failed), unbuilt) {
        (true, _) => Sniff::Sure("lines of go test with tests or packages".into()),
        (false, true) => Sniff::Maybe("a line FAIL … [build failed]".into()),
        (false, false) => Sniff::No,
    }
}

/// Whether a line tells of a test or a package.
pub(super) fn is_marker(line: &str) -> bool {
    !matches!(read(line), Line::Other)
}

/// What a line says.
#[derive(Debug, PartialEq)]
enum Line<'a> {
    /// `--- FAIL: TestA (0.00s)`.
    Test(Test<'a>),
    /// A package that passed, or has no tests.
    Package(&'a str),
    /// A package that failed.
    Failed(&'a str),
    /// A package that was not built.
    Unbuilt(&'a str),
    /// `=== RUN   TestA`.
    Run,
    Other,
}

#[derive(Debug, PartialEq)]
struct Test<'a> {
    outcome: Outcome,
    name: &'a str,
    seconds: Option<&'a str>,
    /// Nothing of the line is missing.
    is_whole: bool,
}

fn read(line: &str) -> Line<'_> {
    let line = line.trim_end();
    if let Some(test) = test(line.trim_start()) {
        return Line::Test(test);
    }
    if line.starts_with("=== RUN") || line.starts_with("=== PAUSE") || line.starts_with("=== CONT") {
        return Line::Run;
    }
    let is_time = |text: &str| text.strip_suffix('s').is_some_and(|text| milliseconds(text).is_some());
    let mut words = line.split_whitespace();
    let word = words.next().filter(|word| matches!(*word, "FAIL" | "ok" | "?")).unwrap_or_default();
    let gap = line.get(word.len()..).unwrap_or_default();
    let is_column = gap.starts_with('\t') || gap.starts_with("  ");
    let (package, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match word {
        // Octave counts so: `FAIL    2`.
        _ if !is_column || package.is_empty() || is_number(package) => Line::Other,
        "FAIL" if line.ends_with("[build failed]") || line.ends_with("[setup failed]") => Line::Unbuilt(package),
        "FAIL" if rest.is_empty() || is_time(rest) || rest.starts_with(['[', '(']) => Line::Failed(package),
        "ok" if is_time(rest) || rest == "(cached)" => Line::Package(package),
        "?" if line.ends_with("[no test files]") => Line::Package(package),
        _ => Line::Other,
    }
}

fn test(text: &str) -> Option<Test<'_>> {
    let rest = text.strip_prefix("--- ")?;
    let (word, rest) = rest.split_once(": ")?;
    let outcome = match word {
        "PASS" => Outcome::Passed,
        "FAIL" => Outcome::Failed,
        "SKIP" => Outcome::Skipped,
        _ => return None,
    };
    let (name, time) = rest.split_once(" (").unwrap_or((rest, ""));
    let seconds = time.strip_suffix("s)").or_else(|| time.strip_suffix(" seconds)"));
    (!name.is_empty()).then_some(Test { outcome, name, seconds, is_whole: seconds.is_some() })
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut reader, mut began) = (Reader::default(), Began::default());
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut last = 0;
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = began.own(&line.text);
        if !line.ended && !reader.is_whole(text) {
            return Err(Error::report(Reject::Malformed, "go test output ends inside a line")
                .line(last)
                .help(super::text_report::KILLED_HELP));
        }
        let read = read(text);
        if !began.wrote(text, &read, reader.failing) {
            continue;
        }
        if matches!(read, Line::Package(_) | Line::Failed(_) | Line::Unbuilt(_)) {
            began = Began::default();
        }
        reader.line(text).map_err(|error| error.line(last))?;
    }
    if let Some(name) = began.unended() {
        let why = format!("go test's output ends while {name} ran");
        return Err(no_result(&why, last.max(1)));
    }
    let seen_run = reader.seen_run;
    match reader.finish().map_err(|error| error.line(last.max(1)))? {
        Some(parsed) => Ok(parsed),
        None if seen_run => Err(no_result("go test output ends before any result", last)),
        None => Err(no_result("no result of go test in it", last)),
    }
}

/// Reads lines of one or several runs of `go test`.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Reader {
    summary: Summary,
    names: Names,
    /// Tests since the last package's line.
    tests: Vec<(String, TestCase)>,
    /// One of them failed.
    failing: bool,
    packages: u64,
    /// A package ran tests, or may have.
    has_silent: bool,
    seen_run: bool,
    not_built: bool,
    last_word: LastWord,
}

/// A package whose lines were cut away.
const UNNAMED: &str = "a package";

/// What go test says below all packages' lines: a bare FAIL, if one of them failed.
#[derive(Debug, Default)]
struct LastWord {
    /// A package's line came last.
    is_below: bool,
    /// A package failed since the last such word.
    has_failed: bool,
    /// It was said, and nothing of what failed is there; the next line may still explain it.
    is_alone: bool,
}

impl LastWord {
    /// A package's line came.
    fn package(&mut self, has_failed: bool) {
        self.is_below = true;
        self.has_failed |= has_failed;
    }

    /// The next line; whether it tells that a package failed above it of which nothing else is there.
    fn line(&mut self, text: &str) -> bool {
        let text = text.trim_end();
        if text.is_empty() {
            return false;
        }
        // A package's own word stands above its line.
        let is_alone = std::mem::take(&mut self.is_alone)
            && !text.starts_with("exit status ")
            && !matches!(read(text), Line::Failed(_));
        if std::mem::take(&mut self.is_below) && text == "FAIL" {
            self.is_alone = !std::mem::take(&mut self.has_failed);
        }
        is_alone
    }
}

impl Reader {
    /// The next line.
    ///
    /// # Errors
    /// A count is too large.
    pub(in crate::ingest) fn line(&mut self, text: &str) -> Result<()> {
        let read = read(text);
        if self.last_word.line(text) {
            self.unit(UNNAMED)?;
        }
        match read {
            // Below a fuzz target stands its own run, by the same name.
            Line::Test(test)
                if text.starts_with(' ') && self.tests.last().is_some_and(|(last, _)| last == test.name) => {}
            Line::Test(test) => self.test(&test)?,
            Line::Package(package) => {
                // "[no test files]", "[no tests to run]": zero is known.
                self.has_silent |= !text.contains("[no test");
                self.end_package(package, false);
            }
            Line::Failed(package) => {
                if !self.failing {
                    self.unit(package)?;
                }
                self.has_silent = true;
                self.end_package(package, true);
            }
            Line::Unbuilt(package) => {
                self.not_built = true;
                self.unit(package)?;
                self.end_package(package, true);
            }
            Line::Run => self.seen_run = true,
            Line::Other => {
                // Of the test whose line came last.
                if let Some((_, case)) = self.tests.last_mut() {
                    describe(case, text);
                }
            }
        }
        Ok(())
    }

    fn test(&mut self, test: &Test<'_>) -> Result<()> {
        let slot = match test.outcome {
            Outcome::Passed => &mut self.summary.passed,
            Outcome::Skipped => &mut self.summary.skipped,
            _ => &mut self.summary.failed,
        };
        *slot = add(*slot, 1)?;
        self.failing |= test.outcome == Outcome::Failed;
        let mut case = TestCase::new(test.outcome);
        case.duration_ms = test.seconds.and_then(milliseconds);
        if self.tests.len() < super::CASES_KEPT {
            self.tests.push((test.name.to_owned(), case));
        }
        Ok(())
    }

    fn unit(&mut self, package: &str) -> Result<()> {
        self.summary.errored = add(self.summary.errored, 1)?;
        self.summary.unit_failures = self.summary.errored;
        self.names.unit(package);
        Ok(())
    }

    fn end_package(&mut self, package: &str, has_failed: bool) {
        self.packages = self.packages.saturating_add(1);
        self.failing = false;
        self.last_word.package(has_failed);
        self.keep(package);
    }

    fn keep(&mut self, package: &str) {
        for (name, case) in std::mem::take(&mut self.tests) {
            let id = if package.is_empty() { name } else { format!("{package}::{name}") };
            let worst = self.names.get(&id).map_or(case.outcome, |known| known.outcome.max(case.outcome));
            if let Some(kept) = self.names.set(&id, worst) {
                *kept = TestCase { outcome: worst, ..case };
            }
        }
    }

    /// Whether a last line without a line end lacks nothing that counts.
    fn is_whole(&self, text: &str) -> bool {
        let text = text.trim_end();
        match read(text) {
            Line::Test(test) => test.is_whole,
            Line::Failed(package) => !text.ends_with(package) && text.ends_with(['s', ']', ')']),
            Line::Package(_) | Line::Unbuilt(_) => text.ends_with(['s', ']', ')']),
            // go test ends with a bare FAIL, after the last package.
            Line::Other if text == "FAIL" => self.last_word.is_below && self.last_word.has_failed,
            Line::Other => text == "PASS" || text.starts_with("exit status "),
            Line::Run => false,
        }
    }

    /// The report; `None` without a result.
    ///
    /// # Errors
    /// The sum is too large.
    pub(in crate::ingest) fn finish(mut self) -> Result<Option<Parsed>> {
        if self.last_word.is_alone {
            self.unit(UNNAMED)?;
        }
        let has_tests = !self.tests.is_empty() || !self.names.cases.is_empty();
        if self.packages == 0 && !has_tests {
            return Ok(None);
        }
        self.keep("");
        let quiet = self.summary.passed == 0 && !self.seen_run && self.has_silent;
        let mut parsed = self.names.report(&FORMAT, &self.summary, true)?;
        parsed.build = Some(if self.not_built { BuildStatus::Failed } else { BuildStatus::Success });
        if let (true, Details::Tests(details)) = (quiet, &mut parsed.details) {
            details.only_failed = true;
            parsed.warnings.push(
                "tests that passed are not in it, so how many there are is unknown; go test -v prints them".to_owned(),
            );
        }
        Ok(Some(parsed))
    }
}

/// Which tests `-v` says to run: what else looks like a result was printed by one of them.
#[derive(Debug, Default)]
struct Began {
    /// `-v` says which tests begin.
    is_verbose: bool,
    /// Tests that began and did not end, and those outermost ones of them that do not wait for others.
    running: BTreeSet<String>,
    active: BTreeSet<String>,
    /// The test binary itself said that it ended, or why.
    ended: bool,
}

impl Began {
    /// The line from the result of a running test on, which may follow what the test printed without a line end.
    fn own<'t>(&self, text: &'t str) -> &'t str {
        let is_result = |text: &str| test(text).is_some_and(|test| test.is_whole && self.running.contains(test.name));
        let mut rests = text.match_indices("--- ").filter_map(|(at, _)| text.get(at..));
        match self.running.is_empty() || text.trim_start().starts_with("--- ") {
            true => text,
            false => rests.find(|rest| is_result(rest)).unwrap_or(text),
        }
    }

    /// Whether go itself wrote a line that says that; `has_failed` if a test of the package did.
    fn wrote(&mut self, text: &str, line: &Line<'_>, has_failed: bool) -> bool {
        match line {
            Line::Run => {
                let begins = self.begins(text);
                self.is_verbose |= begins;
                begins
            }
            // With -v, what did not begin was printed by a test; without, nobody can tell.
            Line::Test(test) => {
                let is_own = !self.is_verbose || self.running.contains(test.name) || self.is_benchmark(test.name);
                self.running.remove(test.name);
                self.active.remove(test.name);
                is_own
            }
            // Nor does a package pass in which a test failed.
            Line::Package(_) | Line::Failed(_) | Line::Unbuilt(_) => {
                let is_running = !self.running.is_empty() && !self.ended;
                let is_denied = has_failed && text.starts_with("ok");
                !(is_running || is_denied)
            }
            Line::Other => {
                let ends = ["panic: ", "exit status ", "signal: "];
                self.ended |= ends.iter().any(|end| text.starts_with(end));
                true
            }
        }
    }

    /// A test that began, where the output ends before it did.
    fn unended(&self) -> Option<&str> {
        self.running.first().map(String::as_str).filter(|_| !self.ended)
    }

    /// Benchmarks run after all tests, and begin without a word that tells it.
    fn is_benchmark(&self, name: &str) -> bool {
        self.running.is_empty() && name.starts_with("Benchmark")
    }

    /// Whether a test begins, waits or goes on as `-v` tells it. An outermost one begins only when those before it have
    /// ended or wait, a subtest only within its test: what else says so was printed.
    fn begins(&mut self, text: &str) -> bool {
        if let Some(name) = text.strip_prefix("=== PAUSE ") {
            self.active.remove(name.trim());
            return true;
        }
        let Some(name) = text.strip_prefix("=== RUN ").map(str::trim) else { return true };
        let is_due = match name.split_once('/') {
            Some((test, _)) => self.running.contains(test),
            None => self.active.is_empty(),
        };
        if is_due && self.running.len() < super::CASES_KEPT {
            self.running.insert(name.to_owned());
            if !name.contains('/') {
                self.active.insert(name.to_owned());
            }
        }
        is_due
    }
}

/// Reads the runs in a stream, a run a package.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Stream {
    reader: Reader,
    /// A test's line has come, and its package's has not.
    inside: bool,
    began: Began,
    /// A benchmark failed or was skipped.
    has_benchmark: bool,
    last_word: LastWord,
    /// The line before heads a list of gotestsum's.
    after_heading: bool,
    /// Until its summary gotestsum tells again what came.
    is_listed: bool,
    runs: Vec<Run>,
}

impl Stream {
    fn close(&mut self, package: &str) -> Result<()> {
        let done = std::mem::take(self);
        (self.runs, self.last_word) = (done.runs, done.last_word);
        self.last_word.package(done.reader.last_word.has_failed);
        let parsed = done.reader.finish()?;
        self.runs.extend(parsed.map(|parsed| Run::of(parsed, BTreeSet::from([printable(package, 1000)]))));
        Ok(())
    }

    /// A package failed, and nothing else is there of it.
    fn failed_alone(&mut self) -> Result<()> {
        let mut reader = Reader { packages: 1, ..Reader::default() };
        reader.unit(UNNAMED)?;
        self.runs.extend(reader.finish()?.map(|parsed| Run::of(parsed, BTreeSet::from([UNNAMED.to_owned()]))));
        Ok(())
    }
}

impl Runs for Stream {
    fn line(&mut self, text: &str) -> Result<()> {
        if std::mem::replace(&mut self.after_heading, gotestsum_text::is_heading(text)) && gotestsum_text::is_row(text)
        {
            *self = Stream { is_listed: true, runs: std::mem::take(&mut self.runs), ..Stream::default() };
        }
        if self.is_listed {
            self.is_listed = !gotestsum_text::is_summary(text);
            return Ok(());
        }
        if self.last_word.line(text) {
            self.failed_alone()?;
        }
        let text = self.began.own(text);
        let is_of_go = ["ok  \t", "FAIL\t", "?   \t"].iter().any(|start| text.starts_with(start));
        let read = read(text);
        let is_heard = self.inside || read != Line::Other;
        if is_heard && !self.began.wrote(text, &read, self.reader.failing) {
            return Ok(());
        }
        match read {
            Line::Run => self.inside = true,
            Line::Test(_) if !self.inside && !text.starts_with("---") => return Ok(()),
            Line::Test(test) => {
                self.inside = true;
                self.has_benchmark |= test.name.starts_with("Benchmark");
            }
            Line::Package(_) | Line::Failed(_) | Line::Unbuilt(_) if !is_of_go => return Ok(()),
            Line::Package(package) | Line::Failed(package) | Line::Unbuilt(package) => {
                self.reader.line(text)?;
                return self.close(package);
            }
            Line::Other if ginkgo::has_ended(text) => {
                // All that no package's line followed is of its suites.
                *self = Stream { runs: std::mem::take(&mut self.runs), ..Stream::default() };
            }
            Line::Other => self.inside &= self.began.is_verbose || !ginkgo::is_marker(text),
        }
        if self.inside { self.reader.line(text) } else { Ok(()) }
    }

    /// Ended runs are there at once.
    fn leave(&mut self) -> Result<bool> {
        Ok(true)
    }

    fn count(&self) -> usize {
        self.runs.len()
    }

    fn holds(&self, text: &str) -> bool {
        let is_of_ginkgo = ginkgo::has_ended(text) || (!self.began.is_verbose && ginkgo::is_marker(text));
        self.inside && !is_of_ginkgo && !(self.after_heading && gotestsum_text::is_row(text))
    }

    fn prints_share(&self, text: &str) -> bool {
        text.starts_with("coverage: ") || matches!(read(text), Line::Package(_) | Line::Failed(_))
    }

    fn prints_measurement(&self, text: &str) -> bool {
        // Without -v, they come after a benchmark's own result: none runs where a test has failed.
        let is_theirs = self.began.is_verbose || self.has_benchmark;
        is_theirs && self.began.running.is_empty() && go_bench_text::begins(text)
    }

    fn finish(mut self: Box<Self>) -> Vec<Run> {
        if self.last_word.is_alone {
            let _ = self.failed_alone();
        }
        self.runs
    }
}

/// Takes message and place of a test that failed from the lines below its own: `        calc_test.go:13: got 3 want 4`, or
/// `panic: …` and, of the stack, the first frame in a file of tests.
pub(super) fn describe(case: &mut TestCase, text: &str) {
    if case.outcome != Outcome::Failed || case.line.is_some() {
        return;
    }
    let place = if case.message.is_some() {
        text.strip_prefix('\t').and_then(|rest| place(rest, " +0x")).filter(|(file, _)| file.ends_with("_test.go"))
    } else {
        let told = text.strip_prefix("    ").and_then(|rest| place(rest, ":"));
        // What was running then is not told.
        let is_panic = text.starts_with("panic: ") && !text.starts_with("panic: test timed out after ");
        if told.is_some() || is_panic {
            case.message = first_lines(text);
        }
        told
    };
    if let Some((file, line)) = place {
        (case.file, case.line) = (Some(file), Some(line));
    }
}

/// File and line of `calc_test.go:13: got 3`, or of another text with that after the line's number.
fn place(text: &str, end: &str) -> Option<(String, u64)> {
    let (file, rest) = text.trim_start().split_once(".go:")?;
    let line = rest.split_once(end)?.0.parse().ok().filter(|line| *line > 0)?;
    (!file.contains(char::is_whitespace)).then(|| (printable(&format!("{file}.go"), 1000), line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::console::console;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read_text(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn with_v_only_tests_that_began_have_results() {
        let text = "=== RUN   TestA\n--- PASS: TestX (0.00s)\nok  \tpkg\t0.1s\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n\
                    FAIL\tx\t0.1s\n--- FAIL: TestQ (0.00s)\nno newline--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tx\t0.004s\n\
                    === RUN   TestD\nno newline--- PASS: TestD (0.00s)\nPASS\nok  \ty\t0.003s\n=== RUN   TestE\n\
                    signal: killed\nFAIL\tz\t0.003s\n";
        assert_eq!(counts(&parse(&Input::bytes("x", text.as_bytes())).unwrap()), [4, 2, 1, 1, 0]);
        let reports = crate::ingest::console::console(&Input::bytes("x", text.as_bytes()));
        assert_eq!(reports.iter().map(counts).collect::<Vec<_>>(), [[4, 2, 1, 1, 0]]);
        let of_go_1_0 = "=== RUN TestA\n--- PASS: TestA (0.10 seconds)\nPASS\nok      p 0.100s\n";
        assert_eq!(counts(&parse(&Input::bytes("x", of_go_1_0.as_bytes())).unwrap()), [1, 1, 0, 0, 0]);
    }

    #[test]
    fn benchmarks_begin_without_a_word_on_the_console() {
        let text = "=== RUN   TestA\n--- FAIL: BenchmarkNone\n--- PASS: TestA (0.00s)\npkg: p\nBenchmarkF\n    a_test.go:5: x\n\
                    --- FAIL: BenchmarkF\nBenchmarkS\n--- SKIP: BenchmarkS\nFAIL\nexit status 1\nFAIL\tp\t0.010s\n";
        let told = console(&Input::bytes("x", text.as_bytes()));
        assert_eq!(told.iter().map(counts).collect::<Vec<_>>(), [[3, 1, 1, 0, 1]]);
    }

    #[test]
    fn tests_are_counted_at_any_indent_and_packages_where_no_test_failed() {
        for (text, expected) in [
            ("--- FAIL: T (0.00s)\n    --- PASS: T/a (0.00s)\nFAIL\nFAIL\tp\t0.1s\n", [2, 1, 1, 0, 0]),
            (
                "--- FAIL: FuzzB (0.02s)\n    --- FAIL: FuzzB (0.00s)\n        f_test.go:4: boom\nFAIL\nFAIL\tp\t0.1s\n",
                [1, 0, 1, 0, 0],
            ),
            ("panic: x\nFAIL\tp\t0.1s\nFAIL\n", [1, 0, 0, 1, 0]),
            ("--- FAIL: T (0.00s)\nFAIL\tp\t0.1s\nFAIL\tq\t0.1s\n", [2, 0, 1, 1, 0]),
            ("FAIL    p [build failed]\nok      q 0.1s\n", [1, 0, 0, 1, 0]),
            ("--- SKIP: T (0.00s)\nPASS\nok  \tp\t(cached)\n", [1, 0, 0, 0, 1]),
            ("no newline --- FAIL: T (0.00s)\nok  \tp\t0.1s\n", [0; 5]),
        ] {
            assert_eq!(counts(&read_text(text).unwrap()), expected, "{text}");
        }
        assert_eq!(read_text("=== RUN   T\n").unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(read_text("FAIL\n").unwrap_err().reject(), Some(Reject::NoResult));
    }

    #[test]
    fn a_test_has_its_package_place_and_message() {
        let text = "--- FAIL: T (0.25s)\n    a_test.go:13: got 3\nFAIL\nFAIL\tm/p\t0.1s\nFAIL\tm/q [build failed]\n";
        let parsed = read_text(text).unwrap();
        let details = details(&parsed);
        let case = &details.cases.cases["m/p::T"];
        assert_eq!((case.message.as_deref(), case.duration_ms), (Some("a_test.go:13: got 3"), Some(250)));
        assert_eq!((case.file.as_deref(), case.line), (Some("a_test.go"), Some(13)));
        assert_eq!((details.failed_units, parsed.build), (vec!["m/q".to_owned()], Some(BuildStatus::Failed)));
    }

    #[test]
    fn a_last_line_without_its_end_is_taken_if_it_is_whole() {
        for whole in ["ok  \tp\t0.1s", "--- FAIL: T (0.00s)\nFAIL\tp\t0.1s\nFAIL", "FAIL\tp\t0.1s"] {
            assert!(read_text(whole).is_ok(), "{whole}");
        }
        for cut in [
            "ok  \tp\t0.1s\nFAIL",
            "ok  \tp\t0.1s\n--- FA",
            "ok  \tp\t0.1s\n--- FAIL: T (0.0",
            "ok  \tp\t0.1s\nFAIL\tq",
            "ok  \tp\t0.1s\nF",
        ] {
            assert_eq!(read_text(cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
    }

    /// `go test ./... | tail -3`.
    #[test]
    fn a_failure_of_which_only_go_test_s_last_word_is_there_is_one() {
        let ok = "?   \tm/empty\t[no test files]\nok  \tm/str\t(cached)\n";
        let failed = "--- FAIL: T (0.00s)\nFAIL\nFAIL\tm/calc\t0.1s\n";
        for (text, expected) in [
            (format!("{ok}FAIL\n"), [1, 0, 0, 1, 0]),
            (format!("{ok}FAIL\nexit: 1\n"), [1, 0, 0, 1, 0]),
            (format!("{failed}{ok}FAIL\n"), [1, 0, 1, 0, 0]),
            (format!("{ok}FAIL\nexit status 1\nFAIL\tm/main\t0.1s\n"), [1, 0, 0, 1, 0]),
            (format!("{failed}FAIL\n{ok}FAIL\n"), [2, 0, 1, 1, 0]),
        ] {
            assert_eq!(counts(&read_text(&text).unwrap()), expected, "{text}");
            let told = console(&Input::bytes("x", text.as_bytes()));
            assert_eq!(told.iter().map(counts).collect::<Vec<_>>(), [expected], "{text}");
        }
    }

    #[test]
    fn an_output_that_ends_while_a_test_runs_is_no_result() {
        let text = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestSlow\nexit: 124\n";
        assert_eq!(read_text(text).unwrap_err().reject(), Some(Reject::NoResult));
        assert!(read_text(&format!("{text}panic: test timed out after 1s\nFAIL\tm/a\t1.0s\n")).is_ok());
    }

    #[test]
    fn it_is_told_by_its_lines() {
        for text in ["--- PASS: T (0.00s)\n", "ok  \tp\t0.1s\n", "=== RUN   T\n", "FAIL\tp\t0.1s\n"] {
            assert!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)), "{text}");
        }
        assert!(matches!(sniffed(&FORMAT, "FAIL\tp [build failed]\n"), Sniff::Maybe(_)));
        assert_eq!(sniffed(&FORMAT, "  f_bad.m .... PASS      1/3\n                   FAIL    2\n"), Sniff::No);
        assert!(matches!(sniffed(&FORMAT, "FAIL\tp [build failed]\nFAIL\n"), Sniff::Sure(_)));
        for text in [
            "ok 1 - a\n1..1\n",
            "{\"Action\":\"pass\",\"Package\":\"p\"}\n--- PASS: T (0.00s)\n",
            "FAIL x.js\n",
            "--- a.txt\n+++ b.txt\n",
        ] {
            assert_eq!(sniffed(&FORMAT, text), Sniff::No, "{text}");
        }
    }

    #[test]
    fn a_panic_is_the_message_and_its_test_s_frame_the_place() {
        let text = "--- FAIL: TestPanics (0.00s)\npanic: assignment to entry in nil map [recovered]\n\
                    \tpanic: assignment to entry in nil map\n\ngoroutine 19 [running]:\n\
                    testing.tRunner.func1.2({0x508ec0, 0x551cb0})\n\t/usr/lib/go/src/testing/testing.go:1396 +0x24e\n\
                    example.org/shop/panics.TestPanics(0x0?)\n\t/home/dev/panics/p_test.go:6 +0x2e\n\
                    FAIL\texample.org/shop/panics\t0.005s\npanic: test timed out after 3s\nFAIL\tslow\t3.0s\nFAIL\n";
        let parsed = read_text(text).unwrap();
        let case = &details(&parsed).cases.cases["example.org/shop/panics::TestPanics"];
        assert_eq!(case.message.as_deref(), Some("panic: assignment to entry in nil map [recovered]"));
        assert_eq!((case.file.as_deref(), case.line), (Some("/home/dev/panics/p_test.go"), Some(6)));
    }
}
