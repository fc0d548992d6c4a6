//! `llvm-cov-json`: the export of `llvm-cov export`, which `cargo llvm-cov --json` passes on. Its summaries tell how many
//! lines ran; which they are would follow from its segments, which a summary alone does not have.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::totals::{Part, Totals};
use crate::error::{Error, Reject, Result};
use crate::ingest::entries::{Fault, List, Required, take};
use crate::ingest::input::Input;
use crate::ingest::json::{self, Key, each};
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// Exports of llvm-cov.
pub const FORMAT: Format = Format {
    name: "llvm-cov-json",
    kind: ReportKind::Coverage,
    about: "llvm-cov export: sums of lines, functions, regions and branches of each file",
    written_by: "llvm-cov export, cargo llvm-cov --json, swift test --enable-code-coverage",
    told_by: "JSON type llvm.coverage.json.export, or data.files with filename",
    has_end: true,
    counting: "The sums of the files' summaries.",
    sniff,
    parse,
};

/// What `type` says.
const TYPE: &str = "llvm.coverage.json.export";
/// Newest major version that is known.
const NEWEST: u64 = 3;

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("type") && head.has_key("data") && head.text().contains(TYPE) {
        return Sniff::Sure(format!("type {TYPE}"));
    }
    let telling =
        ["summary", "segments", "expansions"].into_iter().find(|key| head.has_key(&format!("data.files.{key}")));
    match telling {
        Some(key) => Sniff::Sure(format!("key data.files.{key}")),
        None => Sniff::No,
    }
}

#[derive(Deserialize)]
struct Export {
    #[serde(rename = "type")]
    kind: Option<String>,
    version: Option<String>,
    data: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct File {
    summary: Summary,
}

#[derive(Deserialize)]
struct Summary {
    lines: Sum,
    functions: Option<Sum>,
    regions: Option<Sum>,
    branches: Option<Sum>,
}

#[derive(Deserialize)]
struct Sum {
    count: u64,
    covered: u64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    // Twice: its type may come after the files, which are not held.
    let export: Export = json::object(input, PhantomData)?;
    let is_named = export.kind.as_deref().is_none_or(|kind| kind == TYPE);
    if export.data.is_none() || !is_named {
        return Err(Error::report(Reject::NotThisFormat, "not an export of llvm-cov: it has no data of that type"));
    }
    let fault = Fault::default();
    let totals = RefCell::new(Totals { lines: Some(Part::default()), ..Totals::default() });
    let add = |File { summary }: File| {
        let Totals { lines, functions, regions, branches, .. } = &mut *totals.borrow_mut();
        lines.get_or_insert_default().add(summary.lines.covered, summary.lines.count)?;
        for (part, sum) in [(functions, summary.functions), (regions, summary.regions), (branches, summary.branches)] {
            if let Some(sum) = sum {
                part.add(sum.covered, sum.count)?;
            }
        }
        Ok(())
    };
    let files = || Required(Key { name: "files", seed: List(each(|| take(&fault, add))) });
    fault.ours(json::object(input, Key { name: "data", seed: each(files) }))?;
    let mut parsed = totals.into_inner().finish(&FORMAT, BTreeMap::new())?;
    let version = export.version.unwrap_or_default();
    let major = version.split('.').next().and_then(|major| major.parse::<u64>().ok());
    if major.is_some_and(|major| major > NEWEST) {
        parsed.warnings.push(format!("version {} of the export is newer than {NEWEST}", printable(&version, 20)));
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn summaries_of_all_files_of_all_exports_add_up() {
        let file = |count, covered| {
            format!(
                r#"{{"filename":"a","segments":[[1,2,3,true,true,false]],"summary":{{"lines":{{"count":{count},"covered":{covered},"percent":1}},"branches":{{"count":0,"covered":0}},"regions":{{"count":2,"covered":1}}}}}}"#
            )
        };
        let text = format!(
            r#"{{"data":[{{"files":[{},{}]}},{{"files":[{}]}}],"type":"{TYPE}","version":"4.0.0"}}"#,
            file(5, 3),
            file(1, 1),
            file(2, 0)
        );
        let parsed = read(&text).unwrap();
        let counts: Vec<u64> = parsed.figures.counts().into_iter().map(|(_, count)| count).collect();
        assert_eq!((counts, parsed.warnings.len()), (vec![4, 8, 3, 6], 1));
    }

    #[test]
    fn a_file_without_a_summary_is_malformed_and_another_type_foreign() {
        let code = |text: &str| read(text).unwrap_err().reject();
        assert_eq!(code(r#"{"data":[{"files":[{"filename":"a"}]}]}"#), Some(Reject::Malformed));
        assert_eq!(code(r#"{"data":[{"totals":{}}]}"#), Some(Reject::Malformed));
        assert_eq!(code(r#"{"data":[{"files":null}]}"#), Some(Reject::Malformed));
        assert_eq!(code(r#"{"data":[],"type":"x"}"#), Some(Reject::NotThisFormat));
        assert_eq!(code(r#"{"version":"1"}"#), Some(Reject::NotThisFormat));
    }
}
