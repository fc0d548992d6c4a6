//! `cargo-test-text`: what plain `cargo test` prints. Only `test result:` lines give counts, one for each test binary:
//! the lines above them can be imitated by what a test prints, and so can a result line inside a captured output.

use std::collections::BTreeSet;

use self::binary::{Binary, Counts, Names, Part};
use super::runs::{self, Run, Runs};
use super::text_report::KILLED_HELP;
use super::{CASES_KEPT, UNITS_KEPT, pytest_text};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::metric::{bencher_text, criterion_text, divan_text};
use crate::ingest::text::{Lines, LongLine, printable};
use crate::ingest::{Details, Format, Head, Parsed, Sniff, TestDetails};
use crate::model::SCHEMA_VERSION;
use crate::model::cases::TestCases;
use crate::model::figures::{Figures, ReportKind};
use crate::model::metrics::BuildStatus;

mod binary;
#[cfg(test)]
mod tests;

/// What `cargo test` prints.
pub const FORMAT: Format = Format {
    name: "cargo-test-text",
    kind: ReportKind::Test,
    about: "terminal output of cargo test",
    written_by: "cargo test, libtest binaries, libtest-mimic",
    told_by: "a line \"running N tests\" or \"test result: …\"",
    has_end: false,
    counting: "Sum of the \"test result:\" lines: passed + measured, failed, ignored as skipped. Lines of single tests \
               give names only. A test binary that crashed, so that it has no result line, counts as one errored.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // An XML report can quote all that a test printed, and a test can print what other tools write.
    let first = head.lines().find(|line| is_marker(line) || pytest_text::is_marker(line));
    let told_by_head = first.map(is_marker);
    let told_by_tail = || head.last_lines().any(|line| is_marker(line) || failed_targets(line.trim_end()).is_some());
    if head.xml().is_none() && told_by_head.unwrap_or_else(told_by_tail) && !is_of_benchmarks(head) {
        return Sniff::Sure("line \"running N tests\" or \"test result:\"".to_owned());
    }
    Sniff::No
}

/// Whether it is what `cargo bench` prints: of other harnesses' benchmarks, and of tests that libtest left out.
fn is_of_benchmarks(head: &Head<'_>) -> bool {
    let is_benchmark = |line: &str| criterion_text::begins(line) || divan_text::begins(line);
    let has_run = |line: &str| {
        let counts = Counts::read(line.trim_end()).flatten();
        counts.is_some_and(|counts| (counts.passed, counts.failed, counts.measured) != (0, 0, 0))
    };
    head.lines().any(is_benchmark) && !head.lines_of_both_ends().any(has_run)
}

/// Whether the line tells cargo test, or a test that prints its output.
pub(super) fn is_marker(line: &str) -> bool {
    running(line).is_some() || Counts::read(line.trim_end()).is_some()
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut reader = Reader::default();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut last = 0;
    while let Some(line) = lines.next()? {
        last = line.number;
        if !line.ended && !is_whole(&line.text) {
            return Err(Error::report(Reject::Malformed, "cargo test output ends inside a line")
                .line(last)
                .help(KILLED_HELP));
        }
        reader.line(&line.text).map_err(|error| error.line(last))?;
    }
    let not_built = reader.not_built;
    match reader.finish().map_err(|error| error.line(last))? {
        Some(parsed) => Ok(parsed),
        None if not_built => Err(Error::report(Reject::NoResult, "no test ran: the project did not build")
            .line(last)
            .help("read it as rustc-text for the compiler's errors")),
        None => Err(Error::report(Reject::NoResult, "no \"test result:\" line of cargo test in it")
            .line(last)
            .help(KILLED_HELP)),
    }
}

/// Whether a last line without a line end is one with which cargo test ends, and not cut; cargo-llvm-cov's JSON has none.
fn is_whole(line: &str) -> bool {
    let line = line.trim_end();
    let is_document = || line.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok();
    let is_result =
        line.starts_with("test result: ") && line.contains("; finished in ") && Counts::read(line).is_some();
    is_result
        || (failed_target(line).is_some() || line.starts_with("    `-"))
            && line.ends_with('`')
            && line.matches('`').count() == 2
        || is_document()
}

/// The number in `running 6 tests`.
fn running(line: &str) -> Option<u64> {
    let (number, rest) = line.strip_prefix("running ")?.trim_end().split_once(' ')?;
    let is_whole = matches!(rest, "test" | "tests") || rest.starts_with("tests (") || rest.starts_with("test (");
    if is_whole { number.parse().ok() } else { None }
}

/// `x` of `error: test failed, to rerun pass `x``. It may stand behind what a binary printed last without ending the line: the
/// name of the test in which it died, dots of `-q`, a test program's own words.
fn failed_target(line: &str) -> Option<&str> {
    // Nearly all lines are told by their ends.
    if !line.starts_with("error: ") && !line.ends_with(['`', '\'']) {
        return None;
    }
    line.match_indices("error: ").find_map(|(at, said)| {
        let rest = line.get(at + said.len()..)?;
        let kinds = ["test", "doctest", "bench"];
        let rest = kinds.iter().find_map(|kind| rest.strip_prefix(kind)?.strip_prefix(" failed"))?;
        let target = rest.strip_prefix(", to rerun pass ");
        let is_whole = target.is_some_and(|target| target.len() > 1 && target.ends_with(['`', '\'']));
        // A mark that a runner of several commands puts before each line ends in a space.
        let is_behind = line.get(..at).is_some_and(|before| !before.ends_with(' ') || before.ends_with(" ... "));
        (at == 0 || is_whole && is_behind)
            .then(|| target.map_or("a test binary", |target| target.trim_matches(['`', '\''])))
    })
}

/// What a heading of cargo says of the binary under it.
#[derive(Clone, Debug, Default)]
struct Target {
    /// Begins the ids of its tests.
    name: String,
    is_doc: bool,
}

/// Reads lines of one or several runs of cargo test.
///
/// Headings are on stderr, results on stdout. Where both were kept apart and put one after the other, all results come
/// before all headings.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Reader {
    targets: Vec<Target>,
    binary: Option<Binary>,
    /// A binary was met before any heading.
    unheaded: bool,
    /// A binary said how many tests it runs; a result alone may be a quotation.
    has_announced: bool,
    /// Results of the binaries that were met before any heading; `None` for one without its result.
    held: Vec<Option<(Counts, Names)>>,
    /// Binaries without their result, and nothing so far that says why.
    unfinished: u64,
    /// A target that failed, perhaps not because of a test; and whether a result with failed tests is taken to be why.
    suspect: Option<(String, bool)>,
    sum: Counts,
    results: u64,
    /// Results since the last heading of cargo, and those with failed tests that no target's failure was put down to.
    results_here: u64,
    failed_results: u64,
    cases: TestCases,
    duplicates: u64,
    dropped: u64,
    units: Vec<String>,
    unit_failures: u64,
    /// Targets that failed, as cargo told them while it ran, and results with failed tests, since the last list of them.
    targets_told: Vec<String>,
    results_failed: u64,
    /// Targets of the list that is read of which nothing else is there: what they printed was cut away.
    targets_missing: u64,
    not_built: bool,
    stopped_early: bool,
    /// `cargo bench` runs: libtest tells of every test that it leaves out.
    benchmarks: bool,
}

impl Reader {
    /// Whether the line before was inside a test binary, so that other tools' lines are a test's output.
    pub(in crate::ingest) fn is_inside(&self) -> bool {
        self.binary.as_ref().is_some_and(|binary| !binary.is_done())
    }

    /// Whether it told of a result, or of a target that failed.
    fn has_told(&self) -> bool {
        self.results > 0 || self.unit_failures > 0 || self.targets_missing > 0 || self.suspect.is_some()
    }

    /// The next line.
    ///
    /// # Errors
    /// A number of a result line, or a sum of them, is too large.
    pub(in crate::ingest) fn line(&mut self, text: &str) -> Result<()> {
        let text = text.trim_end();
        if self.heading(text)? {
            return Ok(());
        }
        if let Some(expected) = running(text) {
            // With headings, a binary that is not done is followed by one: the line was printed by a test.
            let is_printed = self.is_inside() && (self.is_captured() || !self.unheaded);
            if !is_printed {
                self.close()?;
                self.unheaded |= self.targets.is_empty();
                self.binary = Some(Binary::running(expected));
                self.has_announced = true;
            }
        } else if let Some(counts) = Counts::read(text) {
            let too_large = || Error::report(Reject::Malformed, "a number of the test result is too large");
            self.result(counts.ok_or_else(too_large)?)?;
        } else if let Some(binary) = self.binary.as_mut().filter(|binary| !binary.is_done()) {
            binary.line(text);
        } else if text.starts_with("  process didn't exit successfully: ") {
            // Cargo says so of a target that did not end as a failed test ends it.
            if let Some((name, took_result)) = self.suspect.take() {
                self.unfinished = self.unfinished.saturating_sub(1);
                self.failed_results += u64::from(took_result);
                self.unit(name);
            }
        }
        Ok(())
    }

    fn is_captured(&self) -> bool {
        self.binary.as_ref().is_some_and(|binary| !binary.is_done() && binary.part != Part::Tests)
    }

    /// Lines of cargo itself, which end what the binary before said.
    fn heading(&mut self, text: &str) -> Result<bool> {
        let trimmed = text.trim_start();
        let indented = trimmed.len() < text.len();
        let is_target = indented && (trimmed.starts_with("Running ") || trimmed.starts_with("Doc-tests "));
        if self.is_captured() && (is_target || failed_target(text).is_some()) {
            // A test printed all that cargo prints. Should the binary have been killed there, its result never comes.
            if let Some(binary) = &mut self.binary {
                binary.has_printed_headings = true;
            }
            return Ok(true);
        }
        if let Some(profile) = trimmed.strip_prefix("Finished ").filter(|_| indented && !self.is_inside()) {
            self.close()?;
            self.benchmarks = profile.starts_with("`bench` profile ") || profile.starts_with("bench [");
        }
        if let Some(rest) = trimmed.strip_prefix("Running ").filter(|rest| indented && rest.ends_with(')')) {
            self.next_target(Target { name: binary_name(rest), is_doc: false })?;
            return Ok(true);
        }
        if let Some(name) = trimmed.strip_prefix("Doc-tests ").filter(|_| indented) {
            self.next_target(Target { name: format!("doc/{}", printable(name, 200)), is_doc: true })?;
            return Ok(true);
        }
        if let Some(target) = failed_target(text) {
            self.target_failed(target)?;
            return Ok(true);
        }
        if let Some(number) = failed_targets(text) {
            self.stopped_early = false;
            if !self.is_inside() {
                self.close()?;
                let seen = count(self.targets_told.len()).max(self.results_failed);
                (self.targets_missing, self.results_failed) = (number.saturating_sub(seen), 0);
                if self.targets_missing == 0 {
                    self.targets_told.clear();
                }
            }
            return Ok(true);
        }
        if self.targets_missing > 0 {
            if let Some(target) = text.strip_prefix("    `").and_then(|rest| rest.strip_suffix('`')) {
                if !self.targets_told.iter().any(|told| told == target) {
                    self.targets_missing -= 1;
                    self.unit(printable(target, 200));
                }
                return Ok(true);
            }
            self.end_list();
        }
        if text.starts_with("error: could not compile ") && !self.is_inside() {
            self.not_built = true;
        }
        Ok(false)
    }

    /// Counts the targets that the list lacks, which was cut as well.
    fn end_list(&mut self) {
        self.unit_failures = self.unit_failures.saturating_add(std::mem::take(&mut self.targets_missing));
        self.targets_told.clear();
    }

    fn next_target(&mut self, target: Target) -> Result<()> {
        self.close()?;
        self.targets.push(target);
        self.suspect = None;
        self.results_here = 0;
        if !self.unheaded {
            self.failed_results = 0;
        }
        self.stopped_early = false;
        Ok(())
    }

    fn target_failed(&mut self, target: &str) -> Result<()> {
        if self.targets_told.len() < UNITS_KEPT {
            self.targets_told.push(target.to_owned());
        }
        let was_running = self.binary.as_ref().is_some_and(|binary| binary.counts.is_none());
        self.close()?;
        // Under the name that its tests' ids begin with, where cargo has told it.
        let name = self.targets.last().map_or_else(|| printable(target, 200), |target| target.name.clone());
        self.suspect = None;
        if was_running {
            self.unfinished = self.unfinished.saturating_sub(1);
            self.unit(name);
        } else if self.failed_results > 0 {
            self.failed_results -= 1;
            self.suspect = Some((name, true));
        } else if self.unheaded && self.unfinished > 0 {
            self.suspect = Some((name, false));
        } else {
            self.unit(name);
        }
        // Of one package, nothing comes after its doc tests; of several, cargo names it here.
        self.stopped_early = target != "--doc";
        Ok(())
    }

    fn unit(&mut self, name: String) {
        self.unit_failures = self.unit_failures.saturating_add(1);
        if self.units.len() < UNITS_KEPT {
            self.units.push(name);
        }
    }

    fn result(&mut self, counts: Counts) -> Result<()> {
        match &mut self.binary {
            Some(binary) => {
                binary.result(counts);
                Ok(())
            }
            // Each binary begins with the number of its tests: the result before was printed by one of them.
            None if self.has_announced && !self.targets.is_empty() && self.results_here > 0 => Ok(()),
            // A line whose beginning was cut off, as `grep` does.
            None => {
                self.unheaded |= self.targets.is_empty();
                self.add(counts, Names::new())
            }
        }
    }

    /// Ends the binary that was running.
    fn close(&mut self) -> Result<()> {
        let Some(mut binary) = self.binary.take() else { return Ok(()) };
        match binary.counts.take() {
            Some(counts) => self.add(counts, binary.names(counts)),
            None => {
                self.unfinished = self.unfinished.saturating_add(1);
                if self.targets.is_empty() {
                    self.held.push(None);
                }
                Ok(())
            }
        }
    }

    fn add(&mut self, counts: Counts, names: Names) -> Result<()> {
        let too_large = || Error::report(Reject::Malformed, "the sum of the test results is too large");
        if self.benchmarks && counts.total() == Some(counts.ignored) {
            return Ok(());
        }
        self.sum = self.sum.plus(counts).ok_or_else(too_large)?;
        self.results += 1;
        self.failed_results += u64::from(counts.failed > 0);
        self.results_failed += u64::from(counts.failed > 0);
        self.results_here += 1;
        let total = counts.total().unwrap_or(u64::MAX);
        self.dropped = self.dropped.saturating_add(total.saturating_sub(count(names.len())));
        match self.targets.last().cloned() {
            Some(target) => self.keep(&target, names),
            None => self.held.push(Some((counts, names))),
        }
        Ok(())
    }

    fn keep(&mut self, target: &Target, names: Names) {
        for (name, mut case) in names {
            if self.cases.cases.len() >= CASES_KEPT {
                self.dropped = self.dropped.saturating_add(1);
                continue;
            }
            if target.is_doc {
                case.file = name.split(" - ").next().map(str::to_owned);
            }
            let id = if target.name.is_empty() { name } else { format!("{}::{name}", target.name) };
            self.duplicates += u64::from(self.cases.add(id, case));
        }
    }

    /// Names of binaries that came before all headings: the headings followed in the same order, those of doc-tests last.
    /// Where they do not fit, the tests stay without names: a name that lacks its binary is another test's name. With no
    /// heading at all (`-q`) only failed tests have names.
    fn keep_held(&mut self) {
        let held = std::mem::take(&mut self.held);
        let (docs, others): (Vec<Target>, Vec<Target>) = self.targets.iter().cloned().partition(|target| target.is_doc);
        let fits = held.len() >= self.targets.len() && (docs.len() == 1 || held.len() == self.targets.len());
        for (at, result) in held.into_iter().enumerate() {
            let names = result.map(|(_, names)| names);
            let target = others.get(at).or_else(|| docs.get(at.saturating_sub(others.len()))).or(docs.last()).cloned();
            match (names, target.filter(|_| fits)) {
                (Some(names), Some(target)) => self.keep(&target, names),
                (Some(names), None) if self.targets.is_empty() => self.keep(&Target::default(), names),
                (Some(names), None) => self.dropped = self.dropped.saturating_add(count(names.len())),
                (None, _) => {}
            }
        }
    }

    /// Takes apart two runs whose results all came before their headings, of which the first so many are the first run's.
    /// Nothing is taken apart where results and headings do not fit.
    fn in_two(mut self, at: usize) -> (Reader, Option<Reader>) {
        let fits = self.held.len() == self.targets.len() && self.held.iter().all(Option::is_some);
        let is_all = self.cases.cases.is_empty() && self.unit_failures == 0 && self.unfinished == 0;
        if !fits || !is_all || at >= self.held.len() {
            return (self, None);
        }
        let mut later = Reader {
            targets: self.targets.split_off(at),
            held: self.held.split_off(at),
            unheaded: true,
            has_announced: true,
            stopped_early: self.stopped_early,
            ..Reader::default()
        };
        for part in [&mut self, &mut later] {
            let results = || part.held.iter().flatten();
            let sum = results().try_fold(Counts::default(), |sum, (counts, _)| sum.plus(*counts));
            let named = results().fold(0, |sum: u64, (_, names)| sum.saturating_add(count(names.len())));
            let number = count(results().count());
            // Parts of a sum that fits.
            part.sum = sum.unwrap_or_default();
            part.results = number;
            part.dropped = part.sum.total().unwrap_or(u64::MAX).saturating_sub(named);
        }
        (self, Some(later))
    }

    /// The report, if there was a result.
    ///
    /// # Errors
    /// As [`Reader::line`]; no result if the last binary's did not come.
    pub(in crate::ingest) fn finish(mut self) -> Result<Option<Parsed>> {
        self.close()?;
        self.end_list();
        if self.unfinished > 0 {
            return Err(Error::report(Reject::NoResult, "a test binary has no \"test result:\" line").help(KILLED_HELP));
        }
        self.keep_held();
        let unit_failures = self.unit_failures;
        if self.results == 0 && unit_failures == 0 {
            return Ok(None);
        }
        let too_large = || Error::report(Reject::Malformed, "the sum of the test results is too large");
        let Counts { passed, failed, ignored, measured } = self.sum;
        let tests = self.sum.total().and_then(|total| total.checked_add(unit_failures)).ok_or_else(too_large)?;
        let figures = Figures {
            tests: Some(tests),
            passed: Some(passed.checked_add(measured).ok_or_else(too_large)?),
            failed: Some(failed),
            errored: Some(unit_failures),
            skipped: Some(ignored),
            ..Figures::default()
        };
        self.cases.schema_version = SCHEMA_VERSION;
        let details = TestDetails {
            cases: self.cases,
            duplicates: self.duplicates,
            failed_units: self.units,
            unit_failures,
            compiled: true,
            dropped: self.dropped,
            ..TestDetails::default()
        };
        let mut parsed = Parsed::new(&FORMAT, figures, Details::Tests(details));
        parsed.build = Some(if self.not_built { BuildStatus::Failed } else { BuildStatus::Success });
        if self.stopped_early {
            parsed.warnings.push(
                "cargo test stopped at the first target that failed: tests of later targets did not run \
                 (--no-fail-fast runs them)"
                    .to_owned(),
            );
        }
        if self.duplicates > 0 {
            parsed.warnings.push(format!(
                "{} results bear the name of another: all are counted, and by name the worse outcome stands",
                self.duplicates
            ));
        }
        Ok(Some(parsed))
    }
}

/// Reads the runs in a stream. One run has no binary twice.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Stream {
    reader: Reader,
    headings: BTreeSet<String>,
    /// Where all results came before all headings: how many headings the first run has.
    first_run: Option<usize>,
    is_doubted: bool,
    runs: Vec<Run>,
}

impl Stream {
    fn close(&mut self) -> Result<()> {
        self.headings.clear();
        let (reader, is_doubted) = (std::mem::take(&mut self.reader), std::mem::take(&mut self.is_doubted));
        let (first, later) = match self.first_run.take() {
            Some(at) => reader.in_two(at),
            None => (reader, None),
        };
        for reader in [Some(first), later].into_iter().flatten() {
            let is_alone = !reader.has_announced && reader.targets.is_empty();
            let run = reader.finish()?.map(|parsed| Run::of(parsed, BTreeSet::new()));
            self.runs.extend(run.map(|run| run.alone(is_alone, is_doubted)));
        }
        Ok(())
    }
}

impl Runs for Stream {
    fn line(&mut self, text: &str) -> Result<()> {
        let heading = text.trim();
        let is_heading = text.starts_with(' ') && heading.starts_with("Running ") && heading.ends_with(')');
        if is_heading && !self.reader.is_inside() && !self.headings.insert(heading.to_owned()) {
            if self.reader.unheaded {
                self.first_run = self.first_run.or(Some(self.reader.targets.len()));
            } else {
                self.close()?;
                self.headings.insert(heading.to_owned());
            }
        }
        self.reader.line(text)
    }

    fn count(&self) -> usize {
        self.runs.len()
    }

    fn holds(&self, _: &str) -> bool {
        self.reader.is_inside()
    }

    fn doubt(&mut self) {
        self.is_doubted = self.reader.has_told();
        runs::doubt(&mut self.runs);
    }

    fn prints_measurement(&self, text: &str) -> bool {
        !self.reader.is_captured() && bencher_text::begins(text)
    }

    fn finish(mut self: Box<Self>) -> Vec<Run> {
        // What cannot be added up, or lacks a result, is not there.
        let _ = self.close();
        self.runs
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The number in `error: 2 targets failed:`, which cargo writes only when it went on to the end.
fn failed_targets(text: &str) -> Option<u64> {
    let (number, rest) = text.strip_prefix("error: ")?.split_once(' ')?;
    if matches!(rest, "target failed:" | "targets failed:") { number.parse().ok() } else { None }
}

/// A name that stays from build to build: `unittests src/main.rs (target/debug/deps/kvcat-eb0ae1ca8076e66b)` → `bin/kvcat`.
fn binary_name(heading: &str) -> String {
    let (source, binary) = heading.rsplit_once(" (").unwrap_or((heading, ""));
    let source = source.trim_start_matches("unittests ").replace('\\', "/");
    let file = binary.trim_end_matches(')').rsplit(['/', '\\']).next().unwrap_or_default();
    let file = file.strip_suffix(".exe").unwrap_or(file);
    let stem = match file.rsplit_once('-') {
        Some((stem, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => stem,
        _ => file,
    };
    let is_bin = source == "src/main.rs" || source.contains("src/bin/");
    printable(&if is_bin { format!("bin/{stem}") } else { stem.to_owned() }, 200)
}
