//! `esbuild-metafile`: what `esbuild --metafile=FILE` writes.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::values::Unique;
use crate::ingest::{Format, Head, Parsed, Sniff, add, json};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;
use crate::model::units::Quantity;

/// esbuild's metafile.
pub const FORMAT: Format = Format {
    name: "esbuild-metafile",
    kind: ReportKind::Metric,
    about: "esbuild's metafile: sizes of what it wrote",
    written_by: "esbuild --metafile=FILE, tsup --metafile",
    told_by: "a JSON object with inputs and outputs that have bytes",
    has_end: true,
    counting: "bundle.size (bytes, lower): all outputs but source maps, since their names change with their content.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_of = |list: &str, key: &String, end: &str| key.starts_with(list) && key.ends_with(end);
    let has = |list: &str, end: &str| head.keys().iter().any(|key| is_of(list, key, end));
    // Of many inputs the outputs are not reached.
    let is_ours = has("inputs.", ".bytes")
        && has("inputs.", ".imports")
        && head.keys().iter().all(|key| key.starts_with("inputs") || key.starts_with("outputs"));
    if is_ours || (has("outputs.", ".bytes") && has("outputs.", ".inputs")) {
        return Sniff::Sure("inputs and outputs with bytes".into());
    }
    Sniff::No
}

#[derive(Deserialize)]
struct Metafile {
    outputs: Option<Unique<Output>>,
}

#[derive(Deserialize)]
struct Output {
    bytes: u64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let metafile: Metafile = json::object(input, PhantomData)?;
    let Some(outputs) = metafile.outputs else {
        return Err(Error::report(Reject::NotThisFormat, "not a metafile of esbuild: it has no outputs"));
    };
    let written = outputs.0.iter().filter(|(name, _)| !name.ends_with(".map"));
    let sum = written.map(|(_, output)| output.bytes).try_fold(0, add)?;
    let mut metrics = Metrics::default();
    metrics.add("bundle.size", Some(Quantity::from(sum).as_f64()), Some("bytes"), Some(Direction::Lower));
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_maps_are_no_part_of_the_bundle() {
        let text = r#"{"inputs":{"a.js":{"bytes":307,"imports":[],"format":"cjs"}},"outputs":{"o.js.map":{"imports":[],"inputs":{},"bytes":900},
            "o-4F2K.js":{"imports":[],"exports":[],"entryPoint":"a.js","inputs":{"a.js":{"bytesInOutput":285}},"bytes":297},"o.css":{"inputs":{},"bytes":3}}}"#;
        let metrics = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap().figures.metrics;
        assert_eq!((metrics["bundle.size"].value, metrics.len()), (Some(300.0), 1));
        let other = parse(&Input::bytes("x", b"{\"inputs\":{}}")).unwrap_err();
        assert_eq!(other.reject(), Some(Reject::NotThisFormat));
    }
}
