//! What the monitor looks for.

use std::collections::BTreeSet;

use super::super::rule::mode;
use super::turn::{Recent, Turn};
use crate::model::calls::{CallKind, Issue, IssueMetadata, IssueType};
use crate::model::config::{LoopConfig, Monitor as Settings};
use crate::model::ids::escape;
use crate::model::units::{EPS, Quantity};
use crate::model::verdict::Severity;

/// Reads that returned what was seen before, from which a file is read in vain.
const NOTHING_NEW: u64 = 3;

/// Something that is the case after a line.
#[derive(Clone, Debug)]
pub struct Found {
    /// As it is told.
    pub issue: Issue,
    /// What it is about; two findings of one type and subject are one.
    pub subject: String,
    /// It is told again when this has doubled.
    pub count: u64,
}

/// Looks for one thing in what was counted.
pub struct CallDetector {
    /// What it finds; its name is the key under `rules` in the config.
    pub issue_type: IssueType,
    /// One line.
    pub about: &'static str,
    /// When it fires.
    pub formula: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The config keys that hold its thresholds.
    pub thresholds: &'static [&'static str],
    check: fn(&Turn, &Settings) -> Vec<Found>,
}

/// Every detector.
pub const DETECTORS: &[CallDetector] = &[
    CallDetector {
        issue_type: IssueType::ExactCycle,
        about: "the same call again and again, and nothing was edited",
        formula: "one tool with one set of arguments monitor.cycle times in the last monitor.window calls with no edit in \
                  between; calls that only wait: monitor.waits times",
        source: "S003; the edit and the waits: beyond the seeds",
        thresholds: &["monitor.cycle", "monitor.waits", "monitor.window"],
        check: exact_cycle,
    },
    CallDetector {
        issue_type: IssueType::RepeatedFile,
        about: "one file is read again and again",
        formula: "monitor.file_reads reads of one path; where hashes of results are known and monitor.refine is set, high \
                  only if 3 of them returned what was seen since the file was edited, else low",
        source: "S003; the hashes: beyond the seeds",
        thresholds: &["monitor.file_reads", "monitor.refine"],
        check: repeated_file,
    },
    CallDetector {
        issue_type: IssueType::SimilarCalls,
        about: "calls that hardly differ",
        formula: "monitor.similar_calls of the last monitor.window calls are of one tool with unequal arguments that share \
                  monitor.similarity of their words; reads are counted by file, edits are work, waits are none",
        source: "S003",
        thresholds: &["monitor.similar_calls", "monitor.similarity", "monitor.window"],
        check: similar_calls,
    },
    CallDetector {
        issue_type: IssueType::LowHitRate,
        about: "searches yield little",
        formula: "of the last monitor.searches searches, less than monitor.hit_rate found something",
        source: "S003",
        thresholds: &["monitor.searches", "monitor.hit_rate"],
        check: low_hit_rate,
    },
    CallDetector {
        issue_type: IssueType::ScopeCreep,
        about: "files in many directories are touched",
        formula: "more than monitor.directories first components of paths; medium, one fewer is low",
        source: "S003",
        thresholds: &["monitor.directories"],
        check: scope_creep,
    },
    CallDetector {
        issue_type: IssueType::EmptyStreak,
        about: "search after search without a result",
        formula: "monitor.empty_streak searches in a row found nothing; fewer are low; one that finds something ends it",
        source: "S003",
        thresholds: &["monitor.empty_streak"],
        check: empty_streak,
    },
    CallDetector {
        issue_type: IssueType::NoEdit,
        about: "call after call without an edit",
        formula: "monitor.no_edit calls since the last edit",
        source: "beyond the seeds",
        thresholds: &["monitor.no_edit"],
        check: no_edit,
    },
];

/// All that is the case now, of the detectors that are not off.
pub fn detect_all(turn: &Turn, config: &LoopConfig) -> Vec<Found> {
    let mut found = Vec::new();
    for detector in DETECTORS {
        if let Some(observe_only) = mode(config, detector.issue_type.name()) {
            found.extend((detector.check)(turn, &config.monitor).into_iter().map(|mut one| {
                one.issue.observe_only = observe_only;
                one
            }));
        }
    }
    found
}

fn found(issue_type: IssueType, severity: Severity, message: &str, metadata: IssueMetadata) -> Found {
    let count = metadata.count.unwrap_or_default();
    let issue = Issue { issue_type, severity, message: message.to_owned(), observe_only: false, metadata };
    Found { issue, subject: String::new(), count }
}

fn counted(count: u64) -> IssueMetadata {
    IssueMetadata { count: Some(count), ..IssueMetadata::default() }
}

fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn exact_cycle(turn: &Turn, settings: &Settings) -> Vec<Found> {
    let Some(now) = turn.recent.back().filter(|_| turn.is_call) else { return Vec::new() };
    let is_same = |one: &&Recent| {
        one.call.tool == now.call.tool && one.call.args == now.call.args && one.edits_before == now.edits_before
    };
    let count = length(turn.recent.iter().filter(is_same).count());
    let threshold = if now.call.is_wait { settings.waits } else { settings.cycle };
    if count < threshold.into() {
        return Vec::new();
    }
    let message = format!(
        "You've made the same {} call {count} times with no edit in between. Consider a different approach.",
        escape(now.call.tool.as_bytes())
    );
    let cycle = found(IssueType::ExactCycle, Severity::High, &message, counted(count));
    vec![Found { subject: format!("{} {}", now.call.tool, now.call.args), ..cycle }]
}

fn repeated_file(turn: &Turn, settings: &Settings) -> Vec<Found> {
    let mut all = Vec::new();
    for path in turn.touched.iter().collect::<BTreeSet<_>>() {
        let Some(reads) = turn.reads.get(path).filter(|reads| reads.count >= settings.file_reads.into()) else {
            continue;
        };
        let is_refined = settings.refine && reads.seen.is_some();
        let severity = if is_refined && reads.nothing_new < NOTHING_NEW { Severity::Low } else { Severity::High };
        let message = format!(
            "You've read {} {} times. Consider if you already have the information you need.",
            escape(path.as_bytes()),
            reads.count
        );
        let metadata = IssueMetadata {
            file_path: Some(path.clone()),
            seen_before: reads.seen.as_ref().map(|_| reads.nothing_new),
            ..counted(reads.count)
        };
        all.push(Found { subject: path.clone(), ..found(IssueType::RepeatedFile, severity, &message, metadata) });
    }
    all
}

fn similar_calls(turn: &Turn, settings: &Settings) -> Vec<Found> {
    let Some(now) = turn.recent.back().map(|now| &now.call).filter(|_| turn.is_call) else { return Vec::new() };
    if matches!(now.kind, CallKind::Read | CallKind::Edit) || now.is_wait {
        return Vec::new();
    }
    let others = turn.recent.iter().map(|one| &one.call).filter(|one| {
        one.tool == now.tool && one.args != now.args && similarity(&one.words, &now.words) >= settings.similarity
    });
    let others: BTreeSet<&str> = others.map(|one| one.args.as_str()).collect();
    let count = length(others.len()) + 1;
    if count < settings.similar_calls.into() {
        return Vec::new();
    }
    let message = "You're making similar searches repeatedly. Consider refining your approach.";
    let similar = found(IssueType::SimilarCalls, Severity::Medium, message, counted(count));
    vec![Found { subject: now.tool.clone(), ..similar }]
}

/// Words in both over words in either (Jaccard); nothing is similar to no words.
fn similarity(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let both = a.intersection(b).count();
    let either = a.len() + b.len() - both;
    if either == 0 { 0.0 } else { real(both) / real(either) }
}

fn real(count: usize) -> f64 {
    Quantity::from(length(count)).as_f64()
}

fn low_hit_rate(turn: &Turn, settings: &Settings) -> Vec<Found> {
    if length(turn.hits.len()) < settings.searches.into() {
        return Vec::new();
    }
    let hit_rate = real(turn.hits.iter().filter(|hit| **hit).count()) / real(turn.hits.len());
    if hit_rate >= settings.hit_rate - EPS {
        return Vec::new();
    }
    let message = "Recent searches yielding few results. Consider different search terms.";
    let metadata = IssueMetadata { hit_rate: Some(hit_rate), ..counted(turn.searches.total_searches) };
    vec![found(IssueType::LowHitRate, Severity::Medium, message, metadata)]
}

fn scope_creep(turn: &Turn, settings: &Settings) -> Vec<Found> {
    let count = length(turn.directories.len());
    let most = u64::from(settings.directories);
    if count + 1 < most {
        return Vec::new();
    }
    let severity = if count > most { Severity::Medium } else { Severity::Low };
    let message = "Exploring many areas. Consider focusing on most relevant parts.";
    let metadata = IssueMetadata { dir_count: Some(count), ..counted(count) };
    vec![found(IssueType::ScopeCreep, severity, message, metadata)]
}

fn empty_streak(turn: &Turn, settings: &Settings) -> Vec<Found> {
    let count = turn.searches.consecutive_empty;
    if count == 0 {
        return Vec::new();
    }
    let severity = if count >= settings.empty_streak.into() { Severity::High } else { Severity::Low };
    let message = "Multiple searches with no results. Try different search strategy.";
    vec![found(IssueType::EmptyStreak, severity, message, counted(count))]
}

fn no_edit(turn: &Turn, settings: &Settings) -> Vec<Found> {
    if turn.without_edit < settings.no_edit.into() {
        return Vec::new();
    }
    let message = format!("No edit in the last {} calls. Consider acting on what you know.", turn.without_edit);
    vec![found(IssueType::NoEdit, Severity::Medium, &message, counted(turn.without_edit))]
}
