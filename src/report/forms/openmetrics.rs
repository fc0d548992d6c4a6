//! `openmetrics`: an iteration's figures as gauges, for Prometheus' textfile collector and GitLab's metrics report.

use std::fmt::Write as _;

use super::{Form, OneIteration, Write};
use crate::error::Result;
use crate::model::units::{Percent, Quantity, Score};
use crate::model::verdict::{Action, Classification, Severity};

/// OpenMetrics.
pub(super) const FORM: Form = Form {
    name: "openmetrics",
    about: "one iteration's figures as gauges in OpenMetrics text, for Prometheus' textfile collector and GitLab",
    write: Write::Iteration(openmetrics),
};

/// A gauge's samples: further labels, and the value.
type Samples = Vec<(Vec<(&'static str, String)>, Quantity)>;

fn openmetrics(one: &OneIteration<'_>) -> Result<String> {
    let mut text = String::new();
    for (name, help, samples) in gauges(one) {
        // What was not measured has no sample, and a gauge without samples is not told at all.
        if samples.is_empty() {
            continue;
        }
        // Writing into a string cannot fail.
        let _ = writeln!(text, "# TYPE highwater_{name} gauge\n# HELP highwater_{name} {help}");
        for (labels, value) in samples {
            let _ = write!(text, "highwater_{name}{{loop=\"{}\"", one.record.loop_id);
            for (label, content) in labels {
                let _ = write!(text, ",{label}=\"{}\"", escaped(&content));
            }
            let _ = match value {
                Quantity::Count(count) => writeln!(text, "}} {count}"),
                Quantity::Real(real) => writeln!(text, "}} {real:?}"),
            };
        }
    }
    text.push_str("# EOF\n");
    Ok(text)
}

fn gauges(one: &OneIteration<'_>) -> Vec<(&'static str, &'static str, Samples)> {
    let record = one.record;
    let metrics = &record.metrics;
    let tests = metrics.testing.as_ref();
    let of_tests = |count: fn(&crate::model::metrics::TestMetrics) -> Option<u64>| whole(tests.and_then(count));
    let quality = metrics.quality.as_ref();
    let percent = |value: Option<Percent>| real(value.map(Percent::get));
    vec![
        ("iteration", "The iteration that this tells of.", whole(Some(record.iteration.0.into()))),
        ("quality_score", "Quality score, 0 to 1.", score(record.quality_score.as_ref().map(|score| score.total))),
        ("best_iteration", "The best iteration so far.", whole(one.best.iteration.map(|best| best.0.into()))),
        ("best_quality_score", "Quality score of the best iteration.", score(one.best.quality_score)),
        ("tests", "Tests.", whole(metrics.test_count())),
        ("tests_passed", "Tests that passed.", whole(metrics.tests_passed())),
        ("tests_failed", "Tests that failed.", of_tests(|tests| tests.tests_failed)),
        ("tests_errored", "Tests that could not be run to their end.", of_tests(|tests| tests.tests_errored)),
        ("tests_skipped", "Tests that were skipped.", of_tests(|tests| tests.tests_skipped)),
        ("tests_flaky", "Tests that passed at a later attempt.", of_tests(|tests| tests.tests_flaky)),
        ("collection_errors", "Units that failed to load.", whole(tests.map(|tests| tests.collection_errors))),
        ("pass_rate_percent", "Passed of the tests that ran.", percent(tests.and_then(|tests| tests.pass_rate))),
        ("coverage_percent", "Coverage of lines or statements.", real(metrics.coverage())),
        ("errors", "Errors of linters, type checkers and compilers.", whole(metrics.error_count())),
        ("lint_errors", "Errors of linters.", whole(metrics.lint_errors())),
        ("type_errors", "Errors of type checkers.", whole(quality.and_then(|quality| quality.type_errors))),
        ("build_errors", "Errors of compilers.", whole(quality.and_then(|quality| quality.build_errors))),
        ("warnings", "Warnings of all tools.", whole(metrics.lint_warnings())),
        ("files", "Files in the snapshot.", whole(metrics.file_count())),
        ("code_lines", "Lines in the snapshot that are not blank.", whole(metrics.loc_total())),
        ("complexity", "Mean cyclomatic complexity of a function.", real(metrics.complexity())),
        ("metric", "Metrics of the project's own.", own(one)),
        ("alerts", "Alerts of the iteration that count.", alerts(one)),
        ("open_findings", "Losses that nobody made good, explained or accepted.", open(one)),
        ("classification", "1 for the class of the iteration.", classes(record.classification)),
        ("recommendation", "1 for what is recommended.", actions(record.recommendation.action)),
        ("cost_dollars", "US dollars spent in the iteration.", real(record.cost)),
        ("tokens", "Tokens spent in the iteration.", whole(record.tokens)),
    ]
}

fn whole(count: Option<u64>) -> Samples {
    count.map(|count| (Vec::new(), Quantity::from(count))).into_iter().collect()
}

fn real(value: Option<f64>) -> Samples {
    value.map(|value| (Vec::new(), Quantity::Real(value))).into_iter().collect()
}

fn score(score: Option<Score>) -> Samples {
    real(score.map(Score::get))
}

fn own(one: &OneIteration<'_>) -> Samples {
    let metrics = one.record.metrics.custom.iter();
    metrics.filter_map(|(name, metric)| Some((vec![("name", name.clone())], Quantity::Real(metric.value?)))).collect()
}

fn alerts(one: &OneIteration<'_>) -> Samples {
    let severities = [Severity::Low, Severity::Medium, Severity::High, Severity::Critical];
    let of = |severity: Severity| {
        let alerts = one.record.alerts.iter().filter(|alert| alert.counts() && alert.severity == severity);
        (vec![("severity", severity.name().to_owned())], count(alerts.count()))
    };
    severities.map(of).into()
}

fn open(one: &OneIteration<'_>) -> Samples {
    let open = one.record.open_findings.iter().filter(|finding| finding.accepted.is_none());
    vec![(Vec::new(), count(open.count()))]
}

fn classes(class: Option<Classification>) -> Samples {
    let all = [
        Classification::Baseline,
        Classification::Forward,
        Classification::Plateau,
        Classification::Regression,
        Classification::Stalled,
    ];
    let state =
        |one: Classification| (vec![("class", one.name().to_owned())], Quantity::Count(i64::from(class == Some(one))));
    if class.is_some() { all.map(state).into() } else { Vec::new() }
}

fn actions(action: Action) -> Samples {
    let all = [Action::Continue, Action::Stop, Action::Rollback, Action::Escalate];
    let state = |one: Action| (vec![("action", one.name().to_owned())], Quantity::Count(i64::from(action == one)));
    all.map(state).into()
}

fn count(count: usize) -> Quantity {
    Quantity::from(u64::try_from(count).unwrap_or(u64::MAX))
}

/// As the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::super::testing::Sample;
    use super::*;
    use crate::model::cases::Outcome;
    use crate::model::metrics::CustomMetric;

    #[test]
    fn measured_figures_are_gauges_and_what_is_unknown_is_not_there() {
        let mut sample = Sample::new();
        sample.case("a", Outcome::Passed);
        sample.case("b", Outcome::Failed);
        sample.alert("known_rule", Severity::High, None);
        sample.record.classification = Some(Classification::Regression);
        let slow = CustomMetric { value: Some(0.5), ..CustomMetric::default() };
        sample.record.metrics.custom.insert("p\"9\\9\n".to_owned(), slow);
        sample.record.metrics.custom.insert("crashed".to_owned(), CustomMetric::default());
        let text = openmetrics(&sample.one()).unwrap();
        for line in [
            "highwater_iteration{loop=\"auth\"} 3",
            "highwater_tests{loop=\"auth\"} 2",
            "highwater_pass_rate_percent{loop=\"auth\"} 50.0",
            "highwater_metric{loop=\"auth\",name=\"p\\\"9\\\\9\\n\"} 0.5",
            "highwater_alerts{loop=\"auth\",severity=\"high\"} 1",
            "highwater_classification{loop=\"auth\",class=\"regression\"} 1",
            "highwater_recommendation{loop=\"auth\",action=\"stop\"} 0",
            "# TYPE highwater_tests gauge",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
        for absent in ["coverage", "quality_score", "crashed", "flaky"] {
            assert!(!text.contains(absent), "{absent}");
        }
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn each_gauge_is_told_once_and_its_samples_stand_together() {
        let mut sample = Sample::new();
        sample.case("a", Outcome::Passed);
        let text = openmetrics(&sample.one()).unwrap();
        let mut types: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
        let all = types.len();
        types.sort_unstable();
        types.dedup();
        assert_eq!(types.len(), all);
    }
}
