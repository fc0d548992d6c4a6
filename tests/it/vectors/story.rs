//! A loop recorded in memory: every iteration is judged, becomes a record, and is judged again from its stored form.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use highwater::analysis::{Current, Verdict, Work, assess};
use highwater::model::cases::{Outcome, TestCase, TestCases};
use highwater::model::config::LoopConfig;
use highwater::model::ids::{Iteration, ObjectId};
use highwater::model::metrics::{BuildStatus, CodebaseMetrics, CoverageMetrics, Metrics, QualityMetrics, TestMetrics};
use highwater::model::record::IterationRecord;
use highwater::model::trajectory::Point;
use highwater::model::units::Percent;
use highwater::model::verdict::Accepted;

/// Iterations in order of recording.
pub struct Story {
    /// Thresholds; the defaults.
    pub config: LoopConfig,
    points: Vec<Point>,
    cases: Vec<Option<TestCases>>,
    parent: Option<Iteration>,
    accepted: Vec<Accepted>,
    tree: Option<u8>,
}

impl Story {
    pub fn new() -> Story {
        Story {
            config: highwater::config::defaults().unwrap(),
            points: Vec::new(),
            cases: Vec::new(),
            parent: None,
            accepted: Vec::new(),
            tree: None,
        }
    }

    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The next iteration starts from `iteration`.
    pub fn roll_back_to(&mut self, iteration: u32) {
        self.parent = Some(Iteration(iteration));
    }

    /// `accept RULE` is said before the next iteration.
    pub fn accept(&mut self, rule: &str) {
        let at = DateTime::<Utc>::UNIX_EPOCH;
        self.accepted.push(Accepted { rule: rule.to_owned(), reason: "on purpose".to_owned(), at });
    }

    /// The code of the next iteration; without it every iteration has code of its own.
    pub fn tree(&mut self, tree: u8) {
        self.tree = Some(tree);
    }

    pub fn record(&mut self, metrics: Metrics) -> Verdict {
        self.judge(metrics, None)
    }

    /// Records an iteration whose report names its tests: `id P`, `id F`, `id E`, `id S`.
    pub fn record_named(&mut self, mut metrics: Metrics, tests: &[&str]) -> Verdict {
        if let Some(testing) = &mut metrics.testing {
            testing.cases = Some(ObjectId([1; 32]));
        }
        self.judge(metrics, Some(cases(tests)))
    }

    fn judge(&mut self, metrics: Metrics, cases: Option<TestCases>) -> Verdict {
        let number = u32::try_from(self.points.len()).unwrap();
        let mut key = [0; 32];
        match self.tree.take() {
            Some(tree) => key[31] = tree,
            None => key[..4].copy_from_slice(&number.to_be_bytes()),
        }
        let names = |metrics: &Metrics| metrics.testing.as_ref().is_some_and(|testing| testing.cases.is_some());
        let previous = highwater::analysis::previous_with(&self.points, self.parent, names);
        let previous_cases =
            previous.and_then(|point| self.cases[usize::try_from(point.iteration.0).unwrap()].as_ref());
        let accepted = std::mem::take(&mut self.accepted);
        let current = Current {
            iteration: Iteration(number),
            parent: self.parent,
            metrics,
            tree: ObjectId(key),
            tree_key: ObjectId(key),
            cases: cases.as_ref(),
            previous_cases,
            same_bodies: &[],
            lost_sources: &[],
            test_edits: None,
            proof: None,
            lost_lines: None,
            same_tree: &BTreeMap::new(),
            accepted: &accepted,
            label: None,
            cost: None,
            tokens: None,
            work: Work::default(),
            digest: highwater::disk::hash::id_of,
        };
        let verdict = assess(&self.points, &current, &self.config);
        let record = record(&current, verdict.clone());
        let text = serde_json::to_string(&record).unwrap();
        let stored: IterationRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(stored, record, "a record survives its file");
        let again = Current { metrics: stored.metrics.clone(), ..current.clone() };
        assert_eq!(assess(&self.points, &again, &self.config), verdict, "judging a record again says the same");
        self.points.push(Point::of(&stored));
        self.cases.push(cases);
        self.parent = Some(Iteration(number));
        verdict
    }
}

/// The record that the engine would write.
fn record(current: &Current, verdict: Verdict) -> IterationRecord {
    let at = DateTime::<Utc>::UNIX_EPOCH;
    IterationRecord {
        iteration: current.iteration,
        parent: current.parent,
        metrics: verdict.metrics,
        quality_score: verdict.quality_score,
        acceptable: verdict.acceptable,
        from_previous: verdict.from_previous,
        from_baseline: verdict.from_baseline,
        classification: verdict.classification,
        base_class: verdict.base_class,
        class_rule: verdict.class_rule,
        progress: verdict.progress,
        activity: verdict.activity,
        estimate: verdict.estimate,
        terminal_status: verdict.terminal_status,
        alerts: verdict.alerts,
        open_findings: verdict.open_findings,
        accepted: current.accepted.to_vec(),
        recommendation: verdict.recommendation,
        tree_key: current.tree_key,
        cost: current.cost,
        tokens: current.tokens,
        ..IterationRecord::draft("story".parse().unwrap(), at, current.tree, ObjectId([0; 32]))
    }
}

/// The names of the rules that fired.
pub fn rules(verdict: &Verdict) -> Vec<&str> {
    verdict.alerts.iter().map(|alert| alert.rule.as_str()).collect()
}

/// The losses that are open after the verdict.
pub fn open(verdict: &Verdict) -> Vec<&str> {
    let open = verdict.open_findings.iter().filter(|finding| finding.accepted.is_none());
    open.map(|finding| finding.alert.rule.as_str()).collect()
}

/// The score, 0–1.
pub fn q(verdict: &Verdict) -> f64 {
    verdict.quality_score.as_ref().unwrap().total.get()
}

/// The scores of the five dimensions, 0–100.
pub fn dimensions(verdict: &Verdict) -> Vec<Option<f64>> {
    verdict.quality_score.as_ref().unwrap().dimensions.iter().map(|dimension| dimension.score).collect()
}

/// One component by its name, 0–100.
pub fn component(verdict: &Verdict, name: &str) -> Option<f64> {
    verdict.quality_score.as_ref()?.components().find(|(known, _)| *known == name).map(|(_, value)| value)
}

fn cases(lines: &[&str]) -> TestCases {
    let mut cases = TestCases { schema_version: 1, ..TestCases::default() };
    for line in lines {
        let (id, outcome) = line.rsplit_once(' ').unwrap();
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

/// Metrics in few words; each call adds a group.
pub trait With: Sized {
    fn skipped(self, skipped: u64) -> Self;
    fn units(self, failed: &[&str]) -> Self;
    fn coverage(self, percent: f64) -> Self;
    fn lint(self, errors: u64, warnings: u64) -> Self;
    fn errors(self, count: u64) -> Self;
    fn build(self, works: bool) -> Self;
    fn size(self, files: u64, loc: u64) -> Self;
    fn complexity(self, mean: f64) -> Self;
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

fn quality(metrics: &mut Metrics) -> &mut QualityMetrics {
    metrics.quality.get_or_insert_with(QualityMetrics::default)
}

fn codebase(metrics: &mut Metrics) -> &mut CodebaseMetrics {
    metrics.codebase.get_or_insert_with(CodebaseMetrics::default)
}

impl With for Metrics {
    fn skipped(mut self, skipped: u64) -> Metrics {
        let testing = self.testing.as_mut().unwrap();
        testing.tests_skipped = Some(skipped);
        testing.test_count = testing.test_count.map(|count| count + skipped);
        self
    }

    fn units(mut self, failed: &[&str]) -> Metrics {
        let testing = self.testing.as_mut().unwrap();
        testing.collection_errors = u64::try_from(failed.len()).unwrap();
        testing.failed_units = failed.iter().map(|unit| (*unit).to_owned()).collect();
        self
    }

    fn coverage(mut self, percent: f64) -> Metrics {
        let percentage = Percent::new(percent).unwrap();
        self.coverage = Some(CoverageMetrics { percentage, lines_covered: None, lines_total: None });
        self
    }

    fn lint(mut self, errors: u64, warnings: u64) -> Metrics {
        let quality = quality(&mut self);
        quality.lint_errors = Some(errors);
        quality.lint_warnings = Some(warnings);
        quality.error_count = Some(errors);
        self
    }

    fn errors(mut self, count: u64) -> Metrics {
        quality(&mut self).error_count = Some(count);
        self
    }

    fn build(mut self, works: bool) -> Metrics {
        let status = if works { BuildStatus::Success } else { BuildStatus::Failed };
        quality(&mut self).build_status = Some(status);
        self
    }

    fn size(mut self, files: u64, loc: u64) -> Metrics {
        let codebase = codebase(&mut self);
        codebase.file_count = Some(files);
        codebase.loc_total = Some(loc);
        self
    }

    fn complexity(mut self, mean: f64) -> Metrics {
        codebase(&mut self).complexity_score = Some(mean);
        self
    }
}
