//! `xccov-json`: what Xcode's `xccov view --report --json` prints, sums of files by target, and
//! `xccov view --archive --json`, lines of files. Written after what its manual page and public logs show: there is no Xcode
//! at hand.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::totals::{Part, Totals};
use super::{FileTally, Files, compare_declared};
use crate::error::Result;
use crate::ingest::entries::{Entries, Fault, List, take};
use crate::ingest::input::Input;
use crate::ingest::json::{self, Key, each};
use crate::ingest::text::printable;
use crate::ingest::values::{Count, Few};
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};

/// Xcode's JSON.
pub const FORMAT: Format = Format {
    name: "xccov-json",
    kind: ReportKind::Coverage,
    about: "Xcode's JSON: sums of lines of each file, or the lines themselves",
    written_by: "xcrun xccov view --report --json, xcrun xccov view --archive --json",
    told_by: "JSON with targets.coveredLines and targets.executableLines; or files with line and isExecutable",
    has_end: true,
    counting: "The sums of the files; of a target without files its own. Those of the whole report are only compared. \
               Of lines those that are executable.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let sums = head.by_keys(&["targets.coveredLines", "targets.executableLines"]);
    let Some(file) = head.keys().first().filter(|_| sums == Sniff::No) else { return sums };
    let has = |key: &str| head.has_key(&format!("{file}.{key}"));
    match has("line") && has("isExecutable") {
        true => Sniff::Sure("a file with line and isExecutable".into()),
        false => Sniff::No,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    covered_lines: Option<u64>,
    executable_lines: Option<u64>,
    targets: Option<IgnoredAny>,
}

/// Of a target or a file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sums {
    covered_lines: u64,
    executable_lines: u64,
    #[serde(default)]
    files: Few<Sums>,
}

impl Sums {
    fn add_to(&self, lines: &mut Part) -> Result<()> {
        if self.files.0.is_empty() {
            return lines.add(self.covered_lines, self.executable_lines);
        }
        self.files.0.iter().try_for_each(|file| lines.add(file.covered_lines, file.executable_lines))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    line: Count,
    is_executable: bool,
    execution_count: Option<Count>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    if report.targets.is_none() {
        return archive(input);
    }
    let (fault, lines) = (Fault::default(), RefCell::new(Part::default()));
    let add = |target: Sums| target.add_to(&mut lines.borrow_mut());
    let seed = List(each(|| take(&fault, add)));
    fault.ours(json::object(input, Key { name: "targets", seed }))?;
    let totals = Totals { lines: Some(lines.into_inner()), ..Totals::default() };
    let mut parsed = totals.finish(&FORMAT, BTreeMap::new())?;
    let (lines_covered, lines_total) = (report.covered_lines, report.executable_lines);
    compare_declared(&mut parsed, Figures { lines_covered, lines_total, ..Figures::default() });
    Ok(parsed)
}

/// Lines by file.
fn archive(input: &Input<'_>) -> Result<Parsed> {
    let (fault, files) = (&Fault::default(), &RefCell::new(Files::default()));
    let of = |path: String| {
        Ok(take(fault, move |lines: Few<Line>| {
            let mut tally = FileTally::default();
            for line in lines.0.iter().filter(|line| line.is_executable) {
                tally.line(line.line.0, line.execution_count.unwrap_or_default().0 > 0)?;
            }
            files.borrow_mut().join(&printable(&path, usize::MAX), tally)
        }))
    };
    fault.ours(json::object(input, Entries { of, fault }))?;
    files.take().finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    fn counts(text: &str) -> (Vec<u64>, usize) {
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!(parsed.format, &FORMAT);
        (parsed.figures.counts().into_iter().map(|(_, count)| count).collect(), parsed.warnings.len())
    }

    #[test]
    fn files_add_up_or_else_targets() {
        let sums = |covered, all| format!("\"coveredLines\":{covered},\"lineCoverage\":0.5,\"executableLines\":{all}");
        let file = |sums: &str| format!("{{{sums},\"name\":\"A.swift\",\"path\":\"/app/A.swift\",\"functions\":[]}}");
        let target = |files: &str| format!("{{{},\"name\":\"App\",\"files\":[{files}]}}", sums(9, 10));
        let report = |targets: &str| format!("{{{},\"targets\":[{targets}]}}", sums(9, 10));
        let files = [file(&sums(1, 2)), file(&sums(0, 3))].join(",");
        assert_eq!(counts(&report(&target(&files))), (vec![1, 5], 2));
        assert_eq!(counts(&report(&target(""))), (vec![9, 10], 0));
        let cut = report(&target(&files)).replace("\"executableLines\":3", "\"executableLines\":null");
        let error = parse(&Input::bytes("x", cut.as_bytes())).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::Malformed));
    }

    #[test]
    fn executable_lines_of_an_archive_count() {
        let text = r#"{"/app/A.swift":[{"line":1,"isExecutable":false},{"line":2,"isExecutable":true,"executionCount":3},
            {"line":3,"isExecutable":true,"executionCount":0,"subranges":[]}],"/app/B.swift":[]}"#;
        assert_eq!(counts(text), (vec![1, 2], 0));
    }
}
