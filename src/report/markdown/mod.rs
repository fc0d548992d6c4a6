//! The three markdown reports: views of text for their templates.

mod iteration;
mod selection;
mod summary;

pub(super) use iteration::iteration;
pub(super) use selection::selection;
pub(super) use summary::summary;

use serde::Serialize;

use super::view::score;
use crate::model::trajectory::BestTracker;
use crate::model::verdict::OpenFinding;

/// An iteration and its score.
#[derive(Serialize)]
struct Scored {
    iteration: String,
    score: String,
}

impl Scored {
    fn of_best(best: &BestTracker) -> Option<Scored> {
        Some(Scored { iteration: best.iteration?.to_string(), score: score(best.quality_score) })
    }
}

#[derive(Serialize)]
struct OpenLine {
    rule: String,
    since: String,
    message: String,
    closes_when: String,
}

fn open_lines(findings: &[OpenFinding]) -> Vec<OpenLine> {
    let open = findings.iter().filter(|finding| finding.accepted.is_none());
    open.map(|finding| OpenLine {
        rule: finding.alert.rule.clone(),
        since: finding.since.to_string(),
        message: finding.alert.message.clone(),
        closes_when: finding.closes_when.clone(),
    })
    .collect()
}
