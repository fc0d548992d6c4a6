//! `karma-text`: what Karma prints with its reporters progress and dots, and with karma-mocha-reporter.
//! <https://karma-runner.github.io/>
//!
//! Each browser tells how far it is, and at its end the time that it took, which is zero before.

use std::collections::BTreeMap;

use super::text_report::{Names, Summary};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::text::{first_lines, split_at};
use crate::ingest::values::leading;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `karma start --single-run` prints.
pub const FORMAT: Format = Format {
    name: "karma-text",
    kind: ReportKind::Test,
    about: "terminal output of Karma",
    written_by: "karma start --single-run, ng test (reporters progress, dots, mocha)",
    told_by: "\"BROWSER: Executed 5 of 6 (2 FAILED) (skipped 1) (0.1 secs / 0.05 secs)\"",
    has_end: true,
    counting: "The last line of each browser: failed, skipped, the other executed tests passed; those it did not come to, because it \
               was disconnected, are errored. Without such lines the SUMMARY of karma-mocha-reporter.",
    sniff,
    parse: last_run::<Karma>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_told = head.lines().any(Karma::begins) || head.last_lines().any(|line| executed(line.trim_end()).is_some());
    match head.xml().is_none() && is_told {
        true => Sniff::Sure("Karma's first line, or \"BROWSER: Executed N of N\"".into()),
        false => Sniff::No,
    }
}

/// Browsers of one run.
const MOST_BROWSERS: usize = 100;

/// What a browser came to.
#[derive(Clone, Debug, Default)]
struct Browser {
    summary: Summary,
    /// It told how long it took.
    is_done: bool,
}

/// `Chrome 120.0 (Linux): Executed 5 of 6 (2 FAILED) (skipped 1) (0.164 secs / 0.041 secs)`.
fn executed(line: &str) -> Option<(&str, Browser)> {
    // Nearly every line is told by that alone.
    split_at(line, ": Executed ")?;
    let (name, rest) = line.rsplit_once(": Executed ").filter(|(name, _)| name.ends_with(')'))?;
    let (executed, rest) = leading(rest.as_bytes())?;
    let rest = std::str::from_utf8(rest).ok()?;
    let (all, rest) = leading(rest.strip_prefix(" of ")?.as_bytes())?;
    let rest = std::str::from_utf8(rest).ok()?;
    let within = |begin: &str, end: &str| match rest.split_once(begin) {
        Some((_, after)) => after.split_once(end)?.0.trim().parse::<u64>().ok(),
        None => Some(0),
    };
    let failed = if rest.contains(" FAILED)") { within(" (", " FAILED)")? } else { 0 };
    let skipped = within(" (skipped ", ")")?;
    let time = rest.rsplit_once(" (").filter(|(_, time)| time.ends_with(')')).map(|(_, time)| time);
    let is_lost = rest.contains(" DISCONNECTED") || rest.contains(" ERROR");
    let is_done = time.is_some_and(|time| !time.starts_with("0 secs") && time.contains(" / ")) || is_lost;
    // Without any that is missing it failed outside of tests.
    let missing = if is_lost { all.saturating_sub(executed).saturating_sub(skipped).max(1) } else { 0 };
    let summary =
        Summary { passed: executed.checked_sub(failed)?, failed, errored: missing, skipped, ..Summary::default() };
    Some((name, Browser { summary, is_done }))
}

/// `✔ 3 tests completed`, `ℹ 1 test skipped`, `✖ 2 tests failed`.
fn of_mocha(line: &str) -> Option<Summary> {
    Summary::of([line.split_once(' ')?.1], |words| match words.split_once(' ')?.1 {
        "completed" => Some(Outcome::Passed),
        "skipped" => Some(Outcome::Skipped),
        "failed" => Some(Outcome::Failed),
        _ => None,
    })
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Karma {
    names: Names,
    browsers: BTreeMap<String, Browser>,
    /// Browsers that are there.
    connected: Vec<String>,
    /// Of karma-mocha-reporter, and whether a blank line ended it.
    summary: Option<(Summary, bool)>,
    /// The test whose message comes.
    failed: Option<String>,
    /// It found no browser, or could not load its config.
    is_off: bool,
}

impl Announced for Karma {
    fn begins(line: &str) -> bool {
        line.contains(" [karma-server]: Karma v") || line.contains(" [karma]: Karma v")
    }

    fn line(&mut self, text: &str) -> Result<()> {
        let name = |browser: &String| text.strip_prefix(browser.as_str())?.strip_suffix(" FAILED")?.strip_prefix(' ');
        if let Some((name, browser)) = executed(text) {
            if self.browsers.len() < MOST_BROWSERS || self.browsers.contains_key(name) {
                self.browsers.insert(name.to_owned(), browser);
            }
        } else if let Some((before, _)) = text.split_once("]: Connected on socket ")
            && self.connected.len() < MOST_BROWSERS
        {
            self.connected.extend(before.split_once(":INFO [").map(|(_, browser)| browser.to_owned()));
        } else if text.contains(":ERROR [") {
            self.is_off = true;
        } else if text == "SUMMARY:" {
            self.summary = Some((Summary::default(), false));
        } else if let Some((summary, is_ended @ false)) = &mut self.summary {
            *is_ended = text.is_empty();
            summary.merge(&of_mocha(text).unwrap_or_default())?;
        } else if let Some(name) = self.connected.iter().find_map(name) {
            self.failed = self.names.set(name, Outcome::Failed).map(|_| name.to_owned());
        } else if let Some(case) = self.failed.take().and_then(|name| self.names.cases.get_mut(&name)) {
            case.message = first_lines(text.trim_start());
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        let is_of_mocha = self.browsers.is_empty() && self.summary.as_ref().is_some_and(|(_, is_ended)| *is_ended);
        let are_done = !self.browsers.is_empty() && self.browsers.values().all(|browser| browser.is_done);
        is_of_mocha || (are_done && self.browsers.len() >= self.connected.len())
    }

    fn is_off(&self) -> bool {
        self.is_off
    }

    fn report(self) -> Result<Parsed> {
        let mut sum = Summary::default();
        self.browsers.values().try_for_each(|browser| sum.merge(&browser.summary))?;
        if self.browsers.is_empty() {
            sum = self.summary.unwrap_or_default().0;
        }
        self.names.report(&FORMAT, &sum, false)
    }
}

impl TextRun for Karma {
    const TOOL: &'static str = "Karma";

    fn is_whole(line: &str) -> bool {
        line.starts_with("TOTAL: ") || executed(line).is_some_and(|(_, browser)| browser.is_done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "22 11 2026 19:19:47.859:INFO [karma-server]: Karma v6.4.4 server started at http://localhost:9876/\n\
                       22 11 2026 19:19:51.797:INFO [Chrome 120 (Linux)]: Connected on socket 29Ns with id 31732153\n\
                       Chrome 120 (Linux): Executed 0 of 6 SUCCESS (0 secs / 0 secs)\nChrome 120 (Linux) cart fails FAILED\n\
                       \tExpected 2 to be 3.\n\t    at <Jasmine>\nExecuted 9 of 9 (3 FAILED) (0.1 secs / 0.1 secs)\n\
                       Chrome 120 (Linux): Executed 4 of 6 (1 FAILED) (skipped 1) (0 secs / 0.041 secs)\n";
    const END: &str = "Chrome 120 (Linux): Executed 5 of 6 (1 FAILED) (skipped 1) (0.164 secs / 0.041 secs)\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_last_line_of_each_browser_counts() {
        let parsed = read(&format!("{RUN}{END}TOTAL: 1 FAILED, 4 SUCCESS\n")).unwrap();
        assert_eq!(counts(&parsed), [6, 4, 1, 0, 1]);
        let failed = details(&parsed).cases.cases.remove("cart fails").unwrap();
        assert_eq!((failed.outcome, failed.message.as_deref()), (Outcome::Failed, Some("Expected 2 to be 3.")));
        let other = "Firefox 121 (Linux): Executed 6 of 6 SUCCESS (0.2 secs / 0.1 secs)\n";
        assert_eq!(counts(&read(&format!("{RUN}{END}{other}")).unwrap()), [12, 10, 1, 0, 1]);
        let lost = "Chrome 120 (Linux): Executed 3 of 6 (1 FAILED) DISCONNECTED (10.1 secs / 0.1 secs)\n";
        assert_eq!(counts(&read(&format!("{RUN}{lost}")).unwrap()), [6, 2, 1, 3, 0]);
        let error = "Chrome 120 (Linux): Executed 0 of 0 ERROR (0.002 secs / 0 secs)\n";
        assert_eq!(counts(&read(error).unwrap()), [1, 0, 0, 1, 0]);
        assert!(matches!(sniffed(&FORMAT, END), Sniff::Sure(_)) && matches!(sniffed(&FORMAT, RUN), Sniff::Sure(_)));
    }

    #[test]
    fn the_mocha_reporter_has_a_summary() {
        let text = "SUMMARY:\n✔ 3 tests completed\nℹ 1 test skipped\n✖ 2 tests failed\n";
        assert_eq!(counts(&read(&format!("{text}\nFAILED TESTS:\n")).unwrap()), [6, 3, 2, 0, 1]);
        assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult));
    }

    #[test]
    fn before_it_tells_its_time_a_browser_is_not_done() {
        for text in ["", RUN, &RUN.replace("0 of 6", "6 of 6")] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        assert_eq!(
            read(&format!("{RUN}{}", END.trim_end_matches("/ 0.041 secs)\n"))).unwrap_err().reject(),
            Some(Reject::Malformed)
        );
    }
}
