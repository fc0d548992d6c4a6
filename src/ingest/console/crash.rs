//! The end of an output at which a program says, or its shell, make or interpreter does, that it did not end as it should have:
//! below a summary in which all passed, nothing else tells that the run failed.

use super::is_of_tests;
use crate::ingest::Parsed;
use crate::ingest::text::split_at;
use crate::ingest::values::whole;

/// What a shell says of a program that a signal ended.
const SIGNALS: &[&str] =
    &["Segmentation fault", "Aborted", "Bus error", "Illegal instruction", "Floating point exception", "Killed"];
/// Lines of an error that stand above that which Node.js ends with.
const LINES_OF_ERROR: usize = 30;

/// What came last.
#[derive(Debug, Default)]
pub(super) struct Crash {
    told: Option<String>,
    /// Lines since Node.js said that it cannot parse a script, which is a finding of its own.
    since_syntax: Option<usize>,
}

impl Crash {
    pub(super) fn line(&mut self, text: &str) {
        let text = text.trim_end();
        self.since_syntax = match self.since_syntax {
            _ if text.starts_with("SyntaxError: ") => Some(0),
            since => since.map(|since| since + 1).filter(|since| *since < LINES_OF_ERROR),
        };
        if is_crash(text) {
            let is_told = text.starts_with("Node.js ") && self.since_syntax.is_some();
            self.told = self.told.take().or_else(|| Some(text.to_owned())).filter(|_| !is_told);
        } else if self.told.as_ref().is_some_and(|told| !goes_on(told, text)) {
            self.told = None;
        }
    }

    /// The line that says so, if nothing came below it.
    pub(super) fn told(self) -> Option<String> {
        self.told
    }
}

/// Counts it with the last tests, unless some failed: then it may be why, or be told already.
pub(super) fn count(line: &str, reports: &mut [Parsed]) {
    let is_bad =
        |report: &Parsed| [report.figures.failed, report.figures.errored].iter().flatten().any(|count| *count > 0);
    if reports.iter().any(|report| is_of_tests(report) && is_bad(report)) {
        return;
    }
    if let Some(last) = reports.iter_mut().rfind(|report| is_of_tests(report)) {
        last.add_unit(line);
    }
}

/// Whether a program ended so.
fn is_crash(text: &str) -> bool {
    let is_signal = |text: &str| SIGNALS.iter().any(|signal| text.starts_with(signal));
    // `Node.js v24.21.0`, below an error that nobody caught.
    let of_node = || {
        let mut parts = text.strip_prefix("Node.js v")?.split('.');
        parts.all(|part| whole(part).is_some()).then_some(())
    };
    // `bash: line 1: 24355 Segmentation fault      ./cart_test`.
    let of_shell = || {
        let (number, rest) = split_at(text, ": line ")?.1.split_once(": ")?;
        let (process, rest) = rest.trim_start().split_once(' ')?;
        (whole(number).is_some() && whole(process).is_some() && is_signal(rest.trim_start())).then_some(())
    };
    // `make: *** [Makefile:2: test] Segmentation fault`.
    let of_make = || split_at(text, ": *** [")?.1.rsplit_once("] ").filter(|(_, rest)| is_signal(rest));
    // Mutants are killed, too.
    let is_bare = || text != "Killed" && SIGNALS.contains(&text.strip_suffix(" (core dumped)").unwrap_or(text));
    let is_of_interpreter = || {
        ["Fatal Python error: ", "PHP Fatal error:  Uncaught ", "Fatal error: Uncaught "]
            .iter()
            .any(|begin| text.starts_with(begin))
    };
    of_node().is_some() || of_shell().is_some() || of_make().is_some() || is_bare() || is_of_interpreter()
}

/// Whether a line may stand below what was told: blank, or where it happened.
fn goes_on(told: &str, text: &str) -> bool {
    let begins: &[&str] = if told.contains("Fatal") {
        &[" ", "#", "Stack trace:", "Current thread ", "Thread ", "Extension modules: "]
    } else {
        &["make: ", "make["]
    };
    text.is_empty() || begins.iter().any(|begin| text.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use crate::ingest::console::console;
    use crate::ingest::input::Input;
    use crate::ingest::{Details, Parsed, parse_all};

    const GREEN: &str = "Running main() from gtest_main.cc\n[==========] Running 1 test from 1 test suite.\n\
                         [----------] Global test environment set-up.\n[----------] 1 test from A\n[ RUN      ] A.b\n\
                         [       OK ] A.b (0 ms)\n[----------] 1 test from A (0 ms total)\n\n\
                         [----------] Global test environment tear-down\n[==========] 1 test from 1 test suite ran. (0 ms total)\n\
                         [  PASSED  ] 1 test.\n";

    fn counts(report: &Parsed) -> [u64; 5] {
        let figures = &report.figures;
        [figures.tests, figures.passed, figures.failed, figures.errored, figures.skipped].map(Option::unwrap)
    }

    fn both(text: &str) -> [Vec<[u64; 5]>; 2] {
        let input = Input::bytes("x", text.as_bytes());
        [console(&input), parse_all(&input, None).unwrap()].map(|reports| reports.iter().map(counts).collect())
    }

    #[test]
    fn a_crash_below_the_last_summary_is_one_errored_test() {
        for end in [
            "bash: line 1: 24355 Segmentation fault      ./gseg\n",
            "make: *** [Makefile:2: test] Segmentation fault (core dumped)\nmake: Leaving directory '/a'\n",
            "Aborted (core dumped)\n\n",
            "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n  <no Python frame>\n",
            "a.js:1\nthrow 1\n^\n\nError: late\n    at a.js:1:2\n\nNode.js v24.21.0\n",
            "PHP Fatal error:  Uncaught Exception: late in a.php:3\nStack trace:\n#0 {main}\n  thrown in a.php on line 3\n",
        ] {
            assert_eq!(both(&format!("{GREEN}{end}")), [[[2, 1, 0, 1, 0]], [[2, 1, 0, 1, 0]]], "{end}");
        }
        let reports = console(&Input::bytes("x", format!("{GREEN}Aborted\n").as_bytes()));
        assert!(matches!(&reports[0].details, Details::Tests(tests) if tests.failed_units == ["Aborted"]));
    }

    #[test]
    fn what_something_comes_below_or_is_told_is_none() {
        for text in [
            format!("bash: line 1: 24355 Segmentation fault      ./gseg\n{GREEN}"),
            format!("{GREEN}Aborted\ndone\n"),
            format!("{GREEN}Node.js v24.21.0\n\n  Cart\n"),
            format!("{GREEN}make: *** [Makefile:2: test] Error 1\n"),
            format!("{GREEN}Node.js v20 is needed\n"),
            format!("{GREEN}Killed\n"),
            format!(
                "{GREEN}cart.js:1\nlet = ;\n    ^\n\nSyntaxError: let is disallowed\n    at a.js:1:2\n\nNode.js v24.21.0\n"
            ),
        ] {
            assert_eq!(both(&text).map(|reports| reports[0]), [[1, 1, 0, 0, 0]; 2], "{text}");
        }
        let red = GREEN.replace("[       OK ] A.b", "[  FAILED  ] A.b").replace(
            "[  PASSED  ] 1 test.",
            "[  PASSED  ] 0 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.b\n\n 1 FAILED TEST",
        );
        assert_eq!(both(&format!("{red}Aborted\n")), [[[1, 0, 1, 0, 0]], [[1, 0, 1, 0, 0]]]);
        assert!(console(&Input::bytes("x", b"Aborted\n")).is_empty());
    }
}
