//! Which iteration is the best, so far and at the end (ANALYSIS §7).

use super::alerts::suspicious_best::must_be_measured_again;
use super::alerts::{tamper_suspected, working_tests_failing};
use super::degradation::{compare_to_final, shape_of};
use super::primary::{QUALITY_SCORE, better, direction, measure};
use crate::model::SCHEMA_VERSION;
use crate::model::config::LoopConfig;
use crate::model::ids::Iteration;
use crate::model::metrics::{BuildStatus, Direction, Metrics};
use crate::model::trajectory::{
    AlertMark, BestTracker, Candidate, ChosenBy, Degradation, Pareto, Point, PointScore, Remeasured,
};
use crate::model::units::{EPS, Score, round_half_up};
use crate::model::verdict::{OpenFinding, Severity};

/// Whether an iteration can be the best; `points` are all of its loop.
///
/// # Errors
/// Why not, for people.
pub fn eligibility(point: &Point, points: &[Point], config: &LoopConfig) -> Result<(), String> {
    by_itself(point, points, config)?;
    // A report that tells failures alone: the score does not know of them, a finding is a suspicion, and a metric of the
    // user's own may even gain by what does not work any more.
    let Some(failed) = point.metrics.failures_alone() else { return Ok(()) };
    let is_better = |other: &&Point| {
        other.metrics.failures().is_some_and(|fewer| fewer < failed) && by_itself(other, points, config).is_ok()
    };
    match points.iter().find(is_better) {
        None => Ok(()),
        Some(other) => Err(format!(
            "{failed} of its tests failed, fewer did at iteration {}, and how many passed is unknown",
            other.iteration
        )),
    }
}

/// As [`eligibility`], without a look at what other iterations had.
fn by_itself(point: &Point, points: &[Point], config: &LoopConfig) -> Result<(), String> {
    if point.recommendation.is_unmeasured() {
        return Err("it could not be measured".to_owned());
    }
    if point.metrics.build_status() == Some(BuildStatus::Failed) {
        return Err("its build failed".to_owned());
    }
    let is_open = |finding: &&OpenFinding| finding.accepted.is_none() && !is_refuted_later(finding, point, points);
    if let Some(finding) = point.open_findings.iter().find(is_open) {
        let (rule, since, closes) = (&finding.alert.rule, finding.since, &finding.closes_when);
        return Err(format!("{rule} is open since iteration {since}, until {closes}"));
    }
    let leads_by = config.select.objectives.iter().chain([&config.select.primary]);
    if let Some(name) = leads_by.into_iter().find(|name| must_be_measured_again(point, name)) {
        return Err(format!("{name} is too good to be believed until it is measured again"));
    }
    if config.select.primary != QUALITY_SCORE {
        let primary = &config.select.primary;
        return measure(point, primary).map(|_| ()).ok_or_else(|| format!("{primary} was not measured"));
    }
    match &point.quality_score {
        None => Err("nothing that enters the score was measured".to_owned()),
        Some(score) if score.partial => {
            let share = round_half_up(score.weight_available * 100.0, 0);
            Err(format!("its score is partial: {share} % of the weights were measured"))
        }
        Some(_) => Ok(()),
    }
}

/// Whether a later iteration had the same tree without the loss: then what failed was a flake, not the work.
fn is_refuted_later(finding: &OpenFinding, point: &Point, points: &[Point]) -> bool {
    finding.alert.rule == working_tests_failing::RULE.name
        && points.iter().any(|later| {
            later.iteration > point.iteration
                && later.tree_key == point.tree_key
                && later.metrics.tests_passed() > point.metrics.tests_passed()
                && !later.open_findings.iter().any(|open| open.alert.rule == finding.alert.rule)
        })
}

/// The best iteration so far, recomputed from the log. `head` is left to the store.
pub fn best(points: &[Point], config: &LoopConfig) -> BestTracker {
    let mut tracker = BestTracker { schema_version: SCHEMA_VERSION, ..BestTracker::default() };
    let mut candidates = Vec::new();
    for point in points {
        match eligibility(point, points, config) {
            Ok(()) => candidates.push(point),
            Err(why) => {
                tracker.ineligible.insert(point.iteration, why);
            }
        }
    }
    if let Some(best) = highest(&candidates, config) {
        tracker.iteration = Some(best.iteration);
        tracker.quality_score = best.score();
        let primary = &config.select.primary;
        let value = measure(best, primary).filter(|_| primary != QUALITY_SCORE);
        tracker.chosen_by = value.map(|value| ChosenBy { metric: primary.clone(), value });
        tracker.manifest = Some(best.tree);
    }
    tracker
}

/// The highest of the candidates, in order of recording; ties keep the earliest.
fn highest<'p>(candidates: &[&'p Point], config: &LoopConfig) -> Option<&'p Point> {
    candidates.iter().copied().reduce(|best, point| if better(point, best, config) { point } else { best })
}

/// The choice at the end of a loop: all parts of a selection that need no disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The chosen iteration; absent if none was eligible.
    pub selected: Option<Iteration>,
    /// The chosen one and those to try if it fails verification, best first; at most as many as
    /// `select.max_attempts` or `select.revalidate` ask for.
    pub ranking: Vec<Iteration>,
    /// The last recorded iteration; the baseline if there is none.
    pub last: Iteration,
    /// Every iteration, in order.
    pub scores: Vec<Candidate>,
    /// Why this one, a sentence each.
    pub rationale: Vec<String>,
    /// `quality_score`, or the metric that `select.primary` names.
    pub primary: String,
    /// The threshold that was asked for, 0–1.
    pub threshold: f64,
    /// Nobody reached the threshold, so it was dropped.
    pub threshold_dropped: bool,
    /// Iterations that no other dominates, where objectives are set.
    pub pareto_front: Vec<Iteration>,
    /// What that front is made of.
    pub pareto: Option<Pareto>,
    /// `100·(selected − final)/final`, percent.
    pub improvement_percentage: Option<f64>,
    /// What the iterations after the chosen one cost.
    pub degradation: Option<Degradation>,
}

/// Gates, then the highest score, ties to the earliest.
pub fn select(points: &[Point], config: &LoopConfig) -> Choice {
    select_without(points, config, &[], &[])
}

/// As [`select`], leaving out iterations that failed verification, and led by those that were measured `again`.
pub fn select_without(points: &[Point], config: &LoopConfig, rejected: &[Iteration], again: &[Remeasured]) -> Choice {
    let scores: Vec<Candidate> = points.iter().map(|point| candidate(point, points, config, rejected)).collect();
    let eligible: Vec<&Point> =
        points.iter().zip(&scores).filter(|(_, candidate)| candidate.eligible).map(|(point, _)| point).collect();
    let reaching: Vec<&Point> = eligible.iter().copied().filter(|point| reaches(point, config)).collect();
    let threshold_dropped = reaching.is_empty() && !eligible.is_empty();
    let mut candidates = if threshold_dropped { eligible } else { reaching };
    let pareto = super::primary::pareto(&candidates, config);
    let front = pareto.as_ref().map(Pareto::front).unwrap_or_default();
    if !front.is_empty() {
        candidates.retain(|point| front.contains(&point.iteration));
    }
    let ranking = led_by_means(ranked(candidates, config), points, config, again);
    let selected = ranking.first().and_then(|best| super::history::find(points, *best));
    let mut choice = Choice {
        selected: selected.map(|point| point.iteration),
        ranking,
        last: points.last().map_or(Iteration::BASELINE, |point| point.iteration),
        scores,
        rationale: Vec::new(),
        primary: config.select.primary.clone(),
        threshold: config.select.threshold,
        threshold_dropped,
        pareto_front: front,
        pareto,
        improvement_percentage: selected.and_then(|point| compare_to_final(points, point, config).0),
        degradation: selected.map(|point| shape_of(points, point, config)),
    };
    choice.rationale = rationale(&choice, points, selected, again);
    choice
}

fn candidate(point: &Point, points: &[Point], config: &LoopConfig, rejected: &[Iteration]) -> Candidate {
    let eligible = match eligibility(point, points, config) {
        Ok(()) if rejected.contains(&point.iteration) => Err("it failed verification".to_owned()),
        other => other,
    };
    Candidate {
        iteration: point.iteration,
        quality_score: point.score(),
        classification: point.classification,
        eligible: eligible.is_ok(),
        ineligible_because: eligible.err(),
    }
}

/// Where a metric takes the place of the score, an iteration need not have one.
fn reaches(point: &Point, config: &LoopConfig) -> bool {
    match point.score().map(Score::get) {
        Some(score) => score >= config.select.threshold - EPS,
        None => config.select.primary != QUALITY_SCORE,
    }
}

/// The best first: as many as may be asked for.
fn ranked(mut candidates: Vec<&Point>, config: &LoopConfig) -> Vec<Iteration> {
    let wanted = config.select.max_attempts.max(config.select.revalidate).max(1);
    let mut ranking = Vec::new();
    for _ in 0..wanted {
        let Some(best) = highest(&candidates, config) else { break };
        ranking.push(best.iteration);
        candidates.retain(|point| point.iteration != best.iteration);
    }
    ranking
}

/// What is selected by at an iteration, as recorded and by `metrics`, which were measured later; `None` unless the later value
/// is of the same components.
pub fn remeasured(points: &[Point], iteration: Iteration, metrics: Metrics, config: &LoopConfig) -> Option<(f64, f64)> {
    let point = super::history::find(points, iteration)?;
    let baseline = super::baseline_of(points, &point.metrics);
    let score = super::score::score(&metrics, baseline, &config.quality);
    let again = Point { quality_score: score.as_ref().map(PointScore::from), metrics, ..point.clone() };
    let name = &config.select.primary;
    let known = |point: &Point| point.quality_score.map(|score| score.components.map(|known| known.is_some()));
    if name == QUALITY_SCORE && known(point) != known(&again) {
        return None;
    }
    Some((measure(point, name)?, measure(&again, name)?))
}

/// Those that were measured again first, by the mean of all that was measured of them; the others follow as they stood.
fn led_by_means(
    mut ranking: Vec<Iteration>,
    points: &[Point],
    config: &LoopConfig,
    again: &[Remeasured],
) -> Vec<Iteration> {
    let name = &config.select.primary;
    let first = ranking.first().and_then(|first| super::history::find(points, *first));
    let is_lower_better = first.is_some_and(|point| direction(&point.metrics, name, config) == Direction::Lower);
    let rank = |iteration: &Iteration| {
        let mean = again.iter().find(|one| one.iteration == *iteration)?.mean;
        Some(if is_lower_better { mean } else { -mean })
    };
    ranking.sort_by(|a, b| match (rank(a), rank(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
    ranking
}

/// Where a test was edited that failed before, and nothing else can be why it does not any more.
fn suspicions(point: &Point) -> impl Iterator<Item = &str> {
    let is_grave = |mark: &&AlertMark| {
        mark.rule == tamper_suspected::RULE.name && mark.severity == Severity::High && !mark.observe_only
    };
    point.alerts.iter().filter(is_grave).filter_map(|mark| mark.subject.as_deref())
}

fn rationale(choice: &Choice, points: &[Point], selected: Option<&Point>, again: &[Remeasured]) -> Vec<String> {
    let Some(point) = selected else {
        return vec!["no iteration is eligible, so nothing is restored".to_owned()];
    };
    let remeasured = again.iter().find(|one| one.iteration == point.iteration);
    let mut lines = vec![match (remeasured, measure(point, &choice.primary)) {
        (Some(one), _) => {
            let [mean, recorded, expected] =
                [one.mean, one.recorded, one.expected].map(|value| round_half_up(value, 4));
            format!(
                "iteration {} has the best mean {} of the {} that were measured again: {mean} of {recorded} as recorded and \
                 {} later measurements, which alone say {expected}",
                point.iteration,
                choice.primary,
                again.len(),
                one.again.len()
            )
        }
        (None, Some(value)) if choice.primary != QUALITY_SCORE => {
            format!(
                "iteration {} has the best {} of all eligible iterations ({value})",
                point.iteration, choice.primary
            )
        }
        _ => {
            let score = point.score().map_or_else(|| "unknown".to_owned(), |score| score.to_string());
            format!("iteration {} has the highest quality score of all eligible iterations ({score})", point.iteration)
        }
    }];
    if let Some(testing) = &point.metrics.testing
        && let (Some(passed), Some(count)) = (testing.tests_passed, testing.test_count)
    {
        lines.push(format!("{passed} of {count} tests pass"));
    }
    let lineage = super::history::lineage(points, Some(point.iteration));
    lines.extend(lineage.flat_map(|one| {
        suspicions(one).map(move |place| {
            format!(
                "look at iteration {} first: a test that failed was edited while no code changed ({place})",
                one.iteration
            )
        })
    }));
    if choice.threshold_dropped {
        lines.push(format!("no eligible iteration reaches the threshold of {}, so it was dropped", choice.threshold));
    }
    let barred = choice.scores.iter().filter(|candidate| !candidate.eligible);
    lines.extend(barred.filter(|candidate| candidate.quality_score > point.score()).map(|candidate| {
        let why = candidate.ineligible_because.as_deref().unwrap_or("it is not eligible");
        format!("iteration {} has a higher score, but {why}", candidate.iteration)
    }));
    if choice.pareto_front.len() > 1 {
        let front: Vec<String> = choice.pareto_front.iter().map(Iteration::to_string).collect();
        lines.push(format!("iterations {} are not dominated by any other", front.join(", ")));
        lines.extend(choice.pareto.iter().flat_map(Pareto::leaders).map(|(objective, iteration, value)| {
            format!("iteration {iteration} has the best {} of them ({value})", objective.name)
        }));
    }
    lines.push(match &choice.degradation {
        Some(degradation) if point.iteration != choice.last => match degradation.started {
            Some(started) => format!("quality degraded from iteration {started} on"),
            None => "no later iteration is worse".to_owned(),
        },
        _ => "it is the last iteration".to_owned(),
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Story, failing, latency, tests, with_build, with_coverage, with_errors};
    use crate::model::trajectory::DegradationPattern;

    fn good(passed: u64, failed: u64, coverage: f64) -> Metrics {
        with_coverage(tests(passed, failed), coverage)
    }

    #[test]
    fn where_only_failures_are_told_the_fewest_win_whatever_else_was_gained() {
        let mut story = Story::new();
        story.measure("latency", Direction::Lower, 0.0);
        story.config.select.primary = "latency".to_owned();
        for (failed, value) in [(1, 9.0), (0, 10.0), (2, 1.0), (0, 9.5)] {
            story.record(latency(failing(failed, &[]), value));
        }
        let tracker = best(story.points(), &story.config);
        assert_eq!(tracker.iteration, Some(Iteration(3)));
        assert_eq!(tracker.ineligible.keys().map(|n| n.0).collect::<Vec<_>>(), [0, 2]);
        assert!(tracker.ineligible[&Iteration(0)].contains("1 of its tests failed, fewer did at iteration 1"));
        // As long as nobody has fewer, it may lead.
        assert_eq!(best(&story.points()[..1], &story.config).iteration, Some(Iteration(0)));
    }

    #[test]
    fn who_was_measured_again_is_ranked_by_the_mean_and_leads_the_others() {
        for (lower, expected) in [(false, [2, 1, 3]), (true, [1, 2, 3])] {
            let mut story = Story::new();
            let name = if lower { "latency" } else { QUALITY_SCORE };
            story.measure("latency", Direction::Lower, 0.0);
            story.config.select.primary = name.to_owned();
            let values = if lower { [90.0, 1.0, 2.0, 3.0] } else { [1.0; 4] };
            for (value, coverage) in values.into_iter().zip([60.0, 90.0, 89.0, 88.0]) {
                story.record(latency(good(9, 1, coverage), value));
            }
            let recorded = |n| if lower { f64::from(n) } else { 0.9 };
            let again = |n, value| Remeasured::new(Iteration(n), recorded(n), vec![value, value]).unwrap();
            let told = [again(1, 5.0), again(2, 6.0)];
            let choice = select_without(story.points(), &story.config, &[], &told);
            assert_eq!(choice.ranking.iter().map(|n| n.0).collect::<Vec<_>>(), expected, "{name}");
            assert!(choice.rationale[0].contains("of the 2 that were measured again"), "{:?}", choice.rationale);
            let none = select(story.points(), &story.config);
            assert_eq!(none.ranking, [Iteration(1), Iteration(2), Iteration(3)]);
        }
        assert_eq!(Remeasured::new(Iteration(1), 0.9, Vec::new()), None);
        let told = Remeasured::new(Iteration(1), 0.9, vec![0.6, 0.6]).unwrap();
        assert!(
            (told.mean - 0.7).abs() < 1e-9 && (told.expected - 0.6).abs() < 1e-9 && (told.optimism - 0.3).abs() < 1e-9
        );
    }

    #[test]
    fn ties_keep_the_earliest_and_the_last_is_not_taken_blindly() {
        let mut story = Story::new();
        for metrics in [good(8, 2, 70.0), good(10, 0, 80.0), good(10, 0, 80.0), good(10, 0, 79.0)] {
            story.record(metrics);
        }
        let choice = select(story.points(), &story.config);
        assert_eq!((choice.selected, choice.last), (Some(Iteration(1)), Iteration(3)));
        assert_eq!(choice.ranking, [Iteration(1), Iteration(2), Iteration(3)]);
        assert_eq!(choice.degradation.unwrap().pattern, DegradationPattern::LateRegression);
        assert_eq!(select_without(story.points(), &story.config, &[Iteration(1)], &[]).selected, Some(Iteration(2)));
    }

    #[test]
    fn a_failed_build_and_a_partial_score_are_never_the_best() {
        let mut story = Story::new();
        story.record(with_build(good(8, 2, 70.0), true));
        story.record(with_build(good(10, 0, 90.0), false));
        let tracker = best(story.points(), &story.config);
        assert_eq!(tracker.iteration, Some(Iteration(0)));
        assert_eq!(tracker.ineligible[&Iteration(1)], "its build failed");

        let mut story = Story::new();
        story.record(with_coverage(Metrics::default(), 99.0));
        let choice = select(story.points(), &story.config);
        assert_eq!(choice.selected, None);
        assert!(choice.ranking.is_empty() && choice.degradation.is_none());
        assert_eq!(
            choice.scores[0].ineligible_because.as_deref(),
            Some("its score is partial: 25 % of the weights were measured")
        );
    }

    #[test]
    fn a_linter_that_is_no_longer_run_did_not_get_better_and_a_new_one_did_not_make_it_worse() {
        let tools = |coverage, tools: &[(&str, u64)]| with_errors(good(10, 0, coverage), tools);
        let mut story = Story::new();
        story.record(tools(80.0, &[("mypy", 9), ("ruff", 0)]));
        let verdict = story.record(tools(80.0, &[("ruff", 0)]));
        assert_eq!(verdict.from_previous.unwrap().quality_score, Some(0.0));
        assert_eq!(best(story.points(), &story.config).iteration, Some(Iteration(0)));
        story.record(tools(81.0, &[("eslint", 9), ("ruff", 0)]));
        assert_eq!(best(story.points(), &story.config).iteration, Some(Iteration(2)));
    }

    #[test]
    fn a_threshold_that_nobody_reaches_is_dropped_and_said() {
        let mut story = Story::new();
        story.record(good(1, 9, 10.0));
        story.record(good(2, 8, 10.0));
        let choice = select(story.points(), &story.config);
        assert_eq!((choice.selected, choice.threshold_dropped), (Some(Iteration(1)), true));
        assert!(choice.rationale.iter().any(|line| line.contains("dropped")));
    }

    #[test]
    fn a_metric_of_ones_own_can_take_the_place_of_the_score() {
        let mut story = Story::new();
        story.measure("latency", Direction::Lower, 0.1);
        story.config.select.primary = "latency".to_owned();
        for value in [10.0, 7.0, 8.0] {
            story.record(latency(good(8, 0, 80.0), value));
        }
        story.record(good(8, 0, 80.0));
        let choice = select(story.points(), &story.config);
        assert_eq!(choice.selected, Some(Iteration(1)));
        assert_eq!(choice.scores[3].ineligible_because.as_deref(), Some("latency was not measured"));
        assert_eq!(best(story.points(), &story.config).iteration, Some(Iteration(1)));
    }

    #[test]
    fn the_pareto_front_holds_what_no_other_dominates() {
        let mut story = Story::new();
        story.measure("latency", Direction::Lower, 0.5);
        story.config.select.objectives = vec!["quality_score".to_owned(), "latency".to_owned()];
        story.record(latency(good(8, 0, 80.0), 10.0));
        story.record(latency(good(8, 0, 90.0), 12.0));
        story.record(latency(good(8, 0, 79.0), 10.2));
        let choice = select(story.points(), &story.config);
        assert_eq!(choice.pareto_front, [Iteration(0), Iteration(1)]);
        assert_eq!(choice.selected, Some(Iteration(1)));
    }

    #[test]
    fn no_points_choose_nothing() {
        let story = Story::new();
        assert_eq!(select(&[], &story.config).selected, None);
        assert_eq!(best(&[], &story.config).iteration, None);
    }
}
