//! A metric that was measured before is missing now.

use std::collections::BTreeSet;

use super::AlertRule;
use crate::analysis::comparison::Comparison;
use crate::analysis::suite::Suite;
use crate::model::metrics::{Metrics, QualityMetrics};
use crate::model::trajectory::Point;
use crate::model::verdict::{Alert, Severity};

/// Dropping a bad metric would raise the score.
pub const RULE: AlertRule = AlertRule {
    name: "metric_disappeared",
    about: "a metric that was measured before is missing",
    meaning: "A report is no longer written or no longer read. Scores are compared over what both iterations have, so \
              nothing is gained by it. Raised once for each metric (of findings: each tool).",
    formula: "an ancestor has the metric, this iteration does not",
    source: "beyond the seeds",
    severity: Severity::High,
    reliability: 0.50,
    thresholds: &[],
    check,
};

/// Metrics that a broken suite takes with it.
const SUITE_METRICS: [&str; 2] = ["test_count", "coverage_percentage"];

/// Whether `metrics` hold the metric called `name`.
fn has(metrics: &Metrics, name: &str) -> bool {
    match name {
        "test_count" => metrics.test_count().is_some(),
        "coverage_percentage" => metrics.coverage().is_some(),
        "build_status" => metrics.build_status().is_some(),
        "complexity_score" => metrics.complexity().is_some(),
        _ => match name.split_once(':') {
            Some(("findings", tool)) => tools(metrics).iter().any(|known| known == tool),
            Some(("reported", format)) => reporting(metrics).contains(format),
            Some(("custom", custom)) => metrics.custom.get(custom).is_some_and(|metric| metric.value.is_some()),
            _ => false,
        },
    }
}

/// The names of all metrics that `metrics` hold, and that can go missing: of no tests nothing can.
fn names(metrics: &Metrics) -> Vec<String> {
    let single = ["test_count", "coverage_percentage", "build_status", "complexity_score"];
    let is_there = |name: &&str| has(metrics, name) && (*name != "test_count" || metrics.test_count() > Some(0));
    let mut names: Vec<String> = single.into_iter().filter(is_there).map(ToOwned::to_owned).collect();
    names.extend(tools(metrics).into_iter().map(|tool| format!("findings:{tool}")));
    names.extend(reporting(metrics).into_iter().map(|format| format!("reported:{format}")));
    let by_hand = metrics.custom.iter().filter(|(_, metric)| metric.value.is_some() && metric.format.is_none());
    names.extend(by_hand.map(|(name, _)| format!("custom:{name}")));
    names
}

/// The formats whose reports told metrics: a report that is not written takes all of its metrics with it, at once.
fn reporting(metrics: &Metrics) -> BTreeSet<&str> {
    let told = metrics.custom.values().filter(|metric| metric.value.is_some());
    told.filter_map(|metric| metric.format.as_deref()).collect()
}

/// The tools that reported findings; where no tool is named, the sorts of findings.
fn tools(metrics: &Metrics) -> Vec<String> {
    let Some(quality) = &metrics.quality else { return Vec::new() };
    if !quality.errors_by_tool.is_empty() {
        return quality.errors_by_tool.keys().cloned().collect();
    }
    type Reader = fn(&QualityMetrics) -> Option<u64>;
    let sorts: [(&str, Reader); 3] =
        [("lint", |q| q.lint_errors), ("types", |q| q.type_errors), ("build", |q| q.build_errors)];
    sorts.into_iter().filter(|(_, read)| read(quality).is_some()).map(|(name, _)| name.to_owned()).collect()
}

fn check(comparison: &Comparison) -> Vec<Alert> {
    if comparison.suite == Suite::Unmeasured {
        return Vec::new();
    }
    let missing = had(comparison).into_iter().filter(|name| !has(comparison.metrics, name));
    let is_explained = |name: &str| explained_by_suite(comparison, name) || is_told_by_another(comparison, name);
    missing.filter(|name| !is_explained(name)).map(|name| disappeared(comparison, name)).collect()
}

/// What could go missing now. The parent is enough: what it does not have either was told when it went missing. But
/// nothing was told of what could not be measured, nor of what a broken suite took with it: there, look further back.
fn had(comparison: &Comparison) -> BTreeSet<String> {
    let is_loaded = |metrics: &Metrics| metrics.testing.as_ref().is_none_or(|testing| testing.test_count.is_some());
    let mut had: BTreeSet<String> =
        measured(comparison).next().map(|point| names(&point.metrics)).into_iter().flatten().collect();
    let with_suite = measured(comparison).find(|point| is_loaded(&point.metrics)).map(|point| names(&point.metrics));
    had.extend(with_suite.into_iter().flatten().filter(|name| SUITE_METRICS.contains(&name.as_str())));
    had
}

/// The iterations before, the nearest first, in which something was measured.
fn measured<'a>(comparison: &'a Comparison) -> impl Iterator<Item = &'a Point> {
    comparison.ancestors().filter(|point| !point.recommendation.is_unmeasured())
}

/// A suite that does not load takes its coverage with it: `suite_not_run` tells of both.
fn explained_by_suite(comparison: &Comparison, name: &str) -> bool {
    comparison.suite == Suite::NotRun && SUITE_METRICS.contains(&name)
}

/// Whether a report of another format tells now what the missing one told, as a tool's JSON what its text told.
fn is_told_by_another(comparison: &Comparison, name: &str) -> bool {
    let Some(("reported", format)) = name.split_once(':') else { return false };
    let told_now = |name: &str| comparison.metrics.custom.get(name).is_some_and(|metric| metric.value.is_some());
    let told = |point: &Point| {
        point.metrics.custom.iter().any(|(name, metric)| metric.format.as_deref() == Some(format) && told_now(name))
    };
    measured(comparison).next().is_some_and(told)
}

fn disappeared(comparison: &Comparison, name: String) -> Alert {
    Alert { subject: Some(name.clone()), ..RULE.alert(comparison, format!("Metric disappeared: {name}")) }
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::{Story, broken_units, rules, tests, with_coverage, with_errors};
    use crate::model::metrics::{CustomMetric, Metrics, TestMetrics};

    #[test]
    fn coverage_that_goes_missing_fires_once_and_again_after_it_came_back() {
        let mut story = Story::new();
        story.record(with_coverage(tests(8, 0), 80.0));
        let verdict = story.record(tests(8, 0));
        assert_eq!(rules(&verdict), ["metric_disappeared"]);
        assert_eq!(verdict.alerts[0].subject.as_deref(), Some("coverage_percentage"));
        assert!(rules(&story.record(tests(8, 0))).is_empty());
        assert!(!rules(&story.record(with_coverage(tests(8, 0), 80.0))).contains(&"metric_disappeared"));
        assert!(rules(&story.record(tests(8, 0))).contains(&"metric_disappeared"));
    }

    #[test]
    fn where_no_test_was_there_is_none_to_miss() {
        let unknown = || Metrics {
            testing: Some(TestMetrics { tests_failed: Some(0), ..Default::default() }),
            ..Default::default()
        };
        for (before, expected) in
            [(broken_units(tests(0, 0), &["x"]), vec![]), (tests(1, 0), vec!["metric_disappeared"])]
        {
            let mut story = Story::new();
            story.record(before);
            assert_eq!(rules(&story.record(unknown())), expected);
        }
    }

    #[test]
    fn a_report_of_metrics_that_is_not_written_is_one_finding() {
        let mut told = tests(8, 0);
        for name in ["bench.a.time", "bench.b.time"] {
            let format = Some("criterion".to_owned());
            told.custom.insert(name.to_owned(), CustomMetric { value: Some(1.0), format, ..CustomMetric::default() });
        }
        let mut story = Story::new();
        story.record(told.clone());
        told.custom.remove("bench.a.time");
        assert!(rules(&story.record(told.clone())).is_empty(), "the other one is still told");
        let verdict = story.record(tests(8, 0));
        assert_eq!(rules(&verdict), ["metric_disappeared"]);
        assert_eq!(verdict.alerts[0].subject.as_deref(), Some("reported:criterion"));

        let mut story = Story::new();
        story.record(told.clone());
        told.custom.values_mut().for_each(|metric| metric.format = Some("criterion-text".to_owned()));
        assert!(rules(&story.record(told)).is_empty(), "a report of another format tells it");
    }

    #[test]
    fn one_tool_of_two_that_goes_missing_is_named() {
        let mut story = Story::new();
        story.record(with_errors(tests(8, 0), &[("ruff", 1), ("mypy", 9)]));
        let verdict = story.record(with_errors(tests(8, 0), &[("ruff", 1)]));
        assert_eq!(verdict.alerts[0].subject.as_deref(), Some("findings:mypy"));
    }

    #[test]
    fn coverage_that_a_broken_suite_took_with_it_is_told_once_the_suite_runs_again() {
        let mut story = Story::new();
        story.record(with_coverage(tests(8, 0), 80.0));
        assert_eq!(rules(&story.record(broken_units(tests(0, 0), &["t.a"]))), ["suite_not_run"]);
        assert_eq!(rules(&story.record(tests(8, 0))), ["metric_disappeared"]);
    }

    #[test]
    fn what_went_missing_while_nothing_could_be_measured_is_told_afterwards() {
        let mut story = Story::new();
        story.record(with_coverage(tests(8, 0), 80.0));
        assert!(rules(&story.record(Default::default())).is_empty());
        assert_eq!(rules(&story.record(tests(8, 0))), ["metric_disappeared"]);
    }
}
