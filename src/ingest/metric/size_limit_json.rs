//! `size-limit-json`: what `size-limit --json` prints.

use std::marker::PhantomData;

use serde::Deserialize;

use super::{LONGEST_NAME, Metrics};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::Few;
use crate::ingest::{Format, Parsed, json};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// JSON of size-limit.
pub const FORMAT: Format = Format {
    name: "size-limit-json",
    kind: ReportKind::Metric,
    about: "size-limit JSON: sizes of JavaScript bundles",
    written_by: "size-limit --json",
    told_by: "a JSON list of objects with name, passed, size and sizeLimit",
    has_end: true,
    counting: "bundle.NAME.size (bytes, lower), and bundle.NAME.running and .loading (s, lower) where they were \
               measured. Whether the limit is kept is not used.",
    sniff: |head| head.by_keys(&["name", "passed", "size"]),
    parse,
};

#[derive(Deserialize)]
struct Bundle {
    name: String,
    /// Missing where only time is limited.
    size: Option<f64>,
    running: Option<f64>,
    loading: Option<f64>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let Few(bundles): Few<Bundle> = json::document(input, PhantomData)?;
    let mut metrics = Metrics::default();
    for Bundle { name, size, running, loading } in bundles {
        let name = |what: &str| format!("bundle.{}.{what}", printable(&name, LONGEST_NAME));
        metrics.add(&name("size"), size, Some("bytes"), Some(Direction::Lower));
        for (what, time) in [("running", running), ("loading", loading)] {
            if time.is_some() {
                metrics.add(&name(what), time, Some("s"), Some(Direction::Lower));
            }
        }
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;

    #[test]
    fn a_bundle_has_its_size_and_perhaps_times() {
        let text = r#"[{"name":"a.js","passed":true,"size":161,"sizeLimit":1000},{"name":"b","passed":false,"size":20,"running":0.5,"loading":0.25}]"#;
        let metrics = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap().figures.metrics;
        assert_eq!((metrics["bundle.a.js.size"].value, metrics["bundle.b.loading"].value), (Some(161.0), Some(0.25)));
        assert_eq!(metrics.len(), 4);
        assert_eq!(parse(&Input::bytes("x", b"[]")).unwrap_err().reject(), Some(Reject::NoResult));
    }
}
