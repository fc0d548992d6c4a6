//! `gotestsum-text`: what gotestsum prints, in whatever format, by the summary at its end. Above it the tests that failed or
//! were skipped are listed again, so that lines of `go test` are no measure there.
//! <https://github.com/gotestyourself/gotestsum>

use super::text_report::{Names, Summary, counted};
use super::text_runs::{Announced, TextRun, last_run};
use super::{LONGEST_ID, go_test_text, milliseconds};
use crate::error::{Error, Reject, Result};
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;
use crate::model::metrics::BuildStatus;

/// What gotestsum prints.
pub const FORMAT: Format = Format {
    name: "gotestsum-text",
    kind: ReportKind::Test,
    about: "terminal output of gotestsum",
    written_by: "gotestsum, all of its formats",
    told_by: "\"DONE 18 tests, 2 skipped, 9 failures, 1 error in 3.483s\"",
    has_end: true,
    counting: "The last summary, attempts alike. A failure without a test's name is a package, and errored; so is one more \
               where it tells of errors, which are the compiler's lines, and no package that did not build is listed.",
    sniff,
    parse: last_run::<GoTestSum>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.xml().is_none() && is_ours(head) {
        true => Sniff::Sure("line \"DONE N tests … in Ts\", or a list above it".into()),
        false => Sniff::No,
    }
}

/// Whether one of its lists is there, or a summary and nothing of `go test` behind it: a test may print one.
pub(super) fn is_ours(head: &Head<'_>) -> bool {
    let lists = ["\n=== Failed\n=== FAIL: ", "\n=== Skipped\n=== SKIP: "];
    let mut last = head.last_lines().rev().take_while(|line| !go_test_text::is_marker(line));
    lists.iter().any(|list| head.text().contains(list)) || last.any(is_summary)
}

/// Whether a list begins below.
pub(super) fn is_heading(line: &str) -> bool {
    matches!(line.trim_end(), "=== Skipped" | "=== Failed" | "=== Errors")
}

/// Whether a test or package is listed.
pub(super) fn is_row(line: &str) -> bool {
    listed(line).is_some()
}

/// Whether it is a summary.
pub(super) fn is_summary(line: &str) -> bool {
    Told::read(line.trim_end()).is_some()
}

/// What a summary tells.
#[derive(Debug, Default)]
struct Told {
    /// With `--rerun-fails`, the attempts so far: the other numbers are sums over them.
    runs: u64,
    tests: u64,
    skipped: u64,
    failures: u64,
    errors: u64,
}

impl Told {
    /// `DONE 3 runs, 39 tests, 4 skipped, 33 failures, 1 error in 23.119s`.
    fn read(line: &str) -> Option<Told> {
        let (counts, time) = line.strip_prefix("DONE ")?.split_once(" in ")?;
        milliseconds(time.strip_suffix('s')?)?;
        let (mut told, mut has_tests) = (Told::default(), false);
        for part in counts.split(", ") {
            let (number, word) = counted(part)?;
            match word {
                "run" | "runs" => told.runs = number?,
                "test" | "tests" => (told.tests, has_tests) = (number?, true),
                "skipped" => told.skipped = number?,
                "failure" | "failures" => told.failures = number?,
                "error" | "errors" => told.errors = number?,
                _ => return None,
            }
        }
        has_tests.then_some(told)
    }
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct GoTestSum {
    names: Names,
    /// The test whose output is listed.
    listed: Option<String>,
    /// Failures that are packages.
    packages: u64,
    /// One of them did not build.
    not_built: bool,
    told: Option<Told>,
}

impl Announced for GoTestSum {
    /// It announces nothing.
    fn begins(_: &str) -> bool {
        false
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(told) = Told::read(text) {
            self.told = Some(told);
        } else if let Some((outcome, package, name)) = listed(text) {
            self.listed = None;
            if !name.is_empty() {
                let id = printable(&format!("{package}::{name}"), LONGEST_ID);
                self.names.set(&id, outcome);
                self.listed = Some(id);
            } else if outcome == Outcome::Failed {
                self.packages = self.packages.saturating_add(1);
                self.names.unit(package);
            }
        } else if text.starts_with("FAIL\t") {
            self.not_built |= text.ends_with("[build failed]") || text.ends_with("[setup failed]");
        } else if let Some(case) = self.listed.as_ref().and_then(|id| self.names.get_mut(id)) {
            go_test_text::describe(case, text);
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.told.is_some()
    }

    fn is_sum(&self) -> bool {
        self.told.as_ref().is_some_and(|told| told.runs > 1)
    }

    fn report(self) -> Result<Parsed> {
        let told = self.told.unwrap_or_default();
        let units = self.packages.min(told.failures);
        let is_built = told.errors == 0 && !self.not_built;
        let unlisted = told.errors > 0 && !self.not_built;
        let (failed, errored) = (told.failures - units, units + u64::from(unlisted));
        let passed =
            told.tests.checked_sub(told.skipped).and_then(|rest| rest.checked_sub(failed)).ok_or_else(|| {
                Error::report(Reject::Malformed, "gotestsum tells of more failures than there are tests")
            })?;
        let summary =
            Summary { passed, failed, errored, skipped: told.skipped, unit_failures: errored, ..Summary::default() };
        let mut parsed = self.names.report(&FORMAT, &summary, true)?;
        parsed.build = Some(if is_built { BuildStatus::Success } else { BuildStatus::Failed });
        Ok(parsed)
    }
}

impl TextRun for GoTestSum {
    const TOOL: &'static str = "gotestsum";

    fn is_whole(line: &str) -> bool {
        Told::read(line).is_some()
    }
}

/// `=== FAIL: cart TestAdd (re-run 1) (0.00s)`: outcome, package and name, which is empty where the package failed.
fn listed(text: &str) -> Option<(Outcome, &str, &str)> {
    let (outcome, rest) = match text.strip_prefix("=== FAIL: ") {
        Some(rest) => (Outcome::Failed, rest),
        None => (Outcome::Skipped, text.strip_prefix("=== SKIP: ")?),
    };
    let (package, rest) = rest.split_once(' ')?;
    let (name, _) = rest.split_once(" (").or_else(|| Some(("", rest.strip_prefix('(')?)))?;
    Some((outcome, package, name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::console::console;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_summary_counts_and_packages_are_no_tests() {
        let failed =
            "=== FAIL: cart TestAdd (re-run 1) (0.00s)\n=== FAIL: shop  (0.00s)\n=== SKIP: cart TestOld (0.00s)\n";
        for (text, expected) in [
            ("DONE 5 tests in 1.1s\n", [5, 5, 0, 0, 0]),
            ("DONE 0 tests in 0.011s", [0; 5]),
            ("DONE 2 runs, 5 tests, 1 skipped, 2 failures, 3 errors in 1.1s\n", [7, 3, 1, 2, 1]),
        ] {
            let text = if text.contains("failures") { format!("{failed}\n{text}") } else { text.to_owned() };
            assert_eq!(counts(&read(&text).unwrap()), expected, "{text}");
        }
        let failed =
            failed.replacen("(0.00s)\n", "(0.00s)\n    cart_test.go:9: got 3\n    cart_test.go:12: got 4\n\n", 1);
        let parsed = read(&format!("{failed}DONE 5 tests, 1 skipped, 2 failures in 1.1s\n")).unwrap();
        let details = details(&parsed);
        let case = &details.cases.cases["cart::TestAdd"];
        assert_eq!((case.outcome, case.file.as_deref(), case.line), (Outcome::Failed, Some("cart_test.go"), Some(9)));
        assert_eq!(case.message.as_deref(), Some("cart_test.go:9: got 3"));
        assert_eq!(
            (details.cases.outcome("cart::TestOld"), details.failed_units),
            (Some(Outcome::Skipped), vec!["shop".to_owned()])
        );
    }

    #[test]
    fn errors_are_those_of_the_build() {
        for (text, status) in [
            ("DONE 3 tests, 1 failure in 0.1s\n", BuildStatus::Success),
            ("=== FAIL: shop  (0.00s)\npanic: no\n\nDONE 0 tests, 1 failure in 0.1s\n", BuildStatus::Success),
            ("=== Errors\n./a.go:2:30: undefined: y\n\nDONE 0 tests, 1 error in 0.1s\n", BuildStatus::Failed),
            ("FAIL\tx [build failed]\n\nDONE 3 tests, 1 failure in 0.1s\n", BuildStatus::Failed),
        ] {
            assert_eq!(read(text).unwrap().build, Some(status), "{text}");
        }
    }

    #[test]
    fn the_last_summary_of_reruns_counts() {
        let parsed = read("DONE 3 tests, 1 failure in 0.1s\n\nDONE 2 runs, 4 tests, 1 failure in 0.2s\n").unwrap();
        assert_eq!(counts(&parsed), [4, 3, 1, 0, 0]);
        let text = "DONE 9 tests in 0.1s\n\nDONE 3 tests, 1 failure in 0.1s\n\nDONE 2 runs, 4 tests, 2 failures in 0.2s\n\n\
                    DONE 3 runs, 5 tests, 2 failures in 0.3s\n";
        let told = console(&Input::bytes("x", text.as_bytes()));
        assert_eq!(told.iter().map(counts).collect::<Vec<_>>(), [[9, 9, 0, 0, 0], [5, 3, 2, 0, 0]]);
    }

    #[test]
    fn what_does_not_add_up_is_malformed_and_what_is_cut_has_no_result() {
        assert_eq!(read("DONE 1 tests, 2 failures in 1s\n").unwrap_err().reject(), Some(Reject::Malformed));
        for text in
            ["=== FAIL: cart TestAdd (0.00s)\n", "DONE 5 tests\n", "DONE 5 odd in 1.1s\n", "DONE 2 runs in 1.1s\n"]
        {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
    }

    #[test]
    fn one_that_a_test_prints_is_none() {
        let printed = "=== RUN   T\nDONE 5 tests in 1.1s\n--- PASS: T (0.00s)\nok  \tp\t0.1s\n";
        assert_eq!(sniffed(&FORMAT, printed), Sniff::No);
        assert!(matches!(sniffed(&FORMAT, "ok  \tp\t0.1s\n\nDONE 5 tests in 1.1s\nmake: ok\n"), Sniff::Sure(_)));
    }
}
