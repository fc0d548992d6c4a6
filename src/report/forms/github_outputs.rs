//! `github-outputs`: an iteration's verdict as lines for `$GITHUB_OUTPUT`, so that later steps can ask for it.

use super::{Form, OneIteration, Write};
use crate::error::Result;
use crate::report::for_agent;
use crate::report::view::plain;

/// Outputs of a step.
pub(super) const FORM: Form = Form {
    name: "github-outputs",
    about: "one iteration's verdict as NAME=VALUE lines, for $GITHUB_OUTPUT; what is unknown is empty",
    write: Write::Iteration(outputs),
};

fn outputs(one: &OneIteration<'_>) -> Result<String> {
    let record = one.record;
    let recommendation = &record.recommendation;
    let shown = |value: Option<String>| value.unwrap_or_default();
    let fields = [
        ("loop", record.loop_id.to_string()),
        ("iteration", record.iteration.to_string()),
        ("classification", shown(record.classification.map(|class| class.name().to_owned()))),
        ("quality-score", shown(record.quality_score.as_ref().map(|score| score.total.to_string()))),
        ("alerts", record.alerts.iter().filter(|alert| alert.counts()).count().to_string()),
        ("recommendation", recommendation.action.name().to_owned()),
        ("target", shown(recommendation.target.map(|target| target.to_string()))),
        ("measured", (!recommendation.is_unmeasured()).to_string()),
        ("reason", recommendation.reason.clone()),
        ("best", shown(one.best.iteration.map(|best| best.to_string()))),
        ("best-score", shown(one.best.quality_score.map(|score| score.to_string()))),
        ("for-agent", for_agent(record, one.best)),
    ];
    // One line each: no value can hold a line break, so none can set another output.
    Ok(fields.into_iter().map(|(name, value)| format!("{name}={}\n", plain(&value))).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Sample;
    use super::*;
    use crate::model::ids::Iteration;
    use crate::model::verdict::Severity;

    #[test]
    fn every_output_is_one_line_and_unknown_is_empty() {
        let mut sample = Sample::new();
        sample.alert("known_rule", Severity::High, None);
        sample.record.recommendation.target = Some(Iteration(2));
        sample.record.recommendation.reason = "one\nfake=1\r\n::error::x\u{2028}".to_owned();
        let text = outputs(&sample.one()).unwrap();
        let names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        assert_eq!(
            names,
            [
                "loop",
                "iteration",
                "classification",
                "quality-score",
                "alerts",
                "recommendation",
                "target",
                "measured",
                "reason",
                "best",
                "best-score",
                "for-agent"
            ]
        );
        for line in ["iteration=3", "quality-score=", "alerts=1", "target=2", "best=", "recommendation=continue"] {
            assert!(text.lines().any(|one| one == line), "{line}: {text}");
        }
    }
}
