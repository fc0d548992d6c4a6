//! The progress estimate of S001 (ANALYSIS §9): how much of the goal is reached, and whether that moves.
//!
//! An estimator outside is asked by the caller; here its answer is read, the heuristic and the fallback stand in, and the
//! last estimates are compared.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::model::config::Estimate as Settings;
use crate::model::progress::{EstimateMark, EstimatePrompt, EstimateSource, Estimator, ProgressEstimate};
use crate::model::units::{EPS, Percent};

/// Characters of an answer that are looked at: 500 tokens are a hundredth of it.
const ANSWER_LIMIT: usize = 1 << 18;

/// Braces that are tried: an answer with so many that open no object holds none.
const TRIES: usize = 256;

/// What an estimator answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// 0–100, clamped.
    pub progress_percent: Percent,
    /// Why.
    pub reasoning: String,
    /// What has to happen next.
    pub next_milestone: String,
    /// What stands in the way.
    pub blockers: Vec<String>,
    /// What else it said.
    pub extra: BTreeMap<String, Value>,
}

impl Answer {
    /// A bare percentage, clamped; `None` of what is no number.
    pub fn of_percent(percent: f64) -> Option<Answer> {
        let progress_percent = Percent::new(percent.clamp(0.0, 100.0))?;
        let (reasoning, next_milestone) = (String::new(), String::new());
        Some(Answer { progress_percent, reasoning, next_milestone, blockers: Vec::new(), extra: BTreeMap::new() })
    }

    /// The answer as it is recorded, before it is compared with those before it.
    pub fn made_by(self, by: Estimator) -> ProgressEstimate {
        ProgressEstimate {
            progress_percent: self.progress_percent,
            reasoning: self.reasoning,
            next_milestone: self.next_milestone,
            blockers: self.blockers,
            is_stuck: None,
            source: EstimateSource::External,
            by: Some(by),
            extra: self.extra,
        }
    }
}

/// Reads what an estimator said: the first balanced JSON object, whatever stands around it. Keys as S001 writes them
/// (`progressPercent`) or as we do (`progress_percent`); others are kept. `None` if there is no object, or no percentage
/// in it.
pub fn read_answer(text: &str) -> Option<Answer> {
    let object = first_object(&text.chars().take(ANSWER_LIMIT).collect::<String>())?;
    let mut extra: BTreeMap<String, Value> = object.into_iter().collect();
    let mut take = |ours: &str, theirs: &str| {
        let other = extra.remove(theirs);
        extra.remove(ours).or(other)
    };
    let percent = match take("progress_percent", "progressPercent")? {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().trim_end_matches('%').trim_end().parse().ok()?,
        _ => return None,
    };
    let reasoning = take("reasoning", "reasoning").map(worded).unwrap_or_default();
    let next_milestone = take("next_milestone", "nextMilestone").map(worded).unwrap_or_default();
    let blockers = match take("blockers", "blockers") {
        Some(Value::Array(all)) => all.into_iter().map(worded).collect(),
        None | Some(Value::Null) => Vec::new(),
        Some(one) => vec![worded(one)],
    };
    // It is worked out here, from this estimate and those before it.
    take("is_stuck", "isStuck");
    Some(Answer { reasoning, next_milestone, blockers, extra, ..Answer::of_percent(percent)? })
}

/// Text as it is, nothing of null, and anything else as JSON.
fn worded(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The first place from which on the text is a whole JSON object.
fn first_object(text: &str) -> Option<Map<String, Value>> {
    text.match_indices('{').take(TRIES).find_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(text.get(at..)?).into_iter::<Map<String, Value>>();
        values.next()?.ok()
    })
}

/// What the heuristic goes by; unknown terms take no part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// Share of the tests that pass, 0–1.
    pub passing: Option<f64>,
    /// Share of the list items that are checked, 0–1.
    pub checked: Option<f64>,
    /// The quality score, 0–1.
    pub quality: Option<f64>,
}

/// `100·(.60·passing + .25·checked + .15·quality)` over the terms that are known, the weights renormalised; `None` if none
/// is.
pub fn heuristic(terms: &Terms) -> Option<Percent> {
    let weighted = [(0.60, terms.passing), (0.25, terms.checked), (0.15, terms.quality)];
    let known = || weighted.iter().filter_map(|(weight, value)| Some((*weight, (*value)?)));
    let all: f64 = known().map(|(weight, _)| weight).sum();
    if all == 0.0 {
        return None;
    }
    Percent::new(100.0 * known().map(|(weight, value)| weight * value).sum::<f64>() / all)
}

/// The estimate without an answer from outside: the heuristic, else half if the step succeeded and nothing if not.
pub fn stand_in(terms: &Terms, has_succeeded: bool) -> ProgressEstimate {
    let (progress_percent, source) = match heuristic(terms) {
        Some(percent) => (percent, EstimateSource::Heuristic),
        None if has_succeeded => (Percent::HALF, EstimateSource::Fallback),
        None => (Percent::ZERO, EstimateSource::Fallback),
    };
    ProgressEstimate {
        progress_percent,
        reasoning: String::new(),
        next_milestone: String::new(),
        blockers: Vec::new(),
        is_stuck: None,
        source,
        by: None,
        extra: BTreeMap::new(),
    }
}

/// Whether the last of these estimates, in order, hardly differ. Fewer than the window are not stuck, and neither is 100 %.
/// `None` if all of the window are fallbacks: three failed estimators say nothing of the loop.
pub fn is_stuck(estimates: &[EstimateMark], settings: &Settings) -> Option<bool> {
    let Some(window) = window(estimates, settings) else { return Some(false) };
    if window.iter().all(|mark| mark.source == EstimateSource::Fallback) {
        return None;
    }
    let percents = || window.iter().map(|mark| mark.progress_percent.get());
    let spread = percents().fold(f64::MIN, f64::max) - percents().fold(f64::MAX, f64::min);
    let is_done = window.last().is_some_and(|last| last.progress_percent.get() >= 100.0 - EPS);
    Some(!is_done && spread < settings.min_spread - EPS)
}

/// The last `estimate.window` of them; `None` if there are fewer.
fn window<'m>(estimates: &'m [EstimateMark], settings: &Settings) -> Option<&'m [EstimateMark]> {
    let size = usize::try_from(settings.window).ok()?;
    estimates.get(estimates.len().checked_sub(size)?..)
}

/// The prompt in words, for a model.
pub fn prompt_text(prompt: &EstimatePrompt) -> String {
    let facts: Vec<String> = prompt.known_facts.iter().map(|fact| format!("- {fact}")).collect();
    format!(
        "Task Goal: {}\nCompleted Steps: {}\nLatest Action: {}\nLatest Outcome: {}\n\nKnown Facts:\n{}\n\n\
         Estimate the progress toward the goal (0-100 %). Consider which part of it is achieved, what is still missing, and \
         how many steps remain.\n\n\
         Answer with one JSON object and nothing else: {{\"progress_percent\": number, \"reasoning\": string, \
         \"next_milestone\": string, \"blockers\": [string]}}",
        prompt.goal.as_deref().unwrap_or("(not told)"),
        prompt.completed_steps,
        prompt.latest_action.as_deref().unwrap_or("(not told)"),
        prompt.latest_outcome,
        if facts.is_empty() { "- none".to_owned() } else { facts.join("\n") },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(percents: &[f64], source: EstimateSource) -> Vec<EstimateMark> {
        let mark =
            |percent: &f64| EstimateMark { progress_percent: Percent::new(*percent).unwrap(), source, is_stuck: None };
        percents.iter().map(mark).collect()
    }

    fn stuck(percents: &[f64], source: EstimateSource) -> Option<bool> {
        is_stuck(&marks(percents, source), &crate::analysis::testing::config().estimate)
    }

    #[test]
    fn v16_three_estimates_that_hardly_differ_are_stuck() {
        use EstimateSource::{External, Fallback};
        assert_eq!(stuck(&[40.0, 42.0, 44.0], External), Some(true));
        assert_eq!(stuck(&[40.0, 42.0, 45.0], External), Some(false), "a spread of 5");
        assert_eq!(stuck(&[10.0, 40.0, 41.0, 43.0], External), Some(true));
        assert_eq!(stuck(&[50.0, 50.0, 50.0], Fallback), None);
        assert_eq!(stuck(&[95.0, 100.0, 100.0], External), Some(false));
        assert_eq!(stuck(&[40.0, 40.0], External), Some(false), "too few");
    }

    #[test]
    fn one_real_estimate_among_fallbacks_is_enough_to_tell() {
        let mut mixed = marks(&[50.0, 50.0], EstimateSource::Fallback);
        mixed.extend(marks(&[50.0], EstimateSource::Heuristic));
        assert_eq!(is_stuck(&mixed, &crate::analysis::testing::config().estimate), Some(true));
    }

    #[test]
    fn the_first_json_object_is_read_whatever_stands_around_it() {
        let percent = |text: &str| read_answer(text).map(|answer| answer.progress_percent.get());
        assert_eq!(percent("Sure! ```json\n{\"progressPercent\": 40}\n``` {\"progressPercent\": 90}"), Some(40.0));
        assert_eq!(percent("so {this} is {\"progress_percent\": \" 35 % \"}"), Some(35.0));
        assert_eq!(percent("{\"progress_percent\": 140}"), Some(100.0));
        assert_eq!(percent("{\"progress_percent\": -3}"), Some(0.0));
        for none in
            ["", "40", "[40]", "{}", "{\"progress_percent\": null}", "{\"progress_percent\": 4", "{\"p\":1e400}"]
        {
            assert_eq!(percent(none), None, "{none}");
        }
        assert_eq!(percent("{\"a\": {}} {\"progress_percent\": 40}"), None, "the first object counts, not the best");
        assert_eq!(percent(&"{".repeat(1 << 20)), None);
        assert_eq!(percent(&"{\"a\":".repeat(100_000)), None);
    }

    #[test]
    fn every_field_is_kept_and_unknown_ones_too() {
        let text = r#"{"progressPercent": 40, "reasoning": "half", "nextMilestone": null, "blockers": ["a", 1],
            "isStuck": true, "model": {"name": "x"}}"#;
        let answer = read_answer(text).unwrap();
        assert_eq!((answer.reasoning.as_str(), answer.next_milestone.as_str()), ("half", ""));
        assert_eq!(answer.blockers, ["a", "1"]);
        assert_eq!(answer.extra, [("model".to_owned(), serde_json::json!({"name": "x"}))].into());
    }

    #[test]
    fn the_heuristic_goes_by_what_is_known_and_the_fallback_by_success() {
        let all = Terms { passing: Some(0.5), checked: Some(1.0), quality: Some(0.8) };
        assert!((heuristic(&all).unwrap().get() - 67.0).abs() < 1e-9);
        let some = Terms { checked: None, ..all };
        assert!((heuristic(&some).unwrap().get() - 56.0).abs() < 1e-9, "(.30 + .12) / .75");
        let none = |has_succeeded| stand_in(&Terms::default(), has_succeeded);
        assert_eq!((none(true).progress_percent.get(), none(true).source), (50.0, EstimateSource::Fallback));
        assert_eq!(none(false).progress_percent.get(), 0.0);
        assert_eq!(stand_in(&some, false).source, EstimateSource::Heuristic);
    }
}
