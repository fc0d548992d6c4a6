//! `prove-text`: what `prove` prints of Perl's test files, without the points that `prove -v` prints, too. Its definition is
//! `TAP::Formatter::Base`. <https://perldoc.perl.org/prove>

use super::tap;
use super::text_report::{Names, Summary, no_result, say_last};
use super::text_runs::Unannounced;
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, split_at};
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::figures::ReportKind;

/// What `prove` prints.
pub const FORMAT: Format = Format {
    name: "prove-text",
    kind: ReportKind::Test,
    about: "terminal output of prove",
    written_by: "prove, make test of Perl",
    told_by: "\"Files=2, Tests=3, …\" and \"Result: PASS\" below it",
    has_end: true,
    counting: "The last summary: tests that failed failed, those that a plan promised and that did not come are \
               errored, and so is a file that failed though its tests passed, or that is not there, and a run that \
               failed for what is not told. The others passed, those that were skipped among them: prove does not tell \
               how many.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let lines: Vec<&str> = head.last_lines().map(str::trim_end).collect();
    let is_told = |pair: &[&str]| matches!(pair, [first, second] if tests(first).is_some() && is_result(second));
    // With `-v` its plans stand beside the points; `-f` and `--directives` tell points alone, and not all.
    let has_plan = || head.lines_of_both_ends().any(tap::is_plan);
    if head.xml().is_some() || (head.lines().any(tap::is_point) && has_plan()) {
        return Sniff::No;
    }
    match lines.windows(2).any(is_told) {
        true => Sniff::Sure("lines \"Files=…, Tests=…\" and \"Result: …\"".into()),
        false if head.lines().any(|line| line.starts_with("Dubious, test returned ")) => {
            Sniff::Maybe("line \"Dubious, test returned …\"".into())
        }
        false => Sniff::No,
    }
}

/// How many tests `Files=8, Tests=12,  2 wallclock secs (…)` tells of.
fn tests(line: &str) -> Option<u64> {
    let (_, rest) = line.strip_prefix("Files=")?.split_once(", Tests=")?;
    rest.split_once(',')?.0.parse().ok()
}

fn is_result(line: &str) -> bool {
    matches!(line, "Result: PASS" | "Result: FAIL" | "Result: NOTESTS")
}

/// The file of `t/bad.t (Wstat: 256 (exited 1) Tests: 3 Failed: 1)`, its tests, and how many failed.
fn file(line: &str) -> Option<(&str, u64, u64)> {
    let (file, rest) = split_at(line, " (Wstat: ")?;
    let (tests, failed) = rest.strip_suffix(')')?.rsplit_once(" Tests: ")?.1.split_once(" Failed: ")?;
    Some((file.trim_end(), tests.parse().ok()?, failed.parse().ok()?))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut prove, mut last, mut runs) = (Prove::default(), 0, 0_u64);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let mut told: Option<Prove> = None;
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim_end();
        match told.as_mut().filter(|_| tap::undetected(text).is_some()) {
            Some(told) => told.take(text),
            None => prove.take(text),
        }
        .map_err(|error| error.line(last))?;
        if prove.is_done {
            told = Some(std::mem::take(&mut prove));
            runs += 1;
        }
    }
    let told = told.filter(|_| !prove.begun).map(Prove::report).transpose()?.flatten();
    let mut parsed = told.ok_or_else(|| no_result("no result of prove at its end", last))?;
    say_last(&mut parsed, runs, "prove");
    Ok(parsed)
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Prove {
    names: Names,
    found: Summary,
    /// The file that is told, with its tests, until it is known why it failed.
    file: Option<(String, u64)>,
    tests: Option<u64>,
    begun: bool,
    is_done: bool,
    has_failed: bool,
    /// All points are told, too, and their plans, and read as TAP.
    has_points: bool,
    has_plan: bool,
    /// The line before ended a run that is read so.
    is_below_points: bool,
}

impl Prove {
    fn take(&mut self, text: &str) -> Result<()> {
        self.has_points |= tap::is_point(text);
        self.has_plan |= tap::is_plan(text);
        self.begun |= text == "Test Summary Report";
        if let Some(name) = tap::undetected(text) {
            // It may come below the summary, as prove ends with it.
            self.fail(name)?;
        } else if let Some((name, tests, failed)) = file(text) {
            self.close()?;
            self.found.failed = add(self.found.failed, failed)?;
            self.file = (failed == 0).then(|| (name.to_owned(), tests));
        } else if let Some(planned) = split_at(text, "Bad plan.  You planned ").map(|(_, rest)| rest) {
            let planned = planned.split(' ').next().and_then(|planned| planned.parse::<u64>().ok());
            let missing = planned.zip(self.file.as_ref()).and_then(|(planned, (_, ran))| planned.checked_sub(*ran));
            if let Some(missing @ 1..) = missing {
                self.found.errored = add(self.found.errored, missing)?;
                self.file = None;
            }
        } else if text.starts_with("  TODO passed:") {
            self.file = None;
        } else if let Some(tests) = tests(text) {
            self.close()?;
            self.tests = Some(tests);
        } else {
            self.is_done = self.tests.is_some() && is_result(text);
            self.has_failed = text == "Result: FAIL";
        }
        Ok(())
    }

    /// A file that is told for no test of its own failed as a whole.
    fn close(&mut self) -> Result<()> {
        if let Some((name, _)) = self.file.take() { self.fail(&name) } else { Ok(()) }
    }

    fn fail(&mut self, name: &str) -> Result<()> {
        self.found.errored = add(self.found.errored, 1)?;
        self.found.unit_failures += 1;
        self.names.unit(name);
        Ok(())
    }
}

impl Unannounced for Prove {
    fn line(&mut self, text: &str) -> Result<Option<Box<Parsed>>> {
        let is_undetected = tap::undetected(text).is_some();
        if std::mem::take(&mut self.is_below_points) && is_undetected {
            return Ok(None);
        }
        let is_over = self.is_done && !is_undetected;
        let before = if is_over { std::mem::take(self).report()?.map(Box::new) } else { None };
        self.take(text)?;
        // Of a run that is read as TAP not all was seen.
        let is_anothers = self.is_done && self.has_points && self.has_plan;
        if is_anothers || (is_result(text) && self.tests.is_none()) {
            *self = Prove { is_below_points: true, ..Prove::default() };
        }
        Ok(before)
    }

    fn is_whole(&self) -> Option<bool> {
        Some(self.is_done && self.tests.is_some())
    }

    fn report(mut self) -> Result<Option<Parsed>> {
        let Some(tests) = self.tests.filter(|_| self.is_done) else { return Ok(None) };
        let is_untold = self.has_failed && self.found.failed == 0 && self.found.errored == 0;
        if is_untold {
            self.fail("(what prove says above its end)")?;
        }
        let summary = Summary { passed: tests.saturating_sub(self.found.failed), ..self.found };
        let mut parsed = self.names.report(&FORMAT, &summary, false)?;
        if is_untold {
            let why = "what failed was cut away above prove's end: it counts as one errored, and all tests as passed";
            parsed.warnings.push(why.to_owned());
        }
        Ok(Some(parsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::console::console;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "t/good.t .. ok\nTest Summary Report\n-------------------\nt/bad.t (Wstat: 256 (exited 1) Tests: 3 Failed: 1)\n\
                       \x20 Failed test:  2\n  Non-zero exit status: 1\nt/dies.t (Wstat: 65280 (exited 255) Tests: 1 Failed: 0)\n\
                       \x20 Non-zero exit status: 255\n  Parse errors: Bad plan.  You planned 3 tests but ran 1.\n\
                       t/none.t (Wstat: 65280 (exited 255) Tests: 0 Failed: 0)\n  Non-zero exit status: 255\n\
                       \x20 Parse errors: No plan found in TAP output\nt/todo.t (Wstat: 0 Tests: 2 Failed: 0)\n  TODO passed:   2\n";
    const END: &str = "Files=5, Tests=9,  2 wallclock secs ( 0.04 usr  0.01 sys =  0.05 CPU)\nResult: FAIL\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn failures_missing_tests_and_files_that_failed_count() {
        let parsed = read(&format!("{RUN}{END}")).unwrap();
        assert_eq!(counts(&parsed), [12, 8, 1, 3, 0]);
        assert_eq!(details(&parsed).failed_units, ["t/none.t"]);
        let fine = format!("t/good.t .. ok\nAll tests successful.\n{}", END.replace("FAIL", "PASS"));
        assert_eq!(counts(&read(&fine).unwrap()), [9, 9, 0, 0, 0]);
        assert!(matches!(sniffed(&FORMAT, &fine), Sniff::Sure(_)));
        let end = read(END).unwrap();
        assert_eq!((counts(&end), end.warnings.len()), ([10, 9, 0, 1, 0], 1), "the end alone");
        assert_eq!(sniffed(&FORMAT, &format!("ok 1\n1..1\n{fine}")), Sniff::No);
        assert!(matches!(sniffed(&FORMAT, &format!("not ok 2\n{fine}")), Sniff::Sure(_)));
    }

    #[test]
    fn the_console_tells_points_that_failed_from_all_points() {
        let told = |text: &str| -> Vec<_> {
            let reports = console(&Input::bytes("x", text.as_bytes()));
            reports.iter().map(|report| (report.format.name, counts(report))).collect()
        };
        let failed = "t/a.t .. \nnot ok 2 - b\nFailed 1/2 subtests \n\nTest Summary Report\n-------------------\n\
                      t/a.t (Wstat: 256 (exited 1) Tests: 2 Failed: 1)\n  Failed test:  2\n  Non-zero exit status: 1\n\
                      Files=1, Tests=2,  0 wallclock secs (0 CPU)\nResult: FAIL\n";
        let all = "t/a.t .. \n# Subtest: x\n    ok 1 - deep\n    1..1\nok 1 - x\nok 2 - b\n1..2\nok\nt/b.t .. \n1..1\nok 1\nok\n\
                   All tests successful.\nFiles=2, Tests=3,  0 wallclock secs (0 CPU)\nResult: PASS\n";
        assert_eq!(told(failed), [("prove-text", [2, 1, 1, 0, 0])]);
        assert_eq!(told(all), [("tap", [3, 3, 0, 0, 0])]);
        assert_eq!(told(&format!("{all}{failed}")), [("tap", [3, 3, 0, 0, 0]), ("prove-text", [2, 1, 1, 0, 0])]);
    }

    #[test]
    fn a_file_that_is_not_there_is_errored() {
        let undetected = "Cannot detect source of 't/no.t'! at /usr/share/perl/5.36/TAP/Parser/IteratorFactory.pm line 256.\n\
                          \tTAP::Parser::IteratorFactory::detect_source(TAP::Parser::IteratorFactory=HASH(0x55)) called at x line 1\n";
        let none = "Files=0, Tests=0,  0 wallclock secs (0 CPU)\nResult: NOTESTS\n";
        let fine = "t/good.t .. ok\nAll tests successful.\nFiles=1, Tests=2,  0 wallclock secs (0 CPU)\nResult: PASS\n";
        let points = "t/good.t .. \n1..2\nok 1\nok 2\nok\nAll tests successful.\nFiles=1, Tests=2,  0 wallclock secs (0 CPU)\nResult: PASS\n";
        for (text, format, expected) in [
            (format!("{undetected}{none}"), "prove-text", [1, 0, 0, 1, 0]),
            (format!("{undetected}{fine}"), "prove-text", [3, 2, 0, 1, 0]),
            (format!("{fine}{undetected}"), "prove-text", [3, 2, 0, 1, 0]),
            (format!("{points}{undetected}"), "tap", [3, 2, 0, 1, 0]),
        ] {
            let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
            assert_eq!((parsed.format.name, counts(&parsed)), (format, expected), "{text}");
            assert_eq!(details(&parsed).failed_units, ["t/no.t"], "{text}");
            let heard = console(&Input::bytes("x", text.as_bytes()));
            let told: Vec<_> = heard.iter().map(|report| (report.format.name, counts(report))).collect();
            assert_eq!(told, [(format, expected)], "{text}");
        }
        let twice = console(&Input::bytes("x", format!("{points}{undetected}{fine}").as_bytes()));
        assert_eq!(twice.iter().map(counts).collect::<Vec<_>>(), [[3, 2, 0, 1, 0], [2, 2, 0, 0, 0]]);
    }

    #[test]
    fn a_run_without_its_result_is_none() {
        for text in ["", RUN, &format!("{RUN}{}", END.replace("Result: FAIL\n", "")), &format!("{END}{RUN}")] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
    }
}
