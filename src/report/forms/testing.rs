//! An iteration to write in every form.

use chrono::DateTime;

use super::{OneIteration, Place, RuleText};
use crate::model::cases::{Outcome, TestCase, TestCases};
use crate::model::ids::{Iteration, ObjectId};
use crate::model::metrics::{Metrics, TestMetrics};
use crate::model::record::IterationRecord;
use crate::model::trajectory::BestTracker;
use crate::model::units::Percent;
use crate::model::verdict::{Alert, Severity, Status};

/// Iteration 3 of a loop, with what it is given.
pub(super) struct Sample {
    pub record: IterationRecord,
    pub best: BestTracker,
    pub cases: Option<TestCases>,
    pub places: Vec<Place>,
    pub rules: Vec<RuleText>,
}

impl Sample {
    pub fn new() -> Sample {
        let at = DateTime::from_timestamp(1_770_026_400, 0).unwrap();
        let mut record = IterationRecord::draft("auth".parse().unwrap(), at, ObjectId([1; 32]), ObjectId([2; 32]));
        record.iteration = Iteration(3);
        let rules = vec![RuleText { name: "known_rule", about: "in short", meaning: "At length." }];
        Sample { record, best: BestTracker::default(), cases: None, places: Vec::new(), rules }
    }

    pub fn one(&self) -> OneIteration<'_> {
        OneIteration {
            record: &self.record,
            best: &self.best,
            cases: self.cases.as_ref(),
            places: &self.places,
            rules: &self.rules,
        }
    }

    /// An alert, in the file if it is in one.
    pub fn alert(&mut self, rule: &str, severity: Severity, path: Option<&str>) {
        self.record.alerts.push(Alert {
            rule: rule.to_owned(),
            subject: None,
            others: Vec::new(),
            severity,
            status: Status::Observed,
            message: format!("message of {rule}"),
            previous: None,
            current: None,
            threshold: None,
            evidence: Vec::new(),
            seed_severity: None,
            reliability: 0.5,
            observe_only: false,
            iteration: self.record.iteration,
        });
        let alert = self.record.alerts.len() - 1;
        self.places.extend(path.map(|path| place(alert, path, Some(7), "what")));
    }

    /// A test.
    pub fn case(&mut self, id: &str, outcome: Outcome) -> &mut TestCase {
        let cases = self.cases.get_or_insert_default();
        cases.cases.insert(id.to_owned(), TestCase::new(outcome));
        let count =
            |outcome| u64::try_from(cases.cases.values().filter(|case| case.outcome == outcome).count()).unwrap();
        let [passed, failed, errored, skipped] =
            [Outcome::Passed, Outcome::Failed, Outcome::Errored, Outcome::Skipped].map(count);
        self.record.metrics = Metrics {
            testing: Some(TestMetrics {
                test_count: Some(passed + failed + errored + skipped),
                tests_passed: Some(passed),
                tests_failed: Some(failed),
                tests_errored: Some(errored),
                tests_skipped: Some(skipped),
                pass_rate: Percent::of(passed, passed + failed + errored),
                ..TestMetrics::default()
            }),
            ..Metrics::default()
        };
        self.cases.as_mut().unwrap().cases.get_mut(id).unwrap()
    }
}

pub(super) fn place(alert: usize, path: &str, line: Option<u64>, what: &str) -> Place {
    let fingerprint = ObjectId([u8::try_from(alert % 256).unwrap(); 32]);
    Place { alert, path: path.to_owned(), line, what: what.to_owned(), fingerprint }
}
