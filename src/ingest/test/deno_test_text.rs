//! `deno-test-text`: what `deno test` prints with its pretty or dot reporter. The last summary gives the counts, the lines
//! of tests and the list of errors give names. What a test printed stands between rules and is not looked at. With `--parallel`
//! no line announces a file: its name stands before each test.

use super::milliseconds;
use super::text_report::{Names, Summary, counted, is_foreign, no_result, say_last};
use super::text_runs::Announced;
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, first_lines, printable};
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `deno test` prints.
pub const FORMAT: Format = Format {
    name: "deno-test-text",
    kind: ReportKind::Test,
    about: "terminal output of deno test",
    written_by: "deno test",
    told_by: "its line \"ok | N passed | N failed\"",
    has_end: true,
    counting: "The last summary: passed and measured passed, failed, ignored skipped; steps and what is filtered out \
               are no tests. A file with an uncaught error, which deno counts as a failed test, is errored, and so is \
               the run once if it fails for the use of \"only\".",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.last_lines().any(|line| summary(line).is_some()) {
        // cargo's words differ, but a test of another tool can print this line.
        return if is_foreign(head) { Sniff::No } else { Sniff::Sure("line \"ok | N passed | N failed\"".into()) };
    }
    let starts = |line: &str| line.starts_with("running ") && file(line).is_some();
    if head.lines().any(starts) { Sniff::Maybe("line \"running N tests from …\"".into()) } else { Sniff::No }
}

/// The counts of `FAILED | 4 passed (3 steps) | 3 failed (1 step) | 1 ignored (827ms)`.
fn summary(line: &str) -> Option<Vec<(Option<u64>, &str)>> {
    let line = line.trim_end();
    let rest = line.strip_prefix("ok | ").or_else(|| line.strip_prefix("FAILED | "))?;
    let (counts, time) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    // `(3 steps)` is no time, and a line that ends with it is cut.
    if !time.ends_with('s') || !time.starts_with(|c: char| c.is_ascii_digit()) || time.contains(' ') {
        return None;
    }
    let counts: Vec<_> = counts.split(" | ").map(counted).collect::<Option<_>>()?;
    matches!(counts.first(), Some((_, word)) if word.starts_with("passed")).then_some(counts)
}

/// What deno fails a run for in which all tests pass: `Deno.test.only` was left in.
const ONLY: &str = "error: Test failed because the \"only\" option was used";

/// The file in `running 5 tests from ./cart_test.ts`.
fn file(line: &str) -> Option<&str> {
    let (_, rest) = counted(line.strip_prefix("running ")?)?;
    rest.strip_prefix("tests from ").or_else(|| rest.strip_prefix("test from "))
}

/// File and rest of `./cart_test.ts => adds ... ok (12ms)`.
fn parallel(line: &str) -> Option<(&str, &str)> {
    let (file, rest) = line.split_once(" => ")?;
    let is_file = (file.starts_with("./") || file.contains("://")) && !file.contains(' ');
    (is_file && rest.contains(" ...")).then_some((file, rest))
}

/// Whether what a test printed ends with the line: `----- output end -----`, `./cart_test.ts => adds ...----- output end -----`.
fn ends_output(line: &str) -> bool {
    let rule = parallel(line).and_then(|(_, rest)| Some(rest.split_once(" ...-----")?.1));
    rule.or_else(|| line.strip_prefix("-----")).is_some_and(|rule| rule.contains(" output end -----"))
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut told, mut last, mut runs) = (Told::default(), 0, 0_u64);
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    while let Some(line) = lines.next()? {
        last = line.number;
        if told.take(line.text.trim_end()).map_err(|error| error.line(last))? {
            runs = add(runs, 1)?;
        }
    }
    let Some((names, summary)) = told.found.filter(|_| told.run.file.is_empty()) else {
        return Err(no_result("no summary of deno test at its end", last));
    };
    let mut parsed = names.report(&FORMAT, &summary, false)?;
    say_last(&mut parsed, runs, "deno test");
    Ok(parsed)
}

/// One run.
#[derive(Debug, Default)]
struct Run {
    names: Names,
    file: String,
    /// What a test printed.
    in_output: bool,
    /// The failed test whose message is expected.
    told: Option<String>,
}

impl Run {
    fn line(&mut self, text: &str) {
        if self.in_output {
            self.in_output = !ends_output(text);
        } else if text.starts_with("-------") && text.ends_with(" output -------") {
            self.in_output = true;
        } else if let Some(file) = file(text) {
            file.clone_into(&mut self.file);
        } else if let Some(unit) = text.strip_suffix(" (uncaught error)") {
            // It stands in the list of errors, and in that of failures.
            if !self.names.units.iter().any(|known| known == unit) {
                self.names.unit(unit);
            }
        } else if let Some((file, rest)) = parallel(text) {
            // What has another such mark is a step.
            if let Some((name, outcome, time)) = result(rest).filter(|(name, ..)| !name.contains(" ... ")) {
                file.clone_into(&mut self.file);
                self.result(name, outcome, time);
            }
        } else if let Some((name, place)) = text.split_once(" => ").filter(|_| !text.starts_with(' ')) {
            self.failed(name, place);
        } else if let Some(message) = text.strip_prefix("error: ") {
            let told = self.told.take();
            if let Some(case) = told.and_then(|id| self.names.get_mut(&id)) {
                case.message = case.message.take().or_else(|| first_lines(message));
            }
        } else if let Some((name, outcome, time)) = result(text).filter(|_| !self.file.is_empty()) {
            self.result(name, outcome, time);
        }
    }

    fn result(&mut self, name: &str, outcome: Outcome, time: Option<u64>) {
        if let Some(case) = self.names.set(&format!("{}::{name}", self.file), outcome) {
            case.duration_ms = time;
            case.file = Some(printable(&self.file, 1000));
        }
    }

    /// `steps ... two fails => ./cart_test.ts:6:11`: of a step, the test that it is part of.
    fn failed(&mut self, name: &str, place: &str) {
        let name = name.split(" ... ").next().unwrap_or(name);
        let mut parts = place.rsplitn(3, ':').skip(1);
        let line = parts.next().and_then(|line| line.parse().ok()).filter(|line| *line > 0);
        let Some(file) = parts.next() else { return };
        let id = printable(&format!("{file}::{name}"), super::LONGEST_ID);
        // With dots in place of lines, it is first named here.
        let Some(case) = self.names.set(&id, Outcome::Failed) else { return };
        case.file = Some(printable(file, 1000));
        case.line = case.line.or(line);
        self.told = Some(id);
    }

    /// What its summary counts.
    fn total(self, counts: &[(Option<u64>, &str)]) -> Result<(Names, Summary)> {
        let mut summary = Summary::default();
        for (number, words) in counts {
            let slot = match words.split(' ').next() {
                Some("passed" | "measured") => &mut summary.passed,
                Some("failed") => &mut summary.failed,
                Some("ignored") => &mut summary.skipped,
                _ => continue,
            };
            Summary::add(slot, *number)?;
        }
        let units = self.names.unit_count().min(summary.failed);
        summary.failed = summary.failed.saturating_sub(units);
        (summary.errored, summary.unit_failures) = (units, units);
        Ok((self.names, summary))
    }
}

/// A run in a stream in which others speak too.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Told {
    run: Run,
    found: Option<(Names, Summary)>,
}

impl Told {
    /// Takes a line; whether it sums a run up.
    fn take(&mut self, text: &str) -> Result<bool> {
        if let Some(counts) = summary(text).filter(|_| !self.run.in_output) {
            self.found = Some(std::mem::take(&mut self.run).total(&counts)?);
            return Ok(true);
        }
        match &mut self.found {
            Some((_, summary)) if text == ONLY => {
                summary.errored = add(summary.errored, 1)?;
                summary.unit_failures = add(summary.unit_failures, 1)?;
            }
            _ => self.run.line(text),
        }
        Ok(false)
    }
}

impl Announced for Told {
    fn begins(line: &str) -> bool {
        let announced = file(line).is_some_and(|file| file.starts_with("./") || file.contains("://"));
        announced || parallel(line).is_some_and(|(_, rest)| result(rest).is_some())
    }

    fn line(&mut self, text: &str) -> Result<()> {
        self.take(text).map(drop)
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }

    fn report(self) -> Result<Parsed> {
        let (names, summary) = self.found.unwrap_or_default();
        names.report(&FORMAT, &summary, false)
    }
}

/// Name, outcome and milliseconds of `adds ... ok (12ms)`; of steps, which are indented, none.
fn result(text: &str) -> Option<(&str, Outcome, Option<u64>)> {
    let (name, rest) = text.rsplit_once(" ... ")?;
    let (word, time) = rest.strip_suffix(')')?.rsplit_once(" (")?;
    let outcome = match word.split(" (").next()? {
        "ok" => Outcome::Passed,
        "FAILED" | "cancelled" => Outcome::Failed,
        "ignored" => Outcome::Skipped,
        _ => return None,
    };
    let duration = match (time.strip_suffix("ms"), time.strip_suffix('s')) {
        (Some(whole), _) => whole.parse().ok(),
        (None, Some(seconds)) => milliseconds(seconds),
        (None, None) => None,
    };
    (!name.starts_with(' ') && !name.is_empty()).then_some((name, outcome, duration))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "running 5 tests from ./cart_test.ts\nadds ... ok (471µs)\nfails ... FAILED (1ms)\nignored ... ignored (0ms)\n\
                       steps ...\n  one ... ok (0ms)\nsteps ... FAILED (due to 1 failed step) (2s)\nprints ...\n------- output -------\n\
                       ok | 99 passed | 0 failed (1ms)\nfake ... ok (1ms)\n----- output end -----\nprints ... ok (1ms)\n\
                       Uncaught error from ./b_test.ts FAILED\n\n ERRORS \n\n./b_test.ts (uncaught error)\nerror: (in promise) Error: x\n\n\
                       fails => ./cart_test.ts:2:6\nerror: Error: no\n\nsteps ... two fails => ./cart_test.ts:6:11\nerror: Error: step\n\n\
                       \x20FAILURES \n\n./b_test.ts (uncaught error)\nfails => ./cart_test.ts:2:6\nsteps ... two fails => ./cart_test.ts:6:11\n\n";
    const END: &str =
        "FAILED | 2 passed (1 step) | 3 failed (1 step) | 1 ignored | 7 filtered out (827ms)\n\nerror: Test failed\n";

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_last_summary_counts_and_steps_are_no_tests() {
        let parsed = read(&format!("{RUN}{END}")).unwrap();
        assert_eq!((counts(&parsed), details(&parsed).failed_units), ([6, 2, 2, 1, 1], vec!["./b_test.ts".to_owned()]));
        assert_eq!(counts(&read("ok | 2 passed (2 steps) | 0 failed (28ms)\n").unwrap()), [2, 2, 0, 0, 0]);
        let twice = read(&format!("{RUN}{END}ok | 1 passed | 0 failed (1s)\n")).unwrap();
        assert_eq!((counts(&twice), twice.warnings.len()), ([1, 1, 0, 0, 0], 1));
    }

    #[test]
    fn tests_have_file_line_duration_and_message() {
        let details = details(&read(&format!("{RUN}{END}")).unwrap());
        let case = &details.cases.cases["./cart_test.ts::fails"];
        assert_eq!((case.line, case.duration_ms, case.message.as_deref()), (Some(2), Some(1), Some("Error: no")));
        let steps = &details.cases.cases["./cart_test.ts::steps"];
        assert_eq!((steps.outcome, steps.message.as_deref()), (Outcome::Failed, Some("Error: step")));
        assert_eq!((steps.duration_ms, details.cases.cases.len(), details.dropped), (Some(2000), 5, 0));
    }

    #[test]
    fn what_was_left_to_run_alone_fails_the_run() {
        let text = "running 1 test from ./a_test.ts\na ... ok (1ms)\n\nok | 1 passed | 0 failed | 1 filtered out (151ms)\n\n\
                    error: Test failed because the \"only\" option was used\n\nStack backtrace:\n   0: <unknown>\n";
        assert_eq!(counts(&read(text).unwrap()), [2, 1, 0, 1, 0]);
        let told = crate::ingest::console::console(&Input::bytes("x", format!("hi\n{text}bye\n").as_bytes()));
        assert_eq!(told.iter().map(counts).collect::<Vec<_>>(), [[2, 1, 0, 1, 0]]);
    }

    #[test]
    fn in_parallel_each_line_names_its_file() {
        let run = "./a_test.ts => adds ... ok (12ms)\n------- output -------\nok | 99 passed | 0 failed (1ms)\n\
                   ./a_test.ts => fails ...----- output end -----\n./a_test.ts => fails ... FAILED (1ms)\n\
                   ./a_test.ts => steps ... one ... ok (0ms)\n./b_test.ts => steps ... FAILED (due to 1 failed step) (2s)\n\n\
                   \x20ERRORS \n\nfails => ./a_test.ts:2:6\nerror: Error: no\n\n";
        let parsed = read(&format!("{run}FAILED | 1 passed (1 step) | 2 failed (27ms)\n")).unwrap();
        assert_eq!(counts(&parsed), [3, 1, 2, 0, 0]);
        let details = details(&parsed);
        let names: Vec<_> = details.cases.cases.keys().map(String::as_str).collect();
        assert_eq!(names, ["./a_test.ts::adds", "./a_test.ts::fails", "./b_test.ts::steps"]);
        assert_eq!(details.cases.cases["./a_test.ts::fails"].line, Some(2));
        assert_eq!(read(run).unwrap_err().reject(), Some(Reject::NoResult));
        let told = crate::ingest::console::console(&Input::bytes(
            "x",
            format!("x\n{run}FAILED | 1 passed | 2 failed (27ms)\n").as_bytes(),
        ));
        assert_eq!(counts(&told[0]), [3, 1, 2, 0, 0]);
    }

    #[test]
    fn a_run_without_its_summary_is_no_result() {
        let cut = "FAILED | 4 passed (3 steps) | 3 failed (2 steps)";
        for text in
            [RUN, "", cut, "ok | 2 passed | 0 failed (28", &format!("{END}{RUN}"), "error: Type checking failed.\n"]
        {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        let large = "ok | 18446744073709551616 passed | 0 failed (1ms)\n";
        assert_eq!(read(large).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn it_is_told_by_its_summary() {
        assert!(matches!(sniffed(&FORMAT, END), Sniff::Sure(_)));
        assert!(matches!(sniffed(&FORMAT, RUN.split("------- o").next().unwrap()), Sniff::Maybe(_)));
        for none in ["test result: ok. 2 passed; 0 failed;\n", "ok | done (1ms)\n", "running 5 tests\n"] {
            assert_eq!(sniffed(&FORMAT, none), Sniff::No, "{none}");
        }
    }
}
