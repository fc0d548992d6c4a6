//! The effective configuration of a loop: every threshold that judging uses, every limit that reading and capture keep.
//!
//! Values and reasons of the defaults are in `config/default.yaml`, the reference; here are types, units and ranges.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use super::custom::{Aggregate, Bounds, Effect, MetricConfig};
use super::reruns::RerunCommand;
use super::verdict::Dimension;
pub use super::watching::{Controller, Endpoint, Estimate, Hook, HookPolicy, Monitor, Progress};

/// All groups of keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoopConfig {
    /// The quality score (ANALYSIS §2).
    pub quality: Quality,
    /// The class of an iteration (§3).
    pub classify: Classify,
    /// Thresholds of single alerts (§4).
    pub alerts: Alerts,
    /// The stall (§3).
    pub stall: Stall,
    /// The infinite loop (§5).
    #[serde(rename = "loop")]
    pub looping: Looping,
    /// When the loop should end (§5).
    pub terminate: Terminate,
    /// Which iteration is kept (§7).
    pub select: Select,
    /// Broken tests and flakes (§12.2).
    pub flake: Flake,
    /// Tests that may have been tampered with (§12.4).
    pub tamper: Tamper,
    /// A supervisor's steps (§11).
    pub controller: Controller,
    /// An agent's tool calls (§10).
    pub monitor: Monitor,
    /// What an agent said and changed (§8).
    pub progress: Progress,
    /// How much of the goal is reached (§9).
    pub estimate: Estimate,
    /// What agents' hooks are answered.
    pub hook: Hook,
    /// Rule or detector → whether it moves verdicts; those not named are on.
    pub rules: BTreeMap<String, RuleMode>,
    /// Metrics of the user's own (§12.5).
    pub metrics: BTreeMap<String, MetricConfig>,
    /// Where reports are looked for.
    pub reports: Reports,
    /// What is too much.
    pub limits: Limits,
    /// What a snapshot holds.
    pub capture: Capture,
}

/// The quality score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Quality {
    /// Weight of each dimension, 0–1; they sum to 1.
    pub weights: Weights,
    /// Most that one component can count, 0–100.
    pub cap: f64,
    /// Share of the weights below which a score is partial, 0–1.
    pub min_weight: f64,
    /// Score from which an iteration is acceptable, 0–1.
    pub acceptance: f64,
}

/// Weights of the five dimensions; they sum to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// 0–1.
    pub validation: f64,
    /// 0–1.
    pub completeness: f64,
    /// 0–1.
    pub correctness: f64,
    /// 0–1.
    pub readability: f64,
    /// 0–1.
    pub efficiency: f64,
}

impl Weights {
    /// The weight of one dimension.
    pub fn of(&self, dimension: Dimension) -> f64 {
        match dimension {
            Dimension::Validation => self.validation,
            Dimension::Completeness => self.completeness,
            Dimension::Correctness => self.correctness,
            Dimension::Readability => self.readability,
            Dimension::Efficiency => self.efficiency,
        }
    }
}

/// Thresholds of the classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Classify {
    /// Percentage points that the pass rate may fall before it is a regression (R2).
    pub pass_rate_drop: f64,
    /// Percentage points that coverage may fall before it is a regression (R3).
    pub coverage_drop: f64,
    /// Half width of the plateau: percent for counts, percentage points for rates.
    pub band: f64,
    /// Pass rate, percent, from which an iteration need not raise it to be forward.
    pub healthy_pass_rate: f64,
    /// Change of the score, 0–1, that decides where no rule did.
    pub score_step: f64,
}

/// Thresholds of single alerts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Alerts {
    /// Errors more than before that are still no alert.
    pub error_increase: u64,
    /// Relative growth of the complexity that is still no alert; 0.5 is +50 %.
    pub complexity_increase: f64,
    /// Percentage points that coverage may lie below the highest of the lineage.
    pub coverage_drift: f64,
}

/// The stall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// Plateaus in a row.
    pub window: u32,
    /// Population variance of their scores, below which they stand still.
    pub max_variance: f64,
    /// Gain of the score, 0–1, over the one before the window that is an improvement after all.
    pub min_gain: f64,
}

/// The infinite loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Looping {
    /// Iterations looked at, this one among them.
    pub window: u32,
    /// Only iterations above this number are judged.
    pub min_iteration: u32,
}

/// When the loop should end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Terminate {
    /// Rollbacks recommended to one best before a person is asked.
    pub max_rollbacks_per_best: u32,
    /// Score, 0–1, that a regression must lie below the best to be rolled back.
    pub rollback_gap: f64,
    /// Confidence, 0–1, below which a person is asked instead.
    pub min_confidence: f64,
    /// Iterations after the baseline; null is without limit.
    pub max_iterations: Option<u32>,
    /// US dollars over all iterations; null is without limit.
    pub max_cost: Option<f64>,
    /// Tokens over all iterations; null is without limit.
    pub max_tokens: Option<u64>,
    /// Score, 0–1, at which the work is done; null is never.
    pub target: Option<f64>,
}

/// Which iterations keep their snapshot after `finish`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// Iteration 0.
    Baseline,
    /// The selected one.
    Best,
    /// The last one.
    Last,
    /// Every one.
    All,
}

/// Which iteration is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// Score, 0–1, below which an iteration is taken only if none reaches it.
    pub threshold: f64,
    /// `quality_score`, or the name of the metric that takes its place.
    pub primary: String,
    /// Metrics of a Pareto choice; empty is none.
    pub objectives: Vec<String>,
    /// How many of the best are measured again before the choice; 0 is none.
    pub revalidate: u32,
    /// How often each of those is measured again.
    pub reruns: u32,
    /// How many candidates may fail verification.
    pub max_attempts: u32,
    /// Whose snapshots `prune` leaves after the end.
    pub keep_after_finish: Vec<Keep>,
}

/// Broken tests and flakes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Flake {
    /// Probability, 0–1, that a change breaks a given test.
    pub prior_break: f64,
    /// Share of runs, 0–1, in which a test of which nothing is known flakes.
    pub prior_rate: f64,
    /// Probability, 0–1, from which a newly failing test is confirmed to be broken.
    pub confirmed: f64,
    /// Probability, 0–1, up to which it is refuted: a flake.
    pub refuted: f64,
    /// Runs newly failing tests again; null is on demand only.
    pub rerun: Option<RerunCommand>,
    /// Reruns of one iteration.
    pub max_reruns: u32,
    /// Newly failing tests above which none is run again.
    pub max_tests: u32,
}

/// Tests that may have been tampered with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tamper {
    /// Whether old tests are run on new code, and new tests on old code.
    pub replay: TamperReplay,
    /// A shell's line that runs the tests in a copy of the work tree; null is the iteration's own command.
    pub command: Option<String>,
}

/// When old tests are run on new code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TamperReplay {
    /// On demand only.
    Never,
    /// By `record`, where tests were edited in a way that may make them pass without better code, or went.
    OnSuspicion,
}

/// Whether a rule moves verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RuleMode {
    /// It is told and moves verdicts.
    On,
    /// It is told and moves nothing.
    Observe,
    /// It is not looked at.
    Off,
}

/// Where reports are looked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reports {
    /// Globs relative to the work tree; after a `!`, of files that are none of the others. Content decides the format.
    pub globs: Vec<String>,
    /// Directory names that are never entered while looking.
    pub skip_directories: Vec<String>,
}

/// Whether a text is a glob whatever it says: nothing in it opens what must be closed. Most are, and need not be tried.
pub fn is_plain_glob(text: &str) -> bool {
    !text.contains(['[', ']', '{', '}', '\\'])
}

/// What is too much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Report files of one iteration.
    pub reports: u64,
    /// Bytes of one report.
    pub report_bytes: u64,
    /// Bytes of one file that a snapshot keeps.
    pub file_bytes: u64,
}

/// What a snapshot holds beside what git would track.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// Globs of files that are kept although an ignore rule or the rule for secrets leaves them out.
    pub include: Vec<String>,
    /// Globs of files that are left out.
    pub exclude: Vec<String>,
}

impl LoopConfig {
    /// The mode of a rule or detector.
    pub fn mode(&self, rule: &str) -> RuleMode {
        self.rules.get(rule).copied().unwrap_or(RuleMode::On)
    }
}
