//! A regression that the edit of a test hides: proven.

use super::{AlertRule, CONFIRMED, by_test};
use crate::analysis::comparison::Comparison;
use crate::model::proof::{Proven, ProvenTest, TamperProof};
use crate::model::verdict::{Alert, Severity, Status};

/// No counter and no name shows it: the test passes, is skipped or is gone, and what it guarded is broken.
pub const RULE: AlertRule = AlertRule {
    name: "hidden_regression",
    about: "a test that passed was edited, skipped or removed, and as it was it fails",
    meaning: "The new code breaks what the test asked for. It stays open until the test as it was passes, which runs in copies \
              of the work tree tell; `highwater accept` closes it where other behaviour is wanted.",
    formula: "a test passed before and does not fail now; as it was it passes on the code as it was, and fails on the code as it \
              is",
    source: "beyond the seeds (tampering with tests, replay)",
    severity: Severity::Critical,
    reliability: CONFIRMED,
    thresholds: &[],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let Some(proof) = comparison.proof else { return Vec::new() };
    by_test(
        &comparison.newly_proven(RULE.name, Proven::HiddenRegression),
        |id| *id,
        |id| Alert {
            subject: Some((*id).to_owned()),
            status: Status::Confirmed,
            evidence: evidence(proof, id),
            ..RULE.alert(comparison, format!("Regression hidden by an edit of its test: {id}"))
        },
    )
}

fn evidence(proof: &TamperProof, id: &str) -> Vec<String> {
    let since = proof.since;
    let mut evidence = vec![format!("as it was at iteration {since}, it passed there and fails on the code as it is")];
    let both_moved = |test: &ProvenTest| test.id == id && test.new_passes_on_old_code == Some(false);
    if proof.tests.iter().any(both_moved) {
        evidence.push(format!("as it is, it fails on the code of iteration {since}: other behaviour may be wanted"));
    }
    evidence
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, rules, tests};
    use crate::model::ids::Iteration;
    use crate::model::proof::{ProvenTest, TamperProof};
    use crate::model::verdict::Action;

    #[test]
    fn what_the_old_test_finds_is_rolled_back_and_what_it_does_not_find_is_nothing() {
        for (old_passes, action) in [(false, Action::Rollback), (true, Action::Continue)] {
            let mut story = Story::new();
            story.record(tests(9, 0));
            let test = ProvenTest {
                id: "a::x".to_owned(),
                failed_before: false,
                old_passes_on_new_code: Some(old_passes),
                new_passes_on_old_code: Some(false),
            };
            story.prove(TamperProof { since: Iteration(0), command: None, tests: vec![test], inconclusive: None });
            let verdict = story.record(tests(9, 0));
            assert_eq!(rules(&verdict), if old_passes { vec![] } else { vec!["hidden_regression"] });
            let evidence: Vec<&str> =
                verdict.alerts.iter().flat_map(|alert| &alert.evidence).map(String::as_str).collect();
            let expected = [
                "as it was at iteration 0, it passed there and fails on the code as it is",
                "as it is, it fails on the code of iteration 0: other behaviour may be wanted",
            ];
            assert_eq!(evidence, if old_passes { vec![] } else { expected.to_vec() });
            assert_eq!(verdict.recommendation.action, action);
            assert_eq!(verdict.open_findings.is_empty(), old_passes);
        }
    }
}
