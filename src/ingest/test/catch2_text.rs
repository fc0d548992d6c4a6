//! `catch2-text`: the summaries that Catch2 (its reporter console) and doctest print.
//! <https://github.com/catchorg/Catch2/blob/devel/docs/reporters.md>
//!
//! No test is named: one that was expected to fail is told like one that failed, and only the summary tells how many of them
//! there are.

use super::text_report::{Names, Summary, counted, no_result};
use super::text_runs::Unannounced;
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine};
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::figures::ReportKind;

/// What programs with Catch2 or doctest print.
pub const FORMAT: Format = Format {
    name: "catch2-text",
    kind: ReportKind::Test,
    about: "terminal output of Catch2 and doctest",
    written_by: "programs with Catch2 (reporter console) or doctest",
    told_by: "\"test cases: 9 | 3 passed | 6 failed\", or \"All tests passed (3 assertions in 2 test cases)\"",
    has_end: true,
    counting: "Test cases of all summaries, one a program: passed, failed; skipped and failed as expected are skipped. It is a \
               summary only if it adds up.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |line: &str| summary(line).is_some() || line.starts_with("[doctest] ") || line.ends_with(": FAILED:");
    match head.xml().is_none() && head.lines().chain(head.last_lines()).map(str::trim_end).any(is_ours) {
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

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut all, mut last) = (None, 0);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        let Some(one) = summary(line.text.trim_end()).filter(|_| line.ended) else { continue };
        let all: &mut Summary = all.get_or_insert_default();
        for (sum, number) in
            [(&mut all.passed, one.passed), (&mut all.failed, one.failed), (&mut all.skipped, one.skipped)]
        {
            Summary::add(sum, Some(number)).map_err(|error| error.line(last))?;
        }
    }
    let all = all.ok_or_else(|| no_result("no summary of Catch2 or doctest at its end", last))?;
    Names::default().report(&FORMAT, &all, true)
}

/// Summaries in a stream in which others speak too.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Catch2(Option<Summary>);

impl Unannounced for Catch2 {
    fn line(&mut self, text: &str) -> Result<Option<Parsed>> {
        let Some(summary) = summary(text) else { return Ok(None) };
        let before = self.0.replace(summary);
        before.map(|summary| Names::default().report(&FORMAT, &summary, true)).transpose()
    }

    fn report(self) -> Result<Option<Parsed>> {
        self.0.map(|summary| Names::default().report(&FORMAT, &summary, true)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::counts;

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
    fn what_does_not_add_up_or_is_cut_is_no_summary() {
        for text in [
            "test cases: 9 | 3 passed | 4 failed\n",
            "test cases: 2 | 2 passed",
            "test cases: 2 | 2 odd\n",
            "All tests passed (3 assertions in 2 test cas",
            "All tests passed (12.3 s)\n",
            "[doctest] doctest version is \"2.4.9\"\n",
        ] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
    }
}
