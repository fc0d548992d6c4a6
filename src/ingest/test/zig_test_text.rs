//! `zig-test-text`: what `zig test` and `zig build test` print. Its definition is Zig's `lib/compiler/test_runner.zig` and
//! `build_runner.zig`.
//!
//! `zig build test` prints nothing when all is well, but with `--summary all`.

use super::stack;
use super::text_report::{Names, Summary, counted};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::text::{first_lines, is_number, printable};
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `zig test` and `zig build test` print.
pub const FORMAT: Format = Format {
    name: "zig-test-text",
    kind: ReportKind::Test,
    about: "terminal output of Zig's tests",
    written_by: "zig test, zig build test",
    told_by: "\"2 passed; 1 skipped; 1 failed.\", \"All 2 tests passed.\", or \"Build Summary: …; 2/4 tests passed; …\"",
    has_end: false,
    counting: "The last summary: passed, failed, skipped. A test that passed and leaked memory failed.",
    sniff,
    parse: last_run::<ZigTest>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_none() && head.last_lines().any(|line| summary(line.trim_end()).is_some()) {
        return Sniff::Sure("a summary of Zig's tests".into());
    }
    match head.lines().any(ZigTest::begins) {
        true => Sniff::Maybe("line \"1/N NAME.test.…\"".into()),
        false => Sniff::No,
    }
}

/// The counts of a summary.
fn summary(line: &str) -> Option<Summary> {
    if let Some(rest) = line.strip_prefix("All ") {
        let (passed, _) = counted(rest).filter(|(_, rest)| *rest == "tests passed.")?;
        return Some(Summary { passed: passed?, ..Summary::default() });
    }
    let meaning = |word: &str| match word {
        "passed" | "tests passed" => Some(Outcome::Passed),
        "failed" | "leaked" => Some(Outcome::Failed),
        "skipped" => Some(Outcome::Skipped),
        "crashed" => Some(Outcome::Errored),
        _ => None,
    };
    let Some(build) = line.strip_prefix("Build Summary: ") else {
        let parts: Vec<&str> = line.strip_suffix(" failed.")?.split("; ").collect();
        let [_, _, failed] = parts.as_slice() else { return None };
        let found = Summary::of(parts.iter().copied().take(2), meaning)?;
        return Some(Summary { failed: failed.parse().ok()?, ..found });
    };
    // What did not pass stands behind semicolons, and between parentheses as of Zig 0.17. Steps stand before the tests.
    let told = build.strip_suffix(" (disable with --summary none)").unwrap_or(build);
    let told = told.replace(" (", "; ").replace(", ", "; ").replace(')', "");
    let (of_all, rest) =
        told.split("; ").find_map(|part| part.split_once('/').filter(|(_, rest)| rest.ends_with(" tests passed")))?;
    let after = told.split_once(rest)?.1.strip_prefix("; ").map_or(Vec::new(), |after| after.split("; ").collect());
    let mut found = Summary::of(after.iter().copied(), meaning)?;
    found.passed = of_all.parse().ok()?;
    let leaked = after.iter().find_map(|part| part.strip_suffix(" leaked")).and_then(|leaked| leaked.parse().ok());
    found.passed = found.passed.saturating_sub(leaked.unwrap_or(0));
    Some(found)
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct ZigTest {
    names: Names,
    found: Option<Summary>,
    /// The test that failed last, until the frame in it came.
    failed: Option<String>,
}

impl Announced for ZigTest {
    fn begins(line: &str) -> bool {
        let is_first = result(line).is_some_and(|(number, ..)| number == "1");
        is_first || (line.starts_with("Build Summary: ") && summary(line).is_some())
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(found) = summary(text) {
            self.found = Some(found);
        } else if let Some((_, name, told)) = result(text) {
            let outcome = match told {
                "OK" => Outcome::Passed,
                "SKIP" => Outcome::Skipped,
                _ => Outcome::Failed,
            };
            self.failed = Some(name.to_owned()).filter(|_| outcome == Outcome::Failed);
            if let Some(case) = self.names.set(name, outcome).filter(|case| case.outcome == Outcome::Failed) {
                case.message = first_lines(told);
            }
        } else if let Some((name, message)) = text.strip_prefix("error: '").and_then(|text| text.split_once("' "))
            && let Some(message) = message.strip_prefix("failed: ").or_else(|| message.strip_prefix("leaked: "))
            && let Some(case) = self.names.set(name, Outcome::Failed)
        {
            case.message = Some(printable(message, 1000));
            self.failed = Some(name.to_owned());
        } else if let Some((file, line)) = frame(text)
            && let Some(case) = self.failed.take().and_then(|name| self.names.set(&name, Outcome::Failed))
        {
            (case.file, case.line) = (Some(printable(file, 1000)), Some(line));
        } else if let (Some(found), Some((Some(leaked), "tests leaked memory."))) = (&mut self.found, counted(text)) {
            let leaked = leaked.min(found.passed);
            (found.passed, found.failed) = (found.passed - leaked, add(found.failed, leaked)?);
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

impl TextRun for ZigTest {
    const TOOL: &'static str = "zig test";
    const HAS_PARTS: bool = true;

    fn is_whole(_: &str) -> bool {
        false
    }
}

/// The place in `/app/cart.zig:3:16: 0x103d0bc in test.fails (test)`, a frame of a test.
fn frame(line: &str) -> Option<(&str, u64)> {
    let (place, of) = line.split_once(": 0x")?;
    let is_test = of.contains(" in test.") || of.contains(" in test_");
    stack::numbered(place.rsplit_once(':').filter(|_| is_test)?.0)
}

/// `1/4 cart.test.adds...OK`, `2/4 cart.test_1...SKIP`; where a test fails, its message comes instead.
fn result(line: &str) -> Option<(&str, &str, &str)> {
    let (place, rest) = line.split_once(' ')?;
    let (number, all) = place.split_once('/')?;
    let (name, told) =
        rest.split_once("...").filter(|(name, _)| name.contains(".test") && is_number(number) && is_number(all))?;
    Some((number, name, told))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "1/4 cart.test.adds...OK\n2/4 cart.test.fails...expected 3, found 2\nFAIL (TestExpectedEqual)\n\
                       3/4 cart.test.skips...SKIP\n4/4 cart.test.leaks...OK\n";
    const BUILD: &str = "error: 'cart.test.fails' failed: expected 3, found 2\n\
                         Build Summary: 1/3 steps succeeded; 1 failed; 2/4 tests passed; 1 skipped; 1 failed; 1 leaked (disable with --summary none)\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn a_build_of_today_tells_in_parentheses() {
        let text = "Build Summary: 3/5 steps succeeded (1 failed); 4/7 tests passed (1 skipped, 1 failed, 1 crashed)\n";
        assert_eq!(counts(&read(text).unwrap()), [7, 4, 1, 1, 1]);
        assert!(read("Build Summary: 0/5 steps succeeded (2 failed)\n").is_err());
    }

    #[test]
    fn summaries_of_both_commands_count() {
        let text = format!("{RUN}2 passed; 1 skipped; 1 failed.\n1 errors were logged.\n1 tests leaked memory.\n");
        let parsed = read(&text).unwrap();
        assert_eq!(counts(&parsed), [4, 1, 2, 0, 1]);
        assert_eq!(details(&parsed).cases.outcome("cart.test.skips"), Some(Outcome::Skipped));
        let parsed = read(BUILD).unwrap();
        assert_eq!(counts(&parsed), [4, 1, 2, 0, 1]);
        let cases = details(&parsed).cases.cases;
        assert_eq!(cases["cart.test.fails"].message.as_deref(), Some("expected 3, found 2"));
        for (line, passed) in [
            ("All 2 tests passed.\n", 2),
            ("Build Summary: 3/3 steps succeeded; 2/2 tests passed\n", 2),
            ("Build Summary: 3/3 steps succeeded; 2/2 tests passed (disable with --summary none)\n", 2),
        ] {
            assert_eq!(counts(&read(line).unwrap()), [passed, passed, 0, 0, 0], "{line}");
            assert!(matches!(sniffed(&FORMAT, line), Sniff::Sure(_)), "{line}");
        }
    }

    #[test]
    fn a_failure_has_a_message_and_the_place_in_its_test() {
        for (text, message) in [
            (include_str!("../../../fixtures/reports/zig-test-text/good.txt"), "expected 3, found 2"),
            (include_str!("../../../fixtures/reports/zig-test-text/good-build.txt"), "expected 3, found 2"),
            (
                &format!("{}1 passed; 1 skipped; 1 failed.\n", RUN.replace("expected 3, found 2\n", "")),
                "FAIL (TestExpectedEqual)",
            ),
        ] {
            let cases = details(&read(text).unwrap()).cases.cases;
            let case = &cases["cart.test.fails"];
            assert_eq!(case.message.as_deref(), Some(message));
            let place = text.contains("0x").then_some("/home/dev/shop/cart.zig");
            assert_eq!((case.file.as_deref(), case.line), (place, place.map(|_| 3)));
            assert!(cases.get("cart.test.adds").is_none_or(|case| case.file.is_none() && case.message.is_none()));
        }
    }

    #[test]
    fn without_tests_there_is_no_result() {
        for text in
            [RUN, "Build Summary: 3/3 steps succeeded\n", "All tests passed (3 assertions)\n", "2 passed; 1 failed.\n"]
        {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
            assert!(!matches!(sniffed(&FORMAT, text), Sniff::Sure(_)), "{text}");
        }
        assert_eq!(read(&format!("{RUN}2 passed; 1 ski")).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
