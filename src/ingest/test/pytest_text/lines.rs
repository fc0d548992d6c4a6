//! The lines of pytest that say something: summaries, rules with a title, progress, tests with their outcome.

use super::super::LONGEST_ID;
use crate::ingest::text::is_number;
use crate::model::cases::Outcome;

/// The numbers of a summary line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub errored: u64,
    pub skipped: u64,
    /// No other tool says so, or says it there.
    pub is_certain: bool,
    /// Something was counted in words that are not pytest's own.
    pub has_others: bool,
    /// A number was too large to hold, or their sum is.
    pub overflow: bool,
}

impl Counts {
    /// Reads `5 failed, 22 passed in 0.21s`, with or without a rule of `=` around it.
    pub fn read(line: &str) -> Option<Counts> {
        let body = ruled(line, '=').unwrap_or(line);
        // `0.21s`, `61.30s (0:01:01)`: most lines need no search.
        let (counts, time) = body.ends_with(['s', ')']).then(|| body.rsplit_once(" in "))??;
        if !is_time(time) {
            return None;
        }
        let mut read = Counts::default();
        if counts == "no tests ran" {
            return Some(Counts { is_certain: true, ..read });
        }
        counts.split(", ").all(|part| read.add(part)).then_some(read)
    }

    /// Adds `5 failed`; `false` if that is no part of a summary.
    pub fn add(&mut self, part: &str) -> bool {
        let Some((number, word)) = part.split_once(' ') else { return false };
        let is_word = word.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b'-' | b'_'));
        if !is_number(number) || !is_word || word.starts_with("tests collected") || word.starts_with("test collected") {
            return false;
        }
        let (number, fits) = number.parse().map_or((0, false), |number: u64| (number, true));
        let slot = match word {
            // Other tools', which rule off their summaries alike; mamba's.
            "failure" | "failures" | "example ran" | "examples ran" => return false,
            "passed" | "xpassed" => &mut self.passed,
            "failed" => &mut self.failed,
            "error" | "errors" => &mut self.errored,
            "skipped" | "xfailed" => &mut self.skipped,
            "deselected" => {
                self.is_certain = true;
                return true;
            }
            // No tests.
            "warning" | "warnings" | "rerun" | "subtests passed" => return true,
            // What plugins add.
            _ => {
                self.has_others = true;
                return true;
            }
        };
        let sum = slot.checked_add(number);
        self.overflow |= !fits || sum.is_none();
        *slot = sum.unwrap_or(u64::MAX);
        self.overflow |= self.total().is_none();
        true
    }

    /// Whether some tests are told of, and nothing in words that are not pytest's own.
    pub fn is_own(&self) -> bool {
        !self.has_others && self.total().is_some_and(|total| total > 0)
    }

    /// All tests.
    pub fn total(&self) -> Option<u64> {
        self.passed.checked_add(self.failed)?.checked_add(self.errored)?.checked_add(self.skipped)
    }
}

/// `0.21s`, `61.02s (0:01:01)`, and `0.12 seconds` of old.
fn is_time(text: &str) -> bool {
    let (seconds, clock) = text.split_once(" (").unwrap_or((text, "0)"));
    let clock_is_time = clock.strip_suffix(')').is_some_and(|clock| {
        clock.bytes().all(|b| b.is_ascii_digit() || b == b':' || b == b' ' || b.is_ascii_alphabetic() || b == b',')
    });
    let number = seconds.strip_suffix(" seconds").or_else(|| seconds.strip_suffix('s')).unwrap_or_default();
    let Some((whole, part)) = number.split_once('.') else { return false };
    clock_is_time && is_number(whole) && is_number(part)
}

/// The title of a line that is a rule of `mark` around it: `=== title ===`.
pub(super) fn ruled(line: &str, mark: char) -> Option<&str> {
    let title = line.strip_prefix(mark)?.trim_start_matches(mark).strip_prefix(' ')?;
    let title = title.strip_suffix(mark)?.trim_end_matches(mark).strip_suffix(' ')?;
    (!title.trim().is_empty()).then_some(title)
}

/// Name of an outcome as pytest prints it.
pub(super) fn outcome(word: &str) -> Option<Outcome> {
    match word {
        "PASSED" | "XPASS" => Some(Outcome::Passed),
        "FAILED" => Some(Outcome::Failed),
        "ERROR" => Some(Outcome::Errored),
        "SKIPPED" | "XFAIL" => Some(Outcome::Skipped),
        _ => None,
    }
}

/// Whether the word is an outcome, or the end of an attempt that does not count.
fn is_outcome(word: &str) -> bool {
    outcome(word).is_some() || matches!(word, "RERUN" | "RETRY")
}

/// Id and message of a short summary line about a subtest that failed: `SUBFAIL id - message`,
/// `[count] (i=1) SUBFAIL id - message`, and since pytest 9 `SUBFAILED[count] (i=1) id - message`.
pub(super) fn failed_subtest(text: &str) -> Option<&str> {
    let rest = match text.strip_prefix("SUBFAIL") {
        Some(rest) => rest,
        None if text.starts_with(['[', '(']) => text.split_once(" SUBFAIL")?.1,
        None => return None,
    };
    // What the subtest is called may hold blanks; a file, as a rule, does not.
    let start = rest.get(..rest.find("::")?)?.rfind(' ')?;
    rest.get(start + 1..)
}

/// Id and outcome word of a verbose line.
pub(super) fn verbose_parts(text: &str) -> Option<(&str, &str)> {
    // Each word of it is looked at: a line of megabytes is no test's name.
    if text.len() > 8 * LONGEST_ID {
        return None;
    }
    if let Some(rest) = text.strip_prefix("[gw") {
        let (_, rest) = rest.split_once("] ")?;
        let rest = rest.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(rest, |(_, rest)| rest);
        let (word, id) = rest.split_once(' ')?;
        return (is_outcome(word) && id.contains("::")).then(|| (id.trim_end(), word));
    }
    let (rest, progress) = text.strip_suffix(']')?.rsplit_once('[')?;
    if !progress.trim().bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'%' | b'/')) {
        return None;
    }
    outcome_after_id(rest.trim_end())
}

/// Id and outcome word of a verbose line that tells no progress: with `-s`, and before pytest 3.3.
pub(super) fn plain_verbose_parts(text: &str) -> Option<(&str, &str)> {
    let is_possible = text.len() <= 8 * LONGEST_ID && !text.starts_with(' ') && text.contains("::");
    is_possible.then(|| outcome_after_id(text)).flatten()
}

/// A skip's reason stands in parentheses after the word, and may hold anything: the first outcome that is followed by
/// nothing or by a parenthesis counts.
fn outcome_after_id(text: &str) -> Option<(&str, &str)> {
    text.match_indices(' ').find_map(|(at, _)| {
        let (id, after) = (text.get(..at)?, text.get(at + 1..)?);
        let word = after.split_once(" (").map_or(after, |(word, _)| word);
        (is_outcome(word) && id.contains("::")).then_some((id, word))
    })
}

/// The file in a line of progress, or of a test with its outcome: `tests/a.py ..F.  [ 30%]`.
pub(super) fn file(text: &str) -> Option<&str> {
    let id = verbose_parts(text).map(|(id, _)| id).or_else(|| text.split_once(' ').map(|(first, _)| first));
    let file = id.map(|id| id.split("::").next().unwrap_or(id))?;
    file.contains(['.', '/']).then_some(file).filter(|file| !are_marks(file))
}

/// What stands for a test in a line of progress.
const MARKS: &[u8] = b".FEsxXRu,-";

/// Whether the text is marks and nothing else.
pub(super) fn are_marks(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| MARKS.contains(&byte))
}

/// What stands before the percentage at the end of a line, and that.
pub(super) fn percentage(text: &str) -> Option<(&str, u8)> {
    let (rest, percent) = text.strip_suffix("%]")?.rsplit_once('[')?;
    let percent = percent.trim().parse().ok().filter(|percent| *percent <= 100)?;
    Some((rest.trim_end(), percent))
}

/// A line of progress without names: `tests/a.py ..F.  [ 30%]`.
pub(super) fn is_progress(text: &str) -> bool {
    percentage(text).is_some_and(|(rest, _)| are_marks(rest.rsplit(' ').next().unwrap_or_default()))
}

/// `2` of `2 failures`.
pub(super) fn number(text: &str) -> Option<u64> {
    text.split(' ').next()?.parse().ok()
}
