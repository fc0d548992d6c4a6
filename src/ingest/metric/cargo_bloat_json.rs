//! `cargo-bloat-json`: what `cargo bloat --message-format json` prints.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed, json};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// JSON of cargo-bloat.
pub const FORMAT: Format = Format {
    name: "cargo-bloat-json",
    kind: ReportKind::Metric,
    about: "cargo-bloat JSON: size of a Rust program",
    written_by: "cargo bloat --message-format json",
    told_by: "a JSON object with file-size and text-section-size",
    has_end: true,
    counting: "binary.size and binary.text (bytes, lower): file-size and text-section-size. What functions and crates \
               take is not used, as only the largest are told.",
    sniff: |head| head.by_keys(&["file-size", "text-section-size"]),
    parse,
};

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Report {
    file_size: Option<f64>,
    text_section_size: Option<f64>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    if report.file_size.is_none() && report.text_section_size.is_none() {
        return Err(Error::report(Reject::NotThisFormat, "not a report of cargo-bloat: it has no file-size"));
    }
    let mut metrics = Metrics::default();
    for (name, value) in [("binary.size", report.file_size), ("binary.text", report.text_section_size)] {
        metrics.add(name, value, Some("bytes"), Some(Direction::Lower));
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_and_its_code_have_sizes() {
        let text = r#"{"file-size":4339216,"text-section-size":252387,"crates":[{"name":"std","size":248680}]}"#;
        let metrics = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap().figures.metrics;
        assert_eq!((metrics["binary.size"].value, metrics["binary.text"].value), (Some(4_339_216.0), Some(252_387.0)));
        assert_eq!(parse(&Input::bytes("x", b"{}")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
