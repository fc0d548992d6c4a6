//! `catch2-text`: the summaries that Catch2 (its reporters console and compact) and doctest print.
//! <https://github.com/catchorg/Catch2/blob/devel/docs/reporters.md>
//!
//! No test is named: one that was expected to fail is told like one that failed, and only the summary tells how many of them
//! there are. The reporter compact of Catch2 2 leaves out how many tests passed where any failed, and always how many failed
//! as expected.

use super::text_report::{Names, Summary, counted, no_result};
use super::text_runs::Unannounced;
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{Details, Format, Head, Parsed, Sniff, add};
use crate::model::figures::ReportKind;

/// What programs with Catch2 or doctest print.
pub const FORMAT: Format = Format {
    name: "catch2-text",
    kind: ReportKind::Test,
    about: "terminal output of Catch2 and doctest",
    written_by: "programs with Catch2 (reporters console, compact) or doctest",
    told_by: "\"test cases: 9 | 3 passed | 6 failed\", \"All tests passed (3 assertions in 2 test cases)\", \"Passed \
              all 3 test cases with 6 assertions.\"",
    has_end: true,
    counting: "Test cases of all summaries, one a program: passed, failed; skipped and failed as expected are skipped. \
               It is a summary only if it adds up.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| told(line).is_some() || line.starts_with("[doctest] ") || line.ends_with(": FAILED:");
    match head.xml().is_none() && head.lines_of_both_ends().map(str::trim_end).any(is_ours) {
        // `ctest -V` and other runners hand on what a program prints.
        true => Sniff::Maybe("a summary or a failure as Catch2 and doctest print it".into()),
        false => Sniff::No,
    }
}

/// The counts of a summary: of Catch2, with skipped tests in the sum, or of doctest, which leaves them out of it.
fn summary(line: &str) -> Option<Summary> {
    let told = line.strip_prefix("[doctest] ").unwrap_or(line);
    // doctest leaves out what it skipped, and not the bar before it.
    let told = told.strip_suffix(" |").unwrap_or(told);
    if let Some(told) = line.strip_prefix("All tests passed (") {
        let (number, word) = counted(told.strip_suffix(')')?.split_once(" in ")?.1)?;
        return matches!(word, "test case" | "test cases").then_some(Summary { passed: number?, ..Summary::default() });
    }
    let mut parts = told.strip_prefix("test cases:")?.split(" | ");
    let total = parts.next()?.trim().parse::<u64>().ok()?;
    let mut found = Summary::default();
    let mut outside = 0;
    for part in parts {
        let (number, word) = counted(part)?;
        match word {
            "passed" => found.passed = number?,
            "failed" => found.failed = number?,
            "skipped" if line.starts_with("[doctest] ") => outside = number?,
            "skipped" | "failed as expected" => found.skipped = add(found.skipped, number?).ok()?,
            _ => return None,
        }
    }
    let sum = add(add(found.passed, found.failed).ok()?, found.skipped).ok()?;
    found.skipped = add(found.skipped, outside).ok()?;
    (sum == total).then_some(found)
}

/// A summary, and whether only what failed is in it.
type Told = (Summary, bool);

fn told(line: &str) -> Option<Told> {
    // Of Catch2, where no test fits the filter.
    if line == "No tests ran" {
        return Some((Summary::default(), false));
    }
    summary(line).map(|summary| (summary, false)).or_else(|| compact(line))
}

/// `Passed both 2 test cases with 6 assertions.`, `Failed all 3 test cases, failed 1 assertion.`, and, where others passed,
/// `Failed 2 test cases, failed 3 assertions.`
fn compact(line: &str) -> Option<Told> {
    if let Some(rest) = line.strip_prefix("Passed ") {
        let (rest, is_whole) = of_all(rest);
        let (tests, assertions) = rest.split_once(" with ").or_else(|| rest.split_once(" (no assertions"))?;
        let is_ended =
            assertions.ends_with(" assertions.") || assertions.ends_with(" assertion.") || assertions == ").";
        let passed = test_cases(tests).filter(|_| is_whole && is_ended)?;
        return Some((Summary { passed, ..Summary::default() }, false));
    }
    let (rest, is_all) = of_all(line.strip_prefix("Failed ")?);
    let (tests, assertions) = rest.split_once(", failed ")?;
    let failed =
        test_cases(tests).filter(|_| assertions.ends_with("assertions.") || assertions.ends_with("assertion."))?;
    // One of one, and one of many, are told alike.
    Some((Summary { failed, ..Summary::default() }, !is_all || failed == 1))
}

/// Whether one of its last lines is a summary of Catch2's reporter `compact`, which prints failures as compilers do.
pub(in crate::ingest) fn is_compact(head: &Head<'_>) -> bool {
    head.last_lines().any(|line| compact(line.trim_end()).is_some())
}

/// Without `all ` or `both `, and whether it was there. Of one test nothing else is said.
fn of_all(text: &str) -> (&str, bool) {
    let rest = text.strip_prefix("all ").or_else(|| text.strip_prefix("both "));
    (rest.unwrap_or(text), rest.is_some() || text.starts_with("1 "))
}

fn test_cases(text: &str) -> Option<u64> {
    let (number, word) = counted(text)?;
    number.filter(|_| matches!(word, "test case" | "test cases"))
}

fn report((summary, only_failed): &Told) -> Result<Parsed> {
    let mut parsed = Names::default().report(&FORMAT, summary, true)?;
    if let Details::Tests(details) = &mut parsed.details {
        details.only_failed = *only_failed;
    }
    Ok(parsed)
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut all, mut last) = (None, 0);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        let Some((one, only_failed)) = told(line.text.trim_end()).filter(|_| line.ended) else { continue };
        let (all, is_part): &mut Told = all.get_or_insert_default();
        *is_part |= only_failed;
        for (sum, number) in
            [(&mut all.passed, one.passed), (&mut all.failed, one.failed), (&mut all.skipped, one.skipped)]
        {
            Summary::add(sum, Some(number)).map_err(|error| error.line(last))?;
        }
    }
    let all = all.ok_or_else(|| no_result("no summary of Catch2 or doctest at its end", last))?;
    report(&all)
}

/// Summaries in a stream in which others speak too.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Catch2(Option<Told>);

impl Unannounced for Catch2 {
    fn line(&mut self, text: &str) -> Result<Option<Box<Parsed>>> {
        let Some(told) = told(text) else { return Ok(None) };
        self.0.replace(told).map(|before| report(&before).map(Box::new)).transpose()
    }

    fn is_whole(&self) -> Option<bool> {
        Some(self.0.is_some())
    }

    fn report(self) -> Result<Option<Parsed>> {
        self.0.as_ref().map(report).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details};

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn summaries_of_both_add_up_and_are_summed() {
        for (line, expected) in [
            ("test cases:  9 | 3 passed | 4 failed | 2 failed as expected", [9, 3, 4, 0, 2]),
            ("test cases: 4 | 2 passed | 1 failed | 1 skipped", [4, 2, 1, 0, 1]),
            ("All tests passed (3 assertions in 2 test cases)", [2, 2, 0, 0, 0]),
            ("[doctest] test cases: 8 | 4 passed | 4 failed | 1 skipped", [9, 4, 4, 0, 1]),
            ("[doctest] test cases: 8 | 4 passed | 4 failed |", [8, 4, 4, 0, 0]),
        ] {
            let parsed = read(&format!("===\n{line}\nassertions: 3 | 3 passed\n")).unwrap();
            assert_eq!(counts(&parsed), expected, "{line}");
            assert_eq!(counts(&read(&format!("{line}\n{line}\n")).unwrap()), expected.map(|count| 2 * count));
        }
    }

    #[test]
    fn the_reporter_compact_tells_all_or_what_failed() {
        for (line, expected, only_failed) in [
            ("Passed all 3 test cases with 6 assertions.", [3, 3, 0, 0, 0], false),
            ("Passed both 2 test cases (no assertions).", [2, 2, 0, 0, 0], false),
            ("Passed 1 test case with 1 assertion.", [1, 1, 0, 0, 0], false),
            ("Failed both 2 test cases, failed all 3 assertions.", [2, 0, 2, 0, 0], false),
            ("Failed 2 test cases, failed 3 assertions.", [2, 0, 2, 0, 0], true),
            ("Failed 1 test case, failed 1 assertion.", [1, 0, 1, 0, 0], true),
        ] {
            let parsed = read(&format!("a.cpp:5: failed: 1==2 for: 1 == 2\n{line}\n")).unwrap();
            assert_eq!((counts(&parsed), details(&parsed).only_failed), (expected, only_failed), "{line}");
        }
    }

    #[test]
    fn what_does_not_add_up_or_is_cut_is_no_summary() {
        let none = "Filters: zzz\nNo test cases matched 'zzz'\n====\nNo tests ran\n\n";
        assert_eq!(counts(&crate::ingest::parse(&Input::bytes("x", none.as_bytes()), None).unwrap()), [0; 5]);
        for text in [
            "test cases: 9 | 3 passed | 4 failed\n",
            "test cases: 2 | 2 passed",
            "test cases: 2 | 2 odd\n",
            "All tests passed (3 assertions in 2 test cas",
            "All tests passed (12.3 s)\n",
            "Passed 2 test cases with 6 assertions.\n",
            "Failed 2 test cases, failed 3 asser\n",
            "[doctest] doctest version is \"2.4.9\"\n",
        ] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
    }
}
