//! `jasmine-text`: what Jasmine prints under Node, its console reporter. <https://jasmine.github.io/>
//!
//! The summary stands above the line that tells the time; failures outside of specs are in its count.

use super::telling::Telling;
use super::text_report::{Names, Summary, counted};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::figures::ReportKind;

/// What `jasmine` prints.
pub const FORMAT: Format = Format {
    name: "jasmine-text",
    kind: ReportKind::Test,
    about: "terminal output of Jasmine",
    written_by: "jasmine",
    told_by: "\"7 specs, 5 failures, 2 pending specs\" above \"Finished in …\"",
    has_end: true,
    counting: "The last summary: failures failed, pending skipped, and those beside focused ones too, the other specs \
               passed. Each error of a suite, which the failures hold, is one errored test.",
    sniff,
    parse: last_run::<Jasmine>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let lines: Vec<&str> = head.last_lines().map(str::trim_end).filter(|line| !tells_workers(line)).collect();
    let is_told = |pair: &[&str]| matches!(pair, [first, second] if summary(first).is_some() && is_time(second));
    if head.xml().is_none() && lines.windows(2).any(is_told) {
        return Sniff::Sure("line \"N specs, N failures\" above the time".into());
    }
    match head.lines().any(|line| line.trim() == "at <Jasmine>") {
        true => Sniff::Maybe("a stack of Jasmine's".into()),
        false => Sniff::No,
    }
}

/// The numbers of `7 specs, 5 failures, 2 pending specs`.
fn summary(line: &str) -> Option<[Option<u64>; 3]> {
    counted(line)?;
    let mut parts = line.split(", ").map(counted);
    let ((specs, "spec" | "specs"), (failures, "failure" | "failures")) = (parts.next()??, parts.next()??) else {
        return None;
    };
    match parts.next() {
        None => Some([specs, failures, Some(0)]),
        Some(Some((pending, "pending spec" | "pending specs"))) => Some([specs, failures, pending]),
        Some(_) => None,
    }
}

/// How many specs did not run for others that are focused: `Ran 1 of 3 specs`.
fn unfocused(line: &str) -> Option<u64> {
    let (ran, all) = line.strip_prefix("Ran ")?.split_once(" of ")?;
    let (all, word) = counted(all)?;
    all?.checked_sub(ran.parse().ok()?).filter(|_| matches!(word, "spec" | "specs"))
}

/// `Finished in 0.03 seconds`.
fn is_time(line: &str) -> bool {
    line.starts_with("Finished in ") && (line.ends_with(" seconds") || line.ends_with(" second"))
}

/// `Ran in parallel with 2 workers`, which may stand between the two.
fn tells_workers(line: &str) -> bool {
    line.starts_with("Ran in parallel with ")
}

/// Its run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Jasmine {
    names: Names,
    /// The numbers of the line before.
    told: Option<[Option<u64>; 3]>,
    found: Option<Summary>,
    suite_errors: u64,
    /// Specs that others kept from running.
    unfocused: u64,
    /// The list of failures goes on.
    is_failing: bool,
    /// The spec whose failure is told.
    open: Option<Telling>,
}

impl Jasmine {
    fn failure(&mut self, text: &str) {
        let name = text.split_once(") ").filter(|(number, _)| number.parse::<u64>().is_ok()).map(|(_, name)| name);
        if let Some(suite) = text.strip_prefix("Suite error: ") {
            self.suite_errors += 1;
            self.names.unit(suite);
        } else if let Some(name) = name {
            self.open = Some(Telling::of_failed(&mut self.names, name));
        } else if let Some(open) = &mut self.open {
            match text {
                "  Message:" => {}
                "  Stack:" => open.end(),
                text => open.line(&mut self.names, text),
            }
        }
    }
}

impl Announced for Jasmine {
    /// Only where the specs run in random order.
    fn begins(line: &str) -> bool {
        line.strip_prefix("Randomized with seed ").is_some_and(|seed| !seed.contains(' '))
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if tells_workers(text) {
            return Ok(());
        }
        if let Some(unfocused) = unfocused(text) {
            self.unfocused = unfocused;
        }
        match std::mem::replace(&mut self.told, summary(text)).filter(|_| is_time(text)) {
            Some([specs, failures, pending]) => {
                let errored = self.suite_errors.min(failures.unwrap_or(u64::MAX));
                let mut found = Summary { errored, unit_failures: errored, ..Summary::default() };
                Summary::add(&mut found.failed, failures.map(|failures| failures.saturating_sub(errored)))?;
                Summary::add(&mut found.skipped, pending)?;
                Summary::add(&mut found.passed, specs)?;
                found.passed = found.passed.saturating_sub(add(found.failed, found.skipped)?);
                found.skipped = add(found.skipped, std::mem::take(&mut self.unfocused))?;
                self.found = Some(found);
            }
            None if matches!(text, "Failures:" | "Pending:") => self.is_failing = text == "Failures:",
            // Where no spec failed, errors of suites have no heading.
            None if self.is_failing || text.starts_with("Suite error: ") => {
                self.is_failing = true;
                self.failure(text);
            }
            None => {}
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }

    fn report(self) -> Result<Parsed> {
        self.names.report(&FORMAT, &self.found.unwrap_or_default(), false)
    }
}

impl TextRun for Jasmine {
    const TOOL: &'static str = "Jasmine";

    fn is_whole(line: &str) -> bool {
        is_time(line) || line.starts_with("Randomized with seed ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};
    use crate::model::cases::Outcome;

    const RUN: &str = "Started\n9 specs, 0 failures\n.FF**F.\n\nFailures:\n1) cart fails\n  Message:\n    Expected 1 to be 2.\n  Stack:\n\
                       \x20       at <Jasmine>\n\n2) cart throws\n  Message:\n    Error: boom\n\nSuite error: cart hooks\n  Message:\n\
                       \x20   Error: db\n\nPending:\n\n1) cart skipped\n  Temporarily disabled with xit\n\n";
    const PARALLEL: &str =
        "7 specs, 3 failures, 2 pending specs\nRan in parallel with 2 workers\nFinished in 0.195 seconds\n";
    const END: &str = "7 specs, 3 failures, 2 pending specs\nFinished in 0.03 seconds\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_summary_counts_and_suites_that_fail_are_told_apart() {
        let parsed = read(&format!("{RUN}{END}Randomized with seed 1 (jasmine --random=true --seed=1)\n")).unwrap();
        assert_eq!(counts(&parsed), [8, 3, 2, 1, 2]);
        let details = details(&parsed);
        assert_eq!((&*details.failed_units, details.cases.cases.len()), (&["cart hooks".to_owned()][..], 2));
        let fails = &details.cases.cases["cart fails"];
        assert_eq!((fails.outcome, fails.message.as_deref()), (Outcome::Failed, Some("Expected 1 to be 2.")));
        assert_eq!(counts(&read("2 specs, 0 failures\nFinished in 1 second\n").unwrap()), [2, 2, 0, 0, 0]);
        let focused = "Ran 1 of 3 specs\n1 spec, 0 failures\nFinished in 0.004 seconds\nIncomplete: fit() or fdescribe() was found\n";
        assert_eq!(counts(&read(focused).unwrap()), [3, 1, 0, 0, 2]);
        let alone = "Suite error: top suite\n  Message:\n    Error: no\n\n0 specs, 1 failure\nFinished in 1 second\n";
        assert_eq!(counts(&read(alone).unwrap()), [1, 0, 0, 1, 0]);
        let printed = "Suite error: none\n2 specs, 0 failures\nFinished in 1 second\n";
        assert_eq!(counts(&read(printed).unwrap()), [2, 2, 0, 0, 0]);
    }

    #[test]
    fn of_several_workers_it_tells_between_summary_and_time() {
        let parsed = read(&format!("{RUN}{PARALLEL}")).unwrap();
        assert_eq!(counts(&parsed), counts(&read(&format!("{RUN}{END}")).unwrap()));
        assert!(matches!(sniffed(&FORMAT, PARALLEL), Sniff::Sure(_)));
    }

    #[test]
    fn without_the_time_there_is_no_summary() {
        for (cut, reject) in [
            (RUN.to_owned(), Reject::NoResult),
            (format!("{RUN}7 specs, 3 failures, 2 pending specs\n"), Reject::NoResult),
            (format!("{RUN}7 specs, 3 failures, 2 pending specs\nFinished in 0.0"), Reject::Malformed),
        ] {
            assert_eq!(read(&cut).unwrap_err().reject(), Some(reject), "{cut}");
        }
    }
}
