//! How much of the goal is reached: what an estimator is told, and who is asked.

use super::measure::Measured;
use super::work::unless_damaged;
use super::{Offer, Session};
use crate::analysis;
use crate::analysis::estimate::{Terms, stand_in};
use crate::error::Result;
use crate::model::SCHEMA_VERSION;
use crate::model::config::{Estimate, LoopConfig};
use crate::model::ids::Iteration;
use crate::model::metrics::TestMetrics;
use crate::model::progress::{EstimatePrompt, ProgressEstimate};
use crate::model::trajectory::Point;
use crate::store::{History, Store};

/// Asks the estimators that the config names. The folder is the work tree's root.
pub type Ask = fn(&std::path::Path, &Estimate, &EstimatePrompt) -> Answers;

/// What came of asking.
#[derive(Default)]
pub struct Answers {
    /// The first answer that could be read.
    pub estimate: Option<ProgressEstimate>,
    /// Why others gave none.
    pub notes: Vec<String>,
}

/// Earlier iterations that a prompt tells.
const FACTS: usize = 10;

/// Characters of the goal and of the agent's output in a prompt.
const TEXT_LIMIT: usize = 4000;

/// The estimate as far as it does not depend on the verdict: from outside, or something to stand in for it; `None` if the
/// loop has no goal and nobody is named who could estimate.
///
/// # Errors
/// If the agent's output cannot be read back, or the system says no.
pub(super) fn estimate(
    session: &Session<'_>,
    store: &Store,
    config: &LoopConfig,
    offer: &Offer,
    measured: &Measured,
    before: &History,
    notes: &mut Vec<String>,
) -> Result<Option<ProgressEstimate>> {
    if offer.estimate.is_some() {
        return Ok(offer.estimate.clone());
    }
    let goal = match before.head {
        Some(_) => unless_damaged(store.load(Iteration::BASELINE))?.and_then(|stored| stored.record.goal),
        None => offer.goal.clone(),
    };
    if goal.is_none() && !config.estimate.asks() {
        return Ok(None);
    }
    if let Some(ask) = offer.ask.filter(|_| config.estimate.asks()) {
        let said = measured.output_text()?;
        let prompt = prompt(store, offer, measured, said.as_deref(), goal, before, config);
        let asked = ask(session.layout.root(), &config.estimate, &prompt);
        notes.extend(asked.notes);
        if asked.estimate.is_some() {
            return Ok(asked.estimate);
        }
    }
    // Judging makes the heuristic of it.
    Ok(Some(stand_in(&Terms::default(), false)))
}

fn prompt(
    store: &Store,
    offer: &Offer,
    measured: &Measured,
    said: Option<&str>,
    goal: Option<String>,
    before: &History,
    config: &LoopConfig,
) -> EstimatePrompt {
    let points = &before.points;
    let best = analysis::best(points, config).iteration;
    let mut known_facts: Vec<String> = points.iter().rev().take(FACTS).map(fact).collect();
    known_facts.reverse();
    known_facts.extend(best.map(|best| format!("the best iteration so far is {best}")));
    let end = |text: &str| {
        let surplus = text.chars().count().saturating_sub(TEXT_LIMIT);
        text.chars().skip(surplus).collect::<String>()
    };
    EstimatePrompt {
        schema_version: SCHEMA_VERSION,
        loop_id: store.id().clone(),
        iteration: before.next(),
        goal: goal.map(|goal| goal.chars().take(TEXT_LIMIT).collect()),
        completed_steps: before.next().0.saturating_sub(1),
        latest_action: said.map(end).or_else(|| offer.label.clone()),
        latest_outcome: outcome(offer, measured),
        known_facts,
    }
}

/// What was measured just now.
fn outcome(offer: &Offer, measured: &Measured) -> String {
    let measurement = &measured.measurement;
    let mut parts: Vec<String> = measurement.testing.iter().map(tests).collect();
    parts.extend(measurement.coverage.iter().map(|coverage| format!("coverage {} %", coverage.percentage)));
    let errors = measurement.quality.as_ref().and_then(|quality| quality.error_count);
    parts.extend(errors.map(|errors| format!("{errors} errors")));
    let exit_code = offer.command.as_ref().and_then(|command| command.exit_code);
    parts.extend(exit_code.map(|code| format!("the test command ended with exit code {code}")));
    if parts.is_empty() { "nothing was measured".to_owned() } else { parts.join(", ") }
}

fn tests(tests: &TestMetrics) -> String {
    match (tests.tests_passed, tests.test_count) {
        (Some(passed), Some(all)) => format!("{passed} of {all} tests pass"),
        _ => format!("no test could be run, {} units did not load", tests.collection_errors),
    }
}

/// What an earlier iteration came to.
fn fact(point: &Point) -> String {
    let class = point.classification.map_or("not judged", |class| class.name());
    let score = point.score().map(|score| format!(", quality score {score}")).unwrap_or_default();
    let tests = point.metrics.testing.as_ref().map(|found| format!(", {}", tests(found))).unwrap_or_default();
    format!("iteration {}: {class}{score}{tests}", point.iteration)
}
