//! The loop as a whole: one point an iteration, the best so far, the selection at the end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::activity::TranscriptMark;
use super::ids::{Iteration, LoopId, ObjectId};
use super::metrics::{Direction, Metrics};
use super::progress::{EstimateMark, Output, Progress};
use super::record::IterationRecord;
use super::reruns::{self, Runs};
use super::units::Score;
use super::verdict::{
    COMPONENTS, Classification, Dimension, OpenFinding, QualityScore, Recommendation, Severity, Status,
};

/// One finding, as later iterations need to know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AlertMark {
    /// The rule.
    pub rule: String,
    /// Its subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// As recorded.
    pub severity: Severity,
    /// As recorded.
    pub status: Status,
    /// As recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observe_only: bool,
}

/// The quality score of an earlier iteration: what comparing with it needs. What explains it to people is in its record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PointScore {
    /// As recorded.
    pub total: Score,
    /// 0–1, as recorded.
    pub weight_available: f64,
    /// As recorded.
    pub partial: bool,
    /// The weights of the dimensions, 0–1, in S002's order.
    pub weights: [f64; Dimension::ALL.len()],
    /// The components, 0–100, in the order of [`COMPONENTS`]; those that could be computed.
    pub components: [Option<f64>; COMPONENTS.len()],
}

impl From<&QualityScore> for PointScore {
    fn from(score: &QualityScore) -> PointScore {
        let of = |dimension: Dimension| score.dimensions.iter().find(|one| one.dimension == dimension);
        PointScore {
            total: score.total,
            weight_available: score.weight_available,
            partial: score.partial,
            weights: Dimension::ALL.map(|dimension| of(dimension).map_or(0.0, |one| one.weight)),
            components: COMPONENTS.map(|(dimension, name)| of(dimension)?.components.get(name).copied()),
        }
    }
}

/// What judging a later iteration, `log` and selection read of an earlier one: a projection of its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Point {
    /// Its number.
    pub iteration: Iteration,
    /// The iteration it started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Iteration>,
    /// As recorded.
    pub metrics: Metrics,
    /// As recorded, without what explains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<PointScore>,
    /// As recorded.
    pub acceptable: bool,
    /// As recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classification: Option<Classification>,
    /// As recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_class: Option<Classification>,
    /// As recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// How far the agent's transcripts were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transcripts: Vec<TranscriptMark>,
    /// As recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// Of what was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<EstimateMark>,
    /// The findings raised there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alerts: Vec<AlertMark>,
    /// The losses open there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_findings: Vec<OpenFinding>,
    /// As recorded, without the alternatives.
    pub recommendation: Recommendation,
    /// Tests that were run again on its tree.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reruns: BTreeMap<String, Runs>,
    /// The snapshot's root directory.
    pub tree: ObjectId,
    /// The snapshot without reports.
    pub tree_key: ObjectId,
    /// As recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// US dollars, as recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// As recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

impl Point {
    /// The projection of a record.
    pub fn of(record: &IterationRecord) -> Point {
        Point {
            iteration: record.iteration,
            parent: record.parent,
            metrics: record.metrics.clone(),
            quality_score: record.quality_score.as_ref().map(PointScore::from),
            acceptable: record.acceptable,
            classification: record.classification,
            base_class: record.base_class,
            output: record.output.clone(),
            transcripts: record.transcripts.iter().map(|part| part.end.clone()).collect(),
            progress: record.progress.clone(),
            estimate: record.estimate.as_ref().map(EstimateMark::of),
            alerts: record
                .alerts
                .iter()
                .map(|alert| AlertMark {
                    rule: alert.rule.clone(),
                    subject: alert.subject.clone(),
                    severity: alert.severity,
                    status: alert.status,
                    observe_only: alert.observe_only,
                })
                .collect(),
            open_findings: record.open_findings.clone(),
            recommendation: Recommendation { alternatives: Vec::new(), ..record.recommendation.clone() },
            reruns: reruns::pooled(&record.reruns),
            tree: record.tree,
            tree_key: record.tree_key,
            label: record.label.clone(),
            cost: record.cost,
            tokens: record.tokens,
        }
    }

    /// The score, if there is one.
    pub fn score(&self) -> Option<Score> {
        self.quality_score.as_ref().map(|score| score.total)
    }
}

/// Derived from the records: everything that recording the next iteration needs to know of the earlier ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Trajectory {
    /// Version of this layout.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// BLAKE3 of the newest record's file; another head means this file is rebuilt.
    pub head: ObjectId,
    /// The best so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<Iteration>,
    /// In order of recording.
    pub iterations: Vec<Point>,
}

/// The metric of `select.primary` at the best iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChosenBy {
    /// Which metric.
    pub metric: String,
    /// Its value there.
    pub value: f64,
}

/// Derived from the records: the best so far, and why others cannot be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BestTracker {
    /// Version of this layout.
    pub schema_version: u32,
    /// BLAKE3 of the newest record's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<ObjectId>,
    /// The best eligible iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<Iteration>,
    /// Its score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<Score>,
    /// What it was chosen by, if a metric takes the place of the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_by: Option<ChosenBy>,
    /// The root directory of its snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<ObjectId>,
    /// Iteration → why it cannot be best.
    pub ineligible: BTreeMap<Iteration, String>,
}

/// How the scores went after the peak (ANALYSIS §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DegradationPattern {
    /// The selected iteration is the last.
    None,
    /// Only the last one is lower.
    LateRegression,
    /// Non-increasing for two or more after the peak.
    OverRefinement,
    /// Two or more changes of sign.
    Oscillation,
    /// None of these.
    Mixed,
}

/// What was lost between the peak and the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Degradation {
    /// First later iteration with a lower score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Iteration>,
    /// The shape.
    pub pattern: DegradationPattern,
    /// Iterations after the selected one.
    pub iterations_after_peak: u64,
    /// `100·(final − selected)/selected`, percent; negative is a loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_loss: Option<f64>,
}

/// One iteration's place in the selection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Candidate {
    /// Which.
    pub iteration: Iteration,
    /// Its score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<Score>,
    /// Its class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classification: Option<Classification>,
    /// Whether it could be selected.
    pub eligible: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ineligible_because: Option<String>,
}

/// One of `select.objectives`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Objective {
    /// The metric.
    pub name: String,
    /// Which way it is better.
    pub direction: Direction,
    /// As measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// One iteration in a Pareto choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ParetoCandidate {
    /// Which.
    pub iteration: Iteration,
    /// Objective → its value.
    pub values: BTreeMap<String, f64>,
    /// An iteration that is no worse in all objectives and better in one; absent if it is on the front.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dominated_by: Option<Iteration>,
}

/// What a Pareto choice is made of (ANALYSIS §7.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Pareto {
    /// As the config names them.
    pub objectives: Vec<Objective>,
    /// Every candidate that has them all, in order.
    pub candidates: Vec<ParetoCandidate>,
}

impl Pareto {
    /// The iterations that no other dominates.
    pub fn front(&self) -> Vec<Iteration> {
        self.on_front().map(|candidate| candidate.iteration).collect()
    }

    fn on_front(&self) -> impl Iterator<Item = &ParetoCandidate> {
        self.candidates.iter().filter(|candidate| candidate.dominated_by.is_none())
    }

    /// For each objective the iteration of the front that is best in it, the earliest of equals, with its value.
    pub fn leaders(&self) -> impl Iterator<Item = (&Objective, Iteration, f64)> {
        self.objectives.iter().filter_map(|objective| {
            let value = |candidate: &ParetoCandidate| candidate.values.get(&objective.name).copied();
            let all = self.on_front().filter_map(|candidate| Some((candidate.iteration, value(candidate)?)));
            let is_better = |now: f64, best: f64| match objective.direction {
                Direction::Lower => now < best,
                Direction::Higher => now > best,
            };
            let (iteration, value) = all.reduce(|best, now| if is_better(now.1, best.1) { now } else { best })?;
            Some((objective, iteration, value))
        })
    }
}

/// A candidate that was measured again. The highest of noisy values is mostly one that was lucky: who is chosen by the mean
/// of all, and told by the later ones alone, is not (ANALYSIS §7.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Remeasured {
    /// Which.
    pub iteration: Iteration,
    /// `quality_score`, or the metric that `select.primary` names, as recorded.
    pub recorded: f64,
    /// As measured again, each time in a fresh copy of its files; never empty.
    pub again: Vec<f64>,
    /// Of the recorded value and the later ones: what is ranked by.
    pub mean: f64,
    /// Of the later ones alone: what may be expected of it.
    pub expected: f64,
    /// `recorded − expected`.
    pub optimism: f64,
}

impl Remeasured {
    /// `None` if it was not measured again.
    pub fn new(iteration: Iteration, recorded: f64, again: Vec<f64>) -> Option<Remeasured> {
        let count = f64::from(u32::try_from(again.len()).ok().filter(|count| *count > 0)?);
        let sum: f64 = again.iter().sum();
        let (mean, expected) = ((recorded + sum) / (count + 1.0), sum / count);
        Some(Remeasured { iteration, recorded, again, mean, expected, optimism: recorded - expected })
    }
}

/// The choice at the end of a loop (ANALYSIS §7). `selection.json` appearing closes the loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Selection {
    /// Version of this layout.
    pub schema_version: u32,
    /// The loop.
    pub loop_id: LoopId,
    /// The head of the history that was chosen from.
    pub head: ObjectId,
    /// The chosen iteration; absent if none was eligible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<Iteration>,
    /// The last recorded iteration.
    pub last: Iteration,
    /// Every iteration, in order.
    pub scores: Vec<Candidate>,
    /// Why this one, a sentence each.
    pub rationale: Vec<String>,
    /// `quality_score`, or the metric that `select.primary` named.
    pub primary: String,
    /// The threshold that was asked for, 0–1.
    pub threshold: f64,
    /// Nobody reached the threshold, so it was dropped.
    pub threshold_dropped: bool,
    /// Iterations that no other dominates, where objectives are set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pareto_front: Vec<Iteration>,
    /// What that front is made of: every candidate's objectives, and who dominates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pareto: Option<Pareto>,
    /// `100·(selected − final)/final`, percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub improvement_percentage: Option<f64>,
    /// What the iterations after the peak cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degradation: Option<Degradation>,
    /// The best few that were measured again before the choice (`select.revalidate`), the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remeasured: Vec<Remeasured>,
    /// How the candidate was verified, and who failed before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verification: Vec<String>,
    /// The paths that the restore changed, first hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restored: Vec<super::ids::TreePath>,
    /// How many paths the restore changed.
    #[serde(default)]
    pub restored_count: u64,
    /// BLAKE3 of the file's bytes before the comma in front of this key, which is the last one; absent in answers, and in files
    /// of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blake3: Option<ObjectId>,
}
