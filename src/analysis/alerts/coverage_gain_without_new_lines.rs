//! Coverage rose, and not one line more runs.

use super::{AlertRule, beside};
use crate::analysis::comparison::Comparison;
use crate::model::metrics::Metrics;
use crate::model::units::round_half_up;
use crate::model::verdict::{Alert, Severity};

/// Percentage points that are shown as none, in two decimals.
const LEAST_RISE: f64 = 0.005;

/// What deleting code that no test reaches, or leaving it out of the coverage, does to a percentage.
pub const RULE: AlertRule = AlertRule {
    name: "coverage_gain_without_new_lines",
    about: "coverage rose although not one line more runs",
    meaning: "Code that no test reached is gone, or left out of the coverage. That may be right; no test is better for it.",
    formula: "coverage_percentage > previous, to two decimals, and lines that ran ≤ previous, where both iterations count lines",
    source: "beyond the seeds (lines)",
    severity: Severity::Medium,
    reliability: 0.25,
    thresholds: &[],
    check,
};

fn check(comparison: &Comparison) -> Vec<Alert> {
    let lines =
        |metrics: &Metrics| metrics.coverage.as_ref()?.lines_covered.zip(metrics.coverage.as_ref()?.lines_total);
    let Some(pair) = comparison.pair(|metrics| Some((metrics.coverage()?, lines(metrics)?))) else { return Vec::new() };
    let ((before, (covered_before, total_before)), (now, (covered, total))) = (pair.before, pair.now);
    let rise = now - before;
    if rise < LEAST_RISE || covered > covered_before {
        return Vec::new();
    }
    let message = format!("Coverage rose {}% without a line more that runs", round_half_up(rise, 2));
    let evidence = vec![format!(
        "{covered_before} of {total_before} lines ran at iteration {}, {covered} of {total} now",
        pair.against
    )];
    vec![Alert { evidence, ..beside(RULE.alert(comparison, message), before, now) }]
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, rules, tests, with_lines};

    // ANALYSIS V12.
    #[test]
    fn v12_deleting_lines_that_did_not_run_is_told_and_covering_one_is_not() {
        for (covered, total, expected) in
            [(292, 400, &["coverage_gain_without_new_lines"][..]), (293, 400, &[]), (292, 450, &[])]
        {
            let mut story = Story::new();
            story.record(with_lines(tests(10, 0), 292, 450));
            let verdict = story.record(with_lines(tests(10, 0), covered, total));
            assert_eq!(rules(&verdict), expected, "{covered}/{total}");
            if let [alert] = verdict.alerts.as_slice() {
                assert_eq!(alert.message, "Coverage rose 8.11% without a line more that runs");
                assert_eq!(alert.evidence, ["292 of 450 lines ran at iteration 0, 292 of 400 now"]);
            }
        }
    }
}
