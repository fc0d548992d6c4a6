//! What an alert rule and a detector have in common: how they are explained, and what they say before evidence changes it.

use crate::model::config::{LoopConfig, RuleMode};
use crate::model::ids::Iteration;
use crate::model::verdict::{Alert, Severity, Status};

/// One thing that is flagged; `C` is the judgement.
pub struct Rule<C> {
    /// What it flags; also its key under `rules` in the config.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// What it means when it fires, and what to do.
    pub meaning: &'static str,
    /// When it fires.
    pub formula: &'static str,
    /// Where it comes from: a seed, or what goes beyond the seeds.
    pub source: &'static str,
    /// Before evidence changes it.
    pub severity: Severity,
    /// 0–1, before evidence changes it.
    pub reliability: f64,
    /// The config keys that hold its thresholds.
    pub thresholds: &'static [&'static str],
    /// The judgement.
    pub check: C,
}

impl<C> Rule<C> {
    /// An alert of this rule about an iteration, as its numbers alone give it.
    pub(super) fn at(&self, iteration: Iteration, message: impl Into<String>) -> Alert {
        Alert {
            rule: self.name.to_owned(),
            subject: None,
            others: Vec::new(),
            severity: self.severity,
            status: Status::Observed,
            message: message.into(),
            previous: None,
            current: None,
            threshold: None,
            evidence: Vec::new(),
            seed_severity: None,
            reliability: self.reliability,
            observe_only: false,
            iteration,
        }
    }
}

/// `None` if the rule is off, else whether it only observes.
pub fn mode(config: &LoopConfig, rule: &str) -> Option<bool> {
    match config.mode(rule) {
        RuleMode::Off => None,
        RuleMode::Observe => Some(true),
        RuleMode::On => Some(false),
    }
}
