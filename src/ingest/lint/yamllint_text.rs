//! `yamllint-text`: what yamllint prints.
//!
//! Written after yamllint's formats: `parsable` (`path:line:column: [level] message (rule)`), `standard` and `colored` (rows
//! under the name of a file), `github` (commands of a workflow). It prints nothing where it finds nothing, and has no end.

use super::LintTally;
use super::lines::{Claim, TextReader, bracketed, finding, is_of_another, placed, read};
use crate::error::Result;
use crate::ingest::text::is_number;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// yamllint's output.
pub const FORMAT: Format = Format {
    name: "yamllint-text",
    kind: ReportKind::Lint,
    about: "terminal output of yamllint",
    written_by: "yamllint --format parsable|standard|colored|github",
    told_by: "\"a.yaml:2:5: [error] … (colons)\", rows \"2:5  error  …  (colons)\"",
    has_end: false,
    counting: "Problems by their level: error, warning.",
    sniff,
    parse: |input| read::<Reader>(input, "yamllint"),
};

fn sniff(head: &Head<'_>) -> Sniff {
    // A row alone may be another tool's; with its rule in brackets at the end it is not.
    let is_ours = |line: &str| {
        parsable(line).or_else(|| row(line)).or_else(|| command(line)).is_some_and(|found| found.rule.is_some())
    };
    if head.lines().any(|line| is_ours(line.trim_end())) && !is_of_another(head) {
        return Sniff::Sure("problems as yamllint prints them".into());
    }
    Sniff::No
}

struct Problem<'a> {
    path: Option<&'a str>,
    line: Option<u64>,
    level: Level,
    rule: Option<&'a str>,
    message: &'a str,
}

fn level_of(text: &str) -> Option<Level> {
    match text {
        "error" => Some(Level::Error),
        "warning" => Some(Level::Warning),
        _ => None,
    }
}

/// `path:line:column: [level] message (rule)`.
fn parsable(text: &str) -> Option<Problem<'_>> {
    let place = placed(text)?;
    let (level, message) = place.rest.strip_prefix('[')?.split_once("] ")?;
    let (message, rule) = with_rule(message);
    Some(Problem { path: Some(place.path), line: place.line, level: level_of(level)?, rule, message })
}

/// `  line:column  level  message  (rule)`.
fn row(text: &str) -> Option<Problem<'_>> {
    let (place, rest) = text.strip_prefix("  ")?.split_once(' ')?;
    let (level, message) = rest.trim_start().split_once(' ')?;
    let (message, rule) = with_rule(message.trim_start());
    Some(Problem { path: None, line: line_of(place)?, level: level_of(level)?, rule, message })
}

/// `::level file=path,line=2,col=5::2:5 [rule] message`.
fn command(text: &str) -> Option<Problem<'_>> {
    let (level, rest) = text.strip_prefix("::")?.split_once(" file=")?;
    let (path, rest) = rest.split_once(",line=")?;
    let (place, message) = rest.split_once("::")?.1.split_once(' ')?;
    let told = message.strip_prefix('[').and_then(|message| message.split_once("] "));
    let (message, rule) = told.map_or_else(|| with_rule(message), |(rule, message)| (message, Some(rule)));
    Some(Problem { path: Some(path), line: line_of(place)?, level: level_of(level)?, rule, message })
}

/// The line of `2:5`, none if it is 0; `None` if it is no place.
fn line_of(place: &str) -> Option<Option<u64>> {
    let (line, column) = place.split_once(':')?;
    (is_number(line) && is_number(column)).then(|| line.parse().ok().filter(|line| *line > 0))
}

fn with_rule(message: &str) -> (&str, Option<&str>) {
    let is_rule = |rule: &str| rule.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    match bracketed(message, '(', ')').filter(|(_, rule)| is_rule(rule)) {
        Some((message, rule)) => (message, Some(rule)),
        None => (message, None),
    }
}

/// Reads lines.
#[derive(Default)]
pub(in crate::ingest) struct Reader {
    tally: LintTally,
    /// The file whose rows follow.
    file: Option<String>,
}

impl TextReader for Reader {
    fn line(&mut self, text: &str) -> Result<()> {
        let Some(problem) = parsable(text).or_else(|| row(text)).or_else(|| command(text)) else {
            if !text.starts_with(' ') {
                self.file = Some(text.to_owned());
            }
            return Ok(());
        };
        let path = problem.path.or(self.file.as_deref());
        let finding = finding("yamllint", problem.level, (path, problem.line), problem.rule, problem.message);
        self.tally.finding(finding, Sort::Linter)
    }

    fn claim(&self, text: &str) -> Claim {
        match parsable(text).or_else(|| row(text)).or_else(|| command(text)) {
            Some(problem) if problem.rule.is_some() => Claim::Ours,
            Some(_) => Claim::Alike,
            None => Claim::Other,
        }
    }

    fn is_whole(&self, text: &str) -> bool {
        text == "::endgroup::" || parsable(text).or_else(|| row(text)).is_some_and(|problem| problem.rule.is_some())
    }

    fn tells_all(&self, text: &str) -> bool {
        parsable(text).or_else(|| row(text)).is_some()
    }

    fn finish(self) -> Result<Option<Parsed>> {
        self.tally.finish_found(&FORMAT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::input::Input;
    use crate::ingest::lint::tests_support::first_finding;

    fn parsed(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn every_format_tells_the_same() {
        for text in [
            "y.yaml:2:5: [error] too many spaces after colon (colons)\ny.yaml:3:1: [warning] missing (document-start)\n",
            "y.yaml\n  2:5       error    too many spaces after colon  (colons)\n  3:1  warning  missing  (document-start)\n\n",
            "::group::y.yaml\n::error file=y.yaml,line=2,col=5::2:5 [colons] too many spaces after colon\n\
             ::warning file=y.yaml,line=3,col=1::3:1 [document-start] missing\n::endgroup::\n",
        ] {
            let parsed = parsed(text).unwrap();
            assert_eq!((parsed.figures.errors, parsed.figures.warnings), (Some(1), Some(1)), "{text}");
            assert_eq!(
                first_finding(&parsed),
                (Some("y.yaml"), Some(2), Some("colons"), "too many spaces after colon"),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_cut_or_foreign_is_rejected() {
        let one = "y.yaml:2:5: [error] too many spaces after colon (colons)\n";
        assert_eq!(parsed(&format!("{one}y.yaml:3:1: [warn")).unwrap_err().reject(), Some(Reject::Malformed));
        let open = parsed(&format!("{one}y.yaml:3:1: [warning] missing document start")).unwrap();
        assert_eq!((open.figures.warnings, open.warnings.len()), (Some(1), 1));
        assert!(parsed(one.trim_end()).unwrap().warnings.is_empty());
        // Rows of ESLint end in a rule without brackets.
        let rows = "a.js\n  1:5  error  'x' is not defined  no-undef\n";
        let head = Input::bytes("x", rows.as_bytes());
        assert_eq!(sniff(&Head::read(&head).unwrap()), Sniff::No);
        assert_eq!(parsed("y.yaml\n").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
