//! `forge-test-text`: what `forge test` of Foundry prints: suites of Solidity tests, each with a result line, and a line over
//! all of them.

use super::text_report::{Names, Summary, counted};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `forge test` prints.
pub const FORMAT: Format = Format {
    name: "forge-test-text",
    kind: ReportKind::Test,
    about: "terminal output of Foundry's tests",
    written_by: "forge test",
    told_by: "\"Suite result: … passed; … failed; … skipped\"",
    has_end: true,
    counting: "The line over all suites: failed ones, fuzzed and invariant tests too, failed. A set-up that fails is \
               one failed test.",
    sniff,
    parse: last_run::<Forge>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.lines().any(|line| line.starts_with("Suite result: ") && line.contains(" passed; ")) {
        return Sniff::Sure("line \"Suite result: …\"".into());
    }
    match head.lines().any(|line| suite(line).is_some()) {
        true => Sniff::Maybe("line \"Ran N tests for …\" of forge".into()),
        false => Sniff::No,
    }
}

/// The suite of `Ran 4 tests for test/Counter.t.sol:CounterTest`.
fn suite(line: &str) -> Option<&str> {
    let (_, rest) = counted(line.strip_prefix("Ran ")?)?;
    let suite = rest.strip_prefix("tests for ").or_else(|| rest.strip_prefix("test for "))?;
    suite.contains(".sol:").then_some(suite)
}

/// The counts of `Ran 3 test suites in 22.32ms (6.86ms CPU time): 3 tests passed, 2 failed, 1 skipped (6 total tests)`.
fn total(line: &str) -> Option<[Option<u64>; 3]> {
    let (_, rest) = counted(line.strip_prefix("Ran ")?)?;
    let (_, counts) = rest.strip_prefix("test suite")?.split_once("): ")?;
    let mut counts = counts.strip_suffix(" total tests)")?.rsplit_once(" (")?.0.split(", ").map(counted);
    let mut next =
        |words: &[&str]| counts.next().flatten().filter(|(_, word)| words.contains(word)).map(|(number, _)| number);
    let found = [next(&["tests passed", "test passed"])?, next(&["failed"])?, next(&["skipped"])?];
    counts.next().is_none().then_some(found)
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Forge {
    names: Names,
    found: Option<Summary>,
    suite: Option<String>,
}

impl Announced for Forge {
    fn begins(line: &str) -> bool {
        suite(line).is_some()
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if let Some([passed, failed, skipped]) = total(text) {
            let mut summary = Summary::default();
            Summary::add(&mut summary.passed, passed)?;
            Summary::add(&mut summary.failed, failed)?;
            Summary::add(&mut summary.skipped, skipped)?;
            self.found = Some(summary);
        } else if let Some(suite) = suite(text) {
            self.suite = Some(suite.to_owned());
        } else if text.starts_with("Suite result: ") {
            self.suite = None;
        } else if let (Some(suite), Some((outcome, name, why))) = (&self.suite, result(text))
            && let Some(case) = self.names.set(&format!("{suite}::{name}"), outcome)
        {
            case.file = suite.split_once(".sol:").map(|(file, _)| printable(&format!("{file}.sol"), 1000));
            case.message = why.map(|why| printable(why, 1000));
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }

    fn report(self) -> Result<Parsed> {
        self.names.report(&FORMAT, &self.found.unwrap_or_default(), true)
    }
}

impl TextRun for Forge {
    const TOOL: &'static str = "forge";
    const HAS_PARTS: bool = true;

    /// Only the line over all suites says more as it goes on, and its end shows.
    fn is_whole(_: &str) -> bool {
        true
    }
}

/// `[PASS] test_Increment() (gas: 28622)`, `[FAIL: half of three] test_Half() (gas: 30316)`, `[SKIP] test_Later() (gas: 0)`.
fn result(line: &str) -> Option<(Outcome, &str, Option<&str>)> {
    let (outcome, why, rest) = match line.strip_prefix("[FAIL") {
        // What it says may hold brackets of its own.
        Some(rest) => (
            Outcome::Failed,
            rest.rsplit_once("] ")?.0.strip_prefix([':', '.']).map(str::trim),
            rest.rsplit_once("] ")?.1,
        ),
        None => match line.strip_prefix("[PASS] ") {
            Some(rest) => (Outcome::Passed, None, rest),
            None => (Outcome::Skipped, None, line.strip_prefix("[SKIP")?.split_once("] ")?.1),
        },
    };
    let (name, _) = rest.split_once('(')?;
    Some((outcome, name.trim(), why.filter(|why| !why.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const SUITE: &str = "Ran 3 tests for test/C.t.sol:CTest\n[PASS] testFuzz_A(uint256) (runs: 256, μ: 27840, ~: 29084)\n\
                         [FAIL: no [x] here; counterexample: calldata=0x args=[1]] test_B() (gas: 30316)\n[SKIP] test_C() (gas: 0)\n\
                         Suite result: FAILED. 1 passed; 1 failed; 1 skipped; finished in 6.42ms (6.37ms CPU time)\n\n";
    const END: &str =
        "Ran 1 test suite in 22.32ms (6.86ms CPU time): 1 tests passed, 1 failed, 1 skipped (3 total tests)\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_line_over_all_suites_counts() {
        let two = format!("{SUITE}{}{}", SUITE.replace("C.t", "D.t"), END.replace("1 ", "2 "));
        assert_eq!(counts(&read(&two).unwrap()), [6, 2, 2, 0, 2]);
        let parsed = read(&format!("{SUITE}{END}\nFailing tests:\n[FAIL: a] test_B() (gas: 1)\n")).unwrap();
        assert_eq!(counts(&parsed), [3, 1, 1, 0, 1]);
        let cases = details(&parsed).cases.cases;
        let outcomes: Vec<_> = cases.iter().map(|(id, case)| (id.as_str(), case.outcome)).collect();
        let expected = [
            ("test/C.t.sol:CTest::testFuzz_A", Outcome::Passed),
            ("test/C.t.sol:CTest::test_B", Outcome::Failed),
            ("test/C.t.sol:CTest::test_C", Outcome::Skipped),
        ];
        assert_eq!(outcomes, expected);
        let failed = &cases["test/C.t.sol:CTest::test_B"];
        assert_eq!(failed.message.as_deref(), Some("no [x] here; counterexample: calldata=0x args=[1]"));
        assert_eq!(failed.file.as_deref(), Some("test/C.t.sol"));
    }

    #[test]
    fn a_run_without_its_last_line_is_no_result() {
        for text in ["", SUITE, END.trim_end_matches(" tests)\n")] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        let large = END.replace("1 skipped", "99999999999999999999 skipped");
        assert_eq!(read(&large).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn it_is_told_by_its_suites() {
        assert!(matches!(sniffed(&FORMAT, SUITE), Sniff::Sure(_)));
        assert!(matches!(sniffed(&FORMAT, "Ran 3 tests for test/C.t.sol:CTest\n"), Sniff::Maybe(_)));
        assert_eq!(sniffed(&FORMAT, "Ran 3 tests in 0.001s\n\nOK\n"), Sniff::No);
    }
}
