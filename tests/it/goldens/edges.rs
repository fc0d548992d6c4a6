//! Loops at the edges: names that attack, reports that could not be read, more findings than a screen holds.

use highwater::model::SCHEMA_VERSION;
use highwater::model::figures::ReportKind;
use highwater::model::ids::{Iteration, TreePath};
use highwater::model::metrics::{BuildStatus, CoverageMetrics, CustomMetric, Direction, QualityMetrics, TestMetrics};
use highwater::model::record::{Command, IterationRecord, Source, SourceError};
use highwater::model::trajectory::{Candidate, Selection};
use highwater::model::units::{Percent, Score};
use highwater::model::verdict::{
    Accepted, Action, Classification, Deltas, Dimension, DimensionScore, NamedTests, OpenFinding, QualityScore,
    Severity, Status,
};
use highwater::report::terminal::{Destination, RestoredView};

use super::loops::{Loop, alert, bare, best_of, loop_id, object, recommendation};

/// A name that tries everything at once.
pub fn hostile_text() -> String {
    "a|b`c``<img src=x onerror=alert(1)>\x1b[2J\x1b]52;c;x\x07\n# head\n- \u{202e}gnp.\u{2061}js 漢字e\u{301}🚀 [x](y) **z** \\|"
        .to_owned()
}

fn score(total: f64, partial: bool) -> QualityScore {
    QualityScore {
        total: Score::new(total).unwrap(),
        weight_available: if partial { 0.35 } else { 1.0 },
        partial,
        dimensions: Dimension::ALL
            .into_iter()
            .map(|dimension| {
                let is_measured = !partial || dimension == Dimension::Completeness;
                DimensionScore {
                    dimension,
                    score: is_measured.then_some(100.0 * total),
                    weight: 0.2,
                    contribution: if is_measured { 0.2 * total } else { 0.0 },
                    components: if is_measured { [("component".to_owned(), 100.0 * total)].into() } else { [].into() },
                }
            })
            .collect(),
    }
}

fn two(second: IterationRecord) -> Loop {
    let mut first = bare(0);
    first.classification = Some(Classification::Baseline);
    first.quality_score = Some(score(0.8, false));
    let records = vec![first, second];
    let best = best_of(&records);
    Loop { records, best }
}

/// Every text that comes from outside is hostile.
pub fn hostile() -> Loop {
    let text = hostile_text();
    let mut record = bare(1);
    record.classification = Some(Classification::Regression);
    record.quality_score = Some(score(0.7, false));
    record.label = Some(text.clone());
    record.tool = text.clone();
    record.class_rule = text.clone();
    record.warnings = vec![text.clone()];
    record.command = Some(Command {
        argv: vec!["sh".to_owned(), "-c".to_owned(), text.clone()],
        exit_code: None,
        started_at: record.started_at,
        duration_ms: 0,
    });
    record.metrics.custom.insert(
        text.clone(),
        CustomMetric { reason: Some(text.clone()), unit: Some(text.clone()), ..CustomMetric::default() },
    );
    record.metrics.testing = Some(TestMetrics {
        collection_errors: 2,
        failed_units: vec![text.clone(), "漢".repeat(300)],
        ..TestMetrics::default()
    });
    let mut finding = alert(&text, Severity::Critical, &text, 1);
    finding.subject = Some(text.clone());
    finding.evidence = vec![text.clone(), "x".repeat(5000)];
    record.alerts = vec![finding.clone()];
    record.open_findings =
        vec![OpenFinding { alert: finding, since: Iteration(1), closes_when: text.clone(), accepted: None }];
    record.accepted = vec![Accepted { rule: text.clone(), reason: text.clone(), at: record.recorded_at }];
    record.from_previous = Some(Deltas {
        tests_lost: Some(NamedTests { count: 300, names: vec![text.clone(), "y ".repeat(400)] }),
        tests_broken: Some(NamedTests { count: 1, names: vec![text.clone()] }),
        ..Deltas::default()
    });
    record.recommendation = recommendation(Action::Escalate, None, &text, &text, 0.5);
    record.recommendation.also = vec![text.clone()];
    record.recommendation.alternatives = vec![text.clone()];
    record.sources = vec![unread(&text, &text)];
    let mut of = two(record);
    of.best.ineligible.insert(Iteration(1), text);
    of
}

fn unread(path: &str, message: &str) -> Source {
    Source {
        path: path.to_owned(),
        format: Some("cobertura".to_owned()),
        kind: Some(ReportKind::Coverage),
        blake3: None,
        artifact: None,
        modified_at: None,
        spoken: false,
        silence: None,
        stale: false,
        same_run_as: None,
        figures: None,
        warnings: vec![message.to_owned()],
        error: Some(SourceError {
            code: "malformed".to_owned(),
            message: message.to_owned(),
            line: Some(214),
            column: Some(7),
            help: Some(
                "the run was probably cut short; run it again, or leave it out: `begin` and `record` take --skip coverage"
                    .to_owned(),
            ),
        }),
    }
}

/// A partial score, a failed build, custom metrics, reports of every fate, an explained and an observed finding.
pub fn measured_oddly() -> Loop {
    let mut record = bare(1);
    record.classification = Some(Classification::Stalled);
    record.base_class = Some(Classification::Plateau);
    record.quality_score = Some(score(0.45, true));
    record.metrics.coverage =
        Some(CoverageMetrics { percentage: Percent::new(45.0).unwrap(), lines_covered: None, lines_total: None });
    record.metrics.quality = Some(QualityMetrics {
        build_errors: Some(2),
        build_status: Some(BuildStatus::Failed),
        error_count: Some(2),
        ..QualityMetrics::default()
    });
    let latency = CustomMetric {
        value: Some(12.5),
        unit: Some("ms".to_owned()),
        direction: Some(Direction::Lower),
        ..CustomMetric::default()
    };
    let broken = CustomMetric { reason: Some("the command gave no number".to_owned()), ..CustomMetric::default() };
    record.metrics.custom = [("p95".to_owned(), latency.clone()), ("throughput".to_owned(), broken)].into();
    let mut explained = alert("pass_rate_regression", Severity::Low, "Pass rate dropped 16.67%", 1);
    explained.status = Status::Explained;
    explained.seed_severity = Some(Severity::High);
    explained.evidence = vec!["red_tests_added: only new tests fail, none broke and none is gone".to_owned()];
    let mut observed = alert("file_deletion", Severity::Medium, "File count decreased (potential code deletion)", 1);
    observed.observe_only = true;
    record.alerts = vec![explained, observed];
    record.accepted = vec![Accepted {
        rule: "test_count_decreased".to_owned(),
        reason: "the old importer is gone, its tests with it".to_owned(),
        at: record.recorded_at,
    }];
    let stale = Source { stale: true, error: None, warnings: Vec::new(), ..unread("target/junit.xml", "") };
    let twice = Source {
        same_run_as: Some("reports/junit.xml".to_owned()),
        error: None,
        warnings: Vec::new(),
        ..unread("(console)", "")
    };
    record.sources =
        vec![twice, stale, unread("target/cov.xml", "coverage report ends before its root element is closed")];
    record.recommendation =
        recommendation(Action::Stop, None, "No meaningful progress for 3 iterations", "stalled", 0.75);
    record.recommendation.alternatives = vec![
        "Consider different approach".to_owned(),
        "Request human intervention".to_owned(),
        "Try alternative strategy".to_owned(),
    ];
    record.cost = Some(1.5);
    record.tokens = Some(120_000);
    let mut of = two(record);
    of.records[0].metrics.custom = [("p95".to_owned(), CustomMetric { value: Some(14.0), ..latency })].into();
    of
}

/// Thirty findings of all severities.
pub fn many_alerts() -> Loop {
    let mut record = bare(1);
    record.classification = Some(Classification::Regression);
    record.quality_score = Some(score(0.6, false));
    let severities = [Severity::Low, Severity::Medium, Severity::High, Severity::Critical];
    record.alerts = (0..30)
        .map(|n| {
            let mut finding = alert(&format!("rule_{n}"), severities[n % 4], &format!("finding {n} of thirty"), 1);
            finding.evidence = (0..n % 6).map(|line| format!("fact {line}")).collect();
            finding
        })
        .collect();
    record.recommendation = recommendation(Action::Rollback, Some(0), "finding 3 of thirty", "critical_finding", 0.99);
    two(record)
}

/// The end of a loop in which every iteration lost tests.
pub fn nobody_eligible() -> Selection {
    let candidate = |n: u32| Candidate {
        iteration: Iteration(n),
        quality_score: Score::new(0.5),
        classification: Some(Classification::Regression),
        eligible: false,
        ineligible_because: Some("test_count_decreased is open since iteration 0".to_owned()),
    };
    Selection {
        schema_version: SCHEMA_VERSION,
        loop_id: loop_id(),
        head: object(7),
        selected: None,
        last: Iteration(1),
        scores: vec![candidate(0), candidate(1)],
        rationale: Vec::new(),
        primary: "p95".to_owned(),
        threshold: 0.7,
        threshold_dropped: true,
        pareto_front: Vec::new(),
        pareto: None,
        improvement_percentage: None,
        degradation: None,
        remeasured: Vec::new(),
        verification: Vec::new(),
        restored: Vec::new(),
        restored_count: 0,
        blake3: None,
    }
}

/// Restores of each kind, by name.
pub fn restored_view() -> [(&'static str, RestoredView); 5] {
    let paths = |names: &[&str]| names.iter().map(|name| TreePath::new(*name).unwrap()).collect::<Vec<_>>();
    let many: Vec<String> = (0..40).map(|n| format!("src/module_{n:02}.rs")).collect();
    let worktree = RestoredView {
        to: Destination::WorkTree,
        restored: paths(&many.iter().map(String::as_str).collect::<Vec<_>>()),
        removed: paths(&["src/cache.rs"]),
        directories_restored: Vec::new(),
        directories_removed: Vec::new(),
        unchanged: 12,
        kept: paths(&[".env"]),
        rescued_at: vec![format!(".progress/restores/1/rescued/{}", paths(&["notes\n\x1b[31m.md"])[0])],
        unheld: paths(&["big.bin"]),
    };
    let nothing = RestoredView {
        to: Destination::DryRun,
        restored: Vec::new(),
        removed: Vec::new(),
        directories_restored: Vec::new(),
        directories_removed: Vec::new(),
        unchanged: 53,
        kept: Vec::new(),
        rescued_at: Vec::new(),
        unheld: Vec::new(),
    };
    let into = RestoredView {
        to: Destination::Directory("/tmp/out \x1b[2J".to_owned()),
        restored: paths(&["src/lib.rs"]),
        ..nothing.clone()
    };
    let back = RestoredView { to: Destination::Back, ..worktree.clone() };
    let directories = RestoredView {
        to: Destination::WorkTree,
        directories_restored: paths(&["src", "src/bin"]),
        directories_removed: paths(&["empty"]),
        ..nothing.clone()
    };
    [("worktree", worktree), ("dry", nothing), ("into", into), ("back", back), ("directories", directories)]
}
