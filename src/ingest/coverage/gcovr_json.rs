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
    if head.has_key(VERSION) {
        return Sniff::Sure(format!("key {VERSION}"));
    }
    // Up to version 7 that key stands at the end.
    match head.keys().iter().find(|key| key.starts_with("files.lines.gcovr/")) {
        Some(key) if head.has_key("files.lines.line_number") => Sniff::Sure(format!("key {key}")),
        _ => Sniff::No,
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    gcc::files(input, gcc::Documents::One, &FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_version_may_stand_behind_all_files() {
        let line = "{\"branches\":[],\"count\":1,\"gcovr/md5\":\"74dc\",\"line_number\":3}";
        let text = format!("{{\"files\":[{{\"file\":\"a.c\",\"lines\":[{line}]}}],\"gcovr/format_version\":\"0.6\"}}");
        for text in [text.as_str(), text.replace(line, &vec![line; 2000].join(",")).as_str()] {
            let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
            assert_eq!((parsed.format.name, parsed.figures.lines_covered), ("gcovr-json", Some(1)));
        }
    }
}
