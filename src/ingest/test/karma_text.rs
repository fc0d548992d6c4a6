//! `karma-text`: what Karma prints with its reporters progress and dots, and with karma-mocha-reporter.
//! <https://karma-runner.github.io/>
//!
//! Each browser tells how far it is, and at its end the time that it took, which is zero before.

use std::collections::BTreeMap;

use super::telling::Telling;
use super::text_report::{Names, Summary};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::text::split_at;
use crate::ingest::values::leading;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
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
    counting: "The last line of each browser: failed, skipped, the other executed tests passed; those it did not come \
               to, because it was disconnected, are errored. Without such lines the SUMMARY of karma-mocha-reporter; \
               what a browser threw outside of tests is errored there.",
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

/// karma-mocha-reporter.
#[derive(Debug, Default)]
struct OfMocha {
    /// Tests in the tree above its summary: passed, skipped, and whether any failed.
    listed: (u64, u64),
    is_any_failed: bool,
    /// What browsers threw outside of tests.
    thrown: u64,
    summary: Option<Summary>,
    /// Another line followed the summary.
    is_ended: bool,
}

impl OfMocha {
    /// Takes a line of its tree, its summary, or below.
    fn line(&mut self, text: &str) -> Result<()> {
        if text == "SUMMARY:" {
            (self.summary, self.is_ended) = (Some(Summary::default()), false);
        } else if let Some(summary) = self.summary.as_mut().filter(|_| !self.is_ended) {
            match of_mocha(text) {
                Some(more) => summary.merge(&more)?,
                None => self.is_ended = true,
            }
        } else if self.summary.is_none() {
            let tree = text.trim_start();
            self.is_any_failed |= tree.starts_with("✖ ");
            if tree.ends_with(" (skipped)") || tree.starts_with("ℹ ") {
                self.listed.1 = add(self.listed.1, 1)?;
            } else if tree.starts_with("✔ ") {
                self.listed.0 = add(self.listed.0, 1)?;
            }
        }
        Ok(())
    }

    /// Whether all of its summary came. What failed stands last in it; below what did not fail nothing need follow, and the
    /// tree tells whether that is all.
    fn is_done(&self) -> bool {
        let is_all = |summary: &Summary| (summary.passed, summary.skipped) == self.listed && !self.is_any_failed;
        self.summary.as_ref().is_some_and(|summary| self.is_ended || is_all(summary))
    }
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Karma {
    names: Names,
    browsers: BTreeMap<String, Browser>,
    /// Browsers that are there.
    connected: Vec<String>,
    of_mocha: OfMocha,
    /// The test whose failure is told.
    told: Option<Telling>,
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
            self.told = None;
            if self.browsers.len() < MOST_BROWSERS || self.browsers.contains_key(name) {
                self.browsers.insert(name.to_owned(), browser);
            }
        } else if let Some((before, _)) = text.split_once("]: Connected on socket ")
            && self.connected.len() < MOST_BROWSERS
        {
            self.connected.extend(before.split_once(":INFO [").map(|(_, browser)| browser.to_owned()));
        } else if text.contains(":ERROR [") {
            self.is_off = true;
        } else if text.strip_suffix(" ERROR").is_some_and(|name| self.connected.iter().any(|browser| browser == name)) {
            self.of_mocha.thrown = add(self.of_mocha.thrown, 1)?;
        } else if let Some(name) = self.connected.iter().find_map(name) {
            self.told = Some(Telling::of_failed(&mut self.names, name));
        } else if let Some(told) = &mut self.told {
            told.line(&mut self.names, text);
        }
        self.of_mocha.line(text)
    }

    fn is_done(&self) -> bool {
        let is_of_mocha = self.browsers.is_empty() && self.of_mocha.is_done();
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
            sum = self.of_mocha.summary.unwrap_or_default();
            sum.errored = add(sum.errored, self.of_mocha.thrown)?;
            sum.unit_failures = add(sum.unit_failures, self.of_mocha.thrown)?;
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
                       \tExpected 2 to be 3.\n\t    at <Jasmine>\n\t    at UserContext.<anonymous> (kt/cart.spec.js:4:43)\nExecuted 9 of 9 (3 FAILED) (0.1 secs / 0.1 secs)\n\
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
        assert_eq!((failed.file.as_deref(), failed.line), (Some("kt/cart.spec.js"), Some(4)));
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
        // Without a failure nothing follows, and the tree tells that all came.
        let tree = "  Cart\n    ✔ adds\n    ✔ waits (skipped)\n\nSUMMARY:\n✔ 1 test completed\n";
        assert_eq!(read(tree).unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(counts(&read(&format!("{tree}ℹ 1 test skipped\n")).unwrap()), [2, 1, 0, 0, 1]);
        let failed = tree.replace("    ✔ waits (skipped)", "    ✖ waits");
        assert_eq!(read(&failed).unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(counts(&read(&format!("{failed}✖ 1 test failed\n\n")).unwrap()), [2, 1, 1, 0, 0]);
    }

    #[test]
    fn what_a_browser_throws_outside_of_tests_is_errored() {
        let connected = "22 11 2026 19:19:51.797:INFO [Chrome 120 (Linux)]: Connected on socket 29Ns with id 1\n";
        let error = "Chrome 120 (Linux) ERROR\n  An error was thrown in afterAll\n";
        let text = format!("{connected}  Cart\n    ✔ adds\n{error}\nSUMMARY:\n✔ 1 test completed\n\n");
        let parsed = read(&text).unwrap();
        assert_eq!(counts(&parsed), [2, 1, 0, 1, 0]);
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
