//! Tests were edited in a way that may make them pass without better code.

use std::collections::BTreeMap;

use super::{AlertRule, by_test};
use crate::analysis::comparison::Comparison;
use crate::analysis::confidence::by_severity;
use crate::model::edits::{EditKind, TestEdit, TestEdits};
use crate::model::proof::{Proven, TamperProof};
use crate::model::verdict::{Alert, Severity, Status};

/// Whoever mends a wrong test does the same: it is told, and a person asked where a test that failed is green for it.
pub const RULE: AlertRule = AlertRule {
    name: "tamper_suspected",
    about: "a test was edited in a way that may make it pass without better code",
    meaning: "Look at the edit. LOW: code changed as well. MEDIUM: no code that a test can reach changed. HIGH: moreover, a test \
              that failed does not fail any more, and nothing but the edit can be why; a person is asked. `record --replay CMD` \
              runs the old tests on the new code, which proves or refutes it.",
    formula: "in the files of tests, of what sets them up, of recorded expectations and of the tools that run them: fewer or \
              weaker assertions, other values expected, tests skipped, failures swallowed, the tested code replaced, an early \
              exit, checks loosened or silenced, a recorded expectation rewritten; in the code, a condition on what a test asks \
              that answers what it expects",
    source: "beyond the seeds (tampering with tests, static rules)",
    severity: Severity::Medium,
    reliability: 0.25,
    thresholds: &[],
    check,
};

/// Edits that are told beside one finding.
const EVIDENCE: usize = 5;

fn check(comparison: &Comparison) -> Vec<Alert> {
    let Some(edits) = comparison.test_edits else { return Vec::new() };
    let mut by_place: BTreeMap<(Severity, String), Vec<&TestEdit>> = BTreeMap::new();
    for edit in &edits.edits {
        by_place.entry((severity(edits, edit, comparison.proof), edit.place())).or_default().push(edit);
    }
    // The gravest first.
    let places: Vec<_> = by_place.into_iter().rev().collect();
    by_test(
        &places,
        |((_, place), _)| place,
        |((severity, place), found)| {
            let mut said: Vec<&str> = Vec::new();
            for edit in found {
                if !said.contains(&edit.kind.said()) {
                    said.push(edit.kind.said());
                }
            }
            Alert {
                subject: Some(place.clone()),
                severity: *severity,
                reliability: by_severity(*severity),
                status: status(found, comparison.proof),
                evidence: evidence(edits, found, comparison.proof),
                ..RULE.alert(comparison, format!("{}: {place}: {}", title(found), said.join(", ")))
            }
        },
    )
}

fn is_special_case(edit: &&TestEdit) -> bool {
    edit.kind == EditKind::SpecialCased
}

fn title(found: &[&TestEdit]) -> &'static str {
    if found.iter().all(is_special_case) { "Special case in the code" } else { "Test edited" }
}

/// How an edit weighs (ANALYSIS §12.4).
fn severity(edits: &TestEdits, edit: &TestEdit, proof: Option<&TamperProof>) -> Severity {
    match (edits.code_changed, edit.turned.is_empty()) {
        (true, _) => Severity::Low,
        (false, true) if proof.is_some_and(hides_nothing) => Severity::Low,
        (false, true) => Severity::Medium,
        (false, false) => Severity::High,
    }
}

/// All tests run as they were, and what passed then passes on the new code.
fn hides_nothing(proof: &TamperProof) -> bool {
    proof.inconclusive.is_none() && proof.all(Proven::HiddenRegression).next().is_none()
}

/// Refuted, where all tests that turned pass as they were, too: which says nothing of code that is there for them alone.
fn status(found: &[&TestEdit], proof: Option<&TamperProof>) -> Status {
    if found.iter().any(is_special_case) {
        return Status::Suspected;
    }
    let mut turned = found.iter().flat_map(|edit| &edit.turned).peekable();
    let is_honest = |id: &String| proof.is_some_and(|proof| proof.old_passes(id));
    if turned.peek().is_some() && turned.all(is_honest) { Status::Refuted } else { Status::Suspected }
}

fn evidence(edits: &TestEdits, found: &[&TestEdit], proof: Option<&TamperProof>) -> Vec<String> {
    let told = |edit: &&TestEdit| {
        let line = edit.line.map(|line| format!("line {line}, ")).unwrap_or_default();
        format!("{line}{}", edit.said())
    };
    let mut evidence: Vec<String> = found.iter().take(EVIDENCE).map(told).collect();
    if found.len() > EVIDENCE {
        evidence.push(format!("{} more edits", found.len() - EVIDENCE));
    }
    let mut turned: Vec<&String> = found.iter().flat_map(|edit| &edit.turned).collect();
    turned.sort_unstable();
    turned.dedup();
    evidence.extend(
        turned.iter().take(EVIDENCE).map(|id| format!("failed at iteration {}, and does not now: {id}", edits.since)),
    );
    match proof {
        Some(TamperProof { inconclusive: Some(why), .. }) => evidence.push(format!("nothing is proven: {why}")),
        Some(proof) if status(found, Some(proof)) == Status::Refuted => {
            evidence.push(format!("as they were at iteration {}, the tests that turned pass, too", proof.since));
        }
        Some(proof) if hides_nothing(proof) => {
            evidence.push(format!("what passed at iteration {} passes as it was on the code as it is", proof.since));
        }
        _ => {}
    }
    if !edits.code_changed {
        evidence.push(format!("no code that a test can reach changed since iteration {}", edits.since));
    }
    evidence
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, rules, tests};
    use crate::model::edits::{EditKind, TestEdit, TestEdits};
    use crate::model::ids::{Iteration, TreePath};
    use crate::model::verdict::{Action, Severity, Status};

    fn edit(path: &str, kind: EditKind, turned: &[&str]) -> TestEdit {
        TestEdit {
            kind,
            path: TreePath::new(path).unwrap(),
            line: Some(12),
            test: Some("test_x".to_owned()),
            before: Some("assert x == 4".to_owned()),
            now: Some("assert x == 3".to_owned()),
            turned: turned.iter().map(|id| (*id).to_owned()).collect(),
        }
    }

    #[test]
    fn a_test_that_an_edit_alone_turned_asks_a_person_and_other_edits_are_told() {
        use Severity::{High, Low, Medium};
        for (code_changed, turned, severity, action, confidence) in [
            (false, &["a::test_x"][..], High, Action::Escalate, 0.5),
            (false, &[], Medium, Action::Continue, 0.75),
            (true, &["a::test_x"], Low, Action::Continue, 1.0),
        ] {
            let mut story = Story::new();
            story.record(tests(8, 1));
            let edits = vec![edit("a.py", EditKind::OtherExpectation, turned)];
            story.edit_tests(TestEdits { since: Iteration(0), code_changed, edits });
            let verdict = story.record(tests(9, 0));
            assert_eq!(rules(&verdict), ["tamper_suspected"]);
            let (alert, recommendation) = (&verdict.alerts[0], &verdict.recommendation);
            assert_eq!((alert.severity, alert.status), (severity, Status::Suspected));
            assert_eq!(alert.message, "Test edited: a.py: test_x: other value expected");
            assert_eq!(alert.evidence[0], "line 12, other value expected: assert x == 4 → assert x == 3");
            assert_eq!(recommendation.action, action, "{severity:?}");
            assert!(verdict.open_findings.is_empty(), "a suspicion bars nothing");
            let weight = verdict.quality_score.map_or(0.0, |score| score.weight_available);
            assert!((recommendation.confidence - confidence * weight).abs() < 0.011 || action == Action::Escalate);
            if action == Action::Escalate {
                assert_eq!(recommendation.because, ["suspected_tamper", "tamper_suspected"]);
            }
        }
    }

    #[test]
    fn what_old_tests_on_new_code_tell_refutes_it_or_makes_it_lighter() {
        use crate::model::proof::{ProvenTest, TamperProof};
        let proof = |tests: Vec<ProvenTest>, inconclusive: Option<&str>| TamperProof {
            since: Iteration(0),
            command: Some("pytest".to_owned()),
            tests,
            inconclusive: inconclusive.map(str::to_owned),
        };
        let honest = ProvenTest {
            id: "a::test_x".to_owned(),
            failed_before: true,
            old_passes_on_new_code: Some(true),
            new_passes_on_old_code: None,
        };
        let hidden = ProvenTest { failed_before: false, old_passes_on_new_code: Some(false), ..honest.clone() };
        for (code_changed, turned, proof, expected) in [
            (true, &["a::test_x"][..], proof(vec![honest.clone()], None), (Severity::Low, Status::Refuted)),
            (true, &["a::test_x", "a::test_y"], proof(vec![honest], None), (Severity::Low, Status::Suspected)),
            (false, &[], proof(vec![], None), (Severity::Low, Status::Suspected)),
            (false, &[], proof(vec![hidden], None), (Severity::Medium, Status::Suspected)),
            (false, &[], proof(vec![], Some("no test ran")), (Severity::Medium, Status::Suspected)),
        ] {
            let mut story = Story::new();
            story.record(tests(8, 1));
            let edits = vec![edit("a.py", EditKind::OtherExpectation, turned)];
            story.edit_tests(TestEdits { since: Iteration(0), code_changed, edits });
            story.prove(proof.clone());
            let verdict = story.record(tests(9, 0));
            let alert = verdict.alerts.iter().find(|alert| alert.rule == "tamper_suspected").unwrap();
            assert_eq!((alert.severity, alert.status), expected, "{proof:?}");
            let told = proof.inconclusive.map(|why| format!("nothing is proven: {why}"));
            assert_eq!(alert.evidence.iter().find(|line| line.starts_with("nothing")), told.as_ref());
        }
    }

    #[test]
    fn the_choice_says_where_to_look_first() {
        for (turned, expected) in [(&["a::test_x"][..], 1), (&[], 0)] {
            let mut story = Story::new();
            story.record(tests(7, 2));
            let edits = vec![edit("a.py", EditKind::OtherExpectation, turned)];
            story.edit_tests(TestEdits { since: Iteration(0), code_changed: false, edits });
            story.record(tests(8, 1));
            story.record(tests(9, 0));
            let choice = crate::analysis::select(story.points(), &story.config);
            assert_eq!(choice.selected, Some(Iteration(2)));
            let line = "look at iteration 1 first: a test that failed was edited while no code changed (a.py: test_x)";
            assert_eq!(choice.rationale.iter().filter(|one| *one == line).count(), expected);
        }
    }

    #[test]
    fn edits_of_one_test_are_one_finding_and_the_gravest_stands_first() {
        let mut story = Story::new();
        story.record(tests(8, 1));
        let edits = vec![
            edit("a.py", EditKind::Skipped, &[]),
            edit("b.py", EditKind::Skipped, &["b::test_x"]),
            edit("b.py", EditKind::OtherExpectation, &["b::test_x"]),
        ];
        story.edit_tests(TestEdits { since: Iteration(0), code_changed: false, edits });
        let verdict = story.record(tests(9, 0));
        let told: Vec<&str> = verdict.alerts.iter().map(|alert| alert.message.as_str()).collect();
        assert_eq!(
            told,
            [
                "Test edited: b.py: test_x: skipped or expected to fail, other value expected",
                "Test edited: a.py: test_x: skipped or expected to fail"
            ]
        );
        assert_eq!(
            verdict.alerts[0].evidence[2..],
            [
                "failed at iteration 0, and does not now: b::test_x",
                "no code that a test can reach changed since iteration 0"
            ]
        );
    }
}
