//! The loops that the goldens show: the recorded one of `fixtures/loops/hourbook`, and hand-made ones at the edges.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeZone, Utc};
use highwater::model::SCHEMA_VERSION;
use highwater::model::figures::{Figures, ReportKind};
use highwater::model::ids::{Iteration, LoopId, ObjectId, TreePath};
use highwater::model::metrics::{CodebaseMetrics, CoverageMetrics, Metrics, QualityMetrics, TestMetrics};
use highwater::model::record::{Command, IterationRecord, Source};
use highwater::model::trajectory::{BestTracker, Candidate, Degradation, DegradationPattern, Point, Selection};
use highwater::model::units::{Percent, Quantity, Score};
use highwater::model::verdict::{
    Action, Alert, Classification, Deltas, Dimension, DimensionScore, NamedTests, OpenFinding, QualityScore,
    Recommendation, Severity, Status,
};

/// A loop as its reports are made from.
pub struct Loop {
    pub records: Vec<IterationRecord>,
    pub best: BestTracker,
}

impl Loop {
    pub fn points(&self) -> Vec<Point> {
        self.records.iter().map(Point::of).collect()
    }

    /// The tracker as it stood after that iteration.
    pub fn best_after(&self, iteration: usize) -> BestTracker {
        best_of(&self.records[..=iteration])
    }
}

pub fn object(byte: u8) -> ObjectId {
    ObjectId([byte; 32])
}

pub fn loop_id() -> LoopId {
    "hourbook".parse().unwrap()
}

fn at(minute: u32) -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 2, 2, 10, minute, 0).unwrap()
}

/// The figures of one iteration's `expected.json`.
#[derive(serde::Deserialize)]
struct Expected {
    tests: u64,
    passed: u64,
    failed: u64,
    errored: u64,
    skipped: u64,
    lines_covered: u64,
    lines_total: u64,
    lint_errors: u64,
    lint_warnings: u64,
    files: u64,
    loc_nonblank: u64,
    score: f64,
}

fn hourbook_file(iteration: usize, name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/loops/hourbook/iterations");
    std::fs::read_to_string(format!("{folder}/{iteration:03}/{name}")).unwrap()
}

fn metrics_of(expected: &Expected) -> Metrics {
    Metrics {
        testing: Some(TestMetrics {
            test_count: Some(expected.tests),
            tests_passed: Some(expected.passed),
            tests_failed: Some(expected.failed),
            tests_errored: Some(expected.errored),
            tests_skipped: Some(expected.skipped),
            pass_rate: Percent::of(expected.passed, expected.tests),
            ..TestMetrics::default()
        }),
        coverage: Some(CoverageMetrics {
            percentage: Percent::of(expected.lines_covered, expected.lines_total).unwrap(),
            lines_covered: Some(expected.lines_covered),
            lines_total: Some(expected.lines_total),
        }),
        quality: Some(QualityMetrics {
            lint_errors: Some(expected.lint_errors),
            lint_warnings: Some(expected.lint_warnings),
            error_count: Some(expected.lint_errors),
            ..QualityMetrics::default()
        }),
        codebase: Some(CodebaseMetrics {
            file_count: Some(expected.files),
            loc_total: Some(expected.loc_nonblank),
            complexity_score: None,
        }),
        custom: BTreeMap::new(),
    }
}

/// The formulas of ANALYSIS §2 for the components that this loop has; the total is checked against `expected.json`.
fn score_of(now: &Expected, base: &Expected) -> QualityScore {
    let real = |count: u64| Quantity::from(count).as_f64();
    let rate = 100.0 * real(now.passed) / real(now.tests);
    let growth = (real(now.loc_nonblank) - real(base.loc_nonblank)) / real(base.loc_nonblank);
    let appropriate =
        if growth.abs() <= 0.20 { 100.0 } else { (100.0 - 100.0 * (growth.abs() - 0.20) / 0.80).max(0.0) };
    let parts = [
        (
            Dimension::Validation,
            0.30,
            vec![("all_tests_pass", rate), ("no_lint_errors", 100.0 - 5.0 * real(now.lint_errors))],
        ),
        (
            Dimension::Completeness,
            0.25,
            vec![
                ("coverage_percentage", 100.0 * real(now.lines_covered) / real(now.lines_total)),
                ("test_count_vs_baseline", (100.0 * real(now.tests) / real(base.tests)).min(100.0)),
            ],
        ),
        (
            Dimension::Correctness,
            0.25,
            vec![("error_count_inverted", 100.0 - 2.0 * real(now.lint_errors)), ("pass_rate", rate)],
        ),
        (Dimension::Readability, 0.10, vec![("lint_warnings_inverted", 100.0 - 3.0 * real(now.lint_warnings))]),
        (
            Dimension::Efficiency,
            0.10,
            vec![("loc_appropriate", appropriate), ("no_code_bloat", if growth > 0.5 { 50.0 } else { 100.0 })],
        ),
    ];
    let dimensions: Vec<DimensionScore> = parts
        .into_iter()
        .map(|(dimension, weight, components)| {
            let count = Quantity::from(components.len() as u64).as_f64();
            let mean = components.iter().map(|(_, value)| value).sum::<f64>() / count;
            DimensionScore {
                dimension,
                score: Some(mean),
                weight,
                contribution: weight * mean / 100.0,
                components: components.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            }
        })
        .collect();
    let total: f64 = dimensions.iter().map(|row| row.contribution).sum();
    assert!((total - now.score).abs() < 1e-8, "{total} is not {}", now.score);
    QualityScore { total: Score::new(total).unwrap(), weight_available: 1.0, partial: false, dimensions }
}

/// Differences between two iterations that have all metrics.
fn deltas(from: &IterationRecord, metrics: &Metrics, total: Option<Score>) -> Deltas {
    let count = |a: Option<u64>, b: Option<u64>| Some(i64::try_from(b?).unwrap() - i64::try_from(a?).unwrap());
    let points = |a: Option<f64>, b: Option<f64>| Some(b? - a?);
    let before = &from.metrics;
    Deltas {
        against: BTreeMap::new(),
        test_count: count(before.test_count(), metrics.test_count()),
        tests_passed: count(before.tests_passed(), metrics.tests_passed()),
        pass_rate_points: points(before.pass_rate(), metrics.pass_rate()),
        coverage_points: points(before.coverage(), metrics.coverage()),
        error_count: count(before.error_count(), metrics.error_count()),
        lint_warnings: count(before.lint_warnings(), metrics.lint_warnings()),
        file_count: count(before.file_count(), metrics.file_count()),
        loc_total: count(before.loc_total(), metrics.loc_total()),
        quality_score: points(from.quality_score.as_ref().map(|q| q.total.get()), total.map(Score::get)),
        ..Deltas::default()
    }
}

pub fn recommendation(
    action: Action,
    target: Option<u32>,
    reason: &str,
    because: &str,
    confidence: f64,
) -> Recommendation {
    Recommendation {
        action,
        target: target.map(Iteration),
        reason: reason.to_owned(),
        because: vec![because.to_owned()],
        also: Vec::new(),
        alternatives: Vec::new(),
        confidence,
    }
}

pub fn alert(rule: &str, severity: Severity, message: &str, iteration: u32) -> Alert {
    Alert {
        rule: rule.to_owned(),
        subject: None,
        others: Vec::new(),
        severity,
        status: Status::Observed,
        message: message.to_owned(),
        previous: None,
        current: None,
        threshold: None,
        evidence: Vec::new(),
        seed_severity: None,
        reliability: 0.75,
        observe_only: false,
        iteration: Iteration(iteration),
    }
}

fn source(path: &str, format: &str, kind: ReportKind, figures: Figures) -> Source {
    Source {
        path: path.to_owned(),
        format: Some(format.to_owned()),
        kind: Some(kind),
        blake3: Some(object(9)),
        artifact: None,
        modified_at: None,
        spoken: false,
        silence: None,
        stale: false,
        same_run_as: None,
        figures: Some(figures),
        warnings: Vec::new(),
        error: None,
    }
}

fn sources_of(expected: &Expected) -> Vec<Source> {
    let tests = Figures {
        tests: Some(expected.tests),
        passed: Some(expected.passed),
        failed: Some(expected.failed),
        errored: Some(expected.errored),
        skipped: Some(expected.skipped),
        ..Figures::default()
    };
    let coverage = Figures {
        lines_covered: Some(expected.lines_covered),
        lines_total: Some(expected.lines_total),
        ..Figures::default()
    };
    let lint = Figures {
        errors: Some(expected.lint_errors),
        warnings: Some(expected.lint_warnings),
        notes: Some(0),
        total: Some(expected.lint_errors + expected.lint_warnings),
        ..Figures::default()
    };
    vec![
        source("reports/junit.xml", "junit", ReportKind::Test, tests),
        source("reports/coverage.xml", "cobertura", ReportKind::Coverage, coverage),
        source("reports/ruff.sarif", "sarif", ReportKind::Lint, lint),
    ]
}

/// A record of which nothing was measured.
pub fn bare(iteration: u32) -> IterationRecord {
    IterationRecord {
        iteration: Iteration(iteration),
        parent: iteration.checked_sub(1).map(Iteration),
        class_rule: "insufficient_data".to_owned(),
        recommendation: recommendation(Action::Continue, None, "no finding speaks against going on", "otherwise", 0.05),
        tree_key: object(2),
        tool: "highwater 0.1.0".to_owned(),
        ..IterationRecord::draft(loop_id(), at(iteration % 60), object(1), object(3))
    }
}

fn lost_tests() -> OpenFinding {
    let mut raised = alert("test_count_decreased", Severity::Critical, "Test count decreased from 20 to 17", 4);
    raised.evidence = vec![
        "gone: tests/test_durations.py :: test_week_starts_in_the_iso_year".to_owned(),
        "gone: tests/test_report.py :: test_total_row".to_owned(),
        "gone: tests/test_rounding.py :: test_half_minutes_round_up".to_owned(),
    ];
    OpenFinding {
        alert: raised,
        since: Iteration(4),
        closes_when: "there are 20 tests again".to_owned(),
        accepted: None,
    }
}

/// Class, recommendation and alerts of each iteration of hourbook, as ANALYSIS judges its counters.
fn judged(record: &mut IterationRecord) {
    use Classification::{Baseline, Forward, Plateau, Regression};
    let n = record.iteration.0;
    let (class, rule) = match n {
        0 => (Baseline, "baseline"),
        3 => (Plateau, "band"),
        4 => (Regression, "R1"),
        6 | 10 => (Regression, "R3"),
        9 => (Plateau, "band"),
        11 => (Regression, "R5"),
        _ => (Forward, "forward"),
    };
    record.classification = Some(class);
    record.base_class = Some(class);
    record.class_rule = rule.to_owned();
    record.acceptable = n != 4;
    record.recommendation = match n {
        0 => recommendation(Action::Continue, None, "the baseline is recorded", "otherwise", 0.99),
        4 => recommendation(Action::Rollback, Some(2), "test count decreased", "test_count_decreased", 0.75),
        6 | 10 => {
            recommendation(Action::Continue, None, "coverage dropped, and the score is near the best", "otherwise", 0.5)
        }
        11 => recommendation(
            Action::Rollback,
            Some(8),
            "previously passing tests now fail",
            "working_tests_failing",
            0.95,
        ),
        _ => recommendation(Action::Continue, None, "no finding speaks against going on", "otherwise", 0.99),
    };
    match n {
        4 => {
            let names = ["test_durations.py :: test_week_starts_in_the_iso_year", "test_report.py :: test_total_row"];
            record.open_findings = vec![lost_tests()];
            record.open_findings.extend(names.iter().map(|name| {
                let id = format!("tests/{name}");
                let mut removed =
                    alert("failing_test_removed", Severity::Critical, &format!("Failing test removed: {id}"), n);
                removed.subject = Some(id.clone());
                removed.evidence = vec!["failed before, and no new test is like it".to_owned()];
                OpenFinding {
                    alert: removed,
                    since: Iteration(n),
                    closes_when: format!("{id} is back"),
                    accepted: None,
                }
            }));
            record.alerts = record.open_findings.iter().map(|finding| finding.alert.clone()).collect();
            if let Some(deltas) = &mut record.from_previous {
                deltas.tests_lost = Some(NamedTests {
                    count: 3,
                    names: vec![
                        "tests/test_durations.py :: test_week_starts_in_the_iso_year".to_owned(),
                        "tests/test_report.py :: test_total_row".to_owned(),
                        "tests/test_rounding.py :: test_half_minutes_round_up".to_owned(),
                    ],
                });
            }
        }
        6 => record.alerts = vec![alert("coverage_regression", Severity::High, "Coverage dropped 4.26%", n)],
        10 => record.alerts = vec![alert("coverage_regression", Severity::High, "Coverage dropped 3.39%", n)],
        11 => {
            let mut broken =
                alert("working_tests_failing", Severity::Critical, "Previously passing tests now failing", n);
            broken.status = Status::Confirmed;
            broken.evidence = vec!["tests/test_cli.py :: test_report_twice_reads_the_sheet_again".to_owned()];
            record.alerts = vec![broken.clone()];
            record.open_findings = vec![OpenFinding {
                alert: broken,
                since: Iteration(11),
                closes_when: "the test passes again".to_owned(),
                accepted: None,
            }];
        }
        _ => {}
    }
}

/// The twelve iterations of `fixtures/loops/hourbook`.
pub fn hourbook() -> Loop {
    let expected: Vec<Expected> =
        (0..12).map(|n| serde_json::from_str(&hourbook_file(n, "expected.json")).unwrap()).collect();
    let mut records: Vec<IterationRecord> = Vec::new();
    for (n, figures) in expected.iter().enumerate() {
        let mut record = bare(u32::try_from(n).unwrap());
        record.metrics = metrics_of(figures);
        record.sources = sources_of(figures);
        let score = score_of(figures, &expected[0]);
        // The fifth iteration went back to where the tests were still there.
        record.parent = if n == 5 { Some(Iteration(3)) } else { record.parent };
        if let Some(parent) = record.parent {
            let from = |n: u32| &records[usize::try_from(n).unwrap()];
            record.from_previous = Some(deltas(from(parent.0), &record.metrics, Some(score.total)));
            record.from_baseline = Some(deltas(from(0), &record.metrics, Some(score.total)));
        }
        record.quality_score = Some(score);
        record.label = Some(hourbook_file(n, "note.txt").trim().to_owned());
        record.tree = object(u8::try_from(n).unwrap() + 16);
        record.command = Some(Command {
            argv: vec!["make".to_owned(), "reports".to_owned()],
            exit_code: Some(i32::from(figures.failed > 0)),
            started_at: record.started_at,
            duration_ms: 4321,
        });
        judged(&mut record);
        records.push(record);
    }
    let best = best_of(&records);
    Loop { records, best }
}

/// The highest score without an open finding, as the tracker has it.
pub fn best_of(records: &[IterationRecord]) -> BestTracker {
    let mut best = BestTracker { schema_version: SCHEMA_VERSION, head: Some(object(7)), ..BestTracker::default() };
    for record in records {
        let Some(score) = record.quality_score.as_ref().filter(|score| !score.partial) else {
            best.ineligible.insert(record.iteration, "it has no full score".to_owned());
            continue;
        };
        if let Some(open) = record.open_findings.first() {
            best.ineligible
                .insert(record.iteration, format!("{} is open since iteration {}", open.alert.rule, open.since));
        } else if best.quality_score.is_none_or(|before| score.total.get() > before.get()) {
            best.iteration = Some(record.iteration);
            best.quality_score = Some(score.total);
            best.manifest = Some(record.tree);
        }
    }
    best
}

/// A loop of which no report was ever read.
pub fn unmeasured() -> Loop {
    let mut records = vec![bare(0), bare(1), bare(2)];
    records[0].classification = Some(Classification::Baseline);
    for record in &mut records[1..] {
        record.recommendation =
            recommendation(Action::Escalate, None, "no test report could be read", "unmeasured", 0.95);
    }
    let best = best_of(&records);
    Loop { records, best }
}

/// Sixty iterations that climb, fall and climb again.
pub fn long() -> Loop {
    let records: Vec<IterationRecord> = (0..60)
        .map(|n| {
            let mut record = bare(n);
            let value = 0.60 + 0.35 * (f64::from(n) / 7.0).sin().abs() * (f64::from(n + 10) / 70.0).min(1.0);
            record.quality_score = Some(QualityScore {
                total: Score::new(value).unwrap(),
                weight_available: 1.0,
                partial: false,
                dimensions: Vec::new(),
            });
            record.metrics.testing = Some(TestMetrics {
                test_count: Some(1200 + u64::from(n)),
                tests_passed: Some(1190 + u64::from(n)),
                pass_rate: Percent::of(1190 + u64::from(n), 1200 + u64::from(n)),
                ..TestMetrics::default()
            });
            record.classification = Some(if n == 0 { Classification::Baseline } else { Classification::Plateau });
            record
        })
        .collect();
    let best = best_of(&records);
    Loop { records, best }
}

/// The end of hourbook: the eighth iteration is chosen, the last had fallen.
pub fn selection(of: &Loop) -> Selection {
    let candidates = of.records.iter().map(|record| Candidate {
        iteration: record.iteration,
        quality_score: record.quality_score.as_ref().map(|score| score.total),
        classification: record.classification,
        eligible: !of.best.ineligible.contains_key(&record.iteration),
        ineligible_because: of.best.ineligible.get(&record.iteration).cloned(),
    });
    Selection {
        schema_version: SCHEMA_VERSION,
        loop_id: loop_id(),
        head: object(7),
        selected: of.best.iteration,
        last: of.records.last().unwrap().iteration,
        scores: candidates.collect(),
        rationale: vec![
            "iteration 8 has the highest score of all eligible iterations (0.9915)".to_owned(),
            "all 29 tests pass, coverage is 96.52%".to_owned(),
            "quality degraded from iteration 9 on".to_owned(),
        ],
        primary: "quality_score".to_owned(),
        threshold: 0.7,
        threshold_dropped: false,
        pareto_front: Vec::new(),
        pareto: None,
        improvement_percentage: Some(12.590),
        degradation: Some(Degradation {
            started: Some(Iteration(9)),
            pattern: DegradationPattern::OverRefinement,
            iterations_after_peak: 3,
            quality_loss: Some(-11.182),
        }),
        remeasured: Vec::new(),
        verification: vec!["every object of iteration 8 was read and checked".to_owned()],
        restored: vec![
            TreePath::new("src/hourbook/report.py").unwrap(),
            TreePath::new("src/hourbook/cache.py").unwrap(),
        ],
        restored_count: 14,
        blake3: None,
    }
}
