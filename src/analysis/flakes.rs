//! Whether a newly failing test broke or is a flake (ANALYSIS §12.2).

use std::collections::BTreeMap;

use super::counted;
use crate::model::config::Flake;
use crate::model::reruns::Runs;
use crate::model::units::EPS;
use crate::model::verdict::Status;

/// Reruns that are looked ahead for; a test that needs more flakes too often to be settled by them.
const MOST_NEEDED: u32 = 20;

/// What is known of one newly failing test beside this failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SameTree {
    /// Runs on earlier trees on which it passed at least once, so that every failure there is a flake.
    pub earlier: Runs,
    /// Further runs of this very tree, each in a process of its own: reruns, and earlier iterations with the same tree.
    pub again: Runs,
}

/// What a newly failing test is taken for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Doubt {
    /// Suspected, confirmed or refuted.
    pub status: Status,
    /// 0–1: the probability that it broke.
    pub real: f64,
    /// As known.
    pub known: SameTree,
    /// Reruns, all failing, that would confirm it; absent if it is settled, or no reasonable number would do.
    pub needed: Option<u32>,
}

impl Doubt {
    /// Judges one newly failing test.
    pub fn of(known: SameTree, config: &Flake) -> Doubt {
        let rate = flake_rate(known.earlier, config);
        let real = |reruns: u32| probability_real(config.prior_break, rate, reruns);
        let now = real(known.again.failed);
        let status = if known.again.passed() > 0 || now <= config.refuted + EPS {
            Status::Refuted
        } else if now >= config.confirmed - EPS {
            Status::Confirmed
        } else {
            Status::Suspected
        };
        let needed = (1..=MOST_NEEDED)
            .find(|more| real(known.again.failed.saturating_add(*more)) >= config.confirmed - EPS)
            .filter(|_| status == Status::Suspected);
        Doubt { status, real: now, known, needed }
    }

    /// What is known, for people.
    pub fn evidence(&self) -> String {
        let runs = self.known.again.runs;
        let again = match (runs, self.known.again.passed()) {
            (0, _) => None,
            (_, 0) => Some(format!("failed in {runs} of {} on the same tree", counted(runs, "further run"))),
            (_, passed) => Some(format!("passed in {passed} of {} on the same tree", counted(runs, "further run"))),
        };
        let earlier = self.known.earlier;
        let before = (earlier.failed > 0).then(|| {
            format!("flaked in {} of {} on trees where it passed", earlier.failed, counted(earlier.runs, "run"))
        });
        let needed = self.needed.map(|needed| format!("{} would settle it", counted(needed, "rerun")));
        let known: Vec<String> = [again, before, needed].into_iter().flatten().collect();
        let known = if known.is_empty() { String::new() } else { format!(": {}", known.join("; ")) };
        if self.known.again.passed() > 0 {
            format!("a flake{known}")
        } else {
            format!("broken with probability {:.2}{known}", self.real)
        }
    }
}

/// How often the test fails on code that it passes on: `(prior + failures)/(1 + runs)`, 0–1.
fn flake_rate(earlier: Runs, config: &Flake) -> f64 {
    (config.prior_rate + f64::from(earlier.failed)) / (1.0 + f64::from(earlier.runs))
}

/// `π/(π + (1−π)·f^(r+1))`: a real break fails every time, a flake `f` of the time.
fn probability_real(prior: f64, rate: f64, failed_reruns: u32) -> f64 {
    let power = i32::try_from(failed_reruns).unwrap_or(i32::MAX).saturating_add(1);
    prior / (prior + (1.0 - prior) * rate.powi(power))
}

/// The newly failing tests, each with what it is taken for.
pub fn doubts(newly_failing: &[String], known: &BTreeMap<String, SameTree>, config: &Flake) -> BTreeMap<String, Doubt> {
    let doubt = |id: &String| (id.clone(), Doubt::of(known.get(id).copied().unwrap_or_default(), config));
    newly_failing.iter().map(doubt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::config;

    fn doubt(earlier: (u32, u32), again: (u32, u32)) -> Doubt {
        let runs = |(runs, failed)| Runs { runs, failed };
        Doubt::of(SameTree { earlier: runs(earlier), again: runs(again) }, &config().flake)
    }

    #[test]
    fn v21_numbers_are_exact() {
        let rounded = |doubt: Doubt| (doubt.real * 10_000.0).round() / 10_000.0;
        assert_eq!(rounded(doubt((0, 0), (0, 0))), 0.5764);
        assert_eq!(rounded(doubt((0, 0), (1, 1))), 0.9891);
        let rate = flake_rate(Runs { runs: 10, failed: 1 }, &config().flake);
        assert_eq!((rate * 10_000.0).round() / 10_000.0, 0.0923);
        assert_eq!(rounded(doubt((10, 1), (1, 1))), 0.7056);
        assert_eq!(rounded(doubt((10, 1), (2, 2))), 0.9629);
    }

    #[test]
    fn a_pass_on_the_same_tree_refutes_and_enough_failures_confirm() {
        assert_eq!(doubt((0, 0), (0, 0)).status, Status::Suspected);
        assert_eq!(doubt((0, 0), (0, 0)).needed, Some(1));
        assert_eq!(doubt((10, 1), (0, 0)).needed, Some(2));
        let confirmed = doubt((0, 0), (1, 1));
        assert_eq!((confirmed.status, confirmed.needed), (Status::Confirmed, None));
        assert_eq!(doubt((0, 0), (5, 4)).status, Status::Refuted);
    }

    #[test]
    fn a_test_that_fails_a_third_of_the_time_is_refuted_without_a_rerun() {
        assert_eq!(doubt((9, 3), (0, 0)).status, Status::Refuted);
        assert_eq!(doubt((10, 1), (0, 0)).status, Status::Suspected);
    }
}
