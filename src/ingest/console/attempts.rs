//! Several runs of one tool in one output (`pytest || pytest --lf`, a suite run again for its coverage): which tests of
//! an earlier run a later one repeats. The later result of a test stands, and a test that passed only then is flaky.
//!
//! Where the names do not tell, the files, packages or targets do; where nothing tells, a run of as many tests is taken
//! for a repetition if not all that failed in both have other names, and any other for a run of its own, so that no failure
//! is lost. What a later run skips stays as it was.

use crate::ingest::test::runs::{Run, ran_again};
use crate::ingest::{Details, Parsed, TestDetails, add};
use crate::model::cases::Outcome;
use crate::model::figures::Figures;
use crate::model::metrics::BuildStatus;

/// What a later run is to an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// It ran other tests.
    Apart,
    /// Other tests too, for all that can be told.
    Unclear,
    /// Both name all their tests, and have some in common.
    Shares,
    /// It ran all of them again.
    Repeats,
    /// It ran those that had failed, and no others.
    RepeatsFailures,
    /// It ran some of them again; which results it replaces is not told.
    IsPart,
}

/// The reports of these runs of one tool, in their order.
pub(super) fn settle(runs: Vec<Run>) -> Vec<Parsed> {
    let mut standing: Vec<Run> = Vec::new();
    for mut run in runs {
        let mut stands = true;
        let mut kept = Vec::new();
        for mut earlier in standing {
            let keep = match relation(&earlier, &run) {
                Relation::Apart => true,
                Relation::Unclear => {
                    run.parsed.warnings.push(format!("{}: both count", ran_twice(&earlier, &run)));
                    true
                }
                Relation::Shares => share(&mut earlier.parsed, &mut run.parsed),
                Relation::Repeats => {
                    run.parsed.warnings.push(format!("{}: the later run counts", ran_twice(&earlier, &run)));
                    run.parsed.is_of_several = true;
                    false
                }
                Relation::RepeatsFailures => {
                    repeat_failures(&mut earlier.parsed, &mut run.parsed);
                    true
                }
                Relation::IsPart => {
                    let text = ran_twice(&earlier, &run);
                    earlier.parsed.warnings.push(format!("{text}: the first counts, which ran more"));
                    earlier.parsed.is_of_several = true;
                    stands = false;
                    true
                }
            };
            if keep {
                kept.push(earlier);
            }
        }
        standing = kept;
        if stands {
            standing.push(run);
        }
    }
    standing.into_iter().map(|run| run.parsed).collect()
}

fn relation(earlier: &Run, later: &Run) -> Relation {
    let (Some(before), Some(now)) = (tests(&earlier.parsed), tests(&later.parsed)) else { return Relation::Apart };
    // What another package has run is no attempt at it.
    if let (Some(one), Some(other)) = (&earlier.parsed.package, &later.parsed.package)
        && one.name != other.name
    {
        return Relation::Apart;
    }
    let has_units = !earlier.units.is_empty() && !later.units.is_empty();
    if has_units && earlier.units.is_disjoint(&later.units) {
        return Relation::Apart;
    }
    let shares = before.cases.cases.keys().any(|id| now.cases.cases.contains_key(id));
    let are_named = [is_named(&earlier.parsed), is_named(&later.parsed)];
    if are_named == [true, true] {
        let is_same_unit = has_units && before.cases.cases.is_empty() && earlier.units.is_subset(&later.units);
        return match (shares, is_same_unit) {
            (true, _) => Relation::Shares,
            (false, true) => Relation::Repeats,
            (false, false) => Relation::Apart,
        };
    }
    // What one names, the other would name, too, if it had run it.
    if are_named.contains(&true) && !shares && !before.cases.cases.is_empty() && !now.cases.cases.is_empty() {
        return Relation::Apart;
    }
    let ran_as_many = ran(&later.parsed) >= ran(&earlier.parsed);
    if repeats_failures(earlier, later) {
        Relation::RepeatsFailures
    } else if has_units {
        // Where only failed tests are told, their number says nothing.
        let is_whole = before.only_failed || ran_as_many;
        match (earlier.units.is_subset(&later.units), later.units.is_subset(&earlier.units)) {
            (true, _) if is_whole => Relation::Repeats,
            // What failed now may have passed before, or be one of many that failed.
            (_, true) if bad(&later.parsed) == Some(0) => Relation::IsPart,
            _ => Relation::Unclear,
        }
    } else if earlier.parsed.figures.tests == later.parsed.figures.tests
        && ran_as_many
        && (shares || !(names_bad(before) && names_bad(now)))
    {
        Relation::Repeats
    } else {
        Relation::Unclear
    }
}

fn tests(parsed: &Parsed) -> Option<&TestDetails> {
    match &parsed.details {
        Details::Tests(tests) => Some(tests),
        _ => None,
    }
}

/// Whether a test that failed has a name.
fn names_bad(tests: &TestDetails) -> bool {
    tests.cases.cases.values().any(|case| case.outcome.is_bad())
}

/// Whether every test has its own name.
fn is_named(parsed: &Parsed) -> bool {
    tests(parsed).is_some_and(|tests| tests.dropped == 0 && tests.duplicates == 0 && !tests.only_failed)
}

/// How many tests were not skipped.
fn ran(parsed: &Parsed) -> Option<u64> {
    parsed.figures.tests?.checked_sub(parsed.figures.skipped.unwrap_or_default())
}

/// How many tests failed, one way or the other.
fn bad(parsed: &Parsed) -> Option<u64> {
    parsed.figures.failed.zip(parsed.figures.errored).and_then(|(failed, errored)| failed.checked_add(errored))
}

/// As it says itself; else as a failure tells that both name.
fn repeats_failures(earlier: &Run, later: &Run) -> bool {
    let now = later.parsed.figures.tests;
    let is_repeated = later.repeated.is_some() || fails_again(&earlier.parsed, &later.parsed);
    now > Some(0) && now == bad(&earlier.parsed) && is_repeated
}

/// Whether all that failed in the later run had failed in the earlier one, and something did.
fn fails_again(earlier: &Parsed, later: &Parsed) -> bool {
    let (Some(before), Some(now)) = (tests(earlier), tests(later)) else { return false };
    let failed_before = |id: &String| before.cases.cases.get(id).is_some_and(|case| case.outcome.is_bad());
    let mut failed = now.cases.cases.iter().filter(|(_, case)| case.outcome.is_bad()).peekable();
    failed.peek().is_some() && failed.all(|(id, _)| failed_before(id))
}

fn ran_twice(earlier: &Run, later: &Run) -> String {
    let told = |run: &Run| {
        let figures = &run.parsed.figures;
        let number = |count: Option<u64>| count.unwrap_or_default();
        let bad = number(figures.failed).saturating_add(number(figures.errored));
        format!("{} passed and {bad} failed", number(figures.passed))
    };
    format!("{} ran twice in this output: {}, then {}", later.parsed.format.name, told(earlier), told(later))
}

/// Takes the tests out of the earlier run that the later one names too. Whether any of it is left.
fn share(earlier: &mut Parsed, later: &mut Parsed) -> bool {
    let (Details::Tests(before), Details::Tests(now)) = (&mut earlier.details, &mut later.details) else { return true };
    let (mut again, mut flaky) = (0_u64, 0_u64);
    before.cases.cases.retain(|id, case| {
        let Some(repeated) = now.cases.cases.get_mut(id) else { return true };
        if repeated.outcome == Outcome::Skipped && case.outcome != Outcome::Skipped {
            // It did not run again.
            now.cases.cases.remove(id);
            for count in [&mut later.figures.skipped, &mut later.figures.tests] {
                *count = count.map(|number| number.saturating_sub(1));
            }
            return true;
        }
        let was_bad = case.outcome.is_bad();
        // Every attempt before the last failed: a test that passed and was run again had no attempt more.
        let failed = if was_bad { case.attempts } else { case.attempts.saturating_sub(1) };
        repeated.attempts = repeated.attempts.saturating_add(failed);
        flaky = flaky.saturating_add(u64::from(was_bad && repeated.outcome == Outcome::Passed));
        again = again.saturating_add(1);
        let figures = &mut earlier.figures;
        let count = match case.outcome {
            Outcome::Passed => &mut figures.passed,
            Outcome::Failed => &mut figures.failed,
            Outcome::Errored => &mut figures.errored,
            Outcome::Skipped => &mut figures.skipped,
        };
        *count = count.map(|number| number.saturating_sub(1));
        false
    });
    // Of a damaged report, what is named may not be what is counted: what is left adds up all the same.
    let Figures { passed, failed, errored, skipped, .. } = earlier.figures;
    let left = [passed, failed, errored, skipped].into_iter().flatten();
    earlier.figures.tests = left.reduce(u64::saturating_add);
    later.warnings.push(ran_again(again));
    count_flaky(later, flaky);
    tests(earlier).is_some_and(|before| !before.cases.cases.is_empty())
}

/// Takes what failed out of the earlier run: the later one tells of it.
fn repeat_failures(earlier: &mut Parsed, later: &mut Parsed) {
    let (Details::Tests(before), Details::Tests(now)) = (&mut earlier.details, &mut later.details) else { return };
    before.cases.cases.retain(|_, case| !case.outcome.is_bad());
    (before.unit_failures, before.failed_units) = (0, Vec::new());
    for case in now.cases.cases.values_mut() {
        case.attempts = case.attempts.saturating_add(1);
    }
    let figures = &mut earlier.figures;
    let bad = figures.failed.unwrap_or_default().saturating_add(figures.errored.unwrap_or_default());
    figures.tests = figures.tests.map(|tests| tests.saturating_sub(bad));
    (figures.failed, figures.errored) = (Some(0), Some(0));
    let flaky = later.figures.passed.unwrap_or_default();
    later
        .warnings
        .push(format!("of this run all {bad} repeat what failed before in this output: the later result counts"));
    count_flaky(later, flaky);
}

fn count_flaky(later: &mut Parsed, flaky: u64) {
    if flaky > 0 {
        let before = later.figures.flaky.unwrap_or_default();
        later.figures.flaky = Some(before.saturating_add(flaky));
    }
}

/// One report for each package of several of one tool, of which none repeats another. Where a sum does not fit there is none.
pub(super) fn join_each(reports: Vec<Parsed>) -> Vec<Parsed> {
    let mut packages: Vec<Vec<Parsed>> = Vec::new();
    for report in reports {
        let same = packages.iter_mut().find(|of| of.first().is_some_and(|first| first.package == report.package));
        match same {
            Some(of) => of.push(report),
            None => packages.push(vec![report]),
        }
    }
    packages.into_iter().filter_map(join).collect()
}

/// One report of all. `None` if a sum does not fit.
fn join(reports: Vec<Parsed>) -> Option<Parsed> {
    let mut reports = reports.into_iter();
    let first = reports.next()?;
    reports.try_fold(first, |mut joined, report| {
        let (figures, more) = (&mut joined.figures, &report.figures);
        for (count, more) in [
            (&mut figures.tests, more.tests),
            (&mut figures.passed, more.passed),
            (&mut figures.failed, more.failed),
            (&mut figures.errored, more.errored),
            (&mut figures.skipped, more.skipped),
        ] {
            *count = Some(add(count.unwrap_or_default(), more.unwrap_or_default()).ok()?);
        }
        let flaky = [figures.flaky, more.flaky];
        figures.flaky = flaky.into_iter().flatten().reduce(u64::saturating_add);
        joined.build = joined.build.filter(|build| *build == BuildStatus::Failed).or(report.build).or(joined.build);
        for warning in report.warnings {
            if !joined.warnings.contains(&warning) {
                joined.warnings.push(warning);
            }
        }
        if let (Details::Tests(all), Details::Tests(more)) = (&mut joined.details, report.details) {
            for (id, case) in more.cases.cases {
                all.duplicates = all.duplicates.saturating_add(u64::from(all.cases.add(id, case)));
            }
            all.duplicates = all.duplicates.saturating_add(more.duplicates);
            all.dropped = all.dropped.saturating_add(more.dropped);
            all.unit_failures = all.unit_failures.saturating_add(more.unit_failures);
            all.failed_units.extend(more.failed_units);
            all.extra += more.extra;
            all.compiled |= more.compiled;
            all.only_failed |= more.only_failed;
        }
        Some(joined)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::node_test_text;
    use crate::model::cases::TestCase;

    /// Names that failed, in a run whose summary counts them as errors.
    fn run(names: &[&str], passed: u64) -> Run {
        let mut details = TestDetails::default();
        for name in names {
            details.cases.add((*name).to_owned(), TestCase::new(Outcome::Failed));
        }
        let errored = u64::try_from(names.len()).unwrap();
        let figures = Figures {
            tests: Some(passed + errored),
            passed: Some(passed),
            failed: Some(0),
            errored: Some(errored),
            skipped: Some(0),
            ..Figures::default()
        };
        Run::of(
            Parsed::new(&node_test_text::FORMAT, figures, Details::Tests(details)),
            std::collections::BTreeSet::new(),
        )
    }

    #[test]
    fn runs_of_as_many_tests_in_which_others_failed_both_count() {
        let failed = |mut runs: Vec<Run>| {
            for run in &mut runs {
                if let Details::Tests(tests) = &mut run.parsed.details {
                    // What passed has no name.
                    tests.dropped = run.parsed.figures.passed.unwrap();
                }
            }
            settle(runs).iter().filter_map(|parsed| parsed.figures.errored).sum::<u64>()
        };
        assert_eq!(failed(vec![run(&["a::one"], 2), run(&["b::two"], 2)]), 2);
        assert_eq!(failed(vec![run(&["a::one", "a::two"], 2), run(&["a::two", "a::six"], 2)]), 2, "a flaky suite");
        assert_eq!(failed(vec![run(&["a::one"], 2), run(&[], 3)]), 0, "all passed the second time");
    }

    /// Found by the fuzz target `console`: one test was left, and two that could not be run.
    #[test]
    fn what_is_left_of_a_run_adds_up_where_its_names_and_its_summary_differ() {
        for parsed in settle(vec![run(&["a", "b", "c"], 1), run(&["a", "b"], 2)]) {
            let Figures { tests, passed, failed, errored, skipped, .. } = parsed.figures;
            assert_eq!([passed, failed, errored, skipped].into_iter().flatten().sum::<u64>(), tests.unwrap());
        }
    }
}
