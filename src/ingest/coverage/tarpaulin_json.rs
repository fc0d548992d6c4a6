//! `tarpaulin-json`: cargo-tarpaulin's own report (`--out Json`). Written after its sources, `report/json.rs` and `traces.rs`:
//! <https://github.com/xd009642/tarpaulin>. It tells lines alone.

use std::cell::RefCell;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{FileTally, Files};
use crate::error::Result;
use crate::ingest::entries::{Fault, List, Required, take};
use crate::ingest::input::Input;
use crate::ingest::json::{self, Key, each};
use crate::ingest::text::printable;
use crate::ingest::values::{Count, Few};
use crate::ingest::{Format, Parsed};
use crate::model::figures::ReportKind;

/// tarpaulin's JSON.
pub const FORMAT: Format = Format {
    name: "tarpaulin-json",
    kind: ReportKind::Coverage,
    about: "cargo-tarpaulin JSON: hits of each line of each file",
    written_by: "cargo tarpaulin --out Json",
    told_by: "a JSON object with files.path and files.traces",
    has_end: true,
    counting: "Each line of a file's traces once, covered if any of them was hit. The sums are not used.",
    sniff: |head| head.by_keys(&["files.path", "files.traces"]),
    parse,
};

#[derive(Deserialize)]
struct File {
    path: Few<String>,
    traces: Few<Trace>,
}

#[derive(Deserialize)]
struct Trace {
    line: Count,
    stats: Stats,
}

/// What was counted at a place.
#[derive(Deserialize)]
enum Stats {
    Line(Count),
    /// Whether conditions were true and false; not written by any release so far.
    Branch(IgnoredAny),
    Condition(IgnoredAny),
}

impl File {
    /// The path of its parts, of which the first may be a root.
    fn name(&self) -> String {
        let mut name = String::new();
        for part in &self.path.0 {
            if !name.is_empty() && !name.ends_with(['/', '\\']) {
                name.push('/');
            }
            name.push_str(part);
        }
        printable(&name, usize::MAX)
    }

    fn lines(&self) -> Result<FileTally> {
        let mut tally = FileTally::default();
        for Trace { line, stats } in &self.traces.0 {
            match stats {
                Stats::Line(hits) => tally.line(line.0, hits.0 > 0)?,
                Stats::Branch(_) | Stats::Condition(_) => {}
            }
        }
        Ok(tally)
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (fault, files) = (Fault::default(), RefCell::new(Files::default()));
    let add = |file: File| files.borrow_mut().join(&file.name(), file.lines()?);
    let seed = List(each(|| take(&fault, add)));
    fault.ours(json::object(input, Required(Key { name: "files", seed })))?;
    files.into_inner().finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;

    fn read(files: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", format!("{{\"files\":[{files}]}}").as_bytes()), None)
    }

    fn file(path: &str, traces: &str) -> String {
        format!(r#"{{"path":[{path}],"content":"fn f() {{}}","traces":[{traces}],"covered":9,"coverable":9}}"#)
    }

    fn trace(line: u32, stats: &str) -> String {
        format!(r#"{{"line":{line},"address":[4096],"length":1,"stats":{stats}}}"#)
    }

    #[test]
    fn each_line_counts_once() {
        let traces = [trace(1, "{\"Line\":0}"), trace(1, "{\"Line\":2}"), trace(3, "{\"Line\":0}")].join(",");
        let state = trace(3, r#"{"Branch":{"been_true":true,"been_false":false}}"#);
        let one = file(r#""/","app","src","lib.rs""#, &format!("{traces},{state}"));
        let parsed = read(&format!("{one},{}", file("\"main.rs\"", ""))).unwrap();
        assert_eq!((parsed.figures.lines_covered, parsed.figures.lines_total), (Some(1), Some(2)));
        let Details::Coverage(details) = parsed.details else { panic!("coverage") };
        assert_eq!(details.files.keys().collect::<Vec<_>>(), ["/app/src/lib.rs", "main.rs"]);
    }

    #[test]
    fn what_is_no_trace_is_malformed() {
        for stats in ["{}", "null", "{\"Line\":\"1\"}", "{\"Lines\":1}"] {
            let error = read(&file("\"a\"", &trace(1, stats))).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::Malformed), "{stats}");
        }
    }
}
