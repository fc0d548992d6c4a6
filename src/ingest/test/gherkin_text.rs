//! `gherkin-text`: what Cucumber and behave print at their end: scenarios by what they came to, and steps below them. What
//! failed is named by the lists beside it.

use std::collections::BTreeMap;

use super::text_report::{MESSAGES_HELD, Names, Summary, add_line, counted};
use super::text_runs::{Announced, TextRun, last_run};
use crate::error::Result;
use crate::ingest::text::{first_lines, printable};
use crate::ingest::values::leading_in;
use crate::ingest::{Format, Head, Parsed, Sniff, add};
use crate::model::cases::Outcome;
use crate::model::figures::ReportKind;

/// What Cucumber and behave print.
pub const FORMAT: Format = Format {
    name: "gherkin-text",
    kind: ReportKind::Test,
    about: "terminal output of Cucumber and behave",
    written_by: "cucumber (JavaScript, JVM, Ruby), godog, behave",
    told_by: "\"N scenarios …\" with \"N steps …\" below it",
    has_end: true,
    counting: "The last summary. Each scenario is one test: undefined and ambiguous ones, and behave's errors, are \
               errored, pending and untested ones skipped; a hook of a whole feature or run that failed is one \
               errored.",
    sniff,
    parse: last_run::<Gherkin>,
};

fn sniff(head: &Head<'_>) -> Sniff {
    if head.xml().is_some() {
        return Sniff::No;
    }
    let mut scenarios_before = false;
    for line in head.last_lines() {
        let line = line.trim_end();
        if scenarios_before && is_steps(line) {
            return Sniff::Sure("line \"N scenarios …\" above \"N steps …\"".into());
        }
        scenarios_before = scenarios(line).is_some();
    }
    if head.lines().any(|line| line.starts_with("USING RUNNER: behave")) {
        return Sniff::Maybe("first line of behave".into());
    }
    // cucumber-js then ends without a summary.
    if head.lines().any(|line| line.contains("Error: a BeforeAll hook errored, process exiting: ")) {
        return Sniff::Maybe("a hook of cucumber-js that failed".into());
    }
    Sniff::No
}

/// The counts of `5 scenarios (1 failed, 1 undefined, 3 passed)` and of `3 scenarios passed, 1 failed, 1 error, 1 skipped`.
fn scenarios(line: &str) -> Option<Vec<(Option<u64>, Outcome)>> {
    if line.eq_ignore_ascii_case("no scenarios") || line == "0 scenarios" {
        return Some(Vec::new());
    }
    counted(line)?;
    let line = line.to_ascii_lowercase();
    let (all, rest) = counted(&line)?;
    let rest = rest.strip_prefix("scenarios ").or_else(|| rest.strip_prefix("scenario "))?;
    let part = |part: &str| counted(part).and_then(|(number, word)| Some((number, outcome(word)?)));
    if let Some(list) = rest.strip_prefix('(') {
        return list.strip_suffix(')')?.split(", ").map(part).collect();
    }
    let (first, others) = rest.split_once(", ")?;
    let others: Option<Vec<_>> = others.split(", ").map(part).collect();
    Some([vec![(all, outcome(first)?)], others?].concat())
}

fn outcome(word: &str) -> Option<Outcome> {
    Some(match word {
        "passed" => Outcome::Passed,
        "failed" => Outcome::Failed,
        "undefined" | "ambiguous" | "error" | "errors" | "errored" | "hook_error" | "cleanup_error" => Outcome::Errored,
        "skipped" | "pending" | "pending_warn" | "untested" | "untested_pending" | "untested_undefined" => {
            Outcome::Skipped
        }
        _ => return None,
    })
}

/// `14 steps (1 failed, 12 passed)`, `12 steps passed, 1 failed`.
fn is_steps(line: &str) -> bool {
    let begins = |rest: &str| rest.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("step"));
    line.eq_ignore_ascii_case("no steps") || counted(line).is_some_and(|(_, rest)| begins(rest))
}

/// How many failed of `3 hooks (1 failed, 2 passed)`, which cucumber-js tells above the scenarios: hooks of the whole run.
fn failed_hooks(line: &str) -> Option<Option<u64>> {
    let (_, rest) = counted(line)?;
    let list = rest.strip_prefix("hooks (").or_else(|| rest.strip_prefix("hook ("))?.strip_suffix(')')?;
    let failed = list.split(", ").filter_map(counted).find(|(_, word)| *word == "failed");
    Some(failed.map_or(Some(0), |(number, _)| number))
}

/// The hook in `HOOK-ERROR in before_all: ValueError: x` of behave, unless it is a scenario's, which is in the counts.
fn failed_hook(line: &str) -> Option<&str> {
    let (hook, _) = line.strip_prefix("HOOK-ERROR in ")?.split_once(':')?;
    let (_, of) = hook.split_once('_')?;
    matches!(of, "all" | "feature" | "rule").then_some(hook)
}

/// One run.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Gherkin {
    names: Names,
    found: Option<Summary>,
    /// What the line before said of the scenarios.
    above: Option<Summary>,
    /// What the scenarios came to that are listed.
    listed: Option<Outcome>,
    /// Failed for all that is told; a step without definition makes it errored.
    told: Option<String>,
    /// The scenario of cucumber-js whose step failed, until its message is over.
    failing: Option<String>,
    behave: Behave,
    /// Hooks of whole features and runs that failed.
    hooks: u64,
    /// Those of the run that the line before counts.
    hooks_above: Option<Option<u64>>,
    /// What is listed are hooks, not scenarios.
    lists_hooks: bool,
}

impl Announced for Gherkin {
    /// Cucumber announces nothing.
    fn begins(line: &str) -> bool {
        line.starts_with("USING RUNNER: behave")
    }

    fn line(&mut self, text: &str) -> Result<()> {
        let above = self.above.take();
        let hooks = self.hooks_above.take();
        if let Some(counts) = scenarios(text) {
            let mut summary = Summary::default();
            Summary::add(&mut summary.unit_failures, hooks.unwrap_or(Some(0)))?;
            summary.errored = summary.unit_failures;
            for (number, outcome) in counts {
                let slot = match outcome {
                    Outcome::Passed => &mut summary.passed,
                    Outcome::Failed => &mut summary.failed,
                    Outcome::Errored => &mut summary.errored,
                    Outcome::Skipped => &mut summary.skipped,
                };
                Summary::add(slot, number)?;
            }
            self.above = Some(summary);
        } else if is_steps(text) {
            self.found = above.or(self.found.take());
        } else if let Some(hooks) = failed_hooks(text) {
            self.hooks_above = Some(hooks);
        } else if let Some(hook) = failed_hook(text) {
            self.hooks = add(self.hooks, 1)?;
            self.names.unit(hook);
        } else {
            self.scenario(text);
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }

    fn report(self) -> Result<Parsed> {
        let mut summary = self.found.unwrap_or_default();
        summary.add_units(self.hooks)?;
        self.names.report(&FORMAT, &summary, false)
    }
}

impl TextRun for Gherkin {
    const TOOL: &'static str = "Cucumber or behave";

    /// The line of scenarios may go on with a count; cucumber-js ends its last line not at all.
    fn is_whole(line: &str) -> bool {
        scenarios(line).is_none()
    }
}

impl Gherkin {
    /// A line that may name a scenario.
    fn scenario(&mut self, text: &str) {
        let list = text.strip_suffix(" scenarios:").or_else(|| text.strip_suffix(" Scenarios:"));
        if let Some(list) = list {
            self.listed = match list {
                "Failing" | "Failed" => Some(Outcome::Failed),
                other => outcome(&other.to_ascii_lowercase()),
            };
        } else if self.listed.is_some_and(|outcome| self.is_of_list(text, outcome)) {
            // Told.
        } else if let Some((file, line, name)) = numbered(text) {
            self.told = self.name(file, line, name, Outcome::Failed);
            self.failing = None;
        } else if text == "Failed hooks:" {
            self.lists_hooks = true;
        } else if let Some(hook) = listed_hook(text).filter(|_| self.lists_hooks) {
            self.names.unit(hook);
        } else if let Some(id) = self.told.take_if(|_| text.trim_start().starts_with("? ")) {
            if let Some(case) = self.names.set(&id, Outcome::Errored) {
                case.message = case.message.take().or_else(|| first_lines(text));
            }
        } else if text.starts_with("   ✖ ") {
            self.failing.clone_from(&self.told);
        } else if !text.is_empty() {
            // Only what stands further in than the step is its message.
            let content = text.strip_prefix("       ").map(str::trim).filter(|content| !content.starts_with("at "));
            self.failing.take_if(|_| content.is_none());
            let case = self.failing.as_ref().and_then(|id| self.names.get_mut(id));
            if let (Some(case), Some(content)) = (case, content) {
                add_line(&mut case.message, content);
            }
        }
        self.behave.line(text);
    }

    /// A line of a list of scenarios that came to `outcome`; `false` if it ends the list.
    fn is_of_list(&mut self, text: &str, outcome: Outcome) -> bool {
        if let Some((file, line, name)) = text.strip_prefix("  ").and_then(numbered) {
            self.failing = self.name(file, line, name, outcome);
        } else if let Some(told) = text.strip_prefix("       ") {
            self.why(told, outcome);
        } else if let Some((file, line, name)) = listed(text) {
            self.name(file, line, name, outcome);
        } else if !text.is_empty() {
            self.listed = None;
        }
        self.listed.is_some()
    }

    /// What cucumber-js tells below a scenario of its list: the step, and further in why it did not pass.
    fn why(&mut self, told: &str, outcome: Outcome) {
        let Some(case) = self.failing.as_ref().and_then(|id| self.names.get_mut(id)) else { return };
        match told.strip_prefix("    ").map(str::trim_start) {
            Some(why) if !why.starts_with("at ") => add_line(&mut case.message, why),
            // What the first that failed told stands.
            None if case.message.is_some() => self.failing = None,
            None if outcome == Outcome::Errored => add_line(&mut case.message, told),
            _ => {}
        }
    }

    fn name(&mut self, file: &str, line: u64, name: &str, outcome: Outcome) -> Option<String> {
        let id = format!("{file}::{name}");
        let case = self.names.set(&id, outcome)?;
        (case.file, case.line) = (Some(printable(file, 1000)), Some(line));
        if case.message.is_none() {
            case.message = self.behave.messages.remove(&format!("{file}:{line}"));
        }
        Some(printable(&id, super::LONGEST_ID))
    }
}

/// What behave tells of the steps that failed, above the list of their scenarios.
#[derive(Debug, Default)]
struct Behave {
    /// By the places of scenarios.
    messages: BTreeMap<String, String>,
    /// The scenario that runs.
    place: Option<String>,
    /// A traceback goes on, whose last line is the message.
    in_traceback: bool,
}

impl Behave {
    fn line(&mut self, text: &str) {
        if let Some(place) = running(text) {
            let has_room = self.messages.len() < MESSAGES_HELD && place.len() <= super::LONGEST_ID;
            (self.place, self.in_traceback) = (Some(place.to_owned()).filter(|_| has_room), false);
            return;
        }
        let Some(content) = text.strip_prefix("      ").filter(|content| !content.starts_with(' ')) else { return };
        let is_error =
            ["Assertion Failed: ", "ASSERT FAILED: ", "ERROR: "].iter().any(|begin| content.starts_with(begin));
        let ends_traceback = self.in_traceback && !content.is_empty();
        self.in_traceback |= content.starts_with("Traceback (most recent call last):");
        if (is_error || ends_traceback)
            && let Some(place) = self.place.take()
        {
            self.messages.extend(first_lines(content).map(|message| (place, message)));
        }
    }
}

/// The place in `  Scenario: forgets          # features/cart.feature:8`, above the scenario's steps.
fn running(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let is_scenario = text.starts_with("Scenario: ") || text.starts_with("Scenario Outline: ");
    text.rsplit_once(" # ").filter(|_| is_scenario).map(|(_, place)| place)
}

/// `1) Scenario: forgets # features/cart.feature:8` of cucumber-js; since 13 without the keyword.
fn numbered(text: &str) -> Option<(&str, u64, &str)> {
    let (_, rest) = leading_in(text)?;
    let (scenario, place) = rest.strip_prefix(") ")?.rsplit_once(" # ")?;
    let (file, line) = place.rsplit_once(':')?;
    Some((file, line.parse().ok()?, without_keyword(scenario)))
}

/// `  1) AfterAll # features/support/hooks.js:3` of cucumber-js.
fn listed_hook(text: &str) -> Option<&str> {
    let (_, rest) = leading_in(text.strip_prefix("  ")?)?;
    rest.strip_prefix(") ")
}

/// `  features/cart.feature:8  forgets` of behave, `cucumber features/cart.feature:8 # Scenario: forgets` of Ruby's Cucumber
/// and `file:///app/features/cart.feature:8 # forgets` of the JVM's.
fn listed(text: &str) -> Option<(&str, u64, &str)> {
    let text = text.trim_start();
    let text = text.strip_prefix("cucumber ").or_else(|| text.strip_prefix("file://")).unwrap_or(text);
    let (place, name) = text.split_once(" # ").or_else(|| text.split_once("  "))?;
    let (file, line) = place.rsplit_once(':')?;
    Some((file, line.parse().ok()?, without_keyword(name)))
}

fn without_keyword(scenario: &str) -> &str {
    let keywords = ["Scenario: ", "Scenario Outline: ", "Example: "];
    keywords.iter().find_map(|keyword| scenario.strip_prefix(keyword)).unwrap_or(scenario)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn read(text: &str) -> Result<Parsed> {
        (FORMAT.parse)(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn the_last_summary_counts() {
        for (text, expected) in [
            ("5 scenarios (1 failed, 1 undefined, 3 passed)\n14 steps (2 failed, 12 passed)\n0m00.1s", [5, 3, 1, 1, 0]),
            ("1 Scenarios (1 Passed)\n3 Steps (3 Passed)\n", [1, 1, 0, 0, 0]),
            ("1 scenario (1 pending)\n1 step (1 pending)\n", [1, 0, 0, 0, 1]),
            ("3 scenarios passed, 1 failed, 1 error, 2 skipped\n12 steps passed, 1 failed\n", [7, 3, 1, 1, 2]),
            ("0 scenarios passed, 1 failed, 0 skipped, 4 untested\n0 steps passed, 1 failed\n", [5, 0, 1, 0, 4]),
            ("No scenarios\nNo steps\n", [0; 5]),
            ("3 hooks (2 failed, 1 passed)\n3 scenarios (3 passed)\n6 steps (6 passed)\n", [5, 3, 0, 2, 0]),
            ("1 hook (1 passed)\n1 scenario (1 passed)\n2 steps (2 passed)\n", [1, 1, 0, 0, 0]),
            ("1 hook (1 failed)\n0 scenarios\n0 steps\n", [1, 0, 0, 1, 0]),
            ("1 hook (1 failed)\nprinted\n1 scenario (1 passed)\n2 steps (2 passed)\n", [1, 1, 0, 0, 0]),
            (
                "HOOK-ERROR in before_all: ValueError: x\nABORTED: By user.\n0 scenarios passed, 0 failed, 0 skipped, 8 untested\n\
                 0 steps passed, 0 failed, 0 skipped, 10 untested\n",
                [9, 0, 0, 1, 8],
            ),
            (
                "HOOK-ERROR in after_scenario: ValueError: x\n2 scenarios passed, 2 failed, 3 error, 1 hook_error, 0 skipped\n\
                 4 steps passed, 2 failed, 2 error, 1 skipped, 1 undefined\n",
                [8, 2, 2, 4, 0],
            ),
        ] {
            assert_eq!(counts(&read(text).unwrap()), expected, "{text}");
            assert!(matches!(sniffed(&FORMAT, text), Sniff::Sure(_)), "{text}");
        }
    }

    #[test]
    fn a_run_that_a_hook_ended_is_no_result() {
        let text = ".Error: a BeforeAll hook errored, process exiting: features/steps.js:1\n    at Worker.run (worker.js:1:2)\n";
        let error = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NoResult));
    }

    #[test]
    fn what_failed_is_named_with_its_place() {
        let end = "\n1 scenario (1 failed)\n1 step (1 failed)\n";
        for (list, outcome) in [
            ("Failures:\n\n1) Scenario: a: b # f/x.feature:8\n   ✖ Then no # s.js:2\n", Outcome::Failed),
            ("1) Scenario: a: b # f/x.feature:8\n   ✔ Given it # s.js:2\n   ? When nobody knows\n", Outcome::Errored),
            ("Failing scenarios:\n  f/x.feature:8  a: b\n", Outcome::Failed),
            ("Errored scenarios:\n  f/x.feature:8  a: b\n", Outcome::Errored),
            ("Failing Scenarios:\ncucumber f/x.feature:8 # Scenario: a: b\n", Outcome::Failed),
            ("Undefined scenarios:\nfile://f/x.feature:8 # a: b\n", Outcome::Errored),
        ] {
            let details = details(&read(&format!("{list}{end}")).unwrap());
            let case = details.cases.cases.get("f/x.feature::a: b").unwrap_or_else(|| panic!("{list}"));
            assert_eq!(
                (case.outcome, case.file.as_deref(), case.line),
                (outcome, Some("f/x.feature"), Some(8)),
                "{list}"
            );
        }
    }

    #[test]
    fn lists_of_cucumber_js_13_name_what_did_not_pass_and_why() {
        let place = " # f/x.feature:8\n       ";
        let text = format!(
            "Pending scenarios:\n  1) waits{place}When it waits # s.js:4\n\nUndefined scenarios:\n  1) odd{place}\
             When http://x:80 is odd\n\nAmbiguous scenarios:\n  1) doubts{place}When it doubts\n           \
             Multiple matching step definitions found:\n\nFailed scenarios:\n  1) a: 1{place}Then x:1 # s.js:2\n           \
             Error: no\n           \n               1) b # f/x.feature:9\n               at x (s.js:2:1)\n       \
             After # s.js:3\n           Error: after\n  2) hooked # twice{place}Before # s.js:4\n           Error: before\n\n\
             5 scenarios (1 pending, 1 undefined, 1 ambiguous, 2 failed)\n5 steps (5 failed)\n"
        );
        let cases = details(&read(&text).unwrap()).cases.cases;
        let told = cases.iter().map(|(id, case)| (id.as_str(), case.outcome, case.message.as_deref()));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                ("f/x.feature::a: 1", Outcome::Failed, Some("Error: no | 1) b # f/x.feature:9")),
                (
                    "f/x.feature::doubts",
                    Outcome::Errored,
                    Some("When it doubts | Multiple matching step definitions found:")
                ),
                ("f/x.feature::hooked # twice", Outcome::Failed, Some("Error: before")),
                ("f/x.feature::odd", Outcome::Errored, Some("When http://x:80 is odd")),
                ("f/x.feature::waits", Outcome::Skipped, None),
            ]
        );
    }

    #[test]
    fn hooks_of_the_run_that_failed_are_units() {
        let text = "Failed scenarios:\n  1) a # f/x.feature:8\n       Then no # s.js:2\n\nFailed hooks:\n  \
                    1) AfterAll # f/hooks.js:3\n       Error: no\n           at x (f/hooks.js:3:2)\n\n\
                    1 hook (1 failed)\n2 scenarios (1 failed, 1 passed)\n4 steps (1 failed, 3 passed)\n";
        let parsed = read(text).unwrap();
        let details = details(&parsed);
        assert_eq!((counts(&parsed), details.unit_failures), ([3, 1, 1, 1, 0], 1));
        assert_eq!(details.failed_units, ["AfterAll # f/hooks.js:3"]);
        assert_eq!(details.cases.cases.keys().collect::<Vec<_>>(), ["f/x.feature::a"]);
    }

    #[test]
    fn what_failed_has_the_message_of_its_step() {
        let of_cucumber = "Failures:\n\n1) Scenario: a # f/x.feature:8\n   ✔ Given it # s.js:2\n\
                           \x20  ✖ Then it holds 3 things # s.js:2\n\
                           \x20      AssertionError [ERR_ASSERTION]: 2 == 3\n           + expected - actual\n\n\
                           \x20          -2\n           +3\n\n\
                           \x20          at World.<anonymous> (/app/s.js:2:161)\n   - And more # s.js:3\n\n";
        let undefined = "1) Scenario: a # f/x.feature:8\n   ? When nobody knows\n\
                         \x20      Undefined. Implement with the following snippet:\n\n";
        let of_behave = |told: &str| {
            format!(
                "  Scenario: b  # f/x.feature:3\n    Given a cart   # s.py:2\n\n  Scenario: a  # f/x.feature:8\n\
                 \x20   Given text  # s.py:2\n\
                 \x20     \"\"\"\n      Scenario: c\n      \"\"\"\n    Then it holds 3 things  # s.py:6\n{told}\n\n\
                 Failing scenarios:\n  f/x.feature:8  a\n\n"
            )
        };
        let traceback = "      Traceback (most recent call last):\n        File \"s.py\", line 6, in step\n\
                         \x20         x()\n      KeyError: 'x'\n";
        for (text, expected) in [
            (of_cucumber.to_owned(), "AssertionError [ERR_ASSERTION]: 2 == 3 | + expected - actual | -2"),
            (undefined.to_owned(), "? When nobody knows"),
            (of_behave("      Assertion Failed: 2 things\n"), "Assertion Failed: 2 things"),
            (of_behave("      ASSERT FAILED: 2 things\n"), "ASSERT FAILED: 2 things"),
            (of_behave(traceback), "KeyError: 'x'"),
        ] {
            let details = details(&read(&format!("{text}1 scenario (1 failed)\n1 step (1 failed)\n")).unwrap());
            assert_eq!(details.cases.cases["f/x.feature::a"].message.as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn without_its_steps_a_summary_is_none() {
        for text in
            ["", "5 scenarios (1 failed, 4 passed)\n", "5 scenarios (1 failed, 4 passed)\ntext\n14 steps (14 passed)\n"]
        {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::NoResult), "{text}");
        }
        for text in [
            "1 scenario (1 passed)",
            "99999999999999999999 scenarios (99999999999999999999 passed)\n1 step (1 passed)\n",
        ] {
            assert_eq!(read(text).unwrap_err().reject(), Some(Reject::Malformed), "{text}");
        }
        for text in ["5 scenarios (4 odd)\n14 steps (14 passed)\n", "5 steps passed\n"] {
            assert_eq!(sniffed(&FORMAT, text), Sniff::No, "{text}");
        }
    }
}
