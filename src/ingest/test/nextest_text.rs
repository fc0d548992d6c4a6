//! `nextest-text`: what `cargo nextest run` prints. The last `Summary` line gives the counts; a line a test gives names.

use std::collections::BTreeSet;

use super::runs::{self, Run, Runs};
use super::rust_failure::Failure;
use super::text_report::{Names, Summary, counted, no_result};
use super::{cargo_test_text, milliseconds};
use crate::error::Result;
use crate::ingest::input::{Input, Invalid};
use crate::ingest::text::{Lines, LongLine, split_at};
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;
use crate::model::metrics::BuildStatus;

/// What `cargo nextest run` prints.
pub const FORMAT: Format = Format {
    name: "nextest-text",
    kind: ReportKind::Test,
    about: "terminal output of cargo nextest",
    written_by: "cargo nextest run",
    told_by: "its Summary line, or \"Nextest run\"",
    has_end: true,
    counting: "The last Summary line: passed (flaky ones among them), failed, timed out and exec failed as failed, \
               skipped. Of a stress run the sum of its iterations. A setup script that fails is one errored test.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_some() {
        return Sniff::No;
    }
    let begins = |line: &str| line.trim_start().starts_with("Nextest run ID ");
    if head.lines().any(begins) {
        return Sniff::Sure("line \"Nextest run ID\"".into());
    }
    // A test of a `cargo test` that prints all can print what nextest says.
    let is_summed_up = || head.last_lines().any(|line| matches!(summary(painted(line).unwrap_or(line)), Some(Ok(_))));
    if !head.lines().any(cargo_test_text::is_marker) && is_summed_up() {
        return Sniff::Sure("a Summary line of nextest".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut lines = Lines::new(input, LongLine::Skip, Invalid::Escaped)?;
    let (mut reader, mut last) = (Reader::default(), 0);
    while let Some(line) = lines.next()? {
        last = line.number;
        reader.line(&line.text, line.ended).map_err(|error| error.line(last))?;
    }
    reader.parsed()?.ok_or_else(|| no_result("no Summary line of nextest in it", last))
}

/// Columns before the bracket with the time: results and the summary end there, and what a test printed stands further
/// in.
const RESULT_COLUMNS: usize = 12;

/// Reads the lines of a run, or of the last of several.
#[derive(Debug, Default)]
struct Reader {
    names: Names,
    /// The test that failed and whose output is read.
    telling: Option<(String, Failure)>,
    /// The run said that it begins.
    begun: bool,
    /// How many tests it said to run.
    announced: Option<u64>,
    found: Option<(Summary, u64)>,
    /// The summary that was found is the run's own, and no test's output.
    done: bool,
    /// Iterations of a stress run, and what they told: its summary counts them alone.
    iterations: u64,
    stress: (Summary, u64),
}

impl Reader {
    fn line(&mut self, text: &str, ended: bool) -> Result<()> {
        let text = painted(text).unwrap_or(text).trim_end();
        if is_beginning(text) {
            if !self.is_inside() {
                *self = Reader { begun: true, ..Reader::default() };
            }
        } else if let Some(told) = summary(text).filter(|_| ended || is_whole(text)) {
            let told = told?;
            self.tell();
            let is_own = is_in_column(text) && self.announced.is_none_or(|number| number == told.all);
            if is_own || !self.done {
                self.found = Some((told.summary, told.unfinished));
            }
            self.done |= is_own;
        } else if let Some(told) = iteration(text).filter(|_| self.begun && is_in_column(text)) {
            let told = told?;
            self.iterations += 1;
            self.stress.0.merge(&told.summary)?;
            self.stress.1 = add(self.stress.1, told.unfinished)?;
        } else if let Some((_, all)) = stressed(text).filter(|(ran, _)| *ran > 0 && *ran == self.iterations) {
            let (summary, unfinished) = self.stress.clone();
            let left_out = all.saturating_sub(self.iterations).saturating_mul(self.announced.unwrap_or_default());
            self.found = Some((summary, unfinished.saturating_add(left_out)));
            self.done = true;
        } else if let Some(number) = announced(text).filter(|_| self.begun && self.announced.is_none()) {
            self.announced = Some(number);
        } else if let Some(script) = failed_script(text).filter(|_| self.begun && is_in_column(text)) {
            self.names.unit(script);
        } else if let Some((id, outcome, seconds, attempt)) = result(text).filter(|_| !self.begun || is_in_column(text))
        {
            self.tell();
            if let Some(case) = self.names.set(&id, outcome) {
                case.duration_ms = seconds.and_then(milliseconds);
                case.attempts = attempt;
                self.telling = outcome.is_bad().then(|| (id, Failure::default()));
            }
        } else if let Some((_, failure)) = &mut self.telling {
            if is_of_stderr(text) {
                // Above it stands what libtest says of a run of one test.
                failure.forget_printed();
            } else {
                failure.line(text.strip_prefix("    ").unwrap_or(text));
            }
        }
        Ok(())
    }

    /// The output of a test is all read.
    fn tell(&mut self) {
        let Some((id, failure)) = self.telling.take() else { return };
        if let Some(case) = self.names.get_mut(&id) {
            failure.tell(case);
        }
    }

    /// Whether a run has begun, and its summary has not come.
    fn is_inside(&self) -> bool {
        self.begun && !self.done
    }

    /// The report; `None` without a summary.
    fn parsed(self) -> Result<Option<Parsed>> {
        let Some((mut summary, unfinished)) = self.found else { return Ok(None) };
        summary.add_units(self.names.unit_count())?;
        let mut parsed = self.names.report(&FORMAT, &summary, true)?;
        parsed.build = Some(BuildStatus::Success);
        if unfinished > 0 {
            parsed.warnings.push(format!("the run was cancelled: {unfinished} tests were not run"));
        }
        Ok(Some(parsed))
    }
}

/// Reads the runs in a stream.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Stream {
    reader: Reader,
    is_doubted: bool,
    runs: Vec<Run>,
}

impl Stream {
    fn close(&mut self) -> Result<()> {
        let reader = std::mem::take(&mut self.reader);
        let (is_alone, is_doubted) = (!reader.begun, std::mem::take(&mut self.is_doubted));
        let parsed = if reader.done { reader.parsed()? } else { None };
        self.runs.extend(parsed.map(|parsed| Run::of(parsed, BTreeSet::new()).alone(is_alone, is_doubted)));
        Ok(())
    }
}

impl Runs for Stream {
    fn line(&mut self, text: &str) -> Result<()> {
        // A summary that nothing announced is of another run than the one before.
        let is_another = || self.reader.done && matches!(summary(text), Some(Ok(_))) && is_in_column(text);
        if !self.reader.is_inside() && (is_beginning(text) || is_another()) {
            self.close()?;
        }
        self.reader.line(text, true)
    }

    fn count(&self) -> usize {
        self.runs.len()
    }

    fn doubt(&mut self) {
        self.is_doubted = self.reader.done;
        runs::doubt(&mut self.runs);
    }

    fn holds(&self, _: &str) -> bool {
        self.reader.is_inside()
    }

    fn finish(mut self: Box<Self>) -> Vec<Run> {
        // What cannot be added up is not there.
        let _ = self.close();
        self.runs
    }
}

/// ` Nextest run ID 4e54a2b1-… with nextest profile: default`.
fn is_beginning(text: &str) -> bool {
    text.trim_start().starts_with("Nextest run ID ") && text.len() - text.trim_start().len() < 4
}

/// The Summary line in what a terminal with a progress bar is given: lines filled up to its width, none of them ended.
fn painted(text: &str) -> Option<&str> {
    let at = text.rfind("     Summary [")?;
    let (before, line) = text.split_at_checked(at)?;
    let line = line.find(" skipped").and_then(|end| line.get(..end + " skipped".len()))?;
    before.trim_end().ends_with("────────────").then_some(line)
}

/// `4` of `    Starting 4 tests across 1 binary`.
fn announced(text: &str) -> Option<u64> {
    let (number, rest) = text.trim_start().strip_prefix("Starting ")?.split_once(' ')?;
    (rest.starts_with("test across ") || rest.starts_with("tests across ")).then(|| number.parse().ok())?
}

/// Whether the bracket with the time stands where nextest puts it.
fn is_in_column(text: &str) -> bool {
    let bracket = text.find(" [").unwrap_or_default();
    bracket == RESULT_COLUMNS || (bracket > RESULT_COLUMNS && !text.starts_with(' '))
}

/// `db: ./migrate` of `  SETUP FAIL [   0.008s] db: ./migrate`, of a script that runs before tests and did not succeed.
fn failed_script(text: &str) -> Option<&str> {
    let (word, rest) = split_at(text.trim_start().strip_prefix("SETUP ")?, " [")?;
    let is_bad = !matches!(word.trim(), "" | "PASS" | "LEAK" | "SLOW");
    rest.split_once("] ").map(|(_, script)| script).filter(|_| is_bad)
}

/// Whether what a test printed on stderr, or on both, begins; before version 0.9.87 with `--- STDERR:   kvlog tests::a ---`.
fn is_of_stderr(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("stderr ───") || text.starts_with("output ───") || text.starts_with("--- STDERR: ")
}

/// Whether a Summary line without a line end is all of it: the skipped come last.
fn is_whole(text: &str) -> bool {
    text.ends_with(" skipped")
}

/// What a Summary line says.
#[derive(Debug)]
struct Told {
    summary: Summary,
    /// Tests that were to run, and those of them that did not.
    all: u64,
    unfinished: u64,
}

/// `Summary [   0.866s] 5/7 tests run: 3 passed (1 flaky), 2 failed, 2 skipped`.
fn summary(line: &str) -> Option<Result<Told>> {
    let rest = line.trim_start().strip_prefix("Summary [")?;
    told(rest.split_once("] ")?.1)
}

/// What `Stress test [   3.342s] iteration 1/2: 12 tests run: 6 passed (1 slow), 6 failed, 1 skipped` says of its iteration.
fn iteration(line: &str) -> Option<Result<Told>> {
    let rest = line.trim_start().strip_prefix("Stress test [")?;
    let (_, rest) = rest.split_once("] iteration ")?;
    told(rest.split_once(": ")?.1)
}

/// How many iterations of how many `Summary [   6.619s] 2/3 stress run iterations: 0 passed, 2 failed` counts.
fn stressed(line: &str) -> Option<(u64, u64)> {
    let rest = line.trim_start().strip_prefix("Summary [").filter(|_| is_in_column(line))?;
    let (iterations, _) = rest.split_once("] ")?.1.split_once(" stress run iteration")?;
    let (ran, all) = iterations.split_once('/').unwrap_or((iterations, iterations));
    Some((ran.parse().ok()?, all.parse().ok()?))
}

/// `5/7 tests run: 3 passed (1 flaky), 2 failed, 2 skipped`.
fn told(text: &str) -> Option<Result<Told>> {
    let (run, counts) = text.split_once(" run: ")?;
    let run = run.strip_suffix(" tests").or_else(|| run.strip_suffix(" test"))?;
    let number = |text: &str| text.parse::<u64>().ok();
    let (ran, all) = run.split_once('/').unwrap_or((run, run));
    let all = number(all)?;
    let unfinished = all.checked_sub(number(ran)?)?;
    let mut summary = Summary::default();
    let mut result = Ok(());
    // Parentheses hold what is part of the count before them.
    let mut rest = counts;
    while !rest.is_empty() {
        let end = rest.find([',', '(']).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        if let Some((number, word)) = counted(part) {
            let slot = match word {
                "passed" => &mut summary.passed,
                "failed" | "timed out" | "exec failed" => &mut summary.failed,
                "skipped" => &mut summary.skipped,
                _ => return None,
            };
            result = result.and(Summary::add(slot, number));
        }
        rest = match after.strip_prefix('(') {
            Some(inner) => {
                let (inner, after) = inner.split_once(')')?;
                let flaky = inner.split(", ").filter_map(counted).find(|(_, word)| *word == "flaky");
                summary.flaky = flaky.and_then(|(number, _)| number).unwrap_or(summary.flaky);
                after.trim_start_matches([',', ' '])
            }
            None => after.trim_start_matches([',', ' ']),
        };
    }
    Some(result.map(|()| Told { summary, all, unfinished }))
}

/// Id, outcome, seconds and attempt of `  TRY 2 FAIL [   0.022s] (4/7) kvlog tests::returns_err`.
fn result(line: &str) -> Option<(String, Outcome, Option<&str>, u32)> {
    let (word, rest) = split_at(line.trim_start(), " [")?;
    let (time, rest) = rest.split_once("] ")?;
    let seconds = time.trim().strip_suffix('s')?;
    let (word, attempt) = match word.strip_prefix("TRY ").and_then(|rest| rest.split_once(' ')) {
        Some((attempt, word)) => (word, attempt.parse().ok()?),
        None => (word, 1),
    };
    let (outcome, attempt) = match word {
        "PASS" | "LEAK" => (Outcome::Passed, attempt),
        "FAIL" | "TIMEOUT" | "ABORT" | "XFAIL" | "LEAK-FAIL" => (Outcome::Failed, attempt),
        word if word.starts_with("SIG") => (Outcome::Failed, attempt),
        word => {
            let (attempt, _) = word.strip_prefix("FLAKY ")?.split_once('/')?;
            (Outcome::Passed, attempt.trim().parse().ok()?)
        }
    };
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(progress) => progress.split_once(") ").map(|(_, rest)| rest)?,
        None => rest,
    };
    let (binary, test) = rest.trim().split_once(' ')?;
    (!test.contains(' ')).then(|| (format!("{binary}::{test}"), outcome, Some(seconds), attempt))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_last_summary_counts() {
        for (text, expected, flaky) in [
            ("3 tests run: 3 passed, 0 skipped", [3, 3, 0, 0, 0], None),
            (
                "9 tests run: 5 passed (1 slow, 2 flaky), 2 failed (1 due to being leaky), 1 exec failed, 1 timed out, 2 skipped",
                [11, 5, 4, 0, 2],
                Some(2),
            ),
            ("5/7 tests run: 4 passed (1 leaky), 1 failed, 1 skipped", [6, 4, 1, 0, 1], None),
            ("1 test run: 1 passed, 0 skipped", [1, 1, 0, 0, 0], None),
        ] {
            let parsed = read(&format!("     Summary [   0.8s] 1 test run: 0 passed, 1 failed, 0 skipped\n Nextest run ID x\n     Summary [   0.866s] {text}\n")).unwrap();
            assert_eq!((counts(&parsed), parsed.figures.flaky), (expected, flaky), "{text}");
            assert_eq!(parsed.warnings.len(), usize::from(text.contains('/')));
        }
        for none in ["", "Nextest run ID x\n        PASS [   0.017s] a b\n", "Summary [ 1s] 3 tests run: 3 pas"] {
            assert_eq!(read(none).unwrap_err().reject(), Some(Reject::NoResult), "{none}");
        }
        let large = "Summary [ 1s] 3 tests run: 18446744073709551616 passed, 0 skipped\n";
        assert_eq!(read(large).unwrap_err().reject(), Some(Reject::Malformed));
    }

    #[test]
    fn a_setup_script_that_fails_is_an_error() {
        let begin = " Nextest run ID x with nextest profile: default\n    Starting 2 tests across 2 binaries (9 tests skipped)\n       \
                     SETUP [      1/1] db: sleep 5\n  SETUP SLOW [>  0.500s] db: sleep 5\n";
        let end = "     Summary [   0.009s] 0/2 tests run: 0 passed, 9 skipped\nerror: setup script failed\n";
        for word in ["  SETUP FAIL", "   SETUP TMT", "SETUP SIGSEGV"] {
            let parsed = read(&format!("{begin}{word} [   1.007s] db: sleep 5\n{end}")).unwrap();
            assert_eq!(counts(&parsed), [10, 0, 0, 1, 9], "{word}");
            assert_eq!(details(&parsed).failed_units, ["db: sleep 5"]);
        }
        let passed = read(&format!("{begin}  SETUP PASS [   1.007s] db: sleep 5\n{end}")).unwrap();
        assert_eq!(counts(&passed), [9, 0, 0, 0, 9]);
    }

    #[test]
    fn the_iterations_of_a_stress_run_add_up() {
        let begin =
            " Nextest run ID x with nextest profile: default\n    Starting 3 tests across 1 binary (1 test skipped)\n";
        let first = " Stress test [   3.342s] iteration 1/2: 3 tests run: 2 passed (1 slow), 1 failed, 1 skipped\n";
        let second = " Stress test [  10.277s] iteration 2/2: 3 tests run: 3 passed (1 flaky), 1 skipped\n";
        let printed = "    Stress test [   3.342s] iteration 1/2: 3 tests run: 3 passed, 1 skipped\n";
        let end = "     Summary [   6.619s] 2/2 stress run iterations: 1 passed, 1 failed\nerror: test run failed\n";
        let parsed = read(&format!("{begin}{first}{printed}{second}{end}")).unwrap();
        assert_eq!((counts(&parsed), parsed.figures.flaky), ([8, 5, 1, 0, 2], Some(1)));
        let cancelled = read(&format!("{begin}{first}{}", end.replace("2/2", "1/2"))).unwrap();
        assert_eq!((counts(&cancelled), cancelled.warnings.len()), ([4, 2, 1, 0, 1], 1));
        // One that was killed, and one of which not all is there.
        for text in [format!("{begin}{first}{second}"), format!("{begin}{second}{end}"), format!("{begin}{end}")] {
            assert_eq!(read(&text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
    }

    #[test]
    fn lines_of_tests_give_names_and_the_last_attempt_stands() {
        let text = "        PASS [   0.017s] (1/7) k tests::a\n  TRY 1 FAIL [   0.2s] (───) k::it b\n  TRY 2 PASS [   0.25s] (2/7) k::it b\n\
                    \x20    SIGSEGV [   0.1s] k c\n   FLAKY 2/3 [   0.1s] k d\n        SLOW [> 60.0s] k e\n\
                    Summary [ 1s] 4 tests run: 3 passed, 1 failed, 0 skipped\n";
        let details = details(&read(text).unwrap());
        let case = |id: &str| (details.cases.cases[id].outcome, details.cases.cases[id].attempts);
        assert_eq!((case("k::tests::a"), case("k::it::b")), ((Outcome::Passed, 1), (Outcome::Passed, 2)));
        assert_eq!((case("k::c"), case("k::d")), ((Outcome::Failed, 1), (Outcome::Passed, 2)));
        assert_eq!((details.cases.cases.len(), details.dropped), (4, 0));
        assert_eq!(details.cases.cases["k::it::b"].duration_ms, Some(250));
    }

    #[test]
    fn it_is_told_by_its_first_or_last_line() {
        assert!(matches!(sniffed(&FORMAT, "Nextest run ID x\n"), Sniff::Sure(_)));
        assert!(matches!(sniffed(&FORMAT, "Summary [ 1s] 1 test run: 1 passed, 0 skipped\n"), Sniff::Sure(_)));
        assert_eq!(sniffed(&FORMAT, "Summary of all failing tests\n"), Sniff::No);
        let printed = "running 1 test\n     Summary [ 1s] 1 test run: 1 passed, 0 skipped\ntest a ... ok\n";
        assert_eq!(sniffed(&FORMAT, printed), Sniff::No);
    }

    #[test]
    fn a_terminals_lines_are_filled_and_not_ended() {
        let text = "    Finished `test` profile\r\n\u{1b}[3A\r\u{1b}[2K        PASS [   0.106s] a b            ────────────              \
                    \u{1b}[31;1m     Summary\u{1b}[0m [   0.917s] \u{1b}[1m4\u{1b}[0m tests run: 3 passed (1 flaky), 1 failed, 2 skipped              \
                      FLAKY 2/3 [   0.006s] a b          error: test run failed\r\n";
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!(
            (parsed.format.name, counts(&parsed), parsed.figures.flaky),
            ("nextest-text", [6, 3, 1, 0, 2], Some(1))
        );
    }

    #[test]
    fn failed_tests_tell_why() {
        let text = " Nextest run ID 7683693b with nextest profile: default\n    Starting 3 tests across 1 binary\n\
                    \x20       FAIL [   0.004s] (1/3) shop tests::fails\n  stdout ───\n\n    running 1 test\n    out\n\
                    \x20   test tests::fails ... FAILED\n\n  stderr ───\n\n\
                    \x20   thread 'tests::fails' (12115) panicked at src/lib.rs:13:43:\n    no luck\n\
                    \x20   note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n\
                    \x20       FAIL [   0.006s] (2/3) shop tests::should\n  stdout ───\n\n    running 1 test\n\n\
                    \x20   ---- tests::should stdout ----\n    note: test did not panic as expected at src/lib.rs:15:32\n\n\
                    \x20       PASS [   0.007s] (3/3) shop tests::adds\n────────────\n\
                    \x20    Summary [   0.011s] 3 tests run: 1 passed, 2 failed, 0 skipped\n\
                    \x20       FAIL [   0.004s] (1/3) shop tests::fails\n";
        let parsed = read(text).unwrap();
        let cases = &details(&parsed).cases.cases;
        let fails = &cases["shop::tests::fails"];
        assert_eq!(
            (fails.message.as_deref(), fails.file.as_deref(), fails.line),
            (Some("no luck"), Some("src/lib.rs"), Some(13))
        );
        let should = cases["shop::tests::should"].message.as_deref();
        assert_eq!(should, Some("test did not panic as expected at src/lib.rs:15:32"));
    }
}
