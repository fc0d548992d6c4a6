//! `meson-json`: Meson's `meson-logs/testlog.json`, one object a test. <https://mesonbuild.com/Unit-tests.html>

use serde::Deserialize;
use serde_json::Value;

use super::TestTally;
use super::json_report::{events, lacks, seconds, text, unknown_status};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Parsed};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// Meson's log of tests.
pub const FORMAT: Format = Format {
    name: "meson-json",
    kind: ReportKind::Test,
    about: "JSON lines of Meson: its tests",
    written_by: "meson test (meson-logs/testlog.json)",
    told_by: "JSON lines with name, result, starttime and returncode",
    has_end: false,
    counting: "Each line is one test, whatever tests its program tells of: OK passed; FAIL, TIMEOUT and UNEXPECTEDPASS \
               failed; ERROR and INTERRUPT errored; SKIP and EXPECTEDFAIL skipped.",
    sniff: |head| head.by_keys(&["name", "result", "starttime", "returncode"]),
    parse,
};

#[derive(Deserialize)]
struct Test {
    #[serde(default)]
    name: Value,
    result: String,
    #[serde(default)]
    duration: Value,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let (mut tally, mut has_any) = (TestTally::new(true), false);
    events(input, "\"returncode\":", |test: Test| {
        has_any = true;
        let mut case = TestCase::new(outcome(&test.result)?);
        case.duration_ms = seconds(&test.duration);
        tally.case(text(&test.name).unwrap_or("(unnamed)"), case)
    })?;
    if !has_any {
        return Err(lacks(&FORMAT, "test"));
    }
    tally.finish(&FORMAT)
}

fn outcome(result: &str) -> Result<Outcome> {
    match result {
        "OK" => Ok(Outcome::Passed),
        "FAIL" | "TIMEOUT" | "UNEXPECTEDPASS" => Ok(Outcome::Failed),
        "ERROR" | "INTERRUPT" => Ok(Outcome::Errored),
        "SKIP" | "EXPECTEDFAIL" | "IGNORED" => Ok(Outcome::Skipped),
        other => Err(unknown_status(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Sniff;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn line(result: &str) -> String {
        format!(
            "{{\"name\": \"shop:{result}\", \"stdout\": \"\", \"result\": \"{result}\", \"starttime\": 1.5, \"duration\": 0.25, \
             \"returncode\": 0, \"env\": {{}}, \"command\": [\"/app/t\"]}}\n"
        )
    }

    #[test]
    fn each_line_is_a_test() {
        let all = ["OK", "FAIL", "TIMEOUT", "UNEXPECTEDPASS", "ERROR", "INTERRUPT", "SKIP", "EXPECTEDFAIL"].map(line);
        let parsed = parse(&Input::bytes("x", all.concat().as_bytes())).unwrap();
        assert_eq!(counts(&parsed), [8, 1, 3, 2, 2]);
        assert_eq!(details(&parsed).cases.cases["shop:OK"].duration_ms, Some(250));
        assert!(matches!(sniffed(&FORMAT, &all.concat()), Sniff::Sure(_)));
    }

    #[test]
    fn what_is_cut_or_unknown_is_refused() {
        let text = line("OK");
        for (text, reject) in [
            (format!("{text}{}", text.get(..40).unwrap()), Reject::Malformed),
            (line("GREAT"), Reject::Malformed),
            ("{\"a\": 1}\n".to_owned(), Reject::NotThisFormat),
        ] {
            assert_eq!(parse(&Input::bytes("x", text.as_bytes())).unwrap_err().reject(), Some(reject), "{text}");
        }
    }
}
