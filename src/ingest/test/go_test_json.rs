//! `go-test-json`: the event stream of `go test -json`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use serde::Deserialize;

use super::{TestTally, milliseconds};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, first_lines};
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;
use crate::model::metrics::BuildStatus;

/// Event streams of `go test -json`.
pub const FORMAT: Format = Format {
    name: "go-test-json",
    kind: ReportKind::Test,
    about: "event stream of go test -json, one JSON object a line",
    written_by: "go test -json, gotestsum --jsonfile",
    told_by: "JSON lines with Action and Package, Test or ImportPath",
    has_end: false,
    counting: "Each pass, fail, skip or bench event of a test is one test, parents and subtests alike. A test that \
               started and did not finish failed, unless its package passed. A package that failed without a failing \
               test, or did not build, is one errored test. Lines that are not JSON are passed over.",
    sniff,
    parse,
};

/// Output of a running test that is kept for its message, and of all of them.
const OUTPUT_BYTES: usize = 2048;
const OUTPUTS_BYTES: usize = 8 * 1024 * 1024;
/// Bytes that the names of packages, builds and tests take which have begun and not ended.
const OPEN_BYTES: usize = 12 * 1024 * 1024;
/// What such a name takes beside its text.
const OPEN_ENTRY_BYTES: usize = 120;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "Action")]
    action: Cow<'a, str>,
    #[serde(borrow, default, rename = "Package")]
    package: Option<Text<'a>>,
    #[serde(borrow, default, rename = "Test")]
    test: Option<Text<'a>>,
    #[serde(borrow, default, rename = "Output")]
    output: Option<Text<'a>>,
    #[serde(borrow, default, rename = "ImportPath")]
    import_path: Option<Text<'a>>,
    #[serde(borrow, default, rename = "FailedBuild")]
    failed_build: Option<Text<'a>>,
    #[serde(default, rename = "Elapsed")]
    elapsed: Option<serde_json::Number>,
}

/// Borrowed from the line where it can be: an `Option<Cow<str>>` never is.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

fn sniff(head: &Head<'_>) -> Sniff {
    let mut lines = head.lines().filter(|line| line.starts_with('{')).take(50);
    let is_event = |line: &str| {
        let event = serde_json::from_str::<Event<'_>>(line).ok()?;
        (is_action(&event.action) && (event.package.is_some() || event.test.is_some() || event.import_path.is_some()))
            .then(|| format!("JSON lines with Action {:?}", event.action))
    };
    if let Some(why) = lines.find_map(is_event) {
        return Sniff::Sure(why);
    }
    let unbuilt = head.lines().any(|line| unbuilt_package(line).is_some());
    if unbuilt && head.xml().is_none() && !head.lines().any(is_plain_result) {
        return Sniff::Maybe("a line FAIL … [build failed]".into());
    }
    Sniff::No
}

/// A result in the output of `go test` without `-json`.
fn is_plain_result(line: &str) -> bool {
    let begins = ["--- PASS", "--- FAIL", "--- SKIP", "=== RUN", "ok  \t"].iter().any(|start| line.starts_with(start));
    begins || (line.starts_with("FAIL\t") && unbuilt_package(line).is_none())
}

fn is_action(action: &str) -> bool {
    matches!(
        action,
        "start"
            | "run"
            | "pause"
            | "cont"
            | "pass"
            | "bench"
            | "fail"
            | "output"
            | "skip"
            | "build-output"
            | "build-fail"
            | "attr"
    )
}

/// The package of a plain line `FAIL<TAB>package [build failed]`, for which older Go has no event.
fn unbuilt_package(line: &str) -> Option<&str> {
    let (package, why) = line.strip_prefix("FAIL\t")?.trim_end().split_once(" [")?;
    matches!(why, "build failed]" | "setup failed]").then_some(package)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut stream = Stream::new();
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::EscapedTwice)?;
    while let Some(line) = lines.next()? {
        stream.line(&line.text, line.ended).map_err(|error| error.line(line.number))?;
    }
    stream.finish()
}

/// One package's run so far.
#[derive(Default)]
struct Package {
    /// Tests that began and did not end, with the first lines of their output.
    running: BTreeMap<String, String>,
    /// A test of it failed.
    failing: bool,
    /// It was reported by a plain line already.
    unbuilt: bool,
}

struct Stream {
    tally: TestTally,
    packages: BTreeMap<String, Package>,
    /// Builds that failed, and those that a package's failure refers to.
    failed_builds: BTreeSet<String>,
    told_builds: BTreeSet<String>,
    build_failed: bool,
    /// Events, and packages that were not built, were met.
    events: bool,
    unbuilt: bool,
    /// Results were met that are no events.
    plain_results: bool,
    /// Bytes of the names in `packages`, `failed_builds` and `told_builds`, and of the output of tests that run.
    open_bytes: usize,
    output_bytes: usize,
}

impl Stream {
    fn new() -> Stream {
        Stream {
            tally: TestTally::new(true),
            packages: BTreeMap::new(),
            failed_builds: BTreeSet::new(),
            told_builds: BTreeSet::new(),
            build_failed: false,
            events: false,
            unbuilt: false,
            plain_results: false,
            open_bytes: 0,
            output_bytes: 0,
        }
    }

    fn line(&mut self, line: &str, ended: bool) -> Result<()> {
        if let Some(package) = unbuilt_package(line) {
            (self.unbuilt, self.build_failed) = (true, true);
            self.package(package)?.unbuilt = true;
            self.tally.unit_failure(package);
            return Ok(());
        }
        match &serde_json::from_str::<Event<'_>>(line) {
            Ok(event) if is_action(&event.action) => {
                self.events = true;
                self.event(event)
            }
            Err(_) if line.starts_with('{') => self.broken_line(line, ended),
            // A last line that has no end may be the beginning of one that counts.
            _ if !ended && line.starts_with("FAIL") => Err(cut_short()),
            _ => {
                self.plain_results |= is_plain_result(line);
                Ok(())
            }
        }
    }

    /// A line that begins as an event does and is none.
    fn broken_line(&mut self, line: &str, ended: bool) -> Result<()> {
        if !ended {
            return Err(cut_short());
        }
        if !line.contains("\"Action\":") {
            return Ok(());
        }
        // Half a surrogate pair is no text; it is kept as it is written.
        let escaped = line.replace("\\ud", "\\\\ud").replace("\\uD", "\\\\uD");
        match serde_json::from_str::<Event<'_>>(&escaped) {
            Ok(event) => {
                self.events = true;
                self.event(&event)
            }
            Err(_) => Err(Error::report(Reject::Malformed, "an event is damaged")
                .help("something else wrote into the same file; let go test write to a file of its own")),
        }
    }

    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        if event.action == "build-fail" {
            self.build_failed = true;
            if let Some(build) = event.import_path.as_deref() {
                self.hold(build)?;
                self.failed_builds.insert(build.to_owned());
            }
        }
        let package = event.package.as_deref().unwrap_or_default();
        match (event.action.as_ref(), event.test.as_deref()) {
            ("run", Some(test)) => {
                self.hold(test)?;
                if let Some(output) = self.package(package)?.running.insert(test.to_owned(), String::new()) {
                    self.release(test, &output);
                }
            }
            ("output", Some(test)) if self.output_bytes < OUTPUTS_BYTES => {
                let output = event.output.as_deref().unwrap_or_default();
                if let Some(kept) = self.packages.get_mut(package).and_then(|package| package.running.get_mut(test)) {
                    let before = kept.len();
                    keep_output(kept, output);
                    self.output_bytes += kept.len() - before;
                }
            }
            ("pass" | "bench", Some(test)) => self.result(package, test, Outcome::Passed, event)?,
            ("skip", Some(test)) => self.result(package, test, Outcome::Skipped, event)?,
            ("fail", Some(test)) => self.result(package, test, Outcome::Failed, event)?,
            // What is still running when its package passed has no result of its own, and none is missed.
            ("pass" | "skip", None) => drop(self.ended(package)),
            ("fail", None) => self.package_failed(package, event.failed_build.as_deref())?,
            _ => {}
        }
        Ok(())
    }

    fn package(&mut self, name: &str) -> Result<&mut Package> {
        if !self.packages.contains_key(name) {
            self.hold(name)?;
            self.packages.insert(name.to_owned(), Package::default());
        }
        self.packages.get_mut(name).ok_or_else(|| Error::bug("a package that was put in is not there"))
    }

    /// Takes a package out, with the room that it held.
    fn ended(&mut self, name: &str) -> Option<Package> {
        let package = self.packages.remove(name)?;
        self.release(name, "");
        for (test, output) in &package.running {
            self.release(test, output);
        }
        Some(package)
    }

    /// Takes room for a name.
    fn hold(&mut self, name: &str) -> Result<()> {
        self.open_bytes += OPEN_ENTRY_BYTES + name.len();
        if self.open_bytes <= OPEN_BYTES {
            return Ok(());
        }
        let why = "more packages and tests begin than end, so that their names take too much memory";
        Err(Error::report(Reject::Refused, "report is too large").because(why))
    }

    fn release(&mut self, name: &str, output: &str) {
        self.open_bytes = self.open_bytes.saturating_sub(OPEN_ENTRY_BYTES + name.len());
        self.output_bytes = self.output_bytes.saturating_sub(output.len());
    }

    fn result(&mut self, package: &str, test: &str, outcome: Outcome, event: &Event<'_>) -> Result<()> {
        let state = self.package(package)?;
        state.failing |= outcome == Outcome::Failed;
        let output = state.running.remove(test);
        if let Some(output) = &output {
            self.release(test, output);
        }
        let output = output.unwrap_or_default();
        let mut case = TestCase::new(outcome);
        case.duration_ms = event.elapsed.as_ref().and_then(|seconds| milliseconds(&seconds.to_string()));
        if outcome == Outcome::Failed {
            describe(&mut case, &output);
        }
        self.tally.case(&id(package, test), case)
    }

    fn package_failed(&mut self, name: &str, failed_build: Option<&str>) -> Result<()> {
        self.build_failed |= failed_build.is_some();
        for told in failed_build.into_iter().chain([name]) {
            if !self.told_builds.contains(told) {
                self.hold(told)?;
                self.told_builds.insert(told.to_owned());
            }
        }
        let package = self.ended(name).unwrap_or_default();
        let failing = package.failing || !package.running.is_empty();
        self.unfinished(name, package.running)?;
        if !failing && !package.unbuilt {
            self.tally.unit_failure(if name.is_empty() { "(a package)" } else { name });
        }
        Ok(())
    }

    /// Tests that never ended failed.
    fn unfinished(&mut self, package: &str, running: BTreeMap<String, String>) -> Result<()> {
        for (test, output) in running {
            let mut case = TestCase::new(Outcome::Failed);
            describe(&mut case, &output);
            case.message = case.message.or_else(|| Some("it did not finish".to_owned()));
            self.tally.case(&id(package, &test), case)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Parsed> {
        if !self.events && (!self.unbuilt || self.plain_results) {
            return Err(Error::report(
                Reject::NotThisFormat,
                "not a go test event stream: it has no line with an Action",
            ));
        }
        for (name, package) in std::mem::take(&mut self.packages) {
            self.unfinished(&name, package.running)?;
        }
        // The stream may end after a build failed and before its package is told to have failed.
        for build in &self.failed_builds {
            let package = build.split(' ').next().unwrap_or_default().trim_end_matches(".test");
            if !self.told_builds.contains(build) && !self.told_builds.contains(package) {
                self.tally.unit_failure(package);
            }
        }
        let build = if self.build_failed { BuildStatus::Failed } else { BuildStatus::Success };
        let mut parsed = self.tally.finish(&FORMAT)?;
        parsed.build = Some(build);
        Ok(parsed)
    }
}

fn cut_short() -> Error {
    Error::report(Reject::Malformed, "report ends inside an event").help(CUT_HELP)
}

fn id(package: &str, test: &str) -> String {
    if package.is_empty() { test.to_owned() } else { format!("{package}::{test}") }
}

/// Appends output that says something; go test's own lines about the test's course do not.
fn keep_output(kept: &mut String, output: &str) {
    let course = output.trim_start();
    if kept.len() < OUTPUT_BYTES && !course.starts_with("=== ") && !course.starts_with("--- ") {
        match output.len() {
            ..=OUTPUT_BYTES => kept.push_str(output),
            _ => kept.extend(output.chars().take(OUTPUT_BYTES)),
        }
    }
}

/// Message, file and line of a failure: `    calc_test.go:13: got 3 want 4`.
fn describe(case: &mut TestCase, output: &str) {
    case.message = first_lines(output);
    let place = output.lines().find_map(|line| {
        let (file, rest) = line.trim_start().split_once(".go:")?;
        let (line, _) = rest.split_once(':')?;
        (!file.contains(char::is_whitespace)).then(|| Some((format!("{file}.go"), line.parse::<u64>().ok()?)))?
    });
    if let Some((file, line)) = place {
        (case.file, case.line) =
            (Some(crate::ingest::text::printable(&file, 1000)), Some(line).filter(|line| *line > 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::Details;

    fn read(lines: &[&str]) -> ([u64; 5], Option<BuildStatus>, crate::ingest::TestDetails) {
        let parsed = parse(&Input::bytes("x", (lines.join("\n") + "\n").as_bytes())).unwrap();
        let figures = &parsed.figures;
        let counts =
            [figures.tests, figures.passed, figures.failed, figures.errored, figures.skipped].map(Option::unwrap);
        let Details::Tests(details) = parsed.details else { panic!("tests") };
        (counts, parsed.build, details)
    }

    const RUN: &str = r#"{"Action":"run","Package":"p","Test":"T"}"#;
    const PASSED: &str = r#"{"Action":"pass","Package":"p"}"#;
    const FAILED: &str = r#"{"Action":"fail","Package":"p"}"#;

    #[test]
    fn what_did_not_finish_failed_unless_its_package_passed() {
        assert_eq!(read(&[RUN]).0, [1, 0, 1, 0, 0]);
        assert_eq!(read(&[RUN, FAILED]).0, [1, 0, 1, 0, 0], "the package failed because of it");
        assert_eq!(read(&[RUN, PASSED]).0, [0; 5]);
    }

    #[test]
    fn a_package_that_failed_by_itself_is_one_errored_test() {
        let pass = r#"{"Action":"pass","Package":"p","Test":"T","Elapsed":0.25}"#;
        let (counts, build, details) = read(&[RUN, pass, FAILED]);
        assert_eq!((counts, build), ([2, 1, 0, 1, 0], Some(BuildStatus::Success)));
        assert_eq!((details.failed_units.as_slice(), details.compiled), (&["p".to_owned()][..], true));
        assert_eq!(details.cases.cases["p::T"].duration_ms, Some(250));
        // The next run of the same package begins anew.
        let fail = r#"{"Action":"fail","Package":"p","Test":"T"}"#;
        assert_eq!(read(&[fail, FAILED, FAILED]).0, [2, 0, 1, 1, 0]);
        assert_eq!(read(&[r#"{"Action":"fail"}"#]).0, [1, 0, 0, 1, 0]);
    }

    #[test]
    fn a_package_that_did_not_build_counts_once_however_it_is_told() {
        let build_fail = r#"{"Action":"build-fail","ImportPath":"p [p.test]"}"#;
        let fail = r#"{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}"#;
        let plain = "FAIL\tp [build failed]";
        for lines in [&[build_fail, fail][..], &[build_fail], &[plain], &[plain, FAILED], &[fail, build_fail]] {
            let (counts, build, details) = read(lines);
            assert_eq!((counts, build), ([1, 0, 0, 1, 0], Some(BuildStatus::Failed)), "{lines:?}");
            assert_eq!(details.failed_units, ["p"], "{lines:?}");
        }
        let other = r#"{"Action":"fail","Package":"q","FailedBuild":"p [p.test]"}"#;
        assert_eq!(read(&[build_fail, fail, other]).0, [2, 0, 0, 2, 0]);
    }

    #[test]
    fn a_failure_has_message_and_place() {
        let output = |text: &str| format!(r#"{{"Action":"output","Package":"p","Test":"T","Output":"{text}\n"}}"#);
        let lines = [
            RUN.to_owned(),
            output("=== RUN   T"),
            output("    calc_test.go:13: got 3 want 4"),
            output("--- FAIL: T (0.00s)"),
            r#"{"Action":"fail","Package":"p","Test":"T","Elapsed":1e-7}"#.to_owned(),
        ];
        let (_, _, details) = read(&lines.each_ref().map(String::as_str));
        let case = &details.cases.cases["p::T"];
        assert_eq!((case.file.as_deref(), case.line), (Some("calc_test.go"), Some(13)));
        assert_eq!((case.message.as_deref(), case.duration_ms), (Some("calc_test.go:13: got 3 want 4"), None));
    }

    #[test]
    fn output_of_go_test_without_json_is_not_it() {
        for text in ["--- FAIL: T (0.00s)\nFAIL\tp [build failed]\n", "ok  \tp\t0.1s\n", "hello\n"] {
            let error = parse(&Input::bytes("x", text.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{text}");
        }
    }
}
