//! The snapshot controller (ANALYSIS §11): a supervisor's states → whether its run gets on, and what to do if it does not.
//!
//! [`make_snapshot`] reduces a state to what is compared, [`assess`] asks the [`RULES`] in order, [`suggest`] is the stuck
//! handler, [`why_we_stopped`] the paragraph for the run's report. [`Run`] holds what they need from one step to the next.

mod handler;
mod iterations;
mod rules;
mod snapshot;
mod why;

pub use handler::{Advice, suggest};
pub use iterations::{assess_iterations, of_iterations};
pub use rules::{RULES, StepRule};
pub use snapshot::{Digest, make_snapshot};
pub use why::why_we_stopped;

use std::collections::BTreeSet;

use super::rule::mode;
use crate::model::SCHEMA_VERSION;
use crate::model::config::LoopConfig;
use crate::model::steps::{Assessment, Snapshot, State, StepStatus, Stuck, Suggestion, TerminalStatus};

/// Snapshots that go with the answer when a run is stuck.
const SHOWN: usize = 5;

/// What the rules found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The first rule that fired.
    pub stuck: Option<Stuck>,
    /// Rules set to observe that fired.
    pub observed: Vec<Stuck>,
}

/// Whether the run whose snapshots these are, in order, gets on. The first rule that fires decides.
pub fn assess(history: &[Snapshot], config: &LoopConfig) -> Found {
    let mut found = Found::default();
    for rule in RULES {
        let Some(observe_only) = mode(config, rule.reason.name()) else { continue };
        let Some(stuck) = (rule.check)(history, &config.controller) else { continue };
        if observe_only {
            found.observed.push(stuck);
        } else if found.stuck.is_none() {
            found.stuck = Some(stuck);
        }
    }
    found
}

/// A run as far as it came: bounded, however long it goes on.
#[derive(Clone, Debug, Default)]
pub struct Run {
    history: Vec<Snapshot>,
    suggested: BTreeSet<Suggestion>,
}

impl Run {
    /// A run whose last snapshots these are, of which it is not known what was suggested.
    fn after(history: Vec<Snapshot>) -> Run {
        Run { history, suggested: BTreeSet::new() }
    }

    /// Takes the next state and assesses the run with it. [`why_we_stopped`] is left to the caller, who knows the best
    /// iteration.
    pub fn take(&mut self, state: &State, config: &LoopConfig, digest: Digest) -> Assessment {
        let next = self.history.last().map_or(1, |last| last.step.saturating_add(1));
        let snapshot = make_snapshot(state, next, digest);
        let step = snapshot.step;
        let kept = usize::try_from(config.controller.history).unwrap_or(usize::MAX);
        let surplus = (self.history.len() + 1).saturating_sub(kept);
        self.history.drain(..surplus.min(self.history.len()));
        self.history.push(snapshot);
        let found = assess(&self.history, config);
        let mut assessment = Assessment {
            schema_version: SCHEMA_VERSION,
            step,
            status: StepStatus::Ok,
            stuck: None,
            observed: found.observed,
            terminal_status: None,
            suggestion: None,
            profile: None,
            why_we_stopped: None,
            last_output: None,
            last_snapshots: Vec::new(),
        };
        if let Some(stuck) = found.stuck {
            let advice = suggest(&self.history, &stuck, &config.controller, &self.suggested);
            self.suggested.insert(advice.suggestion);
            assessment.status = StepStatus::StuckCandidate;
            assessment.terminal_status = Some(TerminalStatus::AbortedStuck);
            assessment.suggestion = Some(advice.suggestion);
            assessment.profile = advice.profile;
            assessment.last_output = why::last_output(state);
            assessment.last_snapshots = last(&self.history, SHOWN).to_vec();
            assessment.stuck = Some(stuck);
        }
        assessment
    }
}

/// The last `count` of them, or all if there are fewer.
fn last<T>(items: &[T], count: usize) -> &[T] {
    items.get(items.len().saturating_sub(count)..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
