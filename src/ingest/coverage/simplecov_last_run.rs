//! `simplecov-last-run`: SimpleCov's `.last_run.json`: the percentage of its last run, which is all that it tells.

use std::marker::PhantomData;

use serde::Deserialize;

use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::{CoverageDetails, Details, Format, Head, Parsed, Sniff};
use crate::model::figures::{Figures, ReportKind};
use crate::model::units::Percent;

/// SimpleCov's last run.
pub const FORMAT: Format = Format {
    name: "simplecov-last-run",
    kind: ReportKind::Coverage,
    about: "SimpleCov's last run: the percentage of lines",
    written_by: "SimpleCov (.last_run.json)",
    told_by: "a JSON object with result.line or result.covered_percent alone",
    has_end: true,
    counting: "The percentage of lines.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_ours = |key: &String| {
        ["result", "result.line", "result.branch", "result.method", "result.covered_percent"].contains(&key.as_str())
    };
    let has_share = head.has_key("result.line") || head.has_key("result.covered_percent");
    if has_share && head.keys().iter().all(is_ours) {
        return Sniff::Sure("key result with a percentage of lines".into());
    }
    Sniff::No
}

#[derive(Deserialize)]
struct LastRun {
    result: Shares,
}

#[derive(Deserialize)]
struct Shares {
    /// Before version 0.19 it was `covered_percent`.
    #[serde(alias = "covered_percent")]
    line: Percent,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let LastRun { result } = json::object(input, PhantomData).map_err(|error: Error| match error.reject() {
        Some(Reject::Malformed) if error.message.contains("missing field `result`") => {
            Error::report(Reject::NotThisFormat, "not SimpleCov's last run: it has no result")
        }
        _ => error,
    })?;
    let figures = Figures { percent_covered: Some(result.line), ..Figures::default() };
    Ok(Parsed::new(&FORMAT, figures, Details::Coverage(CoverageDetails::default())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), Some(&FORMAT))
    }

    #[test]
    fn the_percentage_of_lines_counts() {
        for text in [r#"{"result":{"line":81.25,"branch":50.0}}"#, r#"{"result":{"covered_percent":81.25}}"#] {
            assert_eq!(read(text).unwrap().figures.percent_covered, Percent::new(81.25), "{text}");
        }
    }

    #[test]
    fn what_is_no_percentage_is_refused() {
        for bad in ["100.1", "-1", "1e400", "\"81\"", "null", "NaN"] {
            let error = read(&format!("{{\"result\":{{\"line\":{bad}}}}}")).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::Malformed), "{bad}");
        }
        assert_eq!(read("{\"a\":1}").unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
