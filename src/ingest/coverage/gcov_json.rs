//! `gcov-json`: gcov's intermediate format (`gcov --json-format --stdout`), one object for each data file. Defined by the
//! manual of gcov.

use std::cell::RefCell;

use serde::Deserialize;

use super::gcc;
use crate::error::Result;
use crate::ingest::entries::{Fault, take};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::text::printable;
use crate::ingest::{Format, Head, Parsed, Sniff};
use crate::model::figures::ReportKind;

/// gcov's JSON.
pub const FORMAT: Format = Format {
    name: "gcov-json",
    kind: ReportKind::Coverage,
    about: "gcov JSON: counts of each line and branch",
    written_by: "gcov --json-format",
    told_by: "JSON objects with files and gcc_version",
    // Whether another object was to come, nobody can tell.
    has_end: false,
    counting: "Each line of each file once, covered if any function or instance of a template ran it; branches by their \
               position on the line.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let telling = ["gcc_version", "data_file", "current_working_directory"].into_iter().find(|key| head.has_key(key));
    match telling.filter(|_| head.has_key("files")) {
        Some(key) => Sniff::Sure(format!("keys files and {key}")),
        None => Sniff::No,
    }
}

#[derive(Deserialize)]
struct Report {
    format_version: Option<String>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (fault, version) = (Fault::default(), RefCell::new(None));
    let read = |report: Report| {
        version.replace(report.format_version);
        Ok(())
    };
    fault.ours(json::documents(input, || take(&fault, read)))?;
    let mut parsed = gcc::files(input, gcc::Documents::Any, &FORMAT)?;
    if let Some(version) = version.take().filter(|version| !matches!(version.as_str(), "1" | "2")) {
        parsed.warnings.push(format!("version {} of the format is not known", printable(&version, 20)));
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    #[test]
    fn files_are_needed_and_another_version_is_warned_of() {
        let read = |text: &str| parse(&Input::bytes("x", text.as_bytes()));
        let one = r#"{"format_version":"7","files":[{"file":"a","lines":[{"line_number":1,"count":1}]}]}"#;
        let parsed = read(one).unwrap();
        assert_eq!((parsed.figures.lines_total, parsed.warnings.len()), (Some(1), 1));
        assert_eq!(read(&one.replace('7', "2")).unwrap().warnings.len(), 0);
        let other = one.replace("\"a\"", "\"b\"").replace(":1,\"count\":1", ":2,\"count\":1.5e+06");
        let both = read(&format!("{one}\n{other}\n{one}\n")).unwrap().figures;
        assert_eq!((both.lines_covered, both.lines_total), (Some(2), Some(2)), "one object a data file");
        assert_eq!(read(&format!("{one}\n{{\"files\":[")).unwrap_err().reject(), Some(Reject::Malformed));
        assert_eq!(read("{\"gcc_version\":\"12\"}").unwrap_err().reject(), Some(Reject::Malformed));
    }
}
