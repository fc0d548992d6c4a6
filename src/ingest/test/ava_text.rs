//! `ava-text`: what AVA prints by itself. Its definition is AVA's `lib/reporters/default.js`.
//! <https://github.com/avajs/ava>
//!
//! Its summary tells how many tests passed only if nothing failed; else they are counted by their marks.

use super::text_report::{Names, Summary, counted};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What `ava` prints.
pub const FORMAT: Format = Format {
    name: "ava-text",
    kind: ReportKind::Test,
    about: "terminal output of AVA",
    written_by: "ava",
    told_by: "\"2 tests passed\" or \"1 test failed\" below a line \"─\"",
    has_end: true,
    counting: "Tests by their marks: ✔ passed, ✘ failed, those that are skipped, to do or failed as expected skipped; each uncaught \
               exception, unhandled rejection, hook and file that failed by itself is one errored test. It is a summary \
               only if it tells all that the marks tell.",
    sniff,
    parse: last_run::<Ava>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_some() {
        return Sniff::No;
    }
    let mut rule_before = false;
    for line in head.last_lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        if rule_before && total(line).is_some() {
            return Sniff::Sure("line \"N tests passed\" or like it below \"─\"".into());
        }
        rule_before = line == RULE;
    }
    match head.lines().any(|line| mark(line.trim_end()).is_some_and(|(_, outcome)| outcome == Outcome::Failed)) {
        true => Sniff::Maybe("line \"✘ [fail]: …\" of AVA".into()),
        false => Sniff::No,
    }
}

const RULE: &str = "  ─";

/// How the lines begin that tell of what failed in a file beside its tests.
const UNITS: [&str; 2] = ["  Uncaught exception in ", "  Unhandled rejection in "];

/// `  2 tests failed`, `  1 known failure`, `  1 uncaught exception`. Errored: of no test.
fn total(line: &str) -> Option<(Option<u64>, Outcome)> {
    let (number, what) = counted(line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?)?;
    let outcome = match what {
        "test passed" | "tests passed" => Outcome::Passed,
        "test failed" | "tests failed" => Outcome::Failed,
        "known failure" | "known failures" | "test skipped" | "tests skipped" | "test todo" | "tests todo" => {
            Outcome::Skipped
        }
        "uncaught exception" | "uncaught exceptions" | "unhandled rejection" | "unhandled rejections" => {
            Outcome::Errored
        }
        "hook failed" | "hooks failed" => Outcome::Errored,
        "test remained pending after a timeout" | "tests remained pending after a timeout" => Outcome::Errored,
        _ => return None,
    };
    Some((number, outcome))
}

/// `  ✔ cart › adds (126ms)`, `  ✘ [fail]: cart › fails`, `  - [skip] cart › waits`.
fn mark(line: &str) -> Option<(&str, Outcome)> {
    let (mark, rest) = line.strip_prefix("  ")?.split_once(' ')?;
    let told = |mark: &str| rest.strip_prefix(mark);
    match mark {
        "✔" | "✓" | "√" => Some(match told("[expected fail] ") {
            Some(name) => (name, Outcome::Skipped),
            None => (rest, Outcome::Passed),
        }),
        "✘" | "✖" | "×" => Some((told("[fail]: ")?, Outcome::Failed)),
        "-" => Some((told("[skip] ").or_else(|| told("[todo] "))?, Outcome::Skipped)),
        _ => None,
    }
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Ava {
    names: Names,
    /// By the marks.
    marked: Summary,
    /// By the summary, which goes on as long as its lines come.
    told: Option<Summary>,
    /// Files that failed as a whole, for an exception that is in the summary or for another reason.
    files: u64,
}

impl Announced for Ava {
    fn begins(_: &str) -> bool {
        false
    }

    fn line(&mut self, text: &str) -> Result<()> {
        if text == RULE {
            self.told = Some(Summary::default());
        } else if let (Some(told), Some((number, outcome))) = (&mut self.told, total(text)) {
            Summary::add(told.slot(outcome), number)?;
        } else if let Some(file) = UNITS.iter().find_map(|begin| text.strip_prefix(begin)) {
            Summary::add(&mut self.marked.errored, Some(1))?;
            self.names.unit(file);
        } else if text.starts_with("  ✘ ") && (text.contains(" exited ") || text.contains("No tests found in ")) {
            self.files += 1;
        } else if let Some((name, outcome)) = mark(text) {
            Summary::add(self.marked.slot(outcome), Some(1))?;
            // Its time, and what a failure says, stand behind the name.
            let bare = name.strip_suffix("ms)").and_then(|name| name.rsplit_once(" (")).map_or(name, |(name, _)| name);
            self.names.set(bare, outcome);
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        let Some(told) = &self.told else { return false };
        let is_told = told.failed >= self.marked.failed
            && told.skipped >= self.marked.skipped
            && told.errored >= self.marked.errored;
        // Without any failure it tells how many passed.
        let is_failing = told.failed > 0 || told.errored > 0;
        is_told && (is_failing || told.passed > 0 || told.skipped > 0)
    }

    fn report(self) -> Result<Parsed> {
        let told = self.told.unwrap_or_default();
        let passed = if told.passed > 0 { told.passed } else { self.marked.passed };
        let errored = told.errored.max(self.files);
        self.names.report(&FORMAT, &Summary { passed, errored, unit_failures: errored, ..told }, false)
    }
}

impl TextRun for Ava {
    const TOOL: &'static str = "AVA";

    fn is_whole(_: &str) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    const RUN: &str = "\n  9 tests passed\n  - [skip] cart › waits\n  ✔ cart › adds (126ms)\n  ✔ cart › sums\n  ✘ [fail]: cart › fails\n\
                       \x20 ✔ [expected fail] cart › known\n  Uncaught exception in broken.test.js\n  ✘ broken.test.js exited with a non-zero exit code: 1\n  ─\n\n\
                       \x20 cart › fails\n\n  Difference (- actual, + expected):\n\n  - 2\n  + 3\n\n  ─\n\n";
    const END: &str = "  1 test failed\n  1 known failure\n  1 test skipped\n  1 uncaught exception\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn marks_tell_what_passed_and_the_summary_the_rest() {
        let parsed = read(&format!("{RUN}{END}")).unwrap();
        assert_eq!(counts(&parsed), [6, 2, 1, 1, 2]);
        let details = details(&parsed);
        assert_eq!(
            (details.cases.outcome("cart › adds"), &*details.failed_units),
            (Some(Outcome::Passed), &["broken.test.js".to_owned()][..])
        );
        let fine = "  ✔ fine\n  ─\n\n  1 test passed\n";
        assert_eq!(counts(&read(fine).unwrap()), [1, 1, 0, 0, 0]);
        assert!(
            matches!(sniffed(&FORMAT, &format!("{RUN}{END}")), Sniff::Sure(_))
                && matches!(sniffed(&FORMAT, fine), Sniff::Sure(_))
        );
        assert_eq!(sniffed(&FORMAT, "  1 test passed\n"), Sniff::No);
    }

    #[test]
    fn a_summary_that_lacks_what_the_marks_tell_is_cut() {
        for text in [
            "",
            RUN,
            &format!("{RUN}  1 test failed\n"),
            &format!("{RUN}{}", END.replace("  1 uncaught exception\n", "")),
        ] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        assert_eq!(read(&format!("{RUN}  1 test fai")).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
