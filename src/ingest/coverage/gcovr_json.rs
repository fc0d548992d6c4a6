//! `gcovr-json`: what `gcovr --json` writes, and reads back to merge runs. Defined by gcovr's documentation; lines that a
//! comment excludes are marked in it.

use super::gcc;
use crate::error::Result;
use crate::ingest::input::Input;
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

fn parse(input: &Input<'_>) -> Result<Parsed> {
    gcc::files(input, &FORMAT)
}
