//! Numbers become strings here, once: templates and screens do no arithmetic, and what is absent is shown as absent.

use chrono::{DateTime, SecondsFormat, Utc};

use crate::model::ids::escape;
use crate::model::metrics::{BuildStatus, Metrics, TestMetrics};
use crate::model::trajectory::BestTracker;
use crate::model::units::{Score, round_half_up};
use crate::model::verdict::{Action, Classification, NAMES_SHOWN, NamedTests, Recommendation};

/// What stands where nothing was measured. Never 0.
pub(super) const ABSENT: &str = "–";

/// Behind a change in percentage points.
pub(super) const POINTS: &str = " pp";

/// Text from outside, made harmless: control characters and those that reorder or hide text are escaped, a backslash
/// stays itself.
pub(super) fn plain(text: &str) -> String {
    escape(text.as_bytes()).replace("\\\\", "\\")
}

/// A value with `digits` decimals, or the sign for absent.
pub(super) fn fixed(value: Option<f64>, digits: u32) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |value| round_half_up(value, digits))
}

/// As [`fixed`], with its sign; what rounds to zero has none.
pub(super) fn signed(value: Option<f64>, digits: u32) -> String {
    let Some(value) = value else { return ABSENT.to_owned() };
    let text = round_half_up(value, digits);
    let is_zero = text.chars().all(|c| !c.is_ascii_digit() || c == '0');
    if is_zero || value < 0.0 { text } else { format!("+{text}") }
}

/// A number of unknown scale, as short as six digits allow: a metric of the user's own may be `0.9979`, and its change
/// `0.0014`, which two decimals would show as nothing.
pub(super) fn number(value: Option<f64>) -> String {
    let Some(value) = value else { return ABSENT.to_owned() };
    if value.abs() >= 1e15 {
        return format!("{value:e}");
    }
    let is_near = |text: &String| text.parse::<f64>().is_ok_and(|shown| (shown - value).abs() <= value.abs() * 5e-7);
    (0..=10).map(|digits| round_half_up(value, digits)).find(is_near).unwrap_or_else(|| {
        let six_digits = format!("{value:.5e}").parse().unwrap_or(value);
        format!("{six_digits:e}")
    })
}

/// US dollars: cents, but never a small sum as nothing.
pub(super) fn dollars(cost: Option<f64>) -> String {
    if cost.is_some_and(|cost| cost < 1.0) { number(cost) } else { fixed(cost, 2) }
}

/// As [`number`], with its sign.
pub(super) fn signed_number(value: Option<f64>) -> String {
    let text = number(value);
    if value.is_some_and(|value| value > 0.0) { format!("+{text}") } else { text }
}

/// Four decimals.
pub(super) fn score(score: Option<Score>) -> String {
    score.map_or_else(|| ABSENT.to_owned(), |score| score.to_string())
}

/// What made an iteration the best: its score, else the metric that chooses with its value.
pub(super) fn merit(best: &BestTracker) -> String {
    match &best.chosen_by {
        Some(chosen) => format!("{} {}", plain(&chosen.metric), number(Some(chosen.value))),
        None => score(best.quality_score),
    }
}

/// To the second, UTC.
pub(super) fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// `1 test`, `2 tests`, `no tests`.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    }
}

/// The length of a list as a count to show.
pub(super) fn length<T>(items: &[T]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

/// The class as a word; why there is none, if there is none.
pub(super) fn class_name(class: Option<Classification>, recommendation: &Recommendation) -> &'static str {
    match class {
        Some(class) => class.name(),
        None if recommendation.is_unmeasured() => "not measured",
        None => "not judged",
    }
}

/// The recommendation as a phrase: `roll back to iteration 3`.
pub(super) fn action_phrase(recommendation: &Recommendation) -> String {
    match (recommendation.action, recommendation.target) {
        (Action::Continue, _) => "continue".to_owned(),
        (Action::Stop, _) => "stop".to_owned(),
        (Action::Rollback, Some(target)) => format!("roll back to iteration {target}"),
        (Action::Rollback, None) => "roll back".to_owned(),
        (Action::Escalate, _) => "ask a person".to_owned(),
    }
}

/// Whether the project built, as a word; `None` if nobody knows.
pub(super) fn build_word(metrics: &Metrics) -> Option<&'static str> {
    metrics.build_status().map(|status| match status {
        BuildStatus::Success => "success",
        BuildStatus::Failed => "failed",
    })
}

/// `28/29`, or absent.
pub(super) fn passed_of_all(metrics: &Metrics) -> String {
    match metrics.tests_passed().zip(metrics.test_count()) {
        Some((passed, all)) => format!("{passed}/{all}"),
        None => ABSENT.to_owned(),
    }
}

/// The tests that fail, where reports name these and not those that pass.
pub(super) fn failing(metrics: &Metrics) -> Option<NamedTests> {
    let names = metrics.failing().to_vec();
    Some(NamedTests { count: metrics.failures()?, names }).filter(|tests| !tests.names.is_empty())
}

/// What could not be loaded, as named tests: the first twenty by name, as of other lists.
pub(super) fn failed_units(testing: Option<&TestMetrics>) -> Option<NamedTests> {
    let testing = testing?;
    let names = testing.failed_units.iter().take(NAMES_SHOWN).cloned().collect();
    Some(NamedTests { count: testing.collection_errors, names })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_shown_only_where_something_changed() {
        assert_eq!(signed(Some(3.0), 0), "+3");
        assert_eq!(signed(Some(-2.2222), 2), "-2.22");
        assert_eq!(signed(Some(0.0), 2), "0.00");
        assert_eq!(signed(Some(0.001), 2), "0.00");
        assert_eq!(signed(Some(-0.001), 2), "0.00");
        assert_eq!(signed(None, 2), ABSENT);
        assert_eq!(fixed(None, 2), ABSENT);
    }

    #[test]
    fn numbers_of_any_scale_are_short_and_never_round_to_nothing() {
        let shown = [
            12.5,
            0.9979,
            0.9979 - 0.9965,
            251.25,
            3.0,
            1.0 / 3.0,
            1e-7,
            3.511832159628322e-5,
            1.5e-300,
            2.5e300,
            123_456_789.25,
            0.0,
        ];
        let expected = [
            "12.5",
            "0.9979",
            "0.0014",
            "251.25",
            "3",
            "0.3333333",
            "0.0000001",
            "3.51183e-5",
            "1.5e-300",
            "2.5e300",
            "123456789",
            "0",
        ];
        assert_eq!(shown.map(|value| number(Some(value))), expected);
        assert_eq!(signed_number(Some(0.0014)), "+0.0014");
        assert_eq!([0.0, 0.004, 1.5].map(|cost| dollars(Some(cost))), ["0", "0.004", "1.50"]);
        assert_eq!(signed_number(Some(-1.5)), "-1.5");
        assert_eq!((number(None), signed_number(None)), (ABSENT.to_owned(), ABSENT.to_owned()));
    }

    #[test]
    fn text_from_outside_cannot_move_the_cursor_or_hide() {
        assert_eq!(plain("a\x1b[31m\u{202e}\\b"), "a\\x1b[31m\\xe2\\x80\\xae\\b");
    }
}
