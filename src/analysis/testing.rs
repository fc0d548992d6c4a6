//! Stories for tests: iterations recorded one after the other, and metrics in few words.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::{Current, SameTree, Verdict, Work, assess};
use crate::model::cases::{Outcome, TestCase, TestCases};
use crate::model::config::{Effect, LoopConfig, MetricConfig};
use crate::model::edits::TestEdits;
use crate::model::ids::{Iteration, ObjectId};
use crate::model::lost_lines::LostLines;
use crate::model::metrics::{
    BuildStatus, CodebaseMetrics, CoverageMetrics, CustomMetric, Direction, Metrics, QualityMetrics, TestMetrics,
};
use crate::model::progress::{EstimateMark, Estimator, ProgressEstimate};
use crate::model::proof::TamperProof;
use crate::model::record::SameBody;
use crate::model::reruns::Runs;
use crate::model::tests_support::digest;
use crate::model::trajectory::{AlertMark, Point, PointScore};
use crate::model::units::Percent;
use crate::model::verdict::Accepted;

/// The built-in defaults.
pub fn config() -> LoopConfig {
    super::tests::defaults()
}

/// A loop as it is recorded. Every iteration has a tree of its own.
pub struct Story {
    pub config: LoopConfig,
    pub cost: Option<f64>,
    pub tokens: Option<u64>,
    points: Vec<Point>,
    last_cases: Option<TestCases>,
    parent: Option<Iteration>,
    accepted: Vec<Accepted>,
    same_bodies: Vec<SameBody>,
    lost_sources: Vec<String>,
    test_edits: Option<TestEdits>,
    proof: Option<TamperProof>,
    lost_lines: Option<LostLines>,
    same_tree: BTreeMap<String, SameTree>,
    tree: Option<ObjectId>,
    said: Option<(String, u64)>,
    said_before: Option<String>,
    estimate: Option<ProgressEstimate>,
}

impl Story {
    pub fn new() -> Story {
        Story {
            config: config(),
            cost: None,
            tokens: None,
            points: Vec::new(),
            last_cases: None,
            parent: None,
            accepted: Vec::new(),
            same_bodies: Vec::new(),
            lost_sources: Vec::new(),
            test_edits: None,
            proof: None,
            lost_lines: None,
            same_tree: BTreeMap::new(),
            tree: None,
            said: None,
            said_before: Some(String::new()),
            estimate: None,
        }
    }

    pub fn points(&self) -> &[Point] {
        &self.points
    }

    pub fn replace(&mut self, points: Vec<Point>) {
        self.points = points;
    }

    /// The next iteration starts from `iteration`.
    pub fn roll_back_to(&mut self, iteration: u32) {
        self.parent = Some(Iteration(iteration));
    }

    /// The next iteration has the code of the last.
    pub fn same_tree(&mut self) {
        self.tree = self.points.last().map(|point| point.tree_key);
    }

    /// `accept RULE` is said before the next iteration.
    pub fn accept(&mut self, rule: &str) {
        let at = DateTime::<Utc>::UNIX_EPOCH;
        self.accepted.push(Accepted { rule: rule.to_owned(), reason: "on purpose".to_owned(), at });
    }

    /// In the next iteration, a test that is gone has the source of a new one.
    pub fn same_body(&mut self, from: &str, to: &str) {
        self.same_bodies.push(SameBody { from: from.to_owned(), to: to.to_owned() });
    }

    /// In the next iteration, the source of a test that failed before is gone.
    pub fn lose_source(&mut self, id: &str) {
        self.lost_sources.push(id.to_owned());
    }

    /// What was done to tests before the next iteration.
    pub fn edit_tests(&mut self, edits: TestEdits) {
        self.test_edits = Some(edits);
    }

    /// What old tests on the code of the next iteration told.
    pub fn prove(&mut self, proof: TamperProof) {
        self.proof = Some(proof);
    }

    /// Lines that do not run any more in the next iteration.
    pub fn lose_lines(&mut self, lost: LostLines) {
        self.lost_lines = Some(lost);
    }

    /// In the next iteration, this is known of a test: runs on earlier trees that it passed on, and on the same tree.
    pub fn runs(&mut self, id: &str, earlier: (u32, u32), again: (u32, u32)) {
        let runs = |(runs, failed)| Runs { runs, failed };
        self.same_tree.insert(id.to_owned(), SameTree { earlier: runs(earlier), again: runs(again) });
    }

    /// The code of the next iteration; without it every iteration has code of its own.
    pub fn tree(&mut self, tree: u8) {
        let mut key = [0; 32];
        key[31] = tree;
        self.tree = Some(ObjectId(key));
    }

    /// What the agent says in the next iteration, and how many lines it changes.
    pub fn say(&mut self, output: &str, changed_lines: u64) {
        self.said = Some((output.to_owned(), changed_lines));
    }

    /// How much of the goal somebody says that the next iteration reaches.
    pub fn estimate(&mut self, percent: f64) {
        let answer = super::estimate::Answer::of_percent(percent).expect("a percentage");
        self.estimate = Some(answer.made_by(Estimator::Caller));
    }

    /// Declares a metric of the user's own.
    pub fn measure(&mut self, name: &str, direction: Direction, min_effect: f64) {
        let min_effect = Some(Effect::Absolute(min_effect));
        let declared = MetricConfig { direction: Some(direction), min_effect, ..MetricConfig::default() };
        self.config.metrics.insert(name.to_owned(), declared);
    }

    pub fn record(&mut self, metrics: Metrics) -> Verdict {
        self.judge(metrics, None)
    }

    /// Records an iteration whose report names its tests.
    pub fn record_named(&mut self, mut metrics: Metrics, cases: TestCases) -> Verdict {
        if let Some(testing) = &mut metrics.testing {
            testing.cases = Some(ObjectId([1; 32]));
        }
        self.judge(metrics, Some(cases))
    }

    fn judge(&mut self, metrics: Metrics, cases: Option<TestCases>) -> Verdict {
        let number = u32::try_from(self.points.len()).expect("few points");
        let mut key = [0; 32];
        key[..4].copy_from_slice(&number.to_le_bytes());
        let key = self.tree.take().map_or(key, |tree| tree.0);
        let (said, estimate) = (self.said.take(), self.estimate.take());
        let accepted = std::mem::take(&mut self.accepted);
        let same_bodies = std::mem::take(&mut self.same_bodies);
        let lost_sources = std::mem::take(&mut self.lost_sources);
        let (test_edits, proof, lost_lines) = (self.test_edits.take(), self.proof.take(), self.lost_lines.take());
        let same_tree = std::mem::take(&mut self.same_tree);
        let current = Current {
            iteration: Iteration(number),
            parent: self.parent,
            metrics,
            tree: ObjectId(key),
            tree_key: ObjectId(key),
            cases: cases.as_ref(),
            previous_cases: self.last_cases.as_ref(),
            same_bodies: &same_bodies,
            lost_sources: &lost_sources,
            test_edits: test_edits.as_ref(),
            proof: proof.as_ref(),
            lost_lines: lost_lines.as_ref(),
            same_tree: &same_tree,
            accepted: &accepted,
            label: None,
            cost: self.cost,
            tokens: self.tokens,
            work: Work {
                output: said.as_ref().map(|(output, _)| output.as_str()),
                previous_output: self.said_before.as_deref(),
                changed_lines: said.as_ref().map(|(_, lines)| *lines),
                estimate: estimate.as_ref(),
                ..Work::default()
            },
            digest,
        };
        let verdict = assess(&self.points, &current, &self.config);
        let again = Current { metrics: verdict.metrics.clone(), ..current.clone() };
        assert_eq!(assess(&self.points, &again, &self.config), verdict, "judging a record again says the same");
        let point = point(&current, &verdict);
        self.parent = Some(Iteration(number));
        self.last_cases = match cases {
            Some(mut cases) => {
                super::forgive(&mut cases, &point);
                Some(cases)
            }
            None => self.last_cases.take(),
        };
        self.points.push(point);
        self.said_before = said.map(|(output, _)| output).or(self.said_before.take());
        verdict
    }
}

fn point(current: &Current, verdict: &Verdict) -> Point {
    let mark = |alert: &crate::model::verdict::Alert| AlertMark {
        rule: alert.rule.clone(),
        subject: alert.subject.clone(),
        severity: alert.severity,
        status: alert.status,
        observe_only: alert.observe_only,
    };
    Point {
        iteration: current.iteration,
        parent: current.parent,
        metrics: verdict.metrics.clone(),
        quality_score: verdict.quality_score.as_ref().map(PointScore::from),
        acceptable: verdict.acceptable,
        classification: verdict.classification,
        base_class: verdict.base_class,
        output: None,
        transcripts: Vec::new(),
        progress: verdict.progress.clone(),
        estimate: verdict.estimate.as_ref().map(EstimateMark::of),
        alerts: verdict.alerts.iter().map(mark).collect(),
        open_findings: verdict.open_findings.clone(),
        recommendation: verdict.recommendation.clone(),
        reruns: BTreeMap::new(),
        tree: current.tree,
        tree_key: current.tree_key,
        label: None,
        cost: current.cost,
        tokens: current.tokens,
    }
}

/// The names of the rules that fired.
pub fn rules(verdict: &Verdict) -> Vec<&str> {
    verdict.alerts.iter().map(|alert| alert.rule.as_str()).collect()
}

pub fn tests(passed: u64, failed: u64) -> Metrics {
    let testing = TestMetrics {
        test_count: Some(passed + failed),
        tests_passed: Some(passed),
        tests_failed: Some(failed),
        tests_errored: Some(0),
        tests_skipped: Some(0),
        pass_rate: Percent::of(passed, passed + failed),
        ..TestMetrics::default()
    };
    Metrics { testing: Some(testing), ..Metrics::default() }
}

/// What a report says that tells failures alone.
pub fn failing(failed: u64, names: &[&str]) -> Metrics {
    let failing = names.iter().map(|name| (*name).to_owned()).collect();
    let testing = TestMetrics { tests_failed: Some(failed), tests_errored: Some(0), failing, ..TestMetrics::default() };
    Metrics { testing: Some(testing), ..Metrics::default() }
}

pub fn broken_units(mut metrics: Metrics, units: &[&str]) -> Metrics {
    if let Some(testing) = &mut metrics.testing {
        testing.collection_errors = u64::try_from(units.len()).expect("few units");
        testing.failed_units = units.iter().map(|unit| (*unit).to_owned()).collect();
    }
    metrics
}

pub fn with_coverage(metrics: Metrics, percent: f64) -> Metrics {
    let percentage = Percent::new(percent).expect("a percentage");
    Metrics { coverage: Some(CoverageMetrics { percentage, lines_covered: None, lines_total: None }), ..metrics }
}

pub fn with_lines(metrics: Metrics, covered: u64, total: u64) -> Metrics {
    let percentage = Percent::of(covered, total).expect("lines");
    let coverage = CoverageMetrics { percentage, lines_covered: Some(covered), lines_total: Some(total) };
    Metrics { coverage: Some(coverage), ..metrics }
}

pub fn with_errors(metrics: Metrics, tools: &[(&str, u64)]) -> Metrics {
    let errors = tools.iter().map(|(_, errors)| errors).sum();
    let quality = QualityMetrics {
        lint_errors: Some(errors),
        error_count: Some(errors),
        errors_by_tool: tools.iter().map(|(tool, errors)| ((*tool).to_owned(), *errors)).collect(),
        ..QualityMetrics::default()
    };
    Metrics { quality: Some(quality), ..metrics }
}

pub fn with_build(metrics: Metrics, works: bool) -> Metrics {
    let status = if works { BuildStatus::Success } else { BuildStatus::Failed };
    Metrics { quality: Some(QualityMetrics { build_status: Some(status), ..QualityMetrics::default() }), ..metrics }
}

pub fn with_files(metrics: Metrics, files: u64) -> Metrics {
    Metrics { codebase: Some(CodebaseMetrics { file_count: Some(files), ..CodebaseMetrics::default() }), ..metrics }
}

pub fn with_complexity(metrics: Metrics, complexity: f64) -> Metrics {
    let codebase = CodebaseMetrics { complexity_score: Some(complexity), ..CodebaseMetrics::default() };
    Metrics { codebase: Some(codebase), ..metrics }
}

pub fn latency(mut metrics: Metrics, value: f64) -> Metrics {
    let metric = CustomMetric { value: Some(value), ..CustomMetric::default() };
    metrics.custom.insert("latency".to_owned(), metric);
    metrics
}

/// Tests as `id P`, `id F`, `id E` or `id S`.
pub fn cases(lines: &[impl AsRef<str>]) -> TestCases {
    let mut cases = TestCases::default();
    for line in lines {
        let (id, outcome) = line.as_ref().rsplit_once(' ').expect("an id and an outcome");
        let outcome = match outcome {
            "P" => Outcome::Passed,
            "F" => Outcome::Failed,
            "E" => Outcome::Errored,
            _ => Outcome::Skipped,
        };
        cases.add(id.to_owned(), TestCase::new(outcome));
    }
    cases
}
