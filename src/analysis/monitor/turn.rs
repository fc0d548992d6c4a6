//! What was counted since the user's last turn. Bounded by the files, directories and unanswered calls of one turn.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::call::Call;
use super::reads::AllReads;
use crate::model::calls::{CallKind, CallMetrics, CallResult, RecentCall, SearchMetrics};
use crate::model::config::Monitor as Settings;

/// A call among the last ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recent {
    /// The call.
    pub call: Call,
    /// Edits of this turn before it: two calls with one number have no edit in between.
    pub edits_before: u64,
}

/// What was counted since the user's last turn.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Turn {
    /// Calls.
    pub calls: u64,
    /// Calls since the last edit.
    pub without_edit: u64,
    /// The last calls, the newest last.
    pub recent: VecDeque<Recent>,
    /// By path.
    pub reads: AllReads,
    /// Whether the last searches found something, the newest last.
    pub hits: VecDeque<bool>,
    /// Searches whose result is known.
    pub searches: SearchMetrics,
    /// First components of paths.
    pub directories: BTreeSet<String>,
    /// Files that the last line was about.
    pub touched: Vec<String>,
    /// The last line was a call, not the result of one.
    pub is_call: bool,
    edits: u64,
    /// Calls whose result may still come.
    unanswered: BTreeMap<String, (CallKind, Vec<String>)>,
}

impl Turn {
    /// Counts a call.
    pub fn call(&mut self, call: Call, settings: &Settings) {
        self.is_call = true;
        self.calls += 1;
        self.directories.extend(call.directories.iter().cloned());
        self.touched.clone_from(&call.paths);
        if call.kind == CallKind::Read {
            for path in &call.paths {
                self.reads.of(path).count += 1;
            }
        }
        let edits_before = self.edits;
        // An edit that is known to have failed has changed nothing.
        let has_failed = call.result.as_ref().is_some_and(|result| result.ok == Some(false));
        if call.kind == CallKind::Edit && !has_failed {
            self.edited(&call.paths);
        } else {
            self.without_edit += 1;
        }
        match (&call.result, &call.id) {
            (Some(result), _) => self.came_to(call.kind, &call.paths, result, settings),
            (None, Some(id)) => {
                self.unanswered.insert(id.clone(), (call.kind, call.paths.clone()));
            }
            (None, None) => {}
        }
        self.recent.push_back(Recent { call, edits_before });
        keep(&mut self.recent, settings.window);
    }

    /// Counts what came of an earlier call; one of an earlier turn, or one that is answered already, is passed over.
    pub fn result(&mut self, id: &str, result: &CallResult, settings: &Settings) {
        self.is_call = false;
        self.touched.clear();
        if let Some((kind, paths)) = self.unanswered.remove(id) {
            self.came_to(kind, &paths, result, settings);
            self.touched = paths;
        }
    }

    fn edited(&mut self, paths: &[String]) {
        self.edits += 1;
        self.without_edit = 0;
        for path in paths {
            if self.reads.get(path).is_some() {
                self.reads.of(path).edited();
            }
        }
    }

    fn came_to(&mut self, kind: CallKind, paths: &[String], result: &CallResult, settings: &Settings) {
        match kind {
            CallKind::Read => {
                // Of several files in one result, none can be told apart.
                if let ([path], Some(hash)) = (paths, &result.hash) {
                    self.reads.of(path).returned(hash);
                }
            }
            CallKind::Search => {
                if let Some(is_hit) = result.is_hit() {
                    self.searches.total_searches += 1;
                    self.searches.empty_results += u64::from(!is_hit);
                    self.searches.consecutive_empty = if is_hit { 0 } else { self.searches.consecutive_empty + 1 };
                    self.hits.push_back(is_hit);
                    keep(&mut self.hits, settings.searches);
                }
            }
            CallKind::Edit | CallKind::Run | CallKind::Other => {}
        }
    }

    /// For whoever asks.
    pub fn metrics(&self) -> CallMetrics {
        let recent = |recent: &Recent| RecentCall {
            id: recent.call.id.clone(),
            tool: recent.call.tool.clone(),
            kind: recent.call.kind,
            args: recent.call.args.clone(),
        };
        CallMetrics {
            calls: self.calls,
            file_access_count: self.reads.counts(),
            search_metrics: self.searches.clone(),
            unique_top_level_dirs: self.directories.clone(),
            recent_calls: self.recent.iter().map(recent).collect(),
        }
    }
}

/// Drops the oldest until no more than `most` are left.
fn keep<T>(items: &mut VecDeque<T>, most: u32) {
    let surplus = items.len().saturating_sub(usize::try_from(most).unwrap_or(usize::MAX));
    items.drain(..surplus);
}
