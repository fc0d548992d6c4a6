//! The progress score of S000 (ANALYSIS §8): what an agent said and changed in one iteration → how much of it is new, 0–1.
//!
//! [`progress`] scores one iteration, [`recorded`] counts on from those before it.

mod ratio;
mod text;

pub use ratio::{ratio, ratio_of_bags};
pub use text::{checked_items, markers, normalized, normalized_lines, unchecked_items};

use std::collections::HashMap;

use crate::model::config::Progress as Settings;
use crate::model::progress::{ComparedBy, Progress, Signal, SignalName};
use crate::model::units::{EPS, Quantity, Score};

/// Comparisons that a ratio may take before a coarser one is made, so that no text, however repetitive, takes long.
const BUDGET: u64 = 200_000_000;

/// Changed lines that are full marks.
const FULL_CHANGE: f64 = 100.0;

/// What is known of an iteration. Unknown is `None`, and takes its signals out of the score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence<'a> {
    /// There is no iteration before it.
    pub is_first: bool,
    /// What the agent said in the iteration before.
    pub previous: Option<&'a str>,
    /// What the agent said in this one.
    pub current: Option<&'a str>,
    /// Lines inserted and deleted between the two snapshots, untracked files included, binary files as none.
    pub changed_lines: Option<u64>,
}

/// The score of an iteration and its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressScore {
    /// 0–1.
    pub score: f64,
    /// There was nothing to compare with: the score is 1 and never counts as none.
    pub is_first: bool,
    /// Those that are known.
    pub signals: Vec<Signal>,
    /// What the outputs were compared by; `None` if they were not.
    pub compared_by: Option<ComparedBy>,
}

/// Scores one iteration; `None` if nothing of it is known.
pub fn progress(evidence: &Evidence<'_>, settings: &Settings) -> Option<ProgressScore> {
    let difference = evidence.current.and_then(|current| difference(evidence, current, settings));
    let risen =
        |previous: &str, current: &str| if checked_items(current) > checked_items(previous) { 1.0 } else { 0.0 };
    let before = if evidence.is_first { Some("") } else { evidence.previous };
    let values = [
        (SignalName::OutputDiff, difference.map(|(value, _)| value)),
        (SignalName::FileChanges, evidence.changed_lines.map(|lines| (real(lines) / FULL_CHANGE).min(1.0))),
        (SignalName::Markers, evidence.current.map(|current| (0.5 * real(markers(current))).min(1.0))),
        (SignalName::Checklist, before.zip(evidence.current).map(|(previous, current)| risen(previous, current))),
    ];
    let signals = weighted(&values);
    if signals.is_empty() && !evidence.is_first {
        return None;
    }
    let score = if evidence.is_first { 1.0 } else { signals.iter().map(|signal| signal.weight * signal.value).sum() };
    let compared_by = difference.and_then(|(_, by)| by);
    Some(ProgressScore { score, is_first: evidence.is_first, signals, compared_by })
}

/// The signals that are known, with the weights of the others given to them in proportion.
fn weighted(values: &[(SignalName, Option<f64>)]) -> Vec<Signal> {
    let all: f64 = values.iter().filter(|(_, value)| value.is_some()).map(|(name, _)| name.weight()).sum();
    let signal = |(name, value): &(SignalName, Option<f64>)| {
        value.map(|value| Signal { name: *name, value, weight: name.weight() / all })
    };
    values.iter().filter_map(signal).collect()
}

fn real(count: u64) -> f64 {
    Quantity::from(count).as_f64()
}

/// How new the output is; `None` if the one before is not known.
fn difference(evidence: &Evidence<'_>, current: &str, settings: &Settings) -> Option<(f64, Option<ComparedBy>)> {
    if current.trim().is_empty() {
        return Some((0.0, None));
    }
    if evidence.is_first {
        return Some((1.0, None));
    }
    let previous = evidence.previous?;
    if previous.trim().is_empty() {
        return Some((1.0, None));
    }
    let (ratio, by) = similarity(previous, current, settings);
    Some((1.0 - ratio, Some(by)))
}

/// How alike two outputs are, 0–1, in time that grows no faster than their length beyond a fixed amount of work.
pub fn similarity(previous: &str, current: &str, settings: &Settings) -> (f64, ComparedBy) {
    similarity_within(BUDGET, previous, current, settings)
}

fn similarity_within(budget: u64, previous: &str, current: &str, settings: &Settings) -> (f64, ComparedBy) {
    let points = |text: &str| normalized(text, settings.mask_volatile).chars().collect::<Vec<char>>();
    let (a, b) = (points(previous), points(current));
    if usize::try_from(settings.max_codepoints).is_ok_and(|most| a.len().max(b.len()) <= most)
        && let Some(ratio) = ratio(&a, &b, settings.autojunk, budget)
    {
        return (ratio, ComparedBy::CodePoints);
    }
    let lines = |text: &str| normalized_lines(text, settings.mask_volatile);
    compare_lines(budget, &lines(previous), &lines(current), settings)
}

fn compare_lines(budget: u64, a: &[String], b: &[String], settings: &Settings) -> (f64, ComparedBy) {
    // Lines become numbers, so that comparing two of them costs the same however long they are.
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for line in a.iter().chain(b) {
        let next = numbers.len();
        numbers.entry(line).or_insert(next);
    }
    let numbered = |lines: &[String]| -> Vec<Option<usize>> {
        lines.iter().map(|line| numbers.get(line.as_str()).copied()).collect()
    };
    let (a, b) = (numbered(a), numbered(b));
    match ratio(&a, &b, settings.autojunk, budget) {
        Some(ratio) => (ratio, ComparedBy::Lines),
        None => (ratio_of_bags(&a, &b), ComparedBy::BagOfLines),
    }
}

impl ProgressScore {
    /// Strictly below the threshold; never for the first.
    pub fn is_none(&self, settings: &Settings) -> bool {
        !self.is_first && self.score < settings.threshold - EPS
    }

    /// Above it by words alone: any other text scores 0.30.
    pub fn is_talk_only(&self, settings: &Settings) -> bool {
        let silent = |signal: &Signal| signal.name == SignalName::OutputDiff || signal.value == 0.0;
        // Without a count of changed lines, nothing says that none changed.
        let is_counted = self.signals.iter().any(|signal| signal.name == SignalName::FileChanges);
        !self.is_first && !self.is_none(settings) && is_counted && self.signals.iter().all(silent)
    }

    /// Whether the output is in it. By changed lines alone a fix of fourteen would be no progress, so that such a score
    /// says nothing of a loop being stuck.
    fn has_output(&self) -> bool {
        self.signals.iter().any(|signal| signal.name != SignalName::FileChanges)
    }
}

/// How a loop stands by its scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streak {
    /// Iterations without progress in a row, those that only talked passed over.
    pub without_progress: u32,
    /// Iterations in a row at the end that only talked.
    pub talk_only: u32,
    /// Either is too many.
    pub is_stuck: bool,
}

impl Streak {
    /// After one more score. One without the output leaves everything as it is.
    pub fn after(self, score: &ProgressScore, settings: &Settings) -> Streak {
        let mut next = match (score.has_output() || score.is_first, score.is_none(settings)) {
            (false, _) => self,
            (true, true) => Streak { without_progress: self.without_progress + 1, talk_only: 0, ..self },
            (true, false) if score.is_talk_only(settings) => Streak { talk_only: self.talk_only + 1, ..self },
            (true, false) => Streak::default(),
        };
        next.is_stuck = next.without_progress >= settings.stuck_after || next.talk_only >= settings.talk_only_after;
        next
    }
}

/// The score of an iteration as it is recorded, after what the latest one before it recorded.
pub fn recorded(score: ProgressScore, before: Option<&Progress>, settings: &Settings) -> Option<Progress> {
    let stood = before.map_or(Streak::default(), |before| Streak {
        without_progress: before.no_progress_count,
        talk_only: before.talk_only_count,
        is_stuck: before.is_stuck,
    });
    let stands = stood.after(&score, settings);
    Some(Progress {
        score: Score::new(score.score)?,
        is_first: score.is_first,
        no_progress: score.has_output() && score.is_none(settings),
        talk_only: score.is_talk_only(settings),
        no_progress_count: stands.without_progress,
        talk_only_count: stands.talk_only,
        is_stuck: stands.is_stuck,
        compared_by: score.compared_by,
        signals: score.signals,
    })
}

#[cfg(test)]
mod tests;
