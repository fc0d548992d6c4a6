//! An iteration's calls → what they add up to, and what of the monitor's findings people are told.

use std::collections::BTreeMap;

use super::Monitor;
use crate::model::activity::Activity;
use crate::model::calls::{CallKind, CallLine, Event, Issue, IssueType};
use crate::model::config::LoopConfig;
use crate::model::ids::Iteration;
use crate::model::units::Quantity;
use crate::model::verdict::{Alert, Severity, Status};

/// Files that are kept with how often they were read.
const FILES: usize = 100;

/// What these transcripts add up to: calls as [`super::settled`] leaves them. Each begins as a new turn.
pub fn activity(transcripts: &[Vec<CallLine>], config: &LoopConfig) -> Activity {
    let mut all = Activity::default();
    let mut files: BTreeMap<String, u64> = BTreeMap::new();
    let mut issues: BTreeMap<(IssueType, Option<String>), Issue> = BTreeMap::new();
    for lines in transcripts {
        let mut monitor = Monitor::new(None);
        for line in lines {
            if line.event == Event::NewTurn {
                end_of_turn(&monitor, &mut all);
            }
            // What is no call was not kept.
            let Ok(watched) = monitor.take(line.clone(), config) else { continue };
            for issue in watched.issues {
                let about = (issue.issue_type, issue.metadata.file_path.clone());
                let known = issues.entry(about).or_insert_with(|| issue.clone());
                if (issue.severity, issue.metadata.count) >= (known.severity, known.metadata.count) {
                    *known = issue;
                }
            }
            all.longest_empty_streak = all.longest_empty_streak.max(monitor.turn.searches.consecutive_empty);
            if let (Event::Call, Some(now)) = (line.event, monitor.turn.recent.back()) {
                all.tool_calls += 1;
                match now.call.kind {
                    CallKind::Read => {
                        all.reads += 1;
                        now.call.paths.iter().for_each(|path| *files.entry(path.clone()).or_default() += 1);
                    }
                    CallKind::Search => all.searches += 1,
                    CallKind::Edit => all.edits += 1,
                    CallKind::Run => all.runs += 1,
                    CallKind::Other => {}
                }
            }
        }
        end_of_turn(&monitor, &mut all);
    }
    let mut most_read: Vec<(String, u64)> = files.into_iter().collect();
    most_read.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.files_read = most_read.into_iter().take(FILES).collect();
    all.issues = issues.into_values().collect();
    all
}

/// Takes over what the turn counted.
fn end_of_turn(monitor: &Monitor, all: &mut Activity) {
    all.empty_searches += monitor.turn.searches.empty_results;
    all.top_level_dirs.extend(monitor.turn.directories.iter().cloned());
}

/// The findings that are more than noted, as alerts. They say how the agent works, nothing for or against what it made: their
/// reliability is 0, so that they move neither an action nor its confidence.
pub fn alerts(activity: &Activity, iteration: Iteration) -> Vec<Alert> {
    let told = activity.issues.iter().filter(|issue| issue.severity > Severity::Low);
    told.map(|issue| {
        let metadata = &issue.metadata;
        let call = metadata.tool_call_id.iter().map(|id| format!("found at call {id}"));
        let seen =
            metadata.seen_before.iter().map(|times| format!("{times} of the reads returned what was seen before"));
        let rate = metadata.hit_rate.iter().map(|rate| format!("hit rate {rate:.2}"));
        Alert {
            rule: issue.issue_type.name().to_owned(),
            subject: metadata.file_path.clone(),
            others: Vec::new(),
            severity: issue.severity,
            status: Status::Observed,
            message: issue.message.clone(),
            previous: None,
            current: metadata.count.map(Quantity::from),
            threshold: None,
            evidence: seen.chain(rate).chain(call).collect(),
            seed_severity: None,
            reliability: 0.0,
            observe_only: issue.observe_only,
            iteration,
        }
    })
    .collect()
}
