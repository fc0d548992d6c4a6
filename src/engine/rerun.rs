//! Running newly failing tests again (ANALYSIS §12.2): a break fails every time, a flake does not. Only where it was asked
//! for, and only as often as it takes to tell.

use std::collections::BTreeMap;

use super::evidence::{named_ancestor, same_tree};
use super::measure::{Earlier, Measured, measure};
use super::record::started_from;
use super::{Offer, Reran, Session};
use crate::analysis;
use crate::disk;
use crate::error::Result;
use crate::model::cases::{Outcome, TestCases};
use crate::model::config::LoopConfig;
use crate::model::metrics::TestMetrics;
use crate::model::reruns::{Rerun, RerunCommand};
use crate::model::verdict::Status;
use crate::snapshot::objects::Objects;
use crate::store::{History, Store};

/// What became of the reruns.
#[derive(Default)]
pub(super) struct Settled {
    /// In order.
    pub reruns: Vec<Rerun>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// Runs the newly failing tests again until each is confirmed or refuted, at most `flake.max_reruns` times.
/// Reports that the reruns write are added to the measured ones, so that they are no code.
///
/// # Errors
/// If stored outcomes cannot be read; as [`started_from`]. A rerun that cannot be run is a note, not an error.
pub(super) fn settle(
    session: &Session<'_>,
    store: &Store,
    config: &LoopConfig,
    offer: &Offer,
    history: &History,
    measured: &mut Measured,
) -> Result<Settled> {
    let mut settled = Settled::default();
    let Some(command) = offer.rerun.as_ref().or(config.flake.rerun.as_ref()) else { return Ok(settled) };
    let Some(now) = &measured.measurement.cases else { return Ok(settled) };
    let Some(parent) = started_from(session, store, offer, history)? else { return Ok(settled) };
    let objects = Objects::open(session.layout)?;
    let Some((_, before)) = named_ancestor(&objects, &history.points, Some(parent))? else { return Ok(settled) };
    let tests = analysis::id_diff(&before, now).newly_failing;
    if tests.len() > usize::try_from(config.flake.max_tests).unwrap_or(usize::MAX) {
        let (tests, most) = (tests.len(), config.flake.max_tests);
        settled.notes.push(format!("{tests} tests newly fail, more than flake.max_tests ({most}): none was run again"));
        return Ok(settled);
    }
    for _ in 0..config.flake.max_reruns {
        let known = same_tree(&objects, &history.points, None, &settled.reruns, &tests)?;
        let doubts = analysis::doubts(&tests, &known, &config.flake);
        let open: Vec<String> =
            doubts.into_iter().filter(|(_, doubt)| doubt.status == Status::Suspected).map(|(id, _)| id).collect();
        if open.is_empty() {
            break;
        }
        match run_again(session, config, offer, command, &open, measured) {
            Ok(rerun) if rerun.outcomes.is_empty() => {
                settled.notes.push("the rerun's reports name none of the tests that were asked for".to_owned());
                settled.reruns.push(rerun);
                break;
            }
            Ok(rerun) => settled.reruns.push(rerun),
            Err(error) => {
                settled.notes.push(format!("newly failing tests could not be run again: {}", error.said()));
                break;
            }
        }
    }
    Ok(settled)
}

fn run_again(
    session: &Session<'_>,
    config: &LoopConfig,
    offer: &Offer,
    command: &RerunCommand,
    tests: &[String],
    measured: &mut Measured,
) -> Result<Rerun> {
    let exists = |path: &str| disk::metadata(&offer.folder.join(path)).is_ok_and(|found| found.is_some());
    let spelled: BTreeMap<String, &String> = tests.iter().map(|id| (as_runners_spell(id, &exists), id)).collect();
    // A test whose name looks like an option would be one.
    let asked: Vec<String> = spelled.keys().filter(|word| is_an_argument(word)).cloned().collect();
    let none = || crate::error::Error::bad_input("no test has a name that can be an argument");
    let run = offer.run.as_ref().filter(|_| !asked.is_empty()).ok_or_else(none)?;
    let Reran { command, console, since } = run(&command.argv(&asked), None)?;
    let again = Offer {
        reports: offer.reports.iter().filter(|asked| asked.path != "-").cloned().collect(),
        discover: offer.discover,
        folder: offer.folder.clone(),
        console: Some(console),
        command: Some(command.clone()),
        since,
        ..Offer::default()
    };
    let found = measure(session, config, &again, since, Earlier::default())?;
    measured.report_files.extend(found.report_files);
    measured.report_files.sort();
    measured.report_files.dedup();
    let asked: Vec<&String> = asked.iter().filter_map(|word| spelled.get(word).copied()).collect();
    let outcomes =
        outcomes_of(&asked, &found.measurement.cases.unwrap_or_default(), found.measurement.testing.as_ref());
    Ok(Rerun { command, outcomes })
}

/// The outcomes of the tests that were asked for. A report may name none of them, or spell them otherwise: where it counts
/// as many tests as were asked for, and all passed or all failed, that is the outcome of each.
fn outcomes_of(asked: &[&String], cases: &TestCases, counts: Option<&TestMetrics>) -> BTreeMap<String, Outcome> {
    let named: BTreeMap<String, Outcome> =
        asked.iter().filter_map(|id| Some(((*id).clone(), cases.outcome(id)?))).collect();
    let all = u64::try_from(asked.len()).ok();
    let every = match counts {
        Some(counts) if named.is_empty() && counts.test_count == all => {
            let failed = counts.tests_failed.zip(counts.tests_errored).map(|(failed, errored)| failed + errored);
            let passed = (counts.tests_passed == all).then_some(Outcome::Passed);
            passed.or((failed == all).then_some(Outcome::Failed))
        }
        _ => None,
    };
    match every {
        Some(outcome) => asked.iter().map(|id| ((*id).clone(), outcome)).collect(),
        None => named,
    }
}

fn is_an_argument(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-') && !word.chars().any(char::is_control)
}

/// The id as a runner takes it. JUnit writes pytest's `tests/test_a.py::TestB::test_x` as class `tests.test_a.TestB`: where
/// the work tree has that file, the id is put back; all others are as their report has them.
fn as_runners_spell(id: &str, exists: &dyn Fn(&str) -> bool) -> String {
    let (place, name) = analysis::split_id(id);
    let is_dotted = !place.is_empty() && place.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    if !is_dotted {
        return id.to_owned();
    }
    let parts: Vec<&str> = place.split('.').filter(|part| !part.is_empty()).collect();
    for length in (1..=parts.len()).rev() {
        let (module, classes) = parts.split_at(length);
        let file = format!("{}.py", module.join("/"));
        if exists(&file) {
            let classes: String = classes.iter().map(|class| format!("::{class}")).collect();
            return format!("{file}{classes}::{name}");
        }
    }
    id.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cases::TestCase;

    #[test]
    fn ids_of_pytests_junit_file_are_put_back_where_the_file_is_there() {
        let exists = |path: &str| path == "tests/test_a.py";
        let spelled = |id: &str| as_runners_spell(id, &exists);
        assert_eq!(spelled("tests.test_a::test_x[1.5-a::b]"), "tests/test_a.py::test_x[1.5-a::b]");
        assert_eq!(spelled("tests.test_a.TestB.TestC::test_x"), "tests/test_a.py::TestB::TestC::test_x");
        for other in ["tests.test_b::test_x", "tests/test_a.py::test_x", "bare", "../x::y", "a b::c"] {
            assert_eq!(spelled(other), other);
        }
    }

    #[test]
    fn a_name_that_looks_like_an_option_is_no_argument() {
        for bad in ["-x", "--rootdir=/etc", "", "a\0b", "a\nb"] {
            assert!(!is_an_argument(bad), "{bad:?}");
        }
        assert!(is_an_argument("$(reboot)"), "one word, and no shell");
    }

    #[test]
    fn outcomes_are_found_by_name_or_where_all_came_to_the_same() {
        let (a, b) = ("t::a".to_owned(), "t::b".to_owned());
        let mut cases = TestCases::default();
        cases.add(a.clone(), TestCase::new(Outcome::Passed));
        cases.add("t::z".to_owned(), TestCase::new(Outcome::Failed));
        assert_eq!(outcomes_of(&[&a, &b], &cases, None), BTreeMap::from([(a.clone(), Outcome::Passed)]));
        let counts = |passed, failed, errored| TestMetrics {
            test_count: Some(passed + failed + errored),
            tests_passed: Some(passed),
            tests_failed: Some(failed),
            tests_errored: Some(errored),
            ..TestMetrics::default()
        };
        let none = TestCases::default();
        let of = |asked: &[&String], counts: TestMetrics| outcomes_of(asked, &none, Some(&counts));
        assert_eq!(of(&[&a, &b], counts(0, 1, 1)).get("t::b"), Some(&Outcome::Failed));
        assert_eq!(of(&[&a, &b], counts(2, 0, 0)).get("t::a"), Some(&Outcome::Passed));
        assert!(of(&[&a, &b], counts(1, 1, 0)).is_empty(), "which of them?");
        assert!(of(&[&a], counts(2, 0, 0)).is_empty(), "others ran");
    }
}
