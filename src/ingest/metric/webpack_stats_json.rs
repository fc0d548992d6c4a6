//! `webpack-stats-json`: what `webpack --json` writes.

use std::marker::PhantomData;

use serde::Deserialize;

use super::Metrics;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Parsed, add, json};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;
use crate::model::units::Quantity;

/// webpack's statistics.
pub const FORMAT: Format = Format {
    name: "webpack-stats-json",
    kind: ReportKind::Metric,
    about: "webpack's statistics: sizes of what it wrote",
    written_by: "webpack --json, rspack build --json",
    told_by: "a JSON object with assetsByChunkName and assets that have a size",
    has_end: true,
    counting: "bundle.size (bytes, lower): all assets but source maps, since their names change with their content. A \
               build with errors is no result.",
    sniff: |head| head.by_keys(&["assetsByChunkName", "assets.name", "assets.size"]),
    parse,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statistics {
    assets: Option<Few<Asset>>,
    #[serde(default)]
    errors_count: u64,
}

#[derive(Deserialize)]
struct Asset {
    name: String,
    size: u64,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let statistics: Statistics = json::object(input, PhantomData)?;
    let Some(assets) = statistics.assets else {
        return Err(Error::report(Reject::NotThisFormat, "not statistics of webpack: it has no assets"));
    };
    if statistics.errors_count > 0 {
        return Err(Error::report(Reject::NoResult, "the build has errors"));
    }
    let written = assets.into_iter().filter(|asset| !asset.name.ends_with(".map"));
    let sum = written.map(|asset| asset.size).try_fold(0, add)?;
    let mut metrics = Metrics::default();
    metrics.add("bundle.size", Some(Quantity::from(sum).as_f64()), Some("bytes"), Some(Direction::Lower));
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_maps_are_no_part_of_the_bundle_and_errors_leave_none() {
        let read = |errors: u64| {
            let text = format!(
                r#"{{"hash":"a","version":"5.1","assetsByChunkName":{{"main":["main.js"]}},"assets":[{{"type":"asset","name":"main.4f.js","size":178}},
                {{"name":"main.js.map","size":999}},{{"name":"main.css","size":22}}],"chunks":[],"errorsCount":{errors}}}"#
            );
            crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
        };
        assert_eq!(read(0).unwrap().figures.metrics["bundle.size"].value, Some(200.0));
        assert_eq!(read(1).unwrap_err().reject(), Some(Reject::NoResult));
        assert_eq!(parse(&Input::bytes("x", b"{}")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
