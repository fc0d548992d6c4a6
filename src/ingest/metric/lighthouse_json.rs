//! `lighthouse-json`: what `lighthouse --output json` writes of one page. Written after Lighthouse's documentation of its result
//! object, version 12; no browser was at hand.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;

use super::{LONGEST_NAME, Metrics};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::printable;
use crate::ingest::values::Unique;
use crate::ingest::{Format, Parsed, json};
use crate::model::figures::ReportKind;
use crate::model::metrics::Direction;

/// JSON of Lighthouse.
pub const FORMAT: Format = Format {
    name: "lighthouse-json",
    kind: ReportKind::Metric,
    about: "Lighthouse JSON: scores and timings of a web page",
    written_by: "lighthouse --output json, lhci collect",
    told_by: "a JSON object with lighthouseVersion and requestedUrl",
    has_end: true,
    counting: "lighthouse.CATEGORY (0 to 1, higher); lighthouse.first-contentful-paint, .largest-contentful-paint, \
               .speed-index, .total-blocking-time, .interactive (ms, lower) and .cumulative-layout-shift (lower). A \
               page that did not load is no result.",
    sniff: |head| head.by_keys(&["lighthouseVersion", "requestedUrl"]),
    parse,
};

/// The audits that are used, and their units.
const AUDITS: [(&str, Option<&str>); 6] = [
    ("first-contentful-paint", Some("ms")),
    ("largest-contentful-paint", Some("ms")),
    ("speed-index", Some("ms")),
    ("total-blocking-time", Some("ms")),
    ("interactive", Some("ms")),
    ("cumulative-layout-shift", None),
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    runtime_error: Option<RuntimeError>,
    categories: Option<Unique<Category>>,
    #[serde(default)]
    audits: BTreeMap<String, Audit>,
}

#[derive(Deserialize)]
struct RuntimeError {
    code: String,
}

#[derive(Deserialize)]
struct Category {
    score: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Audit {
    numeric_value: Option<f64>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let report: Report = json::object(input, PhantomData)?;
    let Some(categories) = report.categories else {
        return Err(Error::report(Reject::NotThisFormat, "not a report of Lighthouse: it has no categories"));
    };
    if let Some(error) = report.runtime_error.filter(|error| error.code != "NO_ERROR") {
        let why = format!("the page was not audited: {}", printable(&error.code, 40));
        return Err(Error::report(Reject::NoResult, why));
    }
    let mut metrics = Metrics::default();
    for (name, category) in &categories.0 {
        let name = format!("lighthouse.{}", printable(name, LONGEST_NAME));
        metrics.add(&name, category.score, None, Some(Direction::Higher));
    }
    for (name, unit) in AUDITS {
        if let Some(audit) = report.audits.get(name) {
            metrics.add(&format!("lighthouse.{name}"), audit.numeric_value, unit, Some(Direction::Lower));
        }
    }
    metrics.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(error: &str) -> Result<Parsed> {
        let text = format!(
            r#"{{"lighthouseVersion":"12.0.0","requestedUrl":"http://localhost/",{error}"audits":{{"speed-index":{{"id":"speed-index","score":0.9,
            "numericValue":1234.5,"numericUnit":"millisecond"}},"is-on-https":{{"score":0}},"interactive":{{"score":null}}}},
            "categories":{{"performance":{{"title":"Performance","score":0.93}},"seo":{{"score":null}}}}}}"#
        );
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn scores_and_timings_have_directions() {
        let metrics = read("").unwrap().figures.metrics;
        let told = |name: &str| {
            (metrics[&format!("lighthouse.{name}")].value, metrics[&format!("lighthouse.{name}")].direction)
        };
        assert_eq!(told("performance"), (Some(0.93), Some(Direction::Higher)));
        assert_eq!(told("speed-index"), (Some(1234.5), Some(Direction::Lower)));
        assert_eq!((told("seo").0, told("interactive").0, metrics.len()), (None, None, 4));
        let failed = read(r#""runtimeError":{"code":"FAILED_DOCUMENT_REQUEST"},"#).unwrap_err();
        assert_eq!(failed.reject(), Some(Reject::NoResult));
        assert_eq!(parse(&Input::bytes("x", b"{}")).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
