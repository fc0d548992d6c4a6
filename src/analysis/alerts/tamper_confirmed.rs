//! A test turned green by its own edit: proven.

use super::{AlertRule, CONFIRMED, by_test};
use crate::analysis::comparison::Comparison;
use crate::model::proof::Proven;
use crate::model::verdict::{Alert, Severity, Status};

/// The edit alone is enough, with the old code, too; and the new code alone is not.
pub const RULE: AlertRule = AlertRule {
    name: "tamper_confirmed",
    about: "a test that failed passes by its own edit, and not by better code",
    meaning: "What the test asked for is not there. It stays open until the test as it was passes, which runs in copies of the \
              work tree tell; `highwater accept` closes it where the test was wrong.",
    formula: "a test failed before and does not now; as it was it fails on the code as it is, and as it is it passes on the code \
              as it was",
    source: "beyond the seeds (tampering with tests, replay)",
    severity: Severity::Critical,
    reliability: CONFIRMED,
    thresholds: &[],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let Some(proof) = comparison.proof else { return Vec::new() };
    by_test(
        &comparison.newly_proven(RULE.name, Proven::Tampered),
        |id| *id,
        |id| Alert {
            subject: Some((*id).to_owned()),
            status: Status::Confirmed,
            evidence: vec![
                format!("as it was at iteration {}, it fails on the code as it is", proof.since),
                format!("as it is, it passes on the code of iteration {}, too", proof.since),
            ],
            ..RULE.alert(comparison, format!("Test edited until it passed: {id}"))
        },
    )
}

#[cfg(test)]
mod tests {
    use crate::analysis::Verdict;
    use crate::analysis::testing::{Story, rules, tests};
    use crate::model::ids::Iteration;
    use crate::model::proof::{ProvenTest, TamperProof};
    use crate::model::verdict::{Action, Severity};

    fn proof(old_on_new: bool, new_on_old: Option<bool>) -> TamperProof {
        let test = ProvenTest {
            id: "a::x".to_owned(),
            failed_before: true,
            old_passes_on_new_code: Some(old_on_new),
            new_passes_on_old_code: new_on_old,
        };
        TamperProof { since: Iteration(0), command: Some("pytest".to_owned()), tests: vec![test], inconclusive: None }
    }

    fn open(verdict: &Verdict) -> Vec<&str> {
        verdict.open_findings.iter().map(|finding| finding.alert.rule.as_str()).collect()
    }

    #[test]
    fn what_an_edit_alone_turned_is_rolled_back_and_open_until_the_old_test_passes() {
        let mut story = Story::new();
        story.record(tests(8, 1));
        story.prove(proof(false, Some(true)));
        let verdict = story.record(tests(9, 0));
        assert_eq!(rules(&verdict), ["tamper_confirmed"]);
        assert_eq!(verdict.alerts[0].severity, Severity::Critical);
        assert!((verdict.alerts[0].reliability - 0.95).abs() < 1e-9);
        assert_eq!(verdict.recommendation.action, Action::Rollback);
        assert_eq!(verdict.recommendation.target, Some(Iteration(0)));
        assert_eq!(
            verdict.open_findings[0].closes_when,
            "a::x passes as it was before iteration 1, which runs in copies tell"
        );

        // Nothing is known: it stays. Known to be so still: it stays, and is not told again.
        assert_eq!(open(&story.record(tests(9, 0))), ["tamper_confirmed"]);
        story.prove(proof(false, Some(true)));
        let verdict = story.record(tests(9, 0));
        assert_eq!((rules(&verdict), open(&verdict)), (vec![], vec!["tamper_confirmed"]));
        story.prove(proof(true, None));
        assert!(open(&story.record(tests(9, 0))).is_empty());
    }

    #[test]
    fn accepting_it_closes_it() {
        let mut story = Story::new();
        story.record(tests(8, 1));
        story.prove(proof(false, Some(true)));
        story.record(tests(9, 0));
        story.accept("tamper_confirmed");
        story.record(tests(9, 0));
        assert!(story.record(tests(9, 0)).open_findings.is_empty());
    }

    #[test]
    fn mended_code_and_a_run_that_told_nothing_are_none() {
        for proof in [proof(true, None), proof(false, None)] {
            let mut story = Story::new();
            story.record(tests(8, 1));
            story.prove(proof);
            assert!(rules(&story.record(tests(9, 0))).is_empty());
        }
    }
}
