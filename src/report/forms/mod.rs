//! The forms that other programs read: one file a form, `FORMS` lists them. Pure functions from records to text; each
//! keeps the limits of whoever reads it, and says what it left out.

mod ctrf;
mod github;
mod github_annotations;
mod github_outputs;
mod gitlab;
mod html;
mod json;
mod junit;
mod openmetrics;
mod sarif;

use std::fmt;

use crate::error::{Error, Result};
use crate::model::cases::TestCases;
use crate::model::ids::{Iteration, LoopId, ObjectId};
use crate::model::record::IterationRecord;
use crate::model::trajectory::{BestTracker, Point, Selection};
use crate::model::verdict::{Alert, Severity};

pub use html::html;

/// A form in which a report is written.
pub struct Form {
    /// As `report --format` takes it.
    pub name: &'static str,
    /// One line on what it is and who reads it.
    pub about: &'static str,
    /// What it tells, and how it is written.
    pub write: Write,
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Form({})", self.name)
    }
}

/// What a form tells, and how.
#[derive(Clone, Copy, Debug)]
pub enum Write {
    /// One iteration.
    Iteration(fn(&OneIteration<'_>) -> Result<String>),
    /// The loop as a whole.
    Loop(fn(&WholeLoop<'_>) -> Result<String>),
    /// Whatever there is a markdown report of, from that.
    Markdown(fn(&LoopId, &str) -> String),
}

/// One iteration, for forms.
#[derive(Clone, Copy, Debug)]
pub struct OneIteration<'a> {
    /// Its record.
    pub record: &'a IterationRecord,
    /// The best as it was then.
    pub best: &'a BestTracker,
    /// The outcomes of its tests, if its reports named them.
    pub cases: Option<&'a TestCases>,
    /// Where its alerts have a place in a file.
    pub places: &'a [Place],
    /// What its alerts' rules mean.
    pub rules: &'a [RuleText],
}

/// A loop, for forms.
#[derive(Clone, Copy, Debug)]
pub struct WholeLoop<'a> {
    /// Its id.
    pub loop_id: &'a LoopId,
    /// Its iterations, in order.
    pub points: &'a [Point],
    /// The best of them.
    pub best: &'a BestTracker,
    /// The choice, if it has ended.
    pub selection: Option<&'a Selection>,
}

/// Where an alert has a place in a file of the work tree: a test that it is about, a finding behind its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which of the record's alerts.
    pub alert: usize,
    /// From the root of the work tree, with `/`.
    pub path: String,
    /// From 1, if it is known.
    pub line: Option<u64>,
    /// What is there: the id of a test, a linter's message.
    pub what: String,
    /// Of rule, path, what is there and the how manieth of that it is, but not of the line: no two are the same, and each
    /// stays the same when lines above are added.
    pub fingerprint: ObjectId,
}

/// What a rule or detector means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// Its name.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// At length.
    pub meaning: &'static str,
}

/// All forms but markdown and our own JSON, which each command writes anyway.
pub const FORMS: &[&Form] = &[
    &html::FORM,
    &github::FORM,
    &github_annotations::FORM,
    &github_outputs::FORM,
    &gitlab::FORM,
    &sarif::FORM,
    &openmetrics::FORM,
    &ctrf::FORM,
    &junit::FORM,
];

/// The form of that name.
pub fn form(name: &str) -> Option<&'static Form> {
    FORMS.iter().copied().find(|form| form.name == name)
}

/// Alerts that move verdicts with their places, the gravest first; an alert may have many.
fn placed<'a>(one: &OneIteration<'a>) -> Vec<(&'a Alert, &'a Place)> {
    let alerts = &one.record.alerts;
    let mut placed: Vec<_> = one.places.iter().filter_map(|place| Some((alerts.get(place.alert)?, place))).collect();
    placed.retain(|(alert, _)| alert.counts());
    placed.sort_by_key(|(alert, _)| std::cmp::Reverse(alert.severity));
    placed
}

/// What is told at a place: the alert, and what of it is there, unless it says so itself.
fn at_place(alert: &Alert, place: &Place) -> String {
    if alert.message.contains(&place.what) {
        return alert.message.clone();
    }
    format!("{}: {}", alert.message, place.what)
}

/// The three levels that annotations and SARIF know.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "note",
    }
}

/// The outcomes by test, which a report of tests is made of.
fn named_tests<'a>(one: &OneIteration<'a>) -> Result<&'a TestCases> {
    one.cases.ok_or_else(|| {
        Error::bad_input(format!("iteration {} has no tests by name", one.record.iteration))
            .because("its reports count tests without naming each of them, or there were none")
            .help("measure with a report that names tests: JUnit XML, `go test -json`, a runner's verbose output")
    })
}

/// A test's id as the groups that it is in and its own name.
fn split_id(id: &str) -> (Option<&str>, &str) {
    match id.rsplit_once("::") {
        Some((groups, name)) if !groups.is_empty() && !name.is_empty() => (Some(groups), name),
        _ => (None, id),
    }
}

/// `LOOP, iteration 3`.
fn heading(loop_id: &LoopId, iteration: Iteration) -> String {
    format!("{loop_id}, iteration {iteration}")
}

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    use super::testing::Sample;
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for (index, one) in FORMS.iter().enumerate() {
            assert_eq!(form(one.name).map(|found| found.about), Some(one.about));
            assert!(FORMS.iter().skip(index + 1).all(|other| other.name != one.name), "{}", one.name);
        }
        assert!(form("no-such-form").is_none());
    }

    #[test]
    fn only_alerts_that_count_have_places_and_the_gravest_are_first() {
        let mut sample = Sample::new();
        sample.alert("low_one", Severity::Low, Some("a.py"));
        sample.alert("critical_one", Severity::Critical, Some("b.py"));
        sample.alert("observed", Severity::Critical, Some("c.py"));
        sample.record.alerts[2].observe_only = true;
        let one = sample.one();
        let paths: Vec<_> = placed(&one).into_iter().map(|(_, place)| place.path.as_str()).collect();
        assert_eq!(paths, ["b.py", "a.py"]);
    }

    #[test]
    fn ids_are_groups_and_a_name() {
        let cases =
            [("a::b::c", (Some("a::b"), "c")), ("c", (None, "c")), ("::c", (None, "::c")), ("c::", (None, "c::"))];
        for (id, expected) in cases {
            assert_eq!(split_id(id), expected, "{id}");
        }
    }
}
