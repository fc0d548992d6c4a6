//! `gcovr-json`: what `gcovr --json` writes, and reads back to merge runs. Defined by gcovr's documentation; lines that a
//! comment excludes are marked in it.

use std::marker::PhantomData;

use serde::Deserialize;

use super::finished;
use super::gcc::{Source, by_name};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// gcovr's JSON.
pub const FORMAT: Format = Format {
    name: "gcovr-json",
    kind: ReportKind::Coverage,
    about: "gcovr JSON: counts of each line and branch",
    written_by: "gcovr --json",
    told_by: "a JSON object with gcovr/format_version",
    has_end: true,
    counting: "Each line of each file once, covered if any function or instance of a template ran it; branches by their \
               position on the line. What gcovr excludes is left out.",
    sniff,
    parse,
};

/// The key that names the format.
const VERSION: &str = "gcovr/format_version";

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key(VERSION) { Sniff::Sure(format!("key {VERSION}")) } else { Sniff::No }
}

#[derive(Deserialize)]
struct Report {
    files: Vec<Source>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    finished(&FORMAT, by_name(report.files))
}
