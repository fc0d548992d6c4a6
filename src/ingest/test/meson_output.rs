//! What Meson shows of what its tests print, verbosely and of those that failed, and keeps in its log: it stands between
//! two rules, and is the tests' own. What Meson tells itself is read as `brief-test-text`. Its definition is `mtest.py`.

use super::runs::{Run, Runs};
use super::text_report::is_foreign;
use crate::error::Result;
use crate::ingest::Head;
use crate::ingest::text::is_number;

/// How Meson's log begins, in which stands what each test printed.
pub(super) const LOG: &str = "Log of Meson test suite run on ";
/// How the last line of that log begins.
pub(super) const LOG_END: &str = "Timeout:";

/// Columns of a rule that others do not draw. Meson fills a line with it.
const LEAST_COLUMNS: usize = 60;

/// Whether Meson shows in it what its tests printed, and no test runner that says more shows what Meson says.
pub(in crate::ingest) fn is_shown(head: &Head<'_>) -> bool {
    let mut shown = Shown::default();
    head.lines().any(|line| shown.holds_back(line)) && !is_foreign(head)
}

/// The rule that ends what a test printed.
#[derive(Clone, Copy, Debug)]
struct Rule {
    mark: char,
    columns: usize,
}

impl Rule {
    /// That one which belongs to a rule of `above` with the word in it.
    fn below(line: &str, word: &str, above: char, mark: char) -> Option<Rule> {
        let middle = line.trim_end().strip_prefix(above)?.strip_suffix(above)?.trim_matches(above);
        let columns = line.trim_end().chars().count();
        let is_one = middle.starts_with(' ') && middle.trim() == word && columns >= LEAST_COLUMNS;
        is_one.then_some(Rule { mark, columns })
    }

    /// Whether the line ends with it, and it is no longer: what a test printed last may have no line end.
    fn is_at_end_of(self, line: &str) -> bool {
        line.trim_end().chars().rev().take_while(|c| *c == self.mark).count() == self.columns
    }
}

/// Holds back what tests printed, and tells nothing of it.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Shown {
    ends: Option<Rule>,
    is_log: bool,
    /// The line before told of a test, or how it is called.
    is_below_test: bool,
}

impl Shown {
    /// Takes a line; whether a test printed it.
    pub(super) fn holds_back(&mut self, text: &str) -> bool {
        if let Some(rule) = self.ends {
            self.ends = Some(rule).filter(|rule| !rule.is_at_end_of(text));
            return true;
        }
        let is_below_test = std::mem::replace(&mut self.is_below_test, tells_of_test(text));
        self.is_log = text.starts_with(LOG) || (self.is_log && !text.starts_with(LOG_END));
        self.ends = if self.is_log {
            ["stdout", "stderr"].iter().find_map(|stream| Rule::below(text, stream, '-', '='))
        } else {
            // Where the terminal knows no other signs, its rules are plain.
            let plain = || if is_below_test { Rule::below(text, "8<", '-', '-') } else { None };
            Rule::below(text, "\u{2700}", '\u{2015}', '\u{2015}').or_else(plain)
        };
        false
    }
}

/// `2/4 prove FAIL            0.33s   exit status 1`, `>>> MALLOC_PERTURB_=141 /b/t`.
fn tells_of_test(line: &str) -> bool {
    let place = line.trim_start().split_once(' ').and_then(|(place, _)| place.split_once('/'));
    line.starts_with(">>> ") || place.is_some_and(|(at, all)| is_number(at) && is_number(all))
}

impl Runs for Shown {
    fn line(&mut self, text: &str) -> Result<()> {
        self.holds_back(text);
        Ok(())
    }

    fn holds(&self, _: &str) -> bool {
        self.ends.is_some()
    }

    fn count(&self) -> usize {
        0
    }

    fn finish(self: Box<Self>) -> Vec<Run> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::counts;

    const PRINTED: &str = "t/a.t .. ok\nFiles=1, Tests=7,  0 wallclock secs (0 CPU)\nResult: PASS\n\
                           [ FAIL 0 | WARN 0 | SKIP 0 | PASS 4 ]\n\
                           ===================================================================================\n\
                           [==========] Running 2 tests from 1 test suite.\n\
                           [==========] 2 tests from 1 test suite ran. (0 ms total)\n\
                           [  PASSED  ] 2 tests.\nno line end";
    const SUMMARY: &str = "Ok:                 1   \nExpected Fail:      0   \nFail:               1   \n\
                           Unexpected Pass:    0   \n\
                           Skipped:            0   \nTimeout:            0   \n\nFull log written to /b/testlog.txt\n";

    fn told(text: &str) -> Vec<(&'static str, [u64; 5])> {
        let reports = crate::ingest::parse_all(&Input::bytes("x", text.as_bytes()), None).unwrap();
        reports.iter().map(|report| (report.format.name, counts(report))).collect()
    }

    #[test]
    fn what_its_tests_print_is_theirs() {
        let above = |word: &str, mark: &str| format!("{} {word} {}\n", mark.repeat(37), mark.repeat(37));
        let log = format!("{LOG}2026-11-26T20:57:56\n\n");
        for (begin, above, below) in [
            ("1/2 gt RUNNING\n\n", above("\u{2700} ", "\u{2015}"), "\u{2015}".repeat(78)),
            (">>> MALLOC_PERTURB_=1 /b/gt\n", above("8<", "-"), "-".repeat(78)),
            (&log, above("stdout", "-") + &above("stderr", "-"), "=".repeat(82)),
        ] {
            let text = format!("{begin}{above}{PRINTED}{below}\n1/2 gt FAIL 0.02s\n\n\n{SUMMARY}");
            assert_eq!(told(&text), [("brief-test-text", [2, 1, 1, 0, 0])], "{text}");
            let cut = format!("{begin}{above}{PRINTED}\n");
            assert!(crate::ingest::parse_all(&Input::bytes("x", cut.as_bytes()), None).is_err(), "{cut}");
        }
    }

    #[test]
    fn what_others_draw_is_none_of_its_rules() {
        let dashes = "-".repeat(37);
        for text in [
            format!("{dashes} 8< {dashes}\n"),
            format!("{dashes} stdout {dashes}\n"),
            format!("{LOG}now\n---- stdout ----\n{dashes}x stdout {dashes}\n"),
            format!("{LOG}now\n{LOG_END} 0\n{dashes} stdout {dashes}\n"),
        ] {
            assert_eq!(told(&format!("{text}{PRINTED}\n")).len(), 3, "{text}");
        }
    }
}
