//! `istanbul-final`: Istanbul's `coverage-final.json`, and nyc's raw files: statements, functions and branches of each
//! file by number, with maps that give their places. Defined by `istanbul-lib-coverage`. Line
//! counts are not in it; they follow from the statements.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;

use super::totals::{Part, Totals};
use super::{FileLines, FileTally};
use crate::error::{Error, Result};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::text::printable;
use crate::ingest::values::{Count, Unique};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Istanbul's coverage maps.
pub const FORMAT: Format = Format {
    name: "istanbul-final",
    kind: ReportKind::Coverage,
    about: "Istanbul coverage map: statements, functions and branches of each file",
    written_by: "nyc, c8, jest, vitest (reporter json)",
    told_by: "JSON objects by file with statementMap",
    has_end: true,
    counting: "Each statement and function once, each arm of each branch. A line is where a statement begins, covered if any \
               statement that begins on it ran.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let Some(file) = head.keys().first() else { return Sniff::No };
    let below = |name: &str| head.has_key(&format!("{file}.{name}"));
    // Older writers put the counts first, and the keys of a large file end before its maps.
    let is_map = below("statementMap") || (below("s") && head.text().contains("\"statementMap\""));
    if is_map { Sniff::Sure("a file with statementMap".into()) } else { Sniff::No }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let map: Unique<File> = json::object(input, PhantomData)?;
    let mut totals = Totals { lines: Some(Part::default()), ..Totals::default() };
    let mut files = BTreeMap::new();
    for (path, file) in map.0 {
        if let Some(lines) = &mut totals.lines {
            lines.add(file.lines.covered(), file.lines.total())?;
        }
        totals.statements.add(file.statements.covered, file.statements.total)?;
        totals.functions.add(file.functions.covered, file.functions.total)?;
        totals.branches.add(file.branches.covered, file.branches.total)?;
        files.insert(printable(&path, usize::MAX), file.lines);
    }
    totals.finish(&FORMAT, files)
}

/// One file, as small as it gets: the maps of a large project would not fit.
#[derive(Deserialize)]
#[serde(try_from = "Entry")]
struct File {
    lines: FileLines,
    statements: Part,
    functions: Part,
    branches: Part,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "statementMap")]
    statement_map: Unique<Place>,
    s: Unique<Count>,
    #[serde(default)]
    f: Unique<Count>,
    #[serde(default)]
    b: Unique<Vec<Count>>,
}

#[derive(Deserialize)]
struct Place {
    #[serde(default)]
    start: Position,
}

/// A place that the source map does not lead back to the source has no line.
#[derive(Deserialize, Default)]
struct Position {
    #[serde(default)]
    line: Count,
}

impl TryFrom<Entry> for File {
    type Error = Error;

    fn try_from(entry: Entry) -> Result<File> {
        let mut tally = FileTally::default();
        let (mut statements, mut functions, mut branches) = (Part::default(), Part::default(), Part::default());
        for (number, count) in &entry.s.0 {
            statements.count(count.0 > 0)?;
            if let Some(place) = entry.statement_map.0.get(number) {
                tally.line(place.start.line.0, count.0 > 0)?;
            }
        }
        for count in entry.f.0.values() {
            functions.count(count.0 > 0)?;
        }
        for arm in entry.b.0.values().flatten() {
            branches.count(arm.0 > 0)?;
        }
        Ok(File { lines: tally.lines.finish(), statements, functions, branches })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    fn read(text: &str) -> Result<Vec<u64>> {
        let parsed = parse(&Input::bytes("x", text.as_bytes()))?;
        Ok(parsed.figures.counts().into_iter().map(|(_, count)| count).collect())
    }

    #[test]
    fn a_line_is_covered_if_any_statement_on_it_ran() {
        let map = r#"{"0":{"start":{"line":1,"column":0}},"1":{"start":{"line":1}},"2":{"start":{"line":4}},"3":{"start":{}}}"#;
        let text = format!(
            r#"{{"/a.js":{{"path":"/a.js","statementMap":{map},"fnMap":{{}},"s":{{"0":0,"1":2,"2":0,"3":1,"9":1}},"f":{{"0":1,"1":0}},"b":{{"0":[1,0],"1":[null,3,0]}}}}}}"#
        );
        assert_eq!(read(&text).unwrap(), [1, 2, 2, 5, 1, 2, 3, 5]);
        assert_eq!(read("{}").unwrap(), [0, 0]);
    }

    #[test]
    fn what_is_no_coverage_map_is_malformed() {
        for bad in [
            r#"{"a":{"statementMap":{}}}"#,
            r#"{"a":{"statementMap":{},"s":{"0":1.5}}}"#,
            r#"{"a":{"statementMap":{},"s":{"0":1,"0":1}}}"#,
            r#"{"a":{"statementMap":{},"s":{}},"a":{"statementMap":{},"s":{}}}"#,
            r#"{"a":{"statementMap":{"0":{"start":{"line":99999999999}}},"s":{"0":1}}}"#,
            r#"{"total":{"lines":{"total":1}}}"#,
        ] {
            assert_eq!(read(bad).unwrap_err().reject(), Some(Reject::Malformed), "{bad}");
        }
    }
}
