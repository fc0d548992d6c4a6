//! `rstest-md`: what Rstest prints under an agent, and with its reporter `md`. Its definition is its source,
//! `packages/core/src/reporter/md.ts` (<https://github.com/web-infra-dev/rstest>).
//!
//! It names what failed, and of a run of few files what passed, too.

use serde::Deserialize;
use serde_json::Value;

use super::json_report::{attempts, line, path, text};
use super::rstest_text::Outside;
use super::text_report::{Names, Summary, is_foreign, titled};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::{Error, Reject, Result};
use crate::ingest::text::first_lines;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// Rstest's report for agents.
pub const FORMAT: Format = Format {
    name: "rstest-md",
    kind: ReportKind::Test,
    about: "Rstest's report in markdown",
    written_by: "rstest under an agent, or with --reporter md",
    told_by: "its line \"# Rstest Test Execution Report\"",
    has_end: true,
    counting: "The counts of its summary: passed, failed, skipped and todo as skipped. A file that failed although none of \
               its tests did is one errored test, and so are all errors outside of tests together.",
    sniff,
    parse: last_run::<Report>,
};

const TITLE: &str = "# Rstest Test Execution Report";

/// Bytes of a block of JSON that are held; what tells of one failure is rarely a hundredth of that.
const BLOCK_BYTES: usize = 256 * 1024;

fn sniff(head: &Head<'_>) -> Sniff {
    match !is_foreign(head) && head.lines().any(Report::begins) {
        true => Sniff::Sure(format!("line \"{TITLE}\"")),
        false => Sniff::No,
    }
}

/// What stands where.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Section {
    #[default]
    Summary,
    Named(Outcome),
    Failures,
    Unhandled,
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Report {
    section: Section,
    names: Names,
    counts: Option<Counts>,
    outside: Outside,
    /// Tests that it lists as failed.
    failed: u64,
    /// The test of the last heading.
    told: Option<String>,
    /// The block that tells of it has not come.
    is_open: bool,
    /// It said that no test failed.
    says_none: bool,
    /// Inside a block, and what it holds if it is JSON.
    block: Option<Option<String>>,
}

#[derive(Debug, Deserialize)]
struct Summarized {
    status: String,
    counts: Counts,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    failed_files: u64,
    failed_tests: u64,
    passed_tests: u64,
    skipped_tests: u64,
    todo_tests: u64,
    #[serde(skip)]
    has_failed: bool,
}

impl Report {
    fn block(&mut self, json: &str) -> Result<()> {
        match self.section {
            Section::Summary => {
                let read: Summarized = serde_json::from_str(json).map_err(|error| {
                    Error::report(Reject::Malformed, "the summary of Rstest is not as it should be")
                        .because(error.to_string())
                })?;
                self.counts = Some(Counts { has_failed: read.status == "fail", ..read.counts });
            }
            Section::Failures => {
                self.is_open = false;
                let case = self.told.as_ref().and_then(|id| self.names.get_mut(id));
                if let (Some(case), Ok(failure)) = (case, serde_json::from_str::<Value>(json)) {
                    explain(case, &failure);
                }
            }
            Section::Named(_) | Section::Unhandled => {}
        }
        Ok(())
    }

    fn heading(&mut self, heading: &str) {
        self.told = None;
        match heading {
            "## Failures" => self.section = Section::Failures,
            "## Unhandled Errors" => (self.section, self.outside.has_unhandled) = (Section::Unhandled, true),
            "### Passed" => self.section = Section::Named(Outcome::Passed),
            "### Skipped" | "### Todo" => self.section = Section::Named(Outcome::Skipped),
            _ => {
                if let Some(title) = heading.strip_prefix("### ").filter(|_| self.section == Section::Failures) {
                    self.is_open = self.failure(title);
                }
            }
        }
    }

    /// Whether the title is `[F01] rs/math.test.js :: math > fails`, or a file alone's. More than fifty stand in a list
    /// before, too.
    fn failure(&mut self, title: &str) -> bool {
        let Some((_, title)) = title.strip_prefix("[F").and_then(|title| title.split_once("] ")) else { return false };
        let Some((file, name)) = title.split_once(" :: ") else {
            self.outside.files.insert(title.to_owned());
            return true;
        };
        let id = titled(Some(file), name);
        let is_new = self.names.get(&id).is_none();
        if self.names.set(&id, Outcome::Failed).is_none() || is_new {
            self.failed = self.failed.saturating_add(1);
        }
        self.told = Some(id);
        true
    }

    fn told(&mut self, content: &str) {
        match (self.section, content.strip_prefix("- ")) {
            (Section::Named(outcome), Some(title)) => {
                if let Some((file, name)) = title.split_once(" :: ") {
                    self.names.set(&titled(Some(file), name), outcome);
                }
            }
            (Section::Failures, Some(title)) => {
                self.failure(title);
            }
            (Section::Failures, None) => self.says_none |= content == "No test failures reported.",
            _ => {}
        }
    }
}

impl Announced for Report {
    fn begins(line: &str) -> bool {
        line == TITLE
    }

    fn line(&mut self, text: &str) -> Result<()> {
        match &mut self.block {
            Some(_) if text == "```" => {
                if let Some(Some(json)) = self.block.take() {
                    self.block(&json)?;
                }
            }
            Some(held) => {
                if let Some(json) = held {
                    json.push_str(text);
                    json.push('\n');
                    if json.len() > BLOCK_BYTES {
                        *held = None;
                    }
                }
            }
            None if text == TITLE => *self = Report::default(),
            None => {
                if let Some(language) = text.strip_prefix("```") {
                    self.block = Some((language == "json").then(String::new));
                } else if text.starts_with('#') {
                    self.heading(text);
                } else {
                    self.told(text);
                }
            }
        }
        Ok(())
    }

    /// It has no last line: all that failed is listed, with its block behind it.
    fn is_done(&self) -> bool {
        let Some(counts) = &self.counts else { return false };
        let files = u64::try_from(self.outside.files.len()).unwrap_or(u64::MAX);
        let is_all_told = match counts.has_failed {
            false => self.says_none,
            true if counts.failed_tests > 0 => self.failed >= counts.failed_tests,
            true if counts.failed_files > 0 => files >= counts.failed_files || self.says_none,
            true => self.outside.has_unhandled,
        };
        is_all_told && !self.is_open && self.block.is_none()
    }

    fn report(mut self) -> Result<Parsed> {
        let mut summary = Summary::default();
        if let Some(counts) = &self.counts {
            summary.passed = counts.passed_tests;
            summary.failed = counts.failed_tests;
            summary.skipped = add(counts.skipped_tests, counts.todo_tests)?;
            self.outside.failed_files = counts.failed_files;
        }
        self.outside.report(&FORMAT, summary, self.names)
    }
}

/// File, line and message of `{"testPath":…,"errors":[{"message":…,"topFrame":{"file":…,"line":…}}]}`.
fn explain(case: &mut TestCase, failure: &Value) {
    let error = failure.get("errors").and_then(|errors| errors.get(0)).unwrap_or(&Value::Null);
    let frame = |key: &str| error.get("topFrame").and_then(|frame| frame.get(key)).unwrap_or(&Value::Null);
    case.file = path(frame("file")).or_else(|| path(failure.get("testPath").unwrap_or(&Value::Null)));
    case.line = line(frame("line"));
    case.message = error.get("message").and_then(text).and_then(first_lines);
    case.duration_ms = failure.get("duration").and_then(Value::as_u64);
    case.attempts = failure.get("retryCount").map_or(1, attempts);
}

impl TextRun for Report {
    const TOOL: &'static str = "Rstest";

    fn is_whole(line: &str) -> bool {
        line == "```"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn summary(status: &str, files: u64, failed: u64) -> String {
        format!(
            "---\ntool: \"@rstest/core@0.12.0\"\n---\n\n{TITLE}\n\n## Summary\n\n```json\n{{\"status\": \"{status}\", \"counts\": \
             {{\"testFiles\": 3, \"failedFiles\": {files}, \"tests\": 9, \"failedTests\": {failed}, \"passedTests\": 5,\n\"skippedTests\": 1, \
             \"todoTests\": 1}}}}\n```\n\n"
        )
    }

    const FAILED: &str = "### [F02] a.test.js :: Cart > breaks\n\nrepro:\n\n```bash\nnpx rstest 'a.test.js'\n```\n\ndetails:\n\n```json\n\
        {\"testPath\": \"a.test.js\", \"duration\": 8, \"retryCount\": 1, \"errors\": [{\"message\": \"expected 3 to be 4\", \"topFrame\": \
        {\"file\": \"a.test.js\", \"line\": 5}}]}\n```\n\ncodeFrame (error 1):\n\n```text\n### [F03] b :: c\n```\n";

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn its_summary_counts_and_what_failed_has_a_name() {
        let text = format!("{}## Failures\n\n### [F01] b.test.js\n\n{FAILED}", summary("fail", 2, 1));
        assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)));
        let parsed = read(&text).unwrap();
        assert_eq!(counts(&parsed), [9, 5, 1, 1, 2]);
        assert_eq!(details(&parsed).failed_units, ["b.test.js"]);
        let cases = details(&parsed).cases.cases;
        assert_eq!(cases.len(), 1, "what a block shows is no heading");
        let case = cases.get("a.test.js::Cart::breaks").unwrap();
        let told = (case.file.as_deref(), case.line, case.message.as_deref(), case.duration_ms, case.attempts);
        assert_eq!(told, (Some("a.test.js"), Some(5), Some("expected 3 to be 4"), Some(8), 2));
    }

    #[test]
    fn of_more_than_fifty_there_is_a_list() {
        let list: String =
            (1..=3).map(|n| format!("- [F0{n}] a.test.js :: t{n}\n  - type: AssertionError\n")).collect();
        let text = format!(
            "{}## Failures\n\n### Failure List\n\n{list}\n### Failure Details (first 1)\n\n",
            summary("fail", 1, 3)
        );
        let parsed = read(&format!("{text}{}", FAILED.replace("Cart > breaks", "t1"))).unwrap();
        assert_eq!((counts(&parsed), details(&parsed).cases.cases.len()), ([10, 5, 3, 0, 2], 3));
    }

    #[test]
    fn a_run_in_which_all_passed_may_name_them() {
        let named = "## Tests\n\n### Passed\n\n- a.test.js :: Cart > adds\n\n### Todo\n\n- a.test.js :: later\n\n";
        let end = "## Failures\n\nNo test failures reported.\n";
        let parsed = read(&format!("{}{named}{end}", summary("pass", 0, 0))).unwrap();
        let outcomes: Vec<_> = details(&parsed).cases.cases.into_iter().map(|(id, case)| (id, case.outcome)).collect();
        let expected = [("a.test.js::Cart::adds", Outcome::Passed), ("a.test.js::later", Outcome::Skipped)];
        assert_eq!(outcomes, expected.map(|(id, outcome)| (id.to_owned(), outcome)));
        assert_eq!(counts(&parsed), [7, 5, 0, 0, 2]);
        let unhandled = "\n## Unhandled Errors\n\n### Unhandled Error 1\n\n```json\n{}\n```\n";
        assert_eq!(counts(&read(&format!("{}{end}{unhandled}", summary("fail", 0, 0))).unwrap()), [8, 5, 0, 1, 2]);
    }

    #[test]
    fn one_that_is_cut_is_no_result() {
        for (text, reject) in [
            (format!("{}## Failures\n", summary("pass", 0, 0)), Reject::NoResult),
            (format!("{}## Failures\n\n{FAILED}", summary("fail", 1, 2)), Reject::NoResult),
            (format!("{}## Failures\n\nNo test failures reported.\n", summary("fail", 0, 0)), Reject::NoResult),
            (summary("fail", 0, 0).replace("\"counts\"", "\"count\""), Reject::Malformed),
        ] {
            assert_eq!(read(&text).unwrap_err().reject(), Some(reject), "{text}");
        }
    }
}
