//! `fastcov-json`: fastcov's own JSON, its default. <https://github.com/RPGillespie6/fastcov>

use std::cell::RefCell;

use serde::Deserialize;

use super::{FileTally, Files};
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::{Entries, Fault, Required, take};
use crate::ingest::input::Input;
use crate::ingest::json::{self, Key};
use crate::ingest::text::printable;
use crate::ingest::values::{Count, Few, Unique, whole};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// fastcov's own.
pub const FORMAT: Format = Format {
    name: "fastcov-json",
    kind: ReportKind::Coverage,
    about: "fastcov JSON: lines, branches and functions of each source, by the name of the test",
    written_by: "fastcov (its default)",
    told_by: "a JSON object with sources, whose files have functions, branches and lines by the name of a test",
    has_end: true,
    counting: "Lines by file and number, whatever test ran them; branches by their position on the line, functions by name.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // The names of files hold dots, which paths of keys are made with: what is in them stands in the text.
    let has = |key: &str| head.text().contains(key);
    let is_first = head.keys().first().is_some_and(|key| key == "sources");
    match is_first && has("\"functions\":") && has("\"branches\":") && has("\"lines\":") {
        true => Sniff::Sure("sources with functions, branches and lines".into()),
        false => Sniff::No,
    }
}

/// What one test ran of a file.
#[derive(Deserialize)]
struct Ran {
    #[serde(default)]
    functions: Unique<Function>,
    #[serde(default)]
    branches: Unique<Few<Count>>,
    lines: Unique<Count>,
}

#[derive(Deserialize)]
struct Function {
    execution_count: Count,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let fault = &Fault::default();
    let files = &RefCell::new(Files::default());
    // File → test.
    let of = |path: String| {
        files.borrow_mut().open(&printable(&path, usize::MAX))?;
        let test = move |_| {
            Ok(take(fault, move |ran: Ran| files.borrow_mut().current().map_or(Ok(()), |tally| ran.add_to(tally))))
        };
        Ok(Entries { of: test, fault })
    };
    fault.ours(json::object(input, Required(Key { name: "sources", seed: Entries { of, fault } })))?;
    files.take().finish(&FORMAT)
}

impl Ran {
    fn add_to(self, tally: &mut FileTally) -> Result<()> {
        for (line, hits) in self.lines.0 {
            tally.line(number(&line)?, hits.0 > 0)?;
        }
        for (line, branches) in self.branches.0 {
            let line = number(&line)?;
            for (place, hits) in branches.0.iter().enumerate() {
                tally.branch(line, &place.to_string(), hits.0 > 0)?;
            }
        }
        self.functions.0.iter().try_for_each(|(name, function)| tally.function(name, function.execution_count.0 > 0))
    }
}

fn number(line: &str) -> Result<u64> {
    whole(line).ok_or_else(|| {
        let why = format!("line number {:?} is no whole number", printable(line, 40));
        Error::report(Reject::Malformed, why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sources: &str) -> Result<Vec<u64>> {
        let text = format!("{{\"sources\":{{{sources}}}}}");
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))?;
        Ok(parsed.figures.counts().into_iter().map(|(_, count)| count).collect())
    }

    #[test]
    fn what_several_tests_ran_is_one_file() {
        let ran = |hits: u64| {
            format!(
                "{{\"functions\":{{\"f\":{{\"start_line\":3,\"execution_count\":{hits}}}}},\"branches\":{{\"3\":[{hits},0]}},\
                 \"lines\":{{\"3\":{hits},\"4\":0}}}}"
            )
        };
        let sources = format!("\"/a.cpp\":{{\"\":{},\"other\":{}}}", ran(0), ran(2));
        assert_eq!(read(&sources).unwrap(), [1, 2, 1, 2, 1, 1], "lines, branches, functions");
        assert_eq!(read("").unwrap(), [0, 0]);
    }

    #[test]
    fn what_has_no_lines_is_refused() {
        for bad in
            ["\"/a.cpp\":{\"\":{}}", "\"/a.cpp\":{\"\":{\"lines\":{\"x\":1}}}", "\"/a.cpp\":{\"\":{\"lines\":{\"3\":1"]
        {
            assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
    }
}
