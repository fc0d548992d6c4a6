//! A record's verdict, from what the record holds beside it and the history. Recording and replaying judge here, so that a
//! stored loop judged again gives the same bytes.

use std::collections::BTreeMap;

use super::evidence::{named_ancestor, same_tree};
use super::work::{Said, calls};
use crate::analysis::{self, Current, Work};
use crate::disk::hash::id_of;
use crate::error::Result;
use crate::model::cases::TestCases;
use crate::model::config::LoopConfig;
use crate::model::progress::{EstimateSource, LineChanges};
use crate::model::record::IterationRecord;
use crate::model::trajectory::Point;
use crate::snapshot::objects::Objects;
use crate::store::Store;

/// The record with its verdict made anew. What was measured, captured and said stays as it is.
///
/// # Errors
/// If stored test outcomes that are needed, or what the agent said, cannot be read.
pub(super) fn judged_again(
    record: IterationRecord,
    cases: Option<&TestCases>,
    history: &[Point],
    config: &LoopConfig,
    objects: &Objects,
    store: &Store,
) -> Result<IterationRecord> {
    // Without a side to compare with, nothing is read: names are an addition to the counts.
    let before = match cases {
        Some(_) => named_ancestor(objects, history, record.parent)?.map(|(_, cases)| cases),
        None => None,
    };
    judged(record, before.as_ref(), cases, history, config, objects, store)
}

/// The same, with the test outcomes before and now at hand.
///
/// # Errors
/// As [`judged_again`].
pub(super) fn judged(
    record: IterationRecord,
    previous_cases: Option<&TestCases>,
    cases: Option<&TestCases>,
    history: &[Point],
    config: &LoopConfig,
    objects: &Objects,
    store: &Store,
) -> Result<IterationRecord> {
    let said = Said::of(store, &record, history)?;
    let calls = calls(store, &record)?;
    let same_tree = match (previous_cases, cases) {
        (Some(before), Some(now)) => {
            let tests = analysis::id_diff(before, now).newly_failing;
            same_tree(objects, history, Some(record.tree_key), &record.reruns, &tests)?
        }
        _ => BTreeMap::new(),
    };
    let verdict = analysis::assess(
        history,
        &Current {
            iteration: record.iteration,
            parent: record.parent,
            metrics: record.metrics.clone(),
            tree: record.tree,
            tree_key: record.tree_key,
            cases,
            previous_cases,
            same_bodies: &record.same_bodies,
            lost_sources: &record.lost_sources,
            test_edits: record.test_edits.as_ref(),
            proof: record.proof.as_ref(),
            lost_lines: record.lost_lines.as_ref(),
            same_tree: &same_tree,
            accepted: &record.accepted,
            label: record.label.as_deref(),
            cost: record.cost,
            tokens: record.tokens,
            work: Work {
                output: said.current.as_deref(),
                previous_output: said.previous.as_deref(),
                calls: calls.as_deref(),
                changed_lines: record.line_changes.map(LineChanges::all),
                estimate: record.estimate.as_ref().filter(|estimate| estimate.source == EstimateSource::External),
                is_estimated: record.estimate.is_some(),
                has_succeeded: record.command.as_ref().is_some_and(|command| command.exit_code == Some(0)),
            },
            digest: id_of,
        },
        config,
    );
    Ok(IterationRecord {
        metrics: verdict.metrics,
        quality_score: verdict.quality_score,
        acceptable: verdict.acceptable,
        from_previous: verdict.from_previous,
        from_baseline: verdict.from_baseline,
        classification: verdict.classification,
        base_class: verdict.base_class,
        class_rule: verdict.class_rule,
        progress: verdict.progress,
        activity: verdict.activity,
        estimate: verdict.estimate,
        terminal_status: verdict.terminal_status,
        alerts: verdict.alerts,
        open_findings: verdict.open_findings,
        recommendation: verdict.recommendation,
        ..record
    })
}

/// Stored test outcomes.
///
/// # Errors
/// If the object is missing or damaged.
pub(super) fn read_cases(objects: &Objects, id: &crate::model::ids::ObjectId) -> Result<TestCases> {
    crate::store::parse(&objects.read(id)?)
}
