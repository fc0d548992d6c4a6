//! `phpunit-text`: what PHPUnit prints, from version 6 on. The last summary gives the counts, the lists of errors and
//! failures give names.

use super::text_report::{Names, Summary, counted, is_foreign, no_result};
use super::text_runs::Announced;
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, first_lines, is_number, printable};
use crate::ingest::values::whole;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `phpunit` prints.
pub const FORMAT: Format = Format {
    name: "phpunit-text",
    kind: ReportKind::Test,
    about: "terminal output of PHPUnit",
    written_by: "phpunit, paratest",
    told_by: "\"PHPUnit … by Sebastian Bergmann\", or \"OK (N tests, N assertions)\", \"Tests: N, Assertions: N\"",
    has_end: true,
    counting: "The last summary: Errors errored, Failures failed, Skipped and Incomplete skipped; the rest of the \
               tests passed, also those that are risky or have warnings, deprecations or notices. A file that cannot be \
               loaded, so that no test ran, is one errored.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if is_foreign(head) {
        return Sniff::No;
    }
    if head.lines().take(50).any(begins) {
        return Sniff::Sure("line \"PHPUnit … by Sebastian Bergmann\"".into());
    }
    // A log for TeamCity has no summary, but what tests print.
    let is_log = head
        .last_lines()
        .map(str::trim_end)
        .rfind(|line| !line.is_empty())
        .is_some_and(|line| line.starts_with("##teamcity["));
    if !is_log && head.last_lines().any(|line| summary(line.trim_end()).is_some()) {
        return Sniff::Sure("a summary of PHPUnit".into());
    }
    Sniff::No
}

fn begins(line: &str) -> bool {
    line.starts_with("PHPUnit ") && line.contains(" by Sebastian Bergmann")
}

/// Title and number of what a summary counts, tests first.
fn summary(line: &str) -> Option<Vec<(&str, Option<u64>)>> {
    if line == "No tests executed!" {
        return Some(vec![("Tests", Some(0))]);
    }
    if let Some(rest) = line.strip_prefix("OK (") {
        let (tests, assertions) = rest.strip_suffix(')')?.split_once(", ")?;
        let ((tests, "test" | "tests"), (_, "assertion" | "assertions")) = (counted(tests)?, counted(assertions)?)
        else {
            return None;
        };
        return Some(vec![("Tests", tests)]);
    }
    let rest = line.strip_suffix('.').filter(|line| line.starts_with("Tests: ") && line.contains(", Assertions: "))?;
    let count = |part| {
        let (title, number): (&str, &str) = str::split_once(part, ": ")?;
        is_number(number).then(|| (title, whole(number)))
    };
    rest.split(", ").map(count).collect()
}

/// `..F.S`, `.....  5 / 12 ( 41%)`: a mark for each test.
fn are_marks(text: &str) -> bool {
    let marks = text.split(' ').next().unwrap_or_default();
    !marks.is_empty() && marks.bytes().all(|mark| b".FEWRSINDU".contains(&mark))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut run = Run::default();
    let (mut found, mut last, mut runs) = (None, 0, 0_u64);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        if let Some(summary) = run.line(line.text.trim_end()).map_err(|error| error.line(last))? {
            found = Some((summary, std::mem::take(&mut run).names));
            runs = add(runs, 1)?;
        }
    }
    let Some((summary, names)) = found.filter(|_| !run.has_begun) else {
        return Err(no_result("no summary of PHPUnit at its end", last));
    };
    let mut parsed = names.report(&FORMAT, &summary, false)?;
    if runs > 1 {
        parsed.warnings.push(format!("{runs} summaries of PHPUnit are in it: the last one counts"));
    }
    Ok(parsed)
}

fn total(counts: &[(&str, Option<u64>)]) -> Result<Summary> {
    let mut summary = Summary::default();
    for (title, number) in counts {
        let slot = match *title {
            "Tests" => &mut summary.passed,
            "Errors" => &mut summary.errored,
            "Failures" => &mut summary.failed,
            "Skipped" | "Incomplete" => &mut summary.skipped,
            _ => continue,
        };
        Summary::add(slot, *number)?;
    }
    let others = add(add(summary.errored, summary.failed)?, summary.skipped)?;
    // A fixture of a class that fails is an error, but no test.
    summary.passed = summary.passed.saturating_sub(others);
    Ok(summary)
}

/// One run.
#[derive(Debug, Default)]
struct Run {
    names: Names,
    has_begun: bool,
    /// The line "Time: …, Memory: …" came, below which no test prints.
    is_timed: bool,
    /// What the list that is open holds.
    list: Option<Outcome>,
    /// The test whose message and place are expected.
    told: Option<String>,
    /// Tests ran.
    has_progress: bool,
    /// PHPUnit says that it crashed before it ran a test: where is told below.
    has_crashed: bool,
}

impl Run {
    /// Whether a summary is the run's own. Without its first line, nothing tells.
    fn may_end(&self, text: &str) -> bool {
        self.is_timed || !self.has_begun || text == "No tests executed!"
    }

    /// The summary, if the run ends with the line.
    fn line(&mut self, text: &str) -> Result<Option<Summary>> {
        if let Some(counts) = summary(text).filter(|_| self.may_end(text)) {
            return total(&counts).map(Some);
        }
        if let Some(place) = text.strip_prefix("Location: ").filter(|_| self.has_crashed) {
            self.names.unit(place.rsplit_once(':').map_or(place, |(file, _)| file));
            return Ok(Some(Summary { errored: 1, unit_failures: 1, ..Summary::default() }));
        }
        self.other(text);
        Ok(None)
    }

    fn other(&mut self, text: &str) {
        let heading = text.strip_prefix("There was ").or_else(|| text.strip_prefix("There were "));
        if begins(text) {
            *self = Run { has_begun: true, ..Run::default() };
        } else if text.starts_with("Time: ") && text.contains(", Memory: ") {
            self.is_timed = true;
        } else if text == "An error occurred inside PHPUnit." {
            // Behind tests that ran, nobody knows how many there are.
            self.has_crashed = self.has_begun && !self.has_progress;
        } else if let Some((_, what)) = heading.and_then(|rest| counted(rest.strip_suffix(':')?)) {
            self.told = None;
            self.list = match what {
                "error" | "errors" => Some(Outcome::Errored),
                "failure" | "failures" => Some(Outcome::Failed),
                "skipped test" | "skipped tests" | "incomplete test" | "incomplete tests" => Some(Outcome::Skipped),
                _ => None,
            };
        } else if let Some(outcome) = self.list {
            self.in_list(text, outcome);
        } else {
            self.has_progress |= are_marks(text);
        }
    }

    fn in_list(&mut self, text: &str, outcome: Outcome) {
        if let Some(name) = numbered(text) {
            let id = printable(name, super::LONGEST_ID);
            self.names.set(&id, outcome);
            self.told = Some(id);
        } else if let Some(case) = self.told.as_ref().and_then(|id| self.names.get_mut(id)) {
            let place = text.rsplit_once(':').filter(|(file, _)| file.ends_with(".php") && !file.contains(": "));
            match place.map(|(file, line)| (file, line.parse().ok().filter(|line: &u64| *line > 0))) {
                Some((file, Some(line))) if case.file.is_none() => {
                    (case.file, case.line) = (Some(printable(file, 1000)), Some(line));
                }
                None if case.message.is_none() && outcome != Outcome::Skipped => case.message = first_lines(text),
                _ => {}
            }
        }
    }
}

/// A run in a stream in which others speak too.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Told {
    run: Run,
    found: Option<Summary>,
}

impl Announced for Told {
    fn begins(line: &str) -> bool {
        begins(line)
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if let Some(summary) = self.run.line(text)? {
            self.found = Some(summary);
        }
        Ok(())
    }

    fn ends_alone(line: &str) -> bool {
        line.contains(", Assertions: ") || line.starts_with("OK (") && summary(line).is_some()
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }

    fn report(self) -> Result<Parsed> {
        self.run.names.report(&FORMAT, &self.found.unwrap_or_default(), false)
    }
}

/// `CartTest::testRows with data set "two"` of `2) CartTest::testRows with data set "two" (2)`.
fn numbered(text: &str) -> Option<&str> {
    let (number, name) = text.split_once(") ")?;
    if !is_number(number) || !name.contains("::") {
        return None;
    }
    let Some((test, set)) = name.split_once(" with data set ") else { return Some(name) };
    let named = set.strip_prefix('"').and_then(|set| set.split_once('"')).map(|(set, _)| set.len() + 2);
    let length = named.or_else(|| set.find(' ')).unwrap_or(set.len());
    name.get(..test.len() + " with data set ".len() + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n.FESIRW.F.\nOK (99 tests, 99 assertions)\n\nTime: 00:00.034, Memory: 4.00 MB\n\n\
                       There was 1 error:\n\n1) CartTest::testErrors\nRuntimeException: boom\n\n/src/CartTest.php:6\n\n--\n\n\
                       There was 1 warning:\n\n1) CartTest::testWarning\ncareful\n\n--\n\nThere were 2 failures:\n\n\
                       1) CartTest::testFails\nnot the same\n\n/src/CartTest.php:5\n\n\
                       2) CartTest::testRows with data set \"two (2)\" (2)\nFailed asserting\n\n/src/CartTest.php:12\n\n";
    const END: &str = "ERRORS!\nTests: 12, Assertions: 7, Errors: 1, Failures: 2, Warnings: 1, Skipped: 1, Incomplete: 1, Risky: 1.\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_last_summary_counts() {
        for (text, expected) in [
            (END, [12, 7, 2, 1, 2]),
            ("OK (2 tests, 2 assertions)", [2, 2, 0, 0, 0]),
            ("OK (1 test, 1 assertion)\n", [1, 1, 0, 0, 0]),
            ("No tests executed!\n", [0; 5]),
            (
                "OK, but there were issues!\nTests: 3, Assertions: 3, PHPUnit Deprecations: 1, Skipped: 1.\n",
                [3, 2, 0, 0, 1],
            ),
            ("Tests: 0, Assertions: 0, Errors: 1.\n", [1, 0, 0, 1, 0]),
        ] {
            assert_eq!(counts(&read(&format!("{RUN}{text}")).unwrap()), expected, "{text}");
        }
        assert_eq!(read(&format!("{END}OK (1 test, 1 assertion)\n")).unwrap().warnings.len(), 1);
    }

    #[test]
    fn failures_have_names_places_and_messages() {
        let details = details(&read(&format!("{RUN}{END}")).unwrap());
        let case = &details.cases.cases["CartTest::testErrors"];
        assert_eq!(
            (case.outcome, case.line, case.message.as_deref()),
            (Outcome::Errored, Some(6), Some("RuntimeException: boom"))
        );
        let row = &details.cases.cases["CartTest::testRows with data set \"two (2)\""];
        assert_eq!((row.outcome, row.file.as_deref()), (Outcome::Failed, Some("/src/CartTest.php")));
        assert_eq!((details.cases.cases.len(), details.dropped), (3, 9));
        assert_eq!(numbered("1) A::b with data set #0 (1, 2)"), Some("A::b with data set #0"));
    }

    #[test]
    fn a_run_without_its_summary_is_no_result() {
        for text in [RUN, "", &format!("{END}{RUN}"), &END.replace("Risky: 1.", "Risky: 1")] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        let large = "Tests: 18446744073709551616, Assertions: 1.\n";
        assert_eq!(read(large).unwrap_err().reject(), Some(Reject::Malformed));
    }

    /// Written after `TextUI/Application.php` of PHPUnit 11.
    #[test]
    fn a_file_that_cannot_be_loaded_is_errored_unless_tests_ran_before() {
        let header = "PHPUnit 11.5.2 by Sebastian Bergmann and contributors.\n\nRuntime:       PHP 8.3.2\n\n";
        let crash = "\n\nAn error occurred inside PHPUnit.\n\nMessage:  syntax error, unexpected token \";\"\n\
                     Location: /p/tests/ATest.php:2\n\n#0 /p/vendor/phpunit/phpunit(104): PHPUnit\\TextUI\\Application->run()\n";
        let parsed = read(&format!("{header}{crash}")).unwrap();
        let told = details(&parsed);
        assert_eq!((counts(&parsed), told.unit_failures), ([1, 0, 0, 1, 0], 1));
        assert_eq!(told.failed_units, ["/p/tests/ATest.php"]);
        let heard = crate::ingest::console::console(&Input::bytes("x", format!("{header}{crash}").as_bytes()));
        assert_eq!(heard.iter().map(counts).collect::<Vec<_>>(), [[1, 0, 0, 1, 0]]);
        for ran in ["..F", ".....  5 / 12 ( 41%)"] {
            let error = read(&format!("{header}{ran}{crash}")).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NoResult), "{ran}");
        }
        assert_eq!(read(crash).unwrap_err().reject(), Some(Reject::NoResult));
    }

    #[test]
    fn it_is_told_by_its_first_or_last_line() {
        for text in [RUN, END, "OK (2 tests, 2 assertions)\n"] {
            assert!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)), "{text}");
        }
        for none in ["OK (skipped=1)\n", "Tests: 1 failed, 2 total\n", "OK\n"] {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }
}
