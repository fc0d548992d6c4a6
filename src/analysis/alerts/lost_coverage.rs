//! Lines that did not change ran before, and do not run now.

use super::AlertRule;
use crate::analysis::comparison::Comparison;
use crate::analysis::counted;
use crate::model::lost_lines::{LostInFile, LostLines};
use crate::model::verdict::{Alert, Severity};

/// Lines that are too many, however many there are.
const MANY: u64 = 10;

/// The share of those that ran before that is too much, as one in so many.
const ONE_IN: u64 = 100;

/// What the percentage hides: new code that is covered makes up for old code that no test reaches any more.
pub const RULE: AlertRule = AlertRule {
    name: "lost_coverage",
    about: "lines that did not change ran before, and do not run now",
    meaning: "Tests of old code are gone, skipped or reach less, whatever became of the percentage.",
    formula: "lines that ran before, stand there unchanged and do not run now: 10 or more, or 1 % or more of those that ran; a \
              file that no report names any more runs no line",
    source: "beyond the seeds (lines)",
    severity: Severity::High,
    reliability: 0.50,
    thresholds: &[],
    check,
};

/// Files that are named beside a finding.
const FILES: usize = 5;

fn check(comparison: &Comparison) -> Vec<Alert> {
    let Some(LostLines { since, covered, lost, files }) = comparison.lost_lines else { return Vec::new() };
    let is_much = *lost >= MANY || *lost > 0 && lost.saturating_mul(ONE_IN) >= *covered;
    if !is_much {
        return Vec::new();
    }
    let message = format!(
        "{} of {covered} that ran at iteration {since} did not change and {} not run now",
        counted(*lost, "line"),
        if *lost == 1 { "does" } else { "do" }
    );
    let mut evidence: Vec<String> = files.iter().take(FILES).map(told).collect();
    if files.len() > FILES {
        evidence.push(format!("{} more files", files.len() - FILES));
    }
    vec![Alert { evidence, ..RULE.alert(comparison, message) }]
}

/// `cart.py: lines 3, 4 and 5 more`.
fn told(file: &LostInFile) -> String {
    if file.is_unreported {
        return format!("{}: {}, and no report names the file now", file.path, counted(file.lost, "line"));
    }
    let shown: Vec<String> = file.lines.iter().take(8).map(u64::to_string).collect();
    let more = file.lost.saturating_sub(u64::try_from(shown.len()).unwrap_or(u64::MAX));
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let lines = if file.lost == 1 { "line" } else { "lines" };
    format!("{}: {lines} {}{more}", file.path, shown.join(", "))
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, rules, tests, with_coverage};
    use crate::model::ids::Iteration;
    use crate::model::lost_lines::{LostInFile, LostLines};

    #[test]
    fn ten_lines_or_one_in_a_hundred_fire_whatever_the_percentage() {
        for (lost, covered, fires) in
            [(9, 1000, false), (10, 1000, true), (1, 100, true), (1, 101, false), (0, 0, false)]
        {
            let mut story = Story::new();
            story.record(with_coverage(tests(10, 0), 80.0));
            let file = |path: &str, is_unreported| LostInFile {
                path: path.to_owned(),
                lost,
                lines: (3..11).collect(),
                is_unreported,
            };
            story.lose_lines(LostLines {
                since: Iteration(0),
                covered,
                lost,
                files: vec![file("cart.py", false), file("shop.py", true)],
            });
            let verdict = story.record(with_coverage(tests(10, 0), 85.0));
            assert_eq!(rules(&verdict) == ["lost_coverage"], fires, "{lost} of {covered}");
            if lost == 10 {
                let alert = &verdict.alerts[0];
                assert_eq!(alert.message, "10 lines of 1000 that ran at iteration 0 did not change and do not run now");
                assert_eq!(
                    alert.evidence,
                    [
                        "cart.py: lines 3, 4, 5, 6, 7, 8, 9, 10 and 2 more",
                        "shop.py: 10 lines, and no report names the file now"
                    ]
                );
            }
        }
    }
}
