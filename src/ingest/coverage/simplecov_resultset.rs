//! `simplecov-resultset`: SimpleCov's `.resultset.json`: what each command (RSpec, Minitest, Cucumber) covered of each file.
//! Lines are listed by position; functions are told only where method coverage is on, and not read.

use std::cell::{Cell, RefCell};

use super::Files;
use super::simplecov::Source;
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::{Entries, Fault, Required, take};
use crate::ingest::input::Input;
use crate::ingest::json::{self, Key};
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Result sets of SimpleCov.
pub const FORMAT: Format = Format {
    name: "simplecov-resultset",
    kind: ReportKind::Coverage,
    about: "SimpleCov result set: hits of each line of each file, by command",
    written_by: "SimpleCov (.resultset.json)",
    told_by: "a JSON object of commands with coverage by file",
    has_end: true,
    counting: "Numbers among a file's lines are lines, null and \"ignored\" are none; each branch of each condition. \
               Several commands add up.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let [command, coverage, file, ..] = head.keys() else { return Sniff::No };
    // A command that covered nothing has its time alone.
    let is_file = |rest: &str| rest.contains(['/', '\\']) || rest.contains(".rb");
    let rest = file.strip_prefix(coverage.as_str()).and_then(|rest| rest.strip_prefix('.'));
    let is_telling = rest.is_some_and(is_file) || *file == format!("{command}.timestamp");
    if *coverage == format!("{command}.coverage") && is_telling {
        return Sniff::Sure(format!("coverage by file of the command {}", printable(command, 40)));
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let fault = Fault::default();
    let (files, has_command) = (RefCell::new(Files::default()), Cell::new(false));
    let command = |_| {
        has_command.set(true);
        let file = |path: String| {
            let files = &files;
            let path = printable(&path, usize::MAX);
            Ok(take(&fault, move |source: Source| files.borrow_mut().join(&path, source.0)))
        };
        Ok(Required(Key { name: "coverage", seed: Entries { of: file, fault: &fault } }))
    };
    fault.ours(json::object(input, Entries { of: command, fault: &fault }))?;
    if !has_command.get() {
        return Err(Error::report(Reject::NotThisFormat, "not a SimpleCov result set: it has no command"));
    }
    files.into_inner().finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<u64>> {
        let parsed = parse(&Input::bytes("x", text.as_bytes()))?;
        Ok(parsed.figures.counts().into_iter().map(|(_, count)| count).collect())
    }

    #[test]
    fn commands_add_up() {
        let text = r#"{"RSpec":{"coverage":{"/a.rb":[null,0,1,0]},"timestamp":1},"Unit":{"coverage":{"/a.rb":{"lines":[null,2,null,0]},"/b.rb":[0]}}}"#;
        assert_eq!(read(text).unwrap(), [2, 4]);
    }

    #[test]
    fn what_has_no_coverage_is_refused() {
        assert_eq!(read("{}").unwrap_err().reject(), Some(Reject::NotThisFormat));
        for bad in [
            r#"{"RSpec":{}}"#,
            r#"{"RSpec":{"coverage":{"/a.rb":[1.5]}}}"#,
            r#"{"a":{"coverage":{}},"a":{"coverage":{}}}"#,
        ] {
            assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
    }
}
