//! What to do next (ANALYSIS §5): rows in order, the first that matches decides, the others are told beside it.

use super::Current;
use super::alerts::tamper_suspected;
use super::classify::Class;
use super::comparison::Comparison;
use super::confidence::{Grounds, rounded};
use super::detect::{History, stalled};
use super::score::{Scored, over_common};
use super::select::best;
use super::suite::Suite;
use crate::model::ids::Iteration;
use crate::model::metrics::Metrics;
use crate::model::trajectory::Point;
use crate::model::units::EPS;
use crate::model::verdict::{
    Action, Alert, Classification, OpenFinding, QualityScore, Recommendation, Severity, Status,
};

/// Everything that judging found, for the rows to read.
pub struct Facts<'a> {
    /// The iteration beside its past.
    pub comparison: &'a Comparison<'a>,
    /// Costs and tokens.
    pub current: &'a Current<'a>,
    /// Its score.
    pub score: Option<&'a QualityScore>,
    /// Whether it is acceptable.
    pub acceptable: bool,
    /// Its class, before and after the overlay.
    pub class: &'a Class,
    /// The findings raised here.
    pub alerts: &'a [Alert],
    /// The losses open here.
    pub open: &'a [OpenFinding],
    /// Iterations in order of recording.
    pub history: &'a History<'a>,
}

/// One row that matched.
struct Row {
    name: &'static str,
    action: Action,
    target: Option<Iteration>,
    reason: String,
    rules: Vec<String>,
    confidence: f64,
}

impl Row {
    fn new(name: &'static str, action: Action, reason: impl Into<String>, confidence: f64) -> Row {
        Row { name, action, target: None, reason: reason.into(), rules: Vec::new(), confidence }
    }
}

/// S002's alternatives to going on as before.
const ALTERNATIVES: [&str; 3] =
    ["Consider different approach", "Request human intervention", "Try alternative strategy"];

/// The recommendation: the first row that matches.
pub fn recommend(facts: &Facts) -> Recommendation {
    let best = facts.best();
    let acting =
        [facts.critical(best), facts.regression_gap(best), facts.budget(), facts.target_reached(), facts.stalled()];
    let acting = acting.into_iter().chain([facts.stuck_candidate()]).flatten().map(|row| facts.or_ask(row));
    let rows = [facts.unmeasured(), facts.infinite_loop()].into_iter().flatten().chain(acting);
    let mut rows = rows.chain(facts.uncertain()).collect::<Vec<Row>>().into_iter();
    let first = rows.next().unwrap_or_else(|| facts.go_on());
    let mut also: Vec<String> = rows.map(|row| format!("{}:{}", row.action.name(), row.name)).collect();
    if first.name == "infinite_loop" {
        also.insert(0, Action::Escalate.name().to_owned());
    }
    let is_stall = matches!(first.name, "stalled" | "stuck_candidate");
    let mut because = vec![first.name.to_owned()];
    because.extend(first.rules.into_iter().filter(|rule| rule != first.name));
    Recommendation {
        action: first.action,
        target: first.target,
        reason: first.reason,
        because,
        also,
        alternatives: if is_stall { ALTERNATIVES.map(str::to_owned).to_vec() } else { Vec::new() },
        confidence: rounded(first.confidence),
    }
}

impl Facts<'_> {
    /// Row 0: no test report could be read, and nothing says why.
    fn unmeasured(&self) -> Option<Row> {
        let reason = "Escalate to human - no test report could be read";
        let is_unmeasured = self.comparison.suite == Suite::Unmeasured;
        is_unmeasured.then(|| Row::new("unmeasured", Action::Escalate, reason, self.asking()))
    }

    /// Row 1.
    fn infinite_loop(&self) -> Option<Row> {
        let alert = self.raised("infinite_loop").filter(|alert| alert.severity == Severity::Critical)?;
        let reason = "Loop should terminate due to an infinite loop: metrics cycling";
        Some(Row::new("infinite_loop", Action::Stop, reason, alert.reliability))
    }

    /// Row 2: back to the best, if there is one.
    fn critical(&self, best: Option<Iteration>) -> Option<Row> {
        let critical = |alert: &&Alert| alert.severity == Severity::Critical && alert.rule != "infinite_loop";
        let alerts: Vec<&Alert> = self.alerts.iter().filter(|alert| alert.counts()).filter(critical).collect();
        let first = alerts.first()?;
        let mut row = match best {
            Some(best) => self.rollback("critical_finding", best, &first.message),
            None => {
                let reason = format!("Loop should terminate due to critical regression: {}", first.message);
                Row::new("critical_finding", Action::Stop, reason, self.grounds().confidence())
            }
        };
        row.rules.extend(alerts.iter().map(|alert| alert.rule.clone()));
        row.rules.dedup();
        Some(row)
    }

    /// Row 3: a regression far below the best.
    fn regression_gap(&self, best: Option<Iteration>) -> Option<Row> {
        if self.class.base != Some(Classification::Regression) {
            return None;
        }
        let best = super::history::find(self.comparison.history, best?)?;
        let current = Scored::new(self.score?.into(), self.comparison.metrics);
        let (now, high) = over_common(current, Scored::of(best)?)?;
        let gap = self.comparison.config.terminate.rollback_gap;
        if now >= high - gap - EPS {
            return None;
        }
        let mut row = self.rollback("regression_gap", best.iteration, "the score is far below the best");
        row.rules.push(self.class.rule.clone());
        Some(row)
    }

    /// A rollback, or a question once the same best was recommended too often.
    fn rollback(&self, name: &'static str, best: Iteration, why: &str) -> Row {
        let confidence = self.grounds().confidence();
        let so_far = self.comparison.history.iter().filter(|point| is_rollback_to(point, best)).count();
        let most = self.comparison.config.terminate.max_rollbacks_per_best;
        if u32::try_from(so_far).is_ok_and(|so_far| so_far < most) {
            let reason = format!("Rollback to iteration {best} due to regression: {why}");
            return Row { target: Some(best), ..Row::new(name, Action::Rollback, reason, confidence) };
        }
        let reason = format!("Escalate to human - {so_far} rollbacks to iteration {best} did not help: {why}");
        let row = Row::new("rollback_limit", Action::Escalate, reason, 1.0 - confidence);
        Row { rules: vec![name.to_owned()], ..row }
    }

    /// Row 4.
    fn budget(&self) -> Option<Row> {
        let limits = &self.comparison.config.terminate;
        let points = self.comparison.history.iter();
        let cost = points.clone().filter_map(|point| point.cost).chain(self.current.cost).sum::<f64>();
        let tokens = points.filter_map(|point| point.tokens).chain(self.current.tokens);
        let tokens = tokens.fold(0u64, u64::saturating_add);
        let spent = if limits.max_iterations.is_some_and(|most| self.comparison.iteration.0 >= most) {
            "iterations"
        } else if limits.max_cost.is_some_and(|most| cost >= most - EPS) {
            "cost"
        } else if limits.max_tokens.is_some_and(|most| tokens >= most) {
            "tokens"
        } else {
            return None;
        };
        let reason = format!("Loop should terminate due to its budget of {spent}");
        Some(Row::new("budget", Action::Stop, reason, 0.99))
    }

    /// Row 5.
    fn target_reached(&self) -> Option<Row> {
        let target = self.comparison.config.terminate.target?;
        let score = self.score?;
        let is_done = score.total.get() >= target - EPS && self.acceptable && all_pass(self.comparison.metrics);
        let reason = format!("Loop should terminate due to its target of {target}: the score is {}", score.total);
        is_done.then(|| Row::new("target_reached", Action::Stop, reason, score.weight_available * 0.8))
    }

    /// Row 6.
    fn stalled(&self) -> Option<Row> {
        let alert = self.raised("stalled")?;
        let plateaus = i32::try_from(stalled::plateaus(self.history)).unwrap_or(i32::MAX);
        let confidence = 1.0 - 0.5f64.powi(plateaus.saturating_sub(1));
        Some(Row::new(
            "stalled",
            Action::Stop,
            format!("Loop should terminate due to a stall: {}", alert.message),
            confidence,
        ))
    }

    /// Row 6 too.
    fn stuck_candidate(&self) -> Option<Row> {
        let alert = self.raised("stuck_candidate")?;
        let reason = format!("Loop should terminate: {}", alert.message);
        Some(Row {
            rules: alert.subject.iter().cloned().collect(),
            ..Row::new("stuck_candidate", Action::Stop, reason, 0.75)
        })
    }

    /// Rows 2 to 6 ask a person where they are not sure (row 7).
    fn or_ask(&self, row: Row) -> Row {
        if row.action == Action::Escalate
            || rounded(row.confidence) >= self.comparison.config.terminate.min_confidence - EPS
        {
            return row;
        }
        let reason = format!("Escalate to human - not sure enough to {}: {}", row.action.name(), row.reason);
        let mut rules = vec![row.name.to_owned()];
        rules.extend(row.rules);
        Row { rules, ..Row::new("low_confidence", Action::Escalate, reason, 1.0 - row.confidence) }
    }

    /// Row 7, what is left of it.
    fn uncertain(&self) -> Vec<Row> {
        let suspected = self.raised("infinite_loop").filter(|alert| alert.status == Status::Suspected);
        let ask = |name, issue: &str| {
            Row::new(name, Action::Escalate, format!("Escalate to human - {issue} detected"), self.asking())
        };
        let loops = suspected.map(|_| Row {
            rules: vec!["infinite_loop".to_owned()],
            ..ask("suspected_loop", "a possible infinite loop")
        });
        let cycles = self.raised("metric_cycling").map(|_| ask("metric_cycling", "a cycle of the metrics"));
        let tampered = self.raised(tamper_suspected::RULE.name).filter(|alert| alert.severity == Severity::High);
        let tampered = tampered.map(|alert| Row {
            rules: vec![alert.rule.clone()],
            ..ask("suspected_tamper", "an edit that alone may have turned a failing test")
        });
        let both = self.raised("progress_stuck").zip(self.raised("estimate_stuck")).map(|(progress, estimate)| Row {
            rules: vec![progress.rule.clone(), estimate.rule.clone()],
            ..ask("progress_and_estimate_stuck", "neither progress nor a nearer goal")
        });
        loops.into_iter().chain(tampered).chain(cycles).chain(both).collect()
    }

    /// Row 8.
    fn go_on(&self) -> Row {
        let reason = match self.class.base {
            Some(Classification::Baseline) => "Continue - baseline captured",
            Some(Classification::Forward) => "Continue - forward progress detected",
            Some(Classification::Regression) => "Continue - the regression is not severe enough to go back",
            Some(Classification::Plateau | Classification::Stalled) => "Continue - no progress yet",
            None => "Continue - too little was measured to judge",
        };
        Row::new("continue", Action::Continue, reason, self.going_on())
    }

    fn best(&self) -> Option<Iteration> {
        best(self.comparison.history, self.comparison.config).iteration
    }

    /// A finding raised here that moves verdicts.
    fn raised(&self, rule: &str) -> Option<&Alert> {
        self.alerts.iter().find(|alert| alert.rule == rule && alert.counts())
    }

    fn grounds(&self) -> Grounds<'_> {
        Grounds { alerts: self.alerts, open: self.open, silent: self.class.silent }
    }

    /// How sure one can be to go on.
    fn going_on(&self) -> f64 {
        self.score.map_or(0.0, |score| score.weight_available) * (1.0 - self.grounds().strongest())
    }

    /// How sure one can be that a person should look instead of going on.
    fn asking(&self) -> f64 {
        1.0 - rounded(self.going_on())
    }
}

fn is_rollback_to(point: &Point, best: Iteration) -> bool {
    point.recommendation.action == Action::Rollback && point.recommendation.target == Some(best)
}

fn all_pass(metrics: &Metrics) -> bool {
    metrics.testing.as_ref().is_some_and(|testing| {
        testing.tests_passed > Some(0)
            && testing.tests_failed == Some(0)
            && testing.tests_errored == Some(0)
            && testing.collection_errors == 0
    })
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, broken_units, rules, tests, with_build, with_coverage, with_errors};
    use crate::model::ids::Iteration;
    use crate::model::metrics::Metrics;
    use crate::model::verdict::Action;

    fn good(passed: u64, failed: u64) -> Metrics {
        with_coverage(tests(passed, failed), 80.0)
    }

    #[test]
    fn a_critical_finding_rolls_back_to_the_best_and_asks_after_three_times() {
        let mut story = Story::new();
        story.record(good(8, 2));
        story.record(good(10, 0));
        for _ in 0..3 {
            let recommendation = story.record(good(9, 1)).recommendation;
            assert_eq!((recommendation.action, recommendation.target), (Action::Rollback, Some(Iteration(1))));
            story.roll_back_to(1);
        }
        let recommendation = story.record(good(9, 1)).recommendation;
        assert_eq!(recommendation.action, Action::Escalate);
        assert_eq!(recommendation.because, ["rollback_limit", "critical_finding", "working_tests_failing"]);
    }

    #[test]
    fn without_a_best_a_critical_finding_stops() {
        let mut story = Story::new();
        // Coverage alone measured at first: partial, so nothing is the best.
        story.record(with_coverage(Metrics::default(), 80.0));
        story.record(with_coverage(tests(8, 2), 80.0));
        let mut points = story.points().to_vec();
        points[1].quality_score = None;
        story.replace(points);
        let recommendation = story.record(good(7, 2)).recommendation;
        assert_eq!(recommendation.action, Action::Stop);
        assert_eq!(recommendation.because[0], "critical_finding");
    }

    #[test]
    fn a_regression_without_a_critical_finding_rolls_back_only_far_below_the_best() {
        for (errors, action) in [(7, Action::Continue), (25, Action::Rollback)] {
            let mut story = Story::new();
            story.record(with_errors(tests(10, 0), &[("ruff", 0)]));
            let verdict = story.record(with_errors(tests(10, 0), &[("ruff", errors)]));
            assert_eq!(rules(&verdict), ["error_increase"], "{errors}");
            assert_eq!(verdict.recommendation.action, action, "{errors}");
        }
    }

    #[test]
    fn budgets_stop_when_they_are_reached_and_not_before() {
        let mut story = Story::new();
        story.config.terminate.max_iterations = Some(2);
        story.record(good(8, 0));
        assert_eq!(story.record(good(9, 0)).recommendation.action, Action::Continue);
        let recommendation = story.record(good(10, 0)).recommendation;
        assert_eq!(recommendation.because, ["budget"]);
        assert_eq!(recommendation.confidence, 0.99);

        let mut story = Story::new();
        story.config.terminate.max_cost = Some(1.0);
        story.config.terminate.max_tokens = Some(100);
        story.cost = Some(0.5);
        story.tokens = Some(10);
        assert_eq!(story.record(good(8, 0)).recommendation.action, Action::Continue);
        assert_eq!(story.record(good(9, 0)).recommendation.because, ["budget"]);
    }

    #[test]
    fn the_target_stops_only_if_it_is_set_and_all_tests_pass() {
        for (target, failed, because) in
            [(None, 0, "continue"), (Some(0.8), 0, "target_reached"), (Some(0.8), 1, "continue")]
        {
            let mut story = Story::new();
            story.config.terminate.target = target;
            let recommendation = story.record(good(20, failed)).recommendation;
            assert_eq!(recommendation.because, [because], "{target:?} {failed}");
        }
    }

    #[test]
    fn the_target_is_not_reached_with_a_failed_build_or_units_that_did_not_load() {
        let now = || with_build(good(20, 0), true);
        for (metrics, because) in [
            (now(), "target_reached"),
            (with_build(good(20, 0), false), "continue"),
            (broken_units(now(), &["t.a"]), "continue"),
        ] {
            let mut story = Story::new();
            story.config.terminate.target = Some(0.5);
            let recommendation = story.record(metrics).recommendation;
            assert_eq!(recommendation.because, [because]);
            if because == "target_reached" {
                assert_eq!(recommendation.confidence, 0.64, "0.8 of the weights, not measured again");
            }
        }
    }

    #[test]
    fn a_slow_fall_far_below_the_best_is_asked_about() {
        let mut story = Story::new();
        story.record(tests(80, 20));
        for failed in [26, 33, 41] {
            let verdict = story.record(tests(80, failed));
            assert_eq!(verdict.class_rule, "quality_drop", "{failed}");
            assert_eq!(verdict.recommendation.action, Action::Continue, "{failed}");
        }
        let recommendation = story.record(tests(80, 50)).recommendation;
        assert_eq!(recommendation.action, Action::Escalate);
        assert_eq!(recommendation.because, ["low_confidence", "regression_gap", "quality_drop"]);
        assert_eq!(recommendation.confidence, 0.75, "1 less the .25 of a MEDIUM finding");
    }

    #[test]
    fn the_third_plateau_stops_with_alternatives_and_other_rows_are_told() {
        let mut story = Story::new();
        story.config.terminate.max_iterations = Some(4);
        story.record(good(10, 0));
        story.record(good(10, 0));
        assert_eq!(story.record(good(10, 0)).recommendation.action, Action::Continue);
        let recommendation = story.record(good(10, 0)).recommendation;
        assert_eq!((recommendation.because.as_slice(), recommendation.confidence), (&["stalled".to_owned()][..], 0.75));
        assert_eq!(recommendation.alternatives.len(), 3);
        let recommendation = story.record(good(10, 0)).recommendation;
        assert_eq!(recommendation.because, ["budget"]);
        assert_eq!(recommendation.also, ["stop:stalled"]);
    }

    #[test]
    fn cycling_metrics_ask_a_person_early_in_the_loop() {
        let mut story = Story::new();
        for errors in [3, 4, 3] {
            story.record(with_errors(tests(10, 0), &[("ruff", errors)]));
        }
        let recommendation = story.record(with_errors(tests(10, 0), &[("ruff", 4)])).recommendation;
        assert_eq!(recommendation.action, Action::Escalate);
        assert_eq!(recommendation.because, ["metric_cycling"]);
    }
}
