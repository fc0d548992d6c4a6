//! What the classes and the recommendations mean: the words that a user meets first, explained as the rules are.

use super::detect::stalled::DETECTOR as STALLED;

/// A class or a recommendation.
pub struct Word {
    /// As it is shown.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// What it means, and what to do.
    pub meaning: &'static str,
    /// When it is given.
    pub formula: &'static str,
    /// Where it comes from: a seed, or what goes beyond the seeds.
    pub source: &'static str,
    /// The config keys that hold its thresholds.
    pub thresholds: &'static [&'static str],
}

/// The classes of an iteration, in the order of `Classification`. `stalled` is a detector's finding, laid over `plateau`.
pub const CLASSES: &[Word] = &[
    Word {
        name: "baseline",
        about: "iteration 0: what everything after it is compared with",
        meaning: "How the work stood before the loop began. It is judged against nothing, and may be the best.",
        formula: "iteration = 0",
        source: "S002",
        thresholds: &[],
    },
    Word {
        name: "forward",
        about: "something was gained and nothing was lost",
        meaning: "Compared with the iteration before it, of the same lineage, in what both have measured.",
        formula: "no regression; test_count did not fall, the pass rate rose or is at least classify.healthy_pass_rate, coverage \
                  did not fall, errors did not rise; and a gain (material_gain): more tests, more tests passed, fewer errors, \
                  pass rate or coverage up by more than classify.band points, or a metric of your own better beyond its noise. \
                  Without a gain where a difference leaves the band (forward_conditions); where neither this nor plateau holds \
                  and the score rose by classify.score_step or more (fallback)",
        source: "S002; that a gain is needed: beyond the seeds (else an idle iteration at 90 % would be forward)",
        thresholds: &["classify.healthy_pass_rate", "classify.band", "classify.score_step"],
    },
    Word {
        name: "plateau",
        about: "nothing moved by enough to matter",
        meaning: "One is harmless. Several in a row without a gain are a stall: see `highwater explain stalled`.",
        formula: "neither regression nor a gain, and every difference lies inside classify.band: percent for tests and errors, \
                  points for pass rate and coverage (band); or nothing else decided, and the score changed by less than \
                  classify.score_step (fallback)",
        source: "S002",
        thresholds: &["classify.band", "classify.score_step"],
    },
    Word {
        name: "regression",
        about: "something that was there before was lost",
        meaning: "The alerts say what. How grave it is decides the recommendation: see `highwater explain rollback`.",
        formula: "R1 fewer tests (test_count_decreased); R2 the pass rate fell by more than classify.pass_rate_drop points \
                  (pass_rate_regression); R3 coverage fell by more than classify.coverage_drop points (coverage_regression); R4 \
                  more errors (error_increase alerts later); R5 fewer tests passed, or a named one broke \
                  (working_tests_failing); R6 the build broke (build_broken); R7 a metric of your own is confirmed worse \
                  (metric_worse, guard_worse); another loss of tests, by the name of its rule; or nothing else decided, and the \
                  score fell by classify.score_step or more (quality_drop)",
        source: "S002; R5 to R7 and losses by name: beyond the seeds",
        thresholds: &["classify.pass_rate_drop", "classify.coverage_drop", "classify.score_step"],
    },
    Word {
        name: STALLED.name,
        about: STALLED.about,
        meaning: STALLED.meaning,
        formula: STALLED.formula,
        source: STALLED.source,
        thresholds: STALLED.thresholds,
    },
];

/// The recommendations, in the order of `Action`, then the answer of `gate` that is none of them.
pub const ACTIONS: &[Word] = &[
    Word {
        name: "continue",
        about: "go on with the next iteration (gate: exit code 0)",
        meaning: "Nothing that was measured speaks against going on. It may still be a small regression: its alerts are told. The \
                  confidence is the part of the score's weights that was measured, less what the gravest finding takes.",
        formula: "no other recommendation holds",
        source: "S002",
        thresholds: &[],
    },
    Word {
        name: "stop",
        about: "end the loop (gate: exit code 10)",
        meaning: "Going on is not worth it, or the work is done. `highwater finish` then puts the best iteration back.",
        formula: "an infinite loop; a critical finding while no other iteration can be gone back to; terminate.max_iterations, \
                  max_cost or max_tokens reached (budget); terminate.target reached with all tests passing; stalled, or \
                  stuck_candidate",
        source: "S002; the budget: beyond the seeds",
        thresholds: &[
            "terminate.max_iterations",
            "terminate.max_cost",
            "terminate.max_tokens",
            "terminate.target",
            "terminate.min_confidence",
        ],
    },
    Word {
        name: "rollback",
        about: "go back to the best iteration (gate: exit code 11)",
        meaning: "It is a recommendation: nothing is changed until `highwater restore ITER` does it, which `highwater undo` takes \
                  back. The next iteration then has the restored one for its parent.",
        formula: "a critical finding was raised and is not refuted (critical_finding), or a regression whose score is more than \
                  terminate.rollback_gap below the best (regression_gap); after terminate.max_rollbacks_per_best of them to one \
                  iteration: escalate",
        source: "S002",
        thresholds: &["terminate.rollback_gap", "terminate.max_rollbacks_per_best", "terminate.min_confidence"],
    },
    Word {
        name: "escalate",
        about: "a person should look (gate: exit code 12)",
        meaning: "What was measured is not enough to decide by, or deciding by it did not help.",
        formula: "the confidence of a stop or a rollback is below terminate.min_confidence; rolled back to one iteration too often; \
                  metric_cycling; a suspected infinite_loop; progress_stuck and estimate_stuck together; or unmeasured",
        source: "S002; low confidence: beyond the seeds",
        thresholds: &["terminate.min_confidence", "terminate.max_rollbacks_per_best"],
    },
    Word {
        name: "unmeasured",
        about: "no test report could be read: escalate (gate: exit code 13)",
        meaning: "There is no class, and nothing is taken for lost. The report is missing, older than the iteration, or refused: what \
                  `record` read says which. Measure again: `highwater record` makes the next iteration.",
        formula: "the baseline had tests, now no test report could be read, and no failed build says why",
        source: "beyond the seeds",
        thresholds: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::config;
    use crate::model::verdict::{Action, Classification};

    #[test]
    fn every_class_and_recommendation_has_its_word_and_thresholds_are_keys_of_the_config() {
        let names = |words: &[Word]| words.iter().map(|word| word.name).collect::<Vec<_>>();
        use Classification::{Baseline, Forward, Plateau, Regression, Stalled};
        assert_eq!(names(CLASSES), [Baseline, Forward, Plateau, Regression, Stalled].map(Classification::name));
        let actions = [Action::Continue, Action::Stop, Action::Rollback, Action::Escalate].map(Action::name);
        assert_eq!(names(ACTIONS), [&actions[..], &["unmeasured"]].concat());
        let defaults = serde_json::to_value(config()).unwrap();
        for key in CLASSES.iter().chain(ACTIONS).flat_map(|word| word.thresholds) {
            assert!(defaults.pointer(&format!("/{}", key.replace('.', "/"))).is_some(), "{key}");
        }
    }
}
