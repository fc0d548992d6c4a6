//! The exact next command: what a person types to do what was recommended.

use crate::model::ids::LoopId;
use crate::model::record::IterationRecord;
use crate::model::trajectory::Point;
use crate::model::verdict::{Action, Recommendation};

/// The command after `record`, with the measuring command again if it was given one.
pub(super) fn after_record(record: &IterationRecord) -> String {
    let measured_with = record.command.as_ref().map(|command| command.argv.as_slice());
    let by_hand = record.metrics.custom.iter().filter(|(_, metric)| metric.format.is_none());
    let metrics: Vec<&str> = by_hand.map(|(name, _)| name.as_str()).collect();
    command(&record.recommendation, &record.loop_id, &record.iteration.to_string(), &metrics, measured_with)
}

/// The command that does what a stored iteration recommended.
pub(super) fn after_point(point: &Point, loop_id: &LoopId) -> String {
    command(&point.recommendation, loop_id, &point.iteration.to_string(), &[], None)
}

fn command(
    recommendation: &Recommendation,
    loop_id: &LoopId,
    iteration: &str,
    metrics: &[&str],
    argv: Option<&[String]>,
) -> String {
    // What was measured by hand has to be measured again: the value is for who types it.
    let metrics: String = metrics.iter().map(|name| format!(" --metric {}=VALUE", quote(name))).collect();
    let record = || format!("highwater record --loop {loop_id}{metrics}{}", argv.and_then(quoted).unwrap_or_default());
    match (recommendation.action, recommendation.target) {
        (Action::Continue, _) => record(),
        (Action::Escalate, _) if recommendation.is_unmeasured() => record(),
        (Action::Stop, _) => format!("highwater finish --loop {loop_id}"),
        (Action::Rollback, Some(target)) => format!("highwater restore {target} --loop {loop_id}"),
        (Action::Rollback | Action::Escalate, _) => format!("highwater show {iteration} --loop {loop_id}"),
    }
}

/// ` -- CMD…` as a POSIX shell takes it; `None` where an argument cannot be shown on one line of text.
fn quoted(argv: &[String]) -> Option<String> {
    if argv.is_empty() || argv.iter().any(|word| super::view::plain(word) != *word) {
        return None;
    }
    let words: Vec<String> = argv.iter().map(|word| quote(word)).collect();
    Some(format!(" -- {}", words.join(" ")))
}

/// A word as a POSIX shell takes it.
pub fn quote(word: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_bare) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(argv: &[&str]) -> Option<String> {
        quoted(&argv.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        assert_eq!(words(&["cargo", "test"]).as_deref(), Some(" -- cargo test"));
        assert_eq!(words(&["sh", "-c", "a && b's"]).as_deref(), Some(r" -- sh -c 'a && b'\''s'"));
        assert_eq!(words(&["x", ""]).as_deref(), Some(" -- x ''"));
        assert_eq!(words(&[]), None);
    }

    #[test]
    fn a_command_that_would_move_the_cursor_is_not_shown() {
        assert_eq!(words(&["sh", "-c", "a\nb"]), None);
        assert_eq!(words(&["\x1b[2J"]), None);
    }
}
