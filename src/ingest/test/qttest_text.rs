//! `qttest-text`: what a program with Qt Test prints, and `ctest -V` hands on. <https://doc.qt.io/qt-6/qtest-overview.html>
//!
//! Each row of a test's data has its own result. `initTestCase` and `cleanupTestCase` are results, too, as in Qt's JUnit.

use super::text_report::{Names, Summary};
use super::text_runs::{Announced, Part, TextRun, all_runs};
use crate::error::Result;
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What programs with Qt Test print.
pub const FORMAT: Format = Format {
    name: "qttest-text",
    kind: ReportKind::Test,
    about: "terminal output of Qt Test",
    written_by: "programs with Qt Test",
    told_by: "\"********* Start testing of NAME *********\" and \"Totals: N passed, …\"",
    has_end: false,
    counting: "The sum of the Totals, one a test object: passed, failed; skipped and blacklisted are skipped.",
    sniff,
    parse: all_runs::<QtTest>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| QtTest::begins(line.trim_end());
    match head.xml().is_none() && head.lines().any(is_ours) {
        // `ctest -V` and other runners hand on what a program prints.
        true => Sniff::Maybe("line \"********* Start testing of …\"".into()),
        false => Sniff::No,
    }
}

/// The counts of `Totals: 6 passed, 2 failed, 1 skipped, 0 blacklisted, 2ms`, the last two of which came with Qt 5.
fn totals(line: &str) -> Option<Summary> {
    let mut parts: Vec<&str> = line.strip_prefix("Totals: ")?.split(", ").collect();
    parts.pop_if(|last| last.ends_with("ms"));
    let meaning = |word: &str| match word {
        "passed" => Some(Outcome::Passed),
        "failed" => Some(Outcome::Failed),
        "skipped" | "blacklisted" => Some(Outcome::Skipped),
        _ => None,
    };
    Summary::of(parts, meaning).filter(|_| line.contains(" skipped"))
}

/// The run of one test object.
#[derive(Debug, Default)]
pub(in crate::ingest) struct QtTest {
    names: Names,
    /// The last totals, and whether the line that ends the run came after them.
    found: Option<Summary>,
    is_done: bool,
    /// The test that failed last, whose place comes.
    failed: Option<String>,
}

impl Announced for QtTest {
    fn begins(line: &str) -> bool {
        line.starts_with("********* Start testing of ") && line.ends_with(" *********")
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if text.starts_with("********* Finished testing of ") {
            self.is_done = self.found.is_some();
        } else if let Some(found) = totals(text) {
            self.found = Some(found);
        } else if let Some((outcome, name, message)) = result(text) {
            if let Some(case) = self.names.set(&name, outcome) {
                case.message = message.map(|message| printable(message, 1000));
            }
            self.failed = Some(name).filter(|_| outcome == Outcome::Failed);
        } else if let Some(place) = text.strip_prefix("   Loc: [").and_then(|place| place.strip_suffix(")]"))
            && let Some((file, line)) = place.rsplit_once('(')
            && let Some(case) = self.failed.take().and_then(|name| self.names.get_mut(&name))
        {
            (case.file, case.line) = (Some(printable(file, 1000)), line.parse().ok().filter(|line| *line > 0));
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn report(self) -> Result<Parsed> {
        self.alone()
    }
}

impl TextRun for QtTest {
    const TOOL: &'static str = "Qt Test";

    /// Inside the last line nobody can tell whether another test object follows; other lines may say what they like.
    fn is_whole(line: &str) -> bool {
        !line.starts_with('*') || (line.starts_with("********* Finished testing of ") && line.ends_with(" *********"))
    }
}

impl Part for QtTest {
    const FORMAT: &'static Format = &FORMAT;
    const IS_COMPILED: bool = true;

    fn told(self) -> Result<(Summary, Names)> {
        Ok((self.found.unwrap_or_default(), self.names))
    }
}

/// `PASS   : Cart::adds()`, `FAIL!  : Cart::rows(two) Compared values are not the same`.
fn result(line: &str) -> Option<(Outcome, String, Option<&str>)> {
    let (mark, rest) = line.split_once(": ")?;
    let outcome = match mark.trim_end() {
        "PASS" => Outcome::Passed,
        "FAIL!" | "XPASS" => Outcome::Failed,
        "SKIP" | "BPASS" | "BFAIL" | "BXPASS" | "BXFAIL" => Outcome::Skipped,
        _ => return None,
    };
    let (name, message) = rest.split_once(") ").or_else(|| Some((rest.strip_suffix(')')?, "")))?;
    let name = name.strip_suffix('(').map_or_else(|| format!("{name})"), str::to_owned);
    Some((outcome, name, Some(message).filter(|message| !message.is_empty() && outcome == Outcome::Failed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "********* Start testing of Cart *********\nConfig: Using QtTest library 6.4.2\nPASS   : Cart::adds()\n\
                       Totals: 9 passed, 0 failed, 0 skipped, 0 blacklisted, 1ms\nFAIL!  : Cart::rows(two) Compared values are not the same\n\
                       \x20  Actual   (n): 2\n   Loc: [cart.cpp(9)]\nSKIP   : Cart::skips() later\n   Loc: [cart.cpp(7)]\n\
                       BFAIL  : Cart::known() no\n";
    const END: &str =
        "Totals: 1 passed, 1 failed, 1 skipped, 1 blacklisted, 2ms\n********* Finished testing of Cart *********\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_totals_of_all_test_objects_count() {
        let parsed = read(&format!("{RUN}{END}")).unwrap();
        assert_eq!(counts(&parsed), [4, 1, 1, 0, 2]);
        let cases = details(&parsed).cases.cases;
        let failed = &cases["Cart::rows(two)"];
        assert_eq!((failed.file.as_deref(), failed.line), (Some("cart.cpp"), Some(9)));
        assert_eq!(failed.message.as_deref(), Some("Compared values are not the same"));
        assert_eq!((cases["Cart::adds"].outcome, cases["Cart::skips"].outcome), (Outcome::Passed, Outcome::Skipped));
        assert_eq!(counts(&read(&format!("{RUN}{END}{RUN}{END}")).unwrap()), [8, 2, 2, 0, 4]);
        let qt4 = END.replace(", 1 blacklisted, 2ms", "");
        assert_eq!(counts(&read(&format!("{RUN}{qt4}")).unwrap()), [3, 1, 1, 0, 1]);
        assert!(matches!(sniffed(&FORMAT, RUN), Sniff::Maybe(_)));
    }

    #[test]
    fn a_test_object_without_its_last_line_is_no_result() {
        for text in ["", RUN, &format!("{RUN}{END}{RUN}"), END.split_once('\n').unwrap().0] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
    }
}
