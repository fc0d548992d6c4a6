//! A candidate measured again, in a fresh copy of its files: whether it gives its figures again, and how good it is by more
//! than the one value that made it the best (ANALYSIS §7.4, §7.5).

use std::path::Path;

use super::measure::{Earlier, Measured, measure};
use super::restore::{Target, put_back};
use super::silence::Listener;
use super::{Offer, Session, own};
use crate::analysis;
use crate::disk::layout::Layout;
use crate::error::{Error, ErrorKind, Result};
use crate::model::config::LoopConfig;
use crate::model::ids::Iteration;
use crate::model::metrics::Metrics;
use crate::model::trajectory::{Point, Remeasured};
use crate::store::{Store, Stored};

/// A command that measures a candidate again.
pub struct Verification<'a> {
    /// As typed, for the report.
    pub command: &'a str,
    /// An empty directory; one below it is made for each measurement.
    pub scratch: &'a Path,
    /// Runs the command in a directory and says what there is to read.
    pub run: &'a dyn Fn(&Layout) -> Result<Offer>,
}

/// Why a candidate was not taken.
pub(super) enum Attempt {
    /// It is damaged, or does not give its figures again: the next one is tried.
    Unfit(String),
    /// Nothing to do with the candidate.
    Stopped(Error),
}

impl Attempt {
    /// What is damaged makes a candidate unfit. What the system does not let us read says nothing about it.
    pub(super) fn of(error: Error) -> Attempt {
        match error.kind {
            ErrorKind::Failed => Attempt::Stopped(error),
            _ => Attempt::Unfit(format!("{} {}", error.place.path.as_deref().unwrap_or_default(), error.message)),
        }
    }
}

impl Verification<'_> {
    /// Runs the command in a copy of the candidate's tree; `name` is that of the copy, which must be new.
    fn measured(
        &self,
        session: &Session<'_>,
        store: &Store,
        stored: &Stored,
        config: &LoopConfig,
        name: &str,
    ) -> Result<(Offer, Measured), Attempt> {
        let folder = self.scratch.join(name);
        let record = &stored.record;
        let target = Target { into: Some(&folder), ..Target::default() };
        put_back(session, store, stored, record.iteration, target).map_err(Attempt::of)?;
        let layout = Layout::new(&folder);
        let offer = (self.run)(&layout).map_err(Attempt::Stopped)?;
        let copy = Session { layout: &layout, ..*session };
        let listener = Listener::new(&folder, session.layout, store, record, &offer);
        let earlier = Earlier { listener: listener.as_ref(), ..Earlier::default() };
        let measured = measure(&copy, config, &offer, offer.since, earlier).map_err(Attempt::Stopped)?;
        match measured.faults.first() {
            Some(fault) => {
                Err(Attempt::Unfit(format!("measured again, a report could not be read: {}", fault.message)))
            }
            None => Ok((offer, measured)),
        }
    }

    /// Whether the candidate gives the recorded figures again.
    pub(super) fn check(
        &self,
        session: &Session<'_>,
        store: &Store,
        stored: &Stored,
        config: &LoopConfig,
    ) -> Result<(), Attempt> {
        let record = &stored.record;
        let name = format!("iteration-{}", record.iteration.padded());
        let (_, measured) = self.measured(session, store, stored, config, &name)?;
        let again = measured.measurement;
        let again =
            Metrics { testing: again.testing, coverage: again.coverage, quality: again.quality, ..Metrics::default() };
        // By another command nobody knows who is silent; what was zero for that reason may be unknown then.
        let was_silent = record.sources.iter().any(|source| source.silence.is_some());
        match difference(&record.metrics, &again, was_silent) {
            None => Ok(()),
            Some(difference) => Err(Attempt::Unfit(format!("measured again, {difference}"))),
        }
    }

    /// Measures the first of `ranking` again, `select.revalidate` of them and each as often as `select.reruns` says; of those
    /// that could not be compared with what was recorded, why.
    ///
    /// # Errors
    /// What has nothing to do with a candidate.
    pub(super) fn best_again(
        &self,
        session: &Session<'_>,
        store: &Store,
        ranking: &[Iteration],
        points: &[Point],
        config: &LoopConfig,
    ) -> Result<Vec<Result<Remeasured, String>>> {
        let mut again = Vec::new();
        let wanted = usize::try_from(config.select.revalidate).unwrap_or(usize::MAX);
        for iteration in ranking.iter().take(wanted) {
            let values = (1..=config.select.reruns)
                .map(|number| self.value(session, store, *iteration, number, points, config))
                .collect::<Result<Vec<(f64, f64)>, Attempt>>();
            match values {
                Ok(values) => {
                    let recorded = values.first().map(|(recorded, _)| *recorded);
                    let later = values.into_iter().map(|(_, value)| value).collect();
                    again.extend(recorded.and_then(|recorded| Remeasured::new(*iteration, recorded, later)).map(Ok));
                }
                Err(Attempt::Unfit(why)) => again.push(Err(format!("iteration {iteration} does not lead: {why}"))),
                Err(Attempt::Stopped(error)) => return Err(error),
            }
        }
        Ok(again)
    }

    /// What is selected by, as recorded and as measured once more.
    fn value(
        &self,
        session: &Session<'_>,
        store: &Store,
        iteration: Iteration,
        number: u32,
        points: &[Point],
        config: &LoopConfig,
    ) -> Result<(f64, f64), Attempt> {
        let stored = store.load(iteration).map_err(Attempt::of)?;
        let name = format!("iteration-{}-{number}", iteration.padded());
        let (offer, measured) = self.measured(session, store, &stored, config, &name)?;
        let measurement = measured.measurement;
        let (custom, _) = own::own(&offer, &measurement.metrics, config);
        let codebase = stored.record.metrics.codebase.map(|codebase| crate::model::metrics::CodebaseMetrics {
            complexity_score: measurement.complexity_score,
            ..codebase
        });
        let (testing, coverage, quality) = (measurement.testing, measurement.coverage, measurement.quality);
        let metrics = Metrics { testing, coverage, quality, codebase, custom };
        analysis::remeasured(points, iteration, metrics, config).ok_or_else(|| {
            Attempt::Unfit(format!(
                "measured again, {} cannot be compared with what was recorded",
                config.select.primary
            ))
        })
    }
}

/// The first figure that differs; a figure that only one side has differs too, unless it was a zero of silence.
fn difference(recorded: &Metrics, again: &Metrics, was_silent: bool) -> Option<String> {
    let shown = |value: Option<u64>| value.map_or("nothing".to_owned(), |value| value.to_string());
    let tests = |metrics: &Metrics, of: fn(&crate::model::metrics::TestMetrics) -> Option<u64>| {
        metrics.testing.as_ref().and_then(of)
    };
    let pairs = [
        ("test_count", recorded.test_count(), again.test_count()),
        ("tests_passed", recorded.tests_passed(), again.tests_passed()),
        ("tests_failed", tests(recorded, |t| t.tests_failed), tests(again, |t| t.tests_failed)),
        ("tests_errored", tests(recorded, |t| t.tests_errored), tests(again, |t| t.tests_errored)),
        ("error_count", recorded.error_count(), again.error_count()),
        ("lint_warnings", recorded.lint_warnings(), again.lint_warnings()),
    ];
    for (name, was, is) in pairs {
        let is_silent = was_silent && was == Some(0) && is.is_none();
        if was != is && !is_silent {
            return Some(format!("{name} is {}, recorded was {}", shown(is), shown(was)));
        }
    }
    match (recorded.coverage(), again.coverage()) {
        (Some(was), Some(is)) if (was - is).abs() <= crate::model::units::EPS => None,
        (None, None) => None,
        (was, is) => {
            let shown = |value: Option<f64>| value.map_or("nothing".to_owned(), |value| format!("{value:.2} %"));
            Some(format!("coverage is {}, recorded was {}", shown(is), shown(was)))
        }
    }
}
