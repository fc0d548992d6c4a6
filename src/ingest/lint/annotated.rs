//! Findings above the piece of source that they are about, as ty and zizmor print them: `error[invalid-assignment]: message`,
//! then ` --> b.py:3:10`, then source with marks under it.

use super::lines::{bare_place, finding, is_dashed_name};
use crate::ingest::{Finding, Level};

/// `error[rule]: message`; ty's concise form has no colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heading<'a> {
    pub level: Level,
    pub rule: &'a str,
    pub message: &'a str,
}

/// Reads a heading. Its rule is a name of lower case: compilers number theirs.
pub(super) fn heading(text: &str) -> Option<Heading<'_>> {
    let (level, rest) = text.split_once('[')?;
    let level = match level {
        "error" | "fatal" => Level::Error,
        "warning" => Level::Warning,
        "info" | "help" | "note" => Level::Note,
        _ => return None,
    };
    let (rule, message) = rest.split_once(']')?;
    let message = message.strip_prefix(": ").or_else(|| message.strip_prefix(' '))?;
    let is_name = rule.starts_with(|c: char| c.is_ascii_lowercase()) && is_dashed_name(rule);
    is_name.then_some(Heading { level, rule, message })
}

/// The place below a heading, ` --> path:line:column`.
pub(super) fn place_below(text: &str) -> Option<(&str, Option<u64>)> {
    bare_place(text.trim_start().strip_prefix("--> ")?)
}

/// A heading whose place may follow.
#[derive(Debug)]
pub(super) struct Open {
    level: Level,
    rule: String,
    message: String,
}

impl Open {
    pub(super) fn new(heading: &Heading<'_>) -> Open {
        Open { level: heading.level, rule: heading.rule.to_owned(), message: heading.message.to_owned() }
    }

    pub(super) fn finding(&self, tool: &str, place: (Option<&str>, Option<u64>)) -> Finding {
        finding(tool, self.level, place, Some(&self.rule), &self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_a_level_and_a_rule_by_name() {
        let told = |text| heading(text).map(|found| (found.level, found.rule, found.message));
        assert_eq!(told("error[io]: no such file"), Some((Level::Error, "io", "no such file")));
        assert_eq!(told("fatal[panic]: Panicked at x"), Some((Level::Error, "panic", "Panicked at x")));
        assert_eq!(told("warning[unknown-rule] Unknown rule"), Some((Level::Warning, "unknown-rule", "Unknown rule")));
        for text in ["info[a]: b", "help[a]: b", "note[a]: b"] {
            assert_eq!(told(text), Some((Level::Note, "a", "b")), "{text}");
        }
        for text in ["error[E0308]: mismatched", "error: x", "error[]: x", "error[a]x", "debug[a]: x", "error[a b]: x"]
        {
            assert_eq!(told(text), None, "{text}");
        }
        assert_eq!(place_below("  --> a.yml:7:5"), Some(("a.yml", Some(7))));
        assert_eq!(place_below("a.yml:7:5"), None);
    }
}
