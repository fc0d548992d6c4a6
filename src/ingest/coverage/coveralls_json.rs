//! `coveralls-json`: what is sent to Coveralls, defined by its API reference,
//! <https://docs.coveralls.io/api-reference>. ExCoveralls and other reporters write it to a file.

use std::cell::RefCell;

use serde::Deserialize;

use super::simplecov::Lines;
use super::{FileTally, Files};
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::{Fault, List, Required, take};
use crate::ingest::input::Input;
use crate::ingest::json::{self, Key, each};
use crate::ingest::text::printable;
use crate::ingest::values::{Count, Few};
use crate::ingest::{Format, Parsed};
use crate::model::figures::ReportKind;

/// Coveralls' JSON.
pub const FORMAT: Format = Format {
    name: "coveralls-json",
    kind: ReportKind::Coverage,
    about: "JSON for Coveralls: hits of each line of each file",
    written_by: "ExCoveralls (mix coveralls.json), coveralls-python, goveralls, grcov, gcovr, tarpaulin and other \
                 reporters to Coveralls",
    told_by: "a JSON object with source_files.coverage",
    has_end: true,
    counting: "Numbers among a file's lines are lines, null is none. Branches come in fours: line, block, number, hits.",
    sniff: |head| head.by_keys(&["source_files.coverage"]),
    parse,
};

#[derive(Deserialize)]
struct File {
    name: String,
    coverage: Lines,
    branches: Option<Few<Count>>,
}

impl File {
    fn lines(self) -> Result<FileTally> {
        let Lines(mut tally) = self.coverage;
        let (branches, rest) = self.branches.as_ref().map_or(&[][..], |branches| &branches.0).as_chunks::<4>();
        if !rest.is_empty() {
            return Err(Error::report(Reject::Malformed, "the numbers of its branches do not come in fours"));
        }
        for [line, block, number, hits] in branches {
            tally.branch(line.0, &format!("{},{}", block.0, number.0), hits.0 > 0)?;
        }
        Ok(tally)
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (fault, files) = (Fault::default(), RefCell::new(Files::default()));
    let add = |file: File| files.borrow_mut().join(&printable(&file.name, usize::MAX), file.lines()?);
    let seed = List(each(|| take(&fault, add)));
    fault.ours(json::object(input, Required(Key { name: "source_files", seed })))?;
    files.into_inner().finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &str) -> Result<Parsed> {
        let text = format!("{{\"service_name\":\"local\",\"source_files\":[{files}]}}");
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn lines_by_position_and_branches_in_fours() {
        let counts = |files: &str| -> Vec<u64> {
            read(files).unwrap().figures.counts().into_iter().map(|(_, count)| count).collect()
        };
        let plain = r#"{"name":"lib/a.ex","source":"x","coverage":[null,1,0]}"#;
        assert_eq!(counts(plain), [1, 2]);
        let branches = r#"{"name":"b","source_digest":"0","coverage":[2,null],"branches":[1,0,0,3,1,0,1,0,1,0,1,2]}"#;
        assert_eq!(counts(&[plain, branches].join(",")), [2, 3, 2, 2], "a branch that is told twice is one");
        assert_eq!(counts(r#"{"name":"b","coverage":[],"branches":null}"#), [0, 0]);
    }

    #[test]
    fn what_is_no_line_or_half_a_branch_is_malformed() {
        for bad in [r#""coverage":[1.5]"#, r#""coverage":null"#, r#""coverage":[1],"branches":[1,0,0]"#] {
            let error = read(&format!("{{\"name\":\"a\",{bad}}}")).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::Malformed), "{bad}");
        }
    }
}
