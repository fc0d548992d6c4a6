//! What of the findings is news, and what of the news the agent is told (S003, "Severity-Based Intervention").

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::detectors::Found;
use crate::model::calls::{Issue, IssueType};
use crate::model::verdict::Severity;

/// Different kinds of medium findings that together are told.
const MEDIUMS: usize = 2;

/// What was told in this turn.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Told {
    /// By type and subject: the count and severity at which it was told last.
    last: BTreeMap<IssueType, BTreeMap<String, (u64, Severity)>>,
    /// Medium findings of this turn: the last message of each type.
    mediums: BTreeMap<IssueType, String>,
}

impl Told {
    /// Of all that is the case, what was not told yet, has doubled or got more severe; and what the agent is told of it:
    /// what is high, and what is medium if another kind of medium was found in this turn.
    pub fn news(&mut self, found: Vec<Found>, id: Option<&str>) -> (Vec<Issue>, Vec<String>) {
        // A streak that ended may begin anew.
        self.last
            .retain(|kind, _| *kind != IssueType::EmptyStreak || found.iter().any(|one| one.issue.issue_type == *kind));
        let mut issues = Vec::new();
        for Found { mut issue, subject, count } in found {
            let told = self.last.entry(issue.issue_type).or_default();
            let is_news = told
                .get(&subject)
                .is_none_or(|(told, severity)| count >= told.saturating_mul(2) || issue.severity > *severity);
            if is_news {
                told.insert(subject, (count, issue.severity));
                issue.metadata.tool_call_id = id.map(str::to_owned);
                issues.push(issue);
            }
        }
        let inject = self.inject(&issues);
        (issues, inject)
    }

    fn inject(&mut self, issues: &[Issue]) -> Vec<String> {
        let counted = || issues.iter().filter(|issue| !issue.observe_only);
        let of = |severity| counted().filter(move |issue| issue.severity == severity);
        let mut messages: Vec<String> = of(Severity::High).map(|issue| issue.message.clone()).collect();
        self.mediums.extend(of(Severity::Medium).map(|issue| (issue.issue_type, issue.message.clone())));
        if of(Severity::Medium).next().is_some() && self.mediums.len() >= MEDIUMS {
            messages.extend(self.mediums.values().cloned());
        }
        messages
    }
}
