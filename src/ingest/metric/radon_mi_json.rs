//! `radon-mi-json`: what `radon mi --json` writes: the maintainability index of each Python file, 0 to 100.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::Unique;
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// JSON of radon mi.
pub const FORMAT: Format = Format {
    name: "radon-mi-json",
    kind: ReportKind::Metric,
    about: "radon JSON: maintainability index of each Python file",
    written_by: "radon mi --json",
    told_by: "JSON objects by file with mi and rank",
    has_end: true,
    counting: "maintainability.mean and .min (higher) over all files; those that could not be parsed are told.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_file = |key: &String| key.strip_suffix(".mi").is_some_and(|file| head.has_key(&format!("{file}.rank")));
    if head.keys().iter().any(is_file) { Sniff::Sure("files with mi and rank".into()) } else { Sniff::No }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a file has neither mi nor an error")]
enum File {
    Measured { mi: f64 },
    Failed { error: String },
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let files: Unique<File> = json::object(input, PhantomData)?;
    let (mut sum, mut count, mut least, mut warnings) = (0.0, 0.0, f64::INFINITY, Vec::new());
    for (name, file) in &files.0 {
        match file {
            File::Measured { mi } => (sum, count, least) = (sum + mi, count + 1.0, least.min(*mi)),
            File::Failed { error } => {
                warnings.push(format!("{:?} is not measured: {}", printable(name, 200), printable(error, 100)));
            }
        }
    }
    if count == 0.0 {
        return Err(Error::report(Reject::NoResult, "no file was measured"));
    }
    let mut metrics = Metrics::default();
    metrics.add("maintainability.mean", Some(sum / count), None, Some(Direction::Higher));
    metrics.add("maintainability.min", Some(least), None, Some(Direction::Higher));
    let parsed = metrics.finish(&FORMAT)?;
    Ok(Parsed { warnings, ..parsed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_failed_are_told() {
        let text =
            r#"{"a.py":{"mi":60.5,"rank":"A"},"b.py":{"mi":100.0,"rank":"A"},"c.py":{"error":"invalid syntax"}}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let value = |name: &str| parsed.figures.metrics[&format!("maintainability.{name}")].value;
        assert_eq!((value("mean"), value("min"), parsed.warnings.len()), (Some(80.25), Some(60.5), 1));
        assert_eq!(parse(&Input::bytes("x", b"{}")).unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(parse(&Input::bytes("x", b"{\"a\":{}}")).unwrap_err().reject(), Some(Reject::Malformed));
    }
}
