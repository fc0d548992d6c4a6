//! The metrics go round in a circle.

use super::{Detector, History, Seen};
use crate::model::verdict::{Alert, Severity};

/// The bare pattern, at any iteration: it asks for a person, it does not stop the loop.
pub const DETECTOR: Detector = Detector {
    name: "metric_cycling",
    about: "the metrics repeat with a period of 2 to 6 iterations",
    meaning: "The loop does and undoes the same things. A person should look.",
    formula: "the last 2p signatures (test count, pass rate, coverage, errors) repeat with period p = 2 to 6, and are not \
              all equal",
    source: "S002",
    severity: Severity::Medium,
    reliability: 0.25,
    thresholds: &[],
    check,
};

/// Periods that are looked for.
const PERIODS: std::ops::RangeInclusive<usize> = 2..=6;

fn check(history: &History) -> Vec<Alert> {
    let alert = |period: usize| {
        let alert = DETECTOR.alert(history, format!("Metrics repeat every {period} iterations"));
        let window = history.window(2 * period).unwrap_or_default();
        let evidence = window.iter().take(period).zip(window.iter().skip(period));
        let told = |(one, next): (&Seen, &Seen)| {
            format!("iteration {} is like {}: {}", next.iteration, one.iteration, signature(next))
        };
        Alert { evidence: evidence.map(told).collect(), ..alert }
    };
    period(history).map(alert).into_iter().collect()
}

/// The values that repeat, those that are known.
pub(super) fn signature(seen: &Seen) -> String {
    let Some(signature) = seen.signature else { return "nothing measured".to_owned() };
    let tenths = |tenths: u64| format!("{}.{} %", tenths / 10, tenths % 10);
    let parts = [
        signature.test_count.map(|count| format!("{count} tests")),
        signature.pass_rate_tenths.map(|rate| format!("pass rate {}", tenths(rate))),
        signature.coverage_tenths.map(|rate| format!("coverage {}", tenths(rate))),
        signature.error_count.map(|count| format!("{count} errors")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The shortest period with which the signatures at the end repeat for two full rounds.
pub fn period(history: &History) -> Option<usize> {
    PERIODS.into_iter().find(|period| history.window(2 * period).is_some_and(|window| repeats(window, *period)))
}

fn repeats(window: &[Seen], period: usize) -> bool {
    let is_known = window.iter().all(|seen| seen.signature.is_some());
    let mut rounds = window.iter().zip(window.iter().skip(period));
    let first = window.first().and_then(|seen| seen.signature);
    is_known
        && rounds.all(|(one, next)| one.signature == next.signature)
        && window.iter().any(|seen| seen.signature != first)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::analysis::testing::{config, tests};
    use crate::model::config::LoopConfig;
    use crate::model::ids::{Iteration, ObjectId};
    use crate::model::metrics::Signature;

    /// A history whose last iteration is `last`: letters are signatures, digits beside them trees.
    pub fn history<'a>(config: &'a LoopConfig, signatures: &str, trees: &[u8], last: u32) -> History<'a> {
        let count = u32::try_from(signatures.len()).unwrap();
        let seen = signatures.bytes().zip(trees).zip(last + 1 - count..).map(|((letter, tree), number)| Seen {
            iteration: Iteration(number),
            signature: if letter == b'?' { None } else { Signature::of(&tests(u64::from(letter), 0)) },
            tree_key: ObjectId([*tree; 32]),
            base_class: None,
            score: None,
            progress: None,
            estimate: None,
        });
        History { seen: seen.collect(), steps: Vec::new(), gained: None, config }
    }

    #[test]
    fn two_full_rounds_are_a_cycle_and_less_is_none() {
        let config = config();
        let trees: Vec<u8> = (0..12).collect();
        for (signatures, expected) in [
            ("ABAB", Some(2)),
            ("ABCABC", Some(3)),
            ("AABAAB", Some(3)),
            ("ABA", None),
            ("AAAA", None),
            ("ABABC", None),
            ("A?A?", None),
            ("ABCDEFABCDEF", Some(6)),
            ("XABAB", Some(2)),
        ] {
            assert_eq!(period(&history(&config, signatures, &trees, 20)), expected, "{signatures}");
        }
    }
}
