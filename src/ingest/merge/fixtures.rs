//! Fixtures and hooks that failed, and errors thrown, which reports tell like tests: they are units that failed outside any test
//! (ANALYSIS §1, `collection_errors`). As tests they would be gone once they work.

use crate::ingest::{Details, Parsed, TestDetails};
use crate::model::cases::{Outcome, TestCase, TestCases};
use crate::model::fixtures::around;

/// The report with its fixtures set apart from its tests; `None` if it names none that failed.
pub(super) fn set_apart(report: &Parsed) -> Option<Parsed> {
    let Details::Tests(tests) = &report.details else { return None };
    let failed: Vec<(&String, Outcome, &str, u64)> = (tests.cases.cases.iter())
        .filter(|(_, case)| case.outcome.is_bad())
        .filter_map(|(id, case)| {
            let (unit, results) = thrown(id, tests).or_else(|| Some((unit(id, case, &tests.cases)?, 1)))?;
            Some((id, case.outcome, unit, results))
        })
        .collect();
    if failed.is_empty() {
        return None;
    }
    let mut apart = report.clone();
    let (Details::Tests(details), figures) = (&mut apart.details, &mut apart.figures) else { return None };
    for (id, outcome, unit, results) in failed {
        if outcome == Outcome::Failed {
            // Units are counted with the errored.
            figures.failed = Some(figures.failed?.checked_sub(results)?);
            figures.errored = Some(figures.errored?.checked_add(results)?);
        }
        details.cases.cases.remove(id);
        details.duplicates = details.duplicates.saturating_sub(results.saturating_sub(1));
        details.unit_failures = details.unit_failures.checked_add(results)?;
        details.failed_units.push(unit.to_owned());
    }
    Some(apart)
}

/// In which test an error was thrown, and how often one of that name.
fn thrown<'a>(id: &'a str, tests: &TestDetails) -> Option<(&'a str, u64)> {
    let results = tests.thrown.get(id)?;
    Some((id.rsplit_once("::").map_or(id, |(test, _)| test), *results))
}

/// What failed as a whole, or around its tests; `None` if it is a test.
fn unit<'a>(id: &'a str, case: &TestCase, all: &TestCases) -> Option<&'a str> {
    if let Some(block) = around(id) {
        return Some(if block.is_empty() { id } else { block });
    }
    // A block of Vitest's whose hooks failed.
    let inside = format!("{id} > ");
    let is_block = || all.cases.range(inside.clone()..).next().is_some_and(|(other, _)| other.starts_with(&inside));
    // Of a file whose process failed, Node says no more.
    let says_nothing = || case.message.as_deref().is_some_and(|message| message.trim_matches('\'') == "test failed");
    let is_file = || [".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"].iter().any(|extension| id.ends_with(extension));
    ((says_nothing() && is_file()) || is_block()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::unit;
    use crate::ingest::test::mocha_text;
    use crate::ingest::{Input, Parsed, merge, parse};
    use crate::model::cases::{Outcome, TestCase, TestCases};

    #[test]
    fn a_hook_that_failed_is_no_test() {
        let text = include_str!("../../../fixtures/reports/mocha-text/good-tree.txt");
        let report: Parsed = parse(&Input::bytes("x", text.as_bytes()), Some(&mocha_text::FORMAT)).unwrap();
        assert_eq!((report.figures.tests, report.figures.failed), (Some(10), Some(2)), "as the tool counts");
        let measured = merge::merge(&[report]);
        let tests = measured.testing.unwrap();
        assert_eq!((tests.test_count, tests.tests_failed, tests.tests_errored), (Some(9), Some(1), Some(0)));
        assert_eq!((tests.collection_errors, tests.failed_units), (1, vec!["Hooked".to_owned()]));
        assert_eq!((measured.cases.unwrap().cases.len(), measured.failing), (9, vec!["Cart::fails".to_owned()]));
    }

    #[test]
    fn a_block_of_vitest_s_and_a_file_of_node_s_are_no_tests() {
        let mut all = TestCases::default();
        let failed = |message: &str| TestCase { message: Some(message.to_owned()), ..TestCase::new(Outcome::Failed) };
        for id in ["a.test.js::Cart", "a.test.js::Cart > adds", "a.test.js::Cartwheel", "b.test.js::Cart"] {
            all.add(id.to_owned(), failed("no"));
        }
        let unit = |id: &str, message: &str| unit(id, &failed(message), &all).map(str::to_owned);
        assert_eq!(unit("a.test.js::Cart", "no"), Some("a.test.js::Cart".to_owned()));
        for test in ["a.test.js::Cart > adds", "a.test.js::Cartwheel", "b.test.js::Cart"] {
            assert_eq!(unit(test, "no"), None, "{test}");
        }
        for message in ["test failed", "'test failed'"] {
            assert_eq!(unit("sub/a.test.mjs", message), Some("sub/a.test.mjs".to_owned()));
            assert_eq!(unit("converts a.css", message), None);
        }
        assert_eq!(unit("input.js", "Expected 1 to be 2"), None);
    }
}
