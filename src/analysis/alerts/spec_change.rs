//! A test and the code that it tests changed together.

use super::{AlertRule, by_test};
use crate::analysis::comparison::Comparison;
use crate::model::proof::Proven;
use crate::model::verdict::{Alert, Severity};

/// Whether other behaviour is wanted is nothing that a run can tell.
pub const RULE: AlertRule = AlertRule {
    name: "spec_change",
    about: "a test that failed was edited and the code as well, and neither passes with the other's past",
    meaning: "What is asked for changed. Whether it should have is for a person to say.",
    formula: "a test failed before and does not now; as it was it fails on the code as it is, and as it is it fails on the code \
              as it was",
    source: "beyond the seeds (tampering with tests, replay)",
    severity: Severity::Medium,
    reliability: 0.25,
    thresholds: &[],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let Some(proof) = comparison.proof else { return Vec::new() };
    by_test(
        &proof.all(Proven::SpecChange).collect::<Vec<_>>(),
        |id| *id,
        |id| Alert {
            subject: Some((*id).to_owned()),
            evidence: vec![format!("its edit and the code's since iteration {} need each other", proof.since)],
            ..RULE.alert(comparison, format!("Test and code changed together: {id}"))
        },
    )
}
