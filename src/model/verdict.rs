//! What judging says of one iteration: score, deltas, class, alerts, recommendation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::Iteration;
use super::transitions::Transitions;
use super::units::{Quantity, Score};

/// The quality score of S002 with its parts (ANALYSIS §2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct QualityScore {
    /// 0–1: the weighted mean over the dimensions that have a component.
    pub total: Score,
    /// 0–1: the sum of the weights of those dimensions.
    pub weight_available: f64,
    /// Too little was measured to lead: such a score is shown but never becomes best.
    pub partial: bool,
    /// The five dimensions, in S002's order.
    pub dimensions: Vec<DimensionScore>,
}

/// The five dimensions of S002.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Tests pass, the build succeeds, the linter is silent.
    Validation,
    /// Coverage, and no fewer tests than the baseline.
    Completeness,
    /// Pass rate and errors.
    Correctness,
    /// Warnings and complexity.
    Readability,
    /// Size against the baseline.
    Efficiency,
}

impl Dimension {
    /// All five, in S002's order.
    pub const ALL: [Dimension; 5] = [
        Dimension::Validation,
        Dimension::Completeness,
        Dimension::Correctness,
        Dimension::Readability,
        Dimension::Efficiency,
    ];

    /// As stored and as the key of its weight.
    pub fn name(self) -> &'static str {
        match self {
            Dimension::Validation => "validation",
            Dimension::Completeness => "completeness",
            Dimension::Correctness => "correctness",
            Dimension::Readability => "readability",
            Dimension::Efficiency => "efficiency",
        }
    }
}

/// The components of the score, each with its dimension (ANALYSIS §2).
pub const COMPONENTS: [(Dimension, &str); 11] = [
    (Dimension::Validation, "all_tests_pass"),
    (Dimension::Validation, "build_success"),
    (Dimension::Validation, "no_lint_errors"),
    (Dimension::Completeness, "coverage_percentage"),
    (Dimension::Completeness, "test_count_vs_baseline"),
    (Dimension::Correctness, "pass_rate"),
    (Dimension::Correctness, "error_count_inverted"),
    (Dimension::Readability, "lint_warnings_inverted"),
    (Dimension::Readability, "complexity_reasonable"),
    (Dimension::Efficiency, "loc_appropriate"),
    (Dimension::Efficiency, "no_code_bloat"),
];

/// One dimension of the score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DimensionScore {
    /// Which one.
    pub dimension: Dimension,
    /// 0–100: the mean of the components; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The configured weight, 0–1.
    pub weight: f64,
    /// Its part of the total, 0–1; 0 if there is no score.
    pub contribution: f64,
    /// Component → 0–100, those that could be computed.
    pub components: BTreeMap<String, f64>,
}

impl QualityScore {
    /// All components by name, over all dimensions.
    pub fn components(&self) -> impl Iterator<Item = (&str, f64)> {
        self.dimensions.iter().flat_map(|d| d.components.iter().map(|(name, value)| (name.as_str(), *value)))
    }
}

/// How many names a list of tests has, and how many tests have a finding of their own.
pub const NAMES_SHOWN: usize = 20;

/// Up to twenty names, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NamedTests {
    /// How many.
    pub count: u64,
    /// The first twenty by name.
    pub names: Vec<String>,
}

impl NamedTests {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Differences against another iteration. Each is absent if either side is (ANALYSIS, principle 3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Deltas {
    /// Metric → the iteration it was compared with: the latest of the lineage that has it.
    pub against: BTreeMap<String, Iteration>,
    /// Tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_count: Option<i64>,
    /// Tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_passed: Option<i64>,
    /// Tests that failed or errored, where both sides know nothing else of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_failed: Option<i64>,
    /// Percentage points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_rate_points: Option<f64>,
    /// Percentage points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage_points: Option<f64>,
    /// Errors, over the tools that both sides have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_count: Option<i64>,
    /// Warnings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lint_warnings: Option<i64>,
    /// Files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_count: Option<i64>,
    /// Non-blank lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loc_total: Option<i64>,
    /// Relative change of the lines: 0.5 is +50 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loc_ratio: Option<f64>,
    /// Relative change of the complexity: 0.5 is +50 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity_ratio: Option<f64>,
    /// Score, over the components that both sides have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<f64>,
    /// Tests that are gone, by id, where both sides name their tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_lost: Option<NamedTests>,
    /// Tests that passed and now fail or error, by id, without those that are told to be flakes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_broken: Option<NamedTests>,
    /// Every test that changed, by what became of it, where both sides name their tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Transitions>,
}

/// What an iteration was for the loop (ANALYSIS §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Classification {
    /// Iteration 0.
    Baseline,
    /// Something was gained, nothing lost.
    Forward,
    /// All deltas inside the band.
    Plateau,
    /// Something was lost.
    Regression,
    /// The third plateau in a row without a gain: an overlay over `plateau`.
    Stalled,
}

impl Classification {
    /// As stored.
    pub fn name(self) -> &'static str {
        match self {
            Classification::Baseline => "baseline",
            Classification::Forward => "forward",
            Classification::Plateau => "plateau",
            Classification::Regression => "regression",
            Classification::Stalled => "stalled",
        }
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Low,
    /// Worth a look.
    Medium,
    /// Needs a look.
    High,
    /// The iteration must not stand.
    Critical,
}

impl Severity {
    /// As stored.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
            Severity::Critical => "critical",
        }
    }
}

/// How sure a finding is, given the evidence so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Read off the counters.
    Observed,
    /// Points that way; more evidence would settle it.
    Suspected,
    /// Settled: it is so.
    Confirmed,
    /// Settled: it is not so.
    Refuted,
    /// It is so, and harmless.
    Explained,
}

impl Status {
    /// Whether the finding still counts.
    pub fn stands(self) -> bool {
        !matches!(self, Status::Refuted | Status::Explained)
    }
}

/// A finding of a rule or of a detector: both emit this one type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Alert {
    /// The rule's name: what it flags.
    pub rule: String,
    /// What it is about, where a rule can fire for several: a metric, a test id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Further subjects: where a rule fires for many tests, those beyond the first twenty have one finding together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// After all evidence.
    pub severity: Severity,
    /// After all evidence.
    pub status: Status,
    /// One line for people, in the seed's words where the seed has them.
    pub message: String,
    /// The value compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Quantity>,
    /// The value now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<Quantity>,
    /// The threshold in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Quantity>,
    /// What else speaks for or against it, one fact a line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The severity that the counters alone gave, where evidence changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_severity: Option<Severity>,
    /// 0–1: how reliable the finding is, used for the confidence (ANALYSIS §4, column r).
    pub reliability: f64,
    /// The rule is set to observe: it is told, and moves nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observe_only: bool,
    /// The iteration that raised it.
    pub iteration: Iteration,
}

impl Alert {
    /// Whether the finding moves verdicts: it stands, and its rule is not set to observe.
    pub fn counts(&self) -> bool {
        self.status.stands() && !self.observe_only
    }

    /// All that it is about, where its rule can fire for several.
    pub fn subjects(&self) -> impl Iterator<Item = &String> {
        self.subject.iter().chain(&self.others)
    }
}

/// What closes an open finding on purpose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Accepted {
    /// Which finding: a rule's name.
    pub rule: String,
    /// Why, in the user's words.
    pub reason: String,
    /// When it was said, UTC.
    pub at: chrono::DateTime<chrono::Utc>,
}

/// A loss that nobody has made good, explained or accepted. While one is open, no iteration of its lineage can be best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpenFinding {
    /// As it was raised.
    pub alert: Alert,
    /// The iteration that raised it.
    pub since: Iteration,
    /// What would close it, for people.
    pub closes_when: String,
    /// Set in the one record that repeats the acceptance; the finding is closed from there on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Accepted>,
}

/// The one thing to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Go on.
    Continue,
    /// End the loop.
    Stop,
    /// Go back to the target and on from there.
    Rollback,
    /// Ask a person.
    Escalate,
}

impl Action {
    /// As stored.
    pub fn name(self) -> &'static str {
        match self {
            Action::Continue => "continue",
            Action::Stop => "stop",
            Action::Rollback => "rollback",
            Action::Escalate => "escalate",
        }
    }
}

/// What to do next, and why (ANALYSIS §5, §6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Recommendation {
    /// The action of the first row that matched.
    pub action: Action,
    /// For a rollback: the iteration to go back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Iteration>,
    /// One sentence for people.
    pub reason: String,
    /// Names of the rules and rows that decided.
    pub because: Vec<String>,
    /// Rows that matched too, or actions that go with it: `escalate`, `stop:stalled`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// What could be tried instead, where the seed names it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<String>,
    /// 0.05–0.99, two decimals.
    pub confidence: f64,
}

impl Recommendation {
    /// Whether the iteration could not be measured (row 0): `gate` then answers 13.
    pub fn is_unmeasured(&self) -> bool {
        self.because.iter().any(|name| name == "unmeasured")
    }
}
