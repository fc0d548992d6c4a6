//! `wtr-text`: what Web Test Runner prints with its default reporter. Its definition is `getTestProgress.js` of
//! `@web/test-runner`. <https://modern-web.dev/docs/test-runner/overview/>
//!
//! Each browser tells how far it is, again and again; the last line of all tells that they are done. A terminal is painted again
//! for each file that is told of after that: from a log of it that ends before, a file that did not load may be missing. Its sum
//! of coverage is the mean of four shares, of which none is known.

use std::collections::BTreeMap;

use super::telling::Telling;
use super::text_report::{Names, Summary};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::text::{is_number, split_at};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `web-test-runner` prints.
pub const FORMAT: Format = Format {
    name: "wtr-text",
    kind: ReportKind::Test,
    about: "terminal output of Web Test Runner",
    written_by: "web-test-runner, wtr (the default reporter)",
    told_by: "\"Chrome: |███| 3/3 test files | 3 passed, 1 failed\"",
    has_end: true,
    counting: "The last line of each browser, once the run tells that it is finished. A test file that could not be \
               imported, a hook that failed, and what else failed outside of tests is one errored test each.",
    sniff,
    parse: last_run::<Wtr>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match head.xml().is_none() && head.lines_of_both_ends().any(|line| progress(line.trim_end()).is_some()) {
        true => Sniff::Sure("\"BROWSER: |███| N/N test files | N passed, N failed\"".into()),
        false => Sniff::No,
    }
}

/// Browsers of one run.
const MOST_BROWSERS: usize = 100;

/// What stands before the name of what failed.
const MARK: &str = " ❌ ";

/// How the reasons begin for which a file fails by itself, and tests do not.
const OF_A_FILE: [&str; 3] = ["Could not import your test module", "Browser tests did not ", "Tests were interrupted "];

/// `Chrome: |███   | 1/3 test files | 3 passed, 1 failed, 1 skipped`: the browser and its tests. A terminal breaks the line
/// before its last word.
fn progress(line: &str) -> Option<(&str, Summary)> {
    // Nearly every line is told by that alone.
    split_at(line, " test files | ")?;
    // What a page logs is indented.
    let (name, rest) = line.split_once(": ").filter(|_| !line.starts_with(' '))?;
    let (bar, rest) = rest.trim_start().strip_prefix('|')?.split_once("| ")?;
    let (files, counts) = rest.split_once(" test files | ")?;
    let (done, all) = files.split_once('/')?;
    let is_bar = bar.chars().all(|c| c == ' ' || c == '█') && is_number(done) && is_number(all);
    let is_broken = counts.rsplit(", ").next().is_some_and(is_number);
    let counts = if is_broken { format!("{counts} skipped") } else { counts.to_owned() };
    let summary = Summary::of(counts.split(", "), |word| match word {
        "passed" => Some(Outcome::Passed),
        "failed" => Some(Outcome::Failed),
        "skipped" => Some(Outcome::Skipped),
        _ => None,
    })?;
    is_bar.then_some((name, summary))
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Wtr {
    names: Names,
    browsers: BTreeMap<String, Summary>,
    /// The test file that is told of.
    file: String,
    /// The test whose failure is told.
    told: Option<Telling>,
    units: u64,
    is_done: bool,
    is_off: bool,
}

impl Announced for Wtr {
    fn begins(line: &str) -> bool {
        // A terminal is painted again at the end, too, before the last files are told.
        line.contains("| 0/") && progress(line).is_some()
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if let Some((browser, summary)) = progress(text) {
            if self.browsers.len() < MOST_BROWSERS || self.browsers.contains_key(browser) {
                self.browsers.insert(browser.to_owned(), summary);
            }
        } else if let Some(name) = text.strip_prefix(MARK) {
            self.told = None;
            // On some of the browsers, it says.
            let name = name.split_once(" (failed on ").map_or(name, |(name, _)| name).trim_end();
            if is_of_a_file(name) {
                self.names.unit(&self.file);
                self.units += 1;
            } else {
                let id = format!("{}::{name}", self.file);
                self.told = Some(Telling::of_failed(&mut self.names, &id));
            }
        } else if text.starts_with("Finished running tests in ") || text == "Error while running tests." {
            self.is_done = !self.browsers.is_empty();
            let has_failed = |summary: &Summary| summary.failed > 0;
            if text.starts_with("Error") && self.units == 0 && !self.browsers.values().any(has_failed) {
                self.units = 1;
            }
        } else if text == "Failed to run any tests." {
            self.is_off = true;
        } else if let Some(file) = text.strip_suffix(':').filter(|file| is_test_file(file)) {
            file.clone_into(&mut self.file);
            // A terminal tells of a file and is painted again.
            self.is_done = false;
        } else if text.starts_with(" 🚧 ") {
            self.told = None;
        } else if let Some(told) = &mut self.told {
            told.line(&mut self.names, text);
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn is_off(&self) -> bool {
        self.is_off
    }

    fn report(self) -> Result<Parsed> {
        let mut sum = Summary { errored: self.units, unit_failures: self.units, ..Summary::default() };
        self.browsers.values().try_for_each(|browser| sum.merge(browser))?;
        self.names.report(&FORMAT, &sum, false)
    }
}

/// `test/cart.test.js`.
fn is_test_file(path: &str) -> bool {
    let ends = [".js", ".ts", ".jsx", ".tsx", ".mjs", ".mts", ".cjs", ".html"];
    !path.starts_with(' ') && ends.iter().any(|end| path.ends_with(end))
}

/// Whether what failed is no test: the reasons of a file, or an error that was thrown outside of tests.
fn is_of_a_file(name: &str) -> bool {
    let is_error = |kind: &str| kind.ends_with("Error") && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
    OF_A_FILE.iter().any(|begin| name.starts_with(begin))
        || name.split_once(": ").is_some_and(|(kind, _)| is_error(kind))
}

impl TextRun for Wtr {
    const TOOL: &'static str = "Web Test Runner";
    const HAS_PARTS: bool = true;

    fn is_whole(line: &str) -> bool {
        line == "Error while running tests." || (line.starts_with("Finished ") && line.ends_with(['.', '🎉']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const BEGUN: &str = "Chrome:  |          | 0/2 test files | 0 passed, 0 failed\nFirefox: |          | 0/2 test files | 0 passed, 0 failed\n\
                         Running 2 test files...\n\ntest/cart.test.js:\n\n 🚧 Browser logs:\n      \
                         Chrome: |███| 9/9 test files | 90 passed, 0 failed\n      Finished running tests in 1s, all tests passed! 🎉\n\n \
                         ❌ Cart > drops (failed on Firefox)\n      AssertionError: expected 0 to equal 5\n      at cart.test.js:4\n\n\
                         test/broken.test.js:\n\n ❌ Could not import your test module. Check the browser logs.\n\n";
    const END: &str = "Chrome:  |██████████| 2/2 test files | 4 passed, 0 failed, 1 skipped\n\
                       Firefox: |██████████| 2/2 test files | 3 passed, 1 failed, 1\nskipped\n\n\
                       Finished running tests in 1.6s with 1 failed tests.\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_last_line_of_each_browser_counts() {
        let parsed = read(&format!("{BEGUN}{END}")).unwrap();
        assert_eq!(counts(&parsed), [11, 7, 1, 1, 2]);
        let details = details(&parsed);
        let failed = details.cases.cases.get("test/cart.test.js::Cart > drops").unwrap();
        assert_eq!(
            (failed.outcome, failed.message.as_deref()),
            (Outcome::Failed, Some("AssertionError: expected 0 to equal 5"))
        );
        assert_eq!(
            (details.failed_units.as_slice(), details.cases.cases.len()),
            (["test/broken.test.js".to_owned()].as_slice(), 1)
        );
        assert!(matches!(sniffed(&FORMAT, BEGUN), Sniff::Sure(_)) && matches!(sniffed(&FORMAT, END), Sniff::Sure(_)));
    }

    #[test]
    fn a_terminal_is_painted_again_until_the_last_file_is_told() {
        let again = format!("{END}\ntest/last.test.js:\n\n ❌ Error: hook down \n\n{END}");
        let parsed = read(&format!("{BEGUN}{again}")).unwrap();
        assert_eq!((counts(&parsed), parsed.warnings), ([12, 7, 1, 2, 2], vec![]));
        let runs = read(&format!("{BEGUN}{again}{BEGUN}{END}")).unwrap();
        assert_eq!((counts(&runs), runs.warnings.len()), ([11, 7, 1, 1, 2], 1));
    }

    #[test]
    fn what_fails_outside_of_tests_is_no_test() {
        let bar = "Chrome: |██████████| 1/1 test files | 0 passed, 0 failed\n\n";
        for (told, units) in [
            ("a.test.js:\n\n ❌ Error: hook down \n      at n.<anonymous>\n\n", 1),
            ("a.test.js:\n\n ❌ Browser tests did not start after 20000ms You can increase\n\n", 1),
            ("", 1),
        ] {
            let parsed = read(&format!("{told}{bar}Error while running tests.\n")).unwrap();
            assert_eq!((counts(&parsed), details(&parsed).unit_failures), ([units, 0, 0, units, 0], units), "{told}");
        }
    }

    #[test]
    fn before_it_says_that_it_is_finished_there_is_no_result() {
        let off = END.replace("Finished running tests in 1.6s with 1 failed tests.", "Failed to run any tests.");
        for text in ["", BEGUN, &off] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        let cut = format!("{BEGUN}{}", END.trim_end_matches(" tests.\n"));
        assert_eq!(read(&cut).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
