//! `istanbul-final`: Istanbul's `coverage-final.json`, and nyc's raw files: statements, functions and branches of each
//! file by number, with maps that give their places. Defined by `istanbul-lib-coverage`. Line
//! counts are not in it; they follow from the statements.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer};

use super::totals::{Part, Totals};
use super::{FileTally, Listed};
use crate::error::Result;
use crate::ingest::entries::{Entries, Fault, take};
use crate::ingest::input::Input;
use crate::ingest::json::{self, items};
use crate::ingest::text::printable;
use crate::ingest::values::{Count, Hashed};
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
    counting: "Each statement and function once, each arm of each branch. A line is where a statement begins, covered \
               if any statement that begins on it ran.",
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
    let fault = Fault::default();
    let totals = RefCell::new(Totals { lines: Some(Part::default()), ..Totals::default() });
    let files = RefCell::new(Listed::default());
    let file = |path: String| {
        let path = printable(&path, usize::MAX);
        let (totals, files) = (&totals, &files);
        Ok(take(&fault, move |entry: Entry| {
            let file = entry.add_to(&mut totals.borrow_mut())?;
            files.borrow_mut().add(path, file);
            Ok(())
        }))
    };
    fault.ours(json::object(input, Entries { of: file, fault: &fault }))?;
    totals.into_inner().finish_listed(&FORMAT, files.into_inner())
}

/// One file. Its maps are let go before the next one is read.
#[derive(serde::Deserialize)]
struct Entry {
    #[serde(rename = "statementMap")]
    statement_map: Hashed<Place>,
    s: Hashed<Count>,
    #[serde(default)]
    f: Hashed<Count>,
    #[serde(default)]
    b: Hashed<Arms>,
    #[serde(default, rename = "branchMap")]
    branch_map: Hashed<Branch>,
}

#[derive(serde::Deserialize)]
struct Place {
    #[serde(default)]
    start: Position,
}

#[derive(serde::Deserialize)]
struct Branch {
    loc: Option<Place>,
    /// Where older writers tell it.
    #[serde(default)]
    line: Count,
}

impl Branch {
    fn line(&self) -> u64 {
        self.loc.as_ref().map(|loc| loc.start.line.0).filter(|line| *line > 0).unwrap_or(self.line.0)
    }
}

/// A place that the source map does not lead back to the source has no line.
#[derive(serde::Deserialize, Default)]
struct Position {
    #[serde(default)]
    line: Count,
}

/// The arms of a branch: how many were taken, of how many.
#[derive(Default)]
struct Arms(Part);

impl<'de> Deserialize<'de> for Arms {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Arms, D::Error> {
        let mut arms = Part::default();
        deserializer.deserialize_seq(items(|count: Count| arms.count(count.0 > 0)))?;
        Ok(Arms(arms))
    }
}

impl Entry {
    /// Adds what it counts, and tells its lines and branches.
    fn add_to(&self, totals: &mut Totals) -> Result<FileTally> {
        let mut tally = FileTally::default();
        for (statement, count) in self.s.iter() {
            totals.statements.count(count.0 > 0)?;
            if let Some(place) = self.statement_map.get(*statement) {
                tally.line(place.start.line.0, count.0 > 0)?;
            }
        }
        for (_, count) in self.f.iter() {
            totals.functions.count(count.0 > 0)?;
        }
        let mut by_line: BTreeMap<u64, Part> = BTreeMap::new();
        for (branch, Arms(arms)) in self.b.iter() {
            totals.branches.add(arms.covered, arms.total)?;
            let line = self.branch_map.get(*branch).map_or(0, Branch::line);
            by_line.entry(line).or_default().add(arms.covered, arms.total)?;
        }
        for (line, arms) in by_line {
            tally.condition(line, arms.covered, arms.total)?;
        }
        let [covered, total] = tally.lines.count();
        totals.lines.get_or_insert_default().add(covered, total)?;
        Ok(tally)
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
