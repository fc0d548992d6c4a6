//! Fixtures and hooks that failed, which reports tell like tests: they are units that failed outside any test
//! (ANALYSIS §1, `collection_errors`). As tests they would be gone once they work.

use crate::ingest::{Details, Parsed};
use crate::model::cases::Outcome;
use crate::model::fixtures::around;

/// The report with its fixtures set apart from its tests; `None` if it names none that failed.
pub(super) fn set_apart(report: &Parsed) -> Option<Parsed> {
    let Details::Tests(tests) = &report.details else { return None };
    let is_bad = |outcome: Outcome| matches!(outcome, Outcome::Failed | Outcome::Errored);
    let failed: Vec<(&String, Outcome)> = (tests.cases.cases.iter())
        .filter(|(id, case)| is_bad(case.outcome) && around(id).is_some())
        .map(|(id, case)| (id, case.outcome))
        .collect();
    if failed.is_empty() {
        return None;
    }
    let mut apart = report.clone();
    let (Details::Tests(details), figures) = (&mut apart.details, &mut apart.figures) else { return None };
    for (id, outcome) in failed {
        if outcome == Outcome::Failed {
            // Units are counted with the errored.
            figures.failed = Some(figures.failed?.checked_sub(1)?);
            figures.errored = Some(figures.errored.unwrap_or(0).checked_add(1)?);
        }
        details.cases.cases.remove(id);
        details.unit_failures = details.unit_failures.checked_add(1)?;
        let unit = around(id).filter(|unit| !unit.is_empty()).unwrap_or(id);
        details.failed_units.push(unit.to_owned());
    }
    Some(apart)
}

#[cfg(test)]
mod tests {
    use crate::ingest::test::mocha_text;
    use crate::ingest::{Input, Parsed, merge, parse};

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
}
