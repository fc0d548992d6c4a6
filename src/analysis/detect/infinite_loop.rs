//! The loop returned to where it was.

use std::collections::BTreeSet;

use super::metric_cycling::{period, signature};
use super::{Detector, History, Seen};
use crate::model::verdict::{Alert, Severity, Status};

/// S002's trigger; trees decide where they speak.
pub const DETECTOR: Detector = Detector {
    name: "infinite_loop",
    about: "an earlier state of the last 5 iterations came back, after iteration 10",
    meaning: "Tests, pass rate, coverage and errors are as they were. If the code is the same too, the loop runs in a \
              circle and should be ended; state is preserved. If the code differed every time it is only a suspicion.",
    formula: "within loop.window iterations an earlier signature equals this one, and iteration > loop.min_iteration; same \
              tree: confirmed; all trees of the window differ: suspected, and silent if the whole window is equal (a stall)",
    source: "S002; trees: beyond the seeds",
    severity: Severity::Critical,
    reliability: 0.75,
    thresholds: &["loop.window", "loop.min_iteration"],
    check,
};

fn check(history: &History) -> Vec<Alert> {
    find(history).into_iter().collect()
}

fn find(history: &History) -> Option<Alert> {
    let settings = &history.config.looping;
    let window = history.window(usize::try_from(settings.window).ok()?)?;
    let (now, earlier) = window.split_last()?;
    if now.iteration.0 <= settings.min_iteration {
        return None;
    }
    now.signature?;
    let matches: Vec<&Seen> = earlier.iter().filter(|seen| seen.signature == now.signature).collect();
    if matches.is_empty() {
        return None;
    }
    let status = status(window, now, &matches);
    let is_frozen = matches.len() == earlier.len();
    if status == Status::Suspected && is_frozen {
        return None;
    }
    let mut alert = DETECTOR.alert(history, "Infinite loop detected: metrics cycling");
    alert.evidence = vec![kind(history, is_frozen), format!("{}: {}", matched(&matches), signature(now))];
    alert.status = status;
    if status == Status::Suspected {
        alert.seed_severity = Some(alert.severity);
        alert.severity = Severity::High;
        alert.reliability = 0.50;
        alert.evidence.push("the code was different every time".to_owned());
    } else {
        // ANALYSIS §6: each further match leaves a quarter of the doubt.
        alert.reliability = 1.0 - matches.iter().fold(1.0, |doubt, _| doubt * 0.25);
    }
    Some(alert)
}

/// What the trees say of the repeated signature.
fn status(window: &[Seen], now: &Seen, matches: &[&Seen]) -> Status {
    if matches.iter().any(|seen| seen.tree_key == now.tree_key) {
        return Status::Confirmed;
    }
    let trees: BTreeSet<_> = window.iter().map(|seen| seen.tree_key).collect();
    if trees.len() == window.len() { Status::Suspected } else { Status::Observed }
}

fn kind(history: &History, is_frozen: bool) -> String {
    match period(history) {
        Some(period) => format!("kind: cycle({period})"),
        None if is_frozen => "kind: frozen".to_owned(),
        None => "kind: revisit".to_owned(),
    }
}

fn matched(matches: &[&Seen]) -> String {
    let numbers: Vec<String> = matches.iter().map(|seen| seen.iteration.to_string()).collect();
    format!("same metrics as iteration {}", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::metric_cycling::tests::history;
    use super::*;
    use crate::analysis::testing::config;

    fn found(signatures: &str, trees: &[u8], last: u32) -> Option<(Severity, Status, String)> {
        let config = config();
        find(&history(&config, signatures, trees, last)).map(|a| (a.severity, a.status, a.evidence[0].clone()))
    }

    #[test]
    fn a_repeated_state_with_the_same_code_is_confirmed_only_after_iteration_ten() {
        assert_eq!(found("VWXAA", &[1, 2, 3, 4, 4], 10), None);
        let expected = (Severity::Critical, Status::Confirmed, "kind: revisit".to_owned());
        assert_eq!(found("VWXAA", &[1, 2, 3, 4, 4], 11), Some(expected));
    }

    #[test]
    fn other_code_every_time_makes_it_a_suspicion_and_a_frozen_window_a_stall() {
        let expected = (Severity::High, Status::Suspected, "kind: revisit".to_owned());
        assert_eq!(found("VAXYA", &[1, 2, 3, 4, 5], 20), Some(expected));
        assert_eq!(found("AAAAA", &[1, 2, 3, 4, 5], 20), None);
        let frozen = (Severity::Critical, Status::Confirmed, "kind: frozen".to_owned());
        assert_eq!(found("AAAAA", &[1, 1, 1, 1, 1], 20), Some(frozen));
    }

    #[test]
    fn trees_that_neither_match_nor_all_differ_leave_it_to_the_counters() {
        let expected = (Severity::Critical, Status::Observed, "kind: cycle(2)".to_owned());
        assert_eq!(found("XABAB", &[1, 1, 2, 3, 4], 12), Some(expected));
    }

    #[test]
    fn the_match_must_lie_in_the_window_and_be_measured() {
        assert_eq!(found("AVWXYA", &[1, 1, 1, 1, 1, 1], 20), None);
        assert_eq!(found("VWX??", &[1, 1, 1, 1, 1], 20), None);
        assert_eq!(found("VWAA", &[1, 1, 1, 1], 20), None, "shorter than the window");
    }
}
