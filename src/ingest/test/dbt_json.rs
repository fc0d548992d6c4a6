//! `dbt-json`: dbt's `run_results.json`, what became of each node of a run; defined in dbt's schemas `run-results`.
//!
//! Nodes are tests, and models, seeds and snapshots that are built, as in the sum that dbt prints. They have no files here:
//! those are in `manifest.json`.

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use super::TestTally;
use super::json_report::{Keys, Object, items, lacks, seconds, text, unknown_status};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::text::{first_lines, printable};
use crate::ingest::{Format, Head, Parsed, Sniff, json};
use crate::model::cases::{Outcome, TestCase};
use crate::model::figures::ReportKind;

/// What `dbt build`, `dbt test` and `dbt run` leave behind.
pub const FORMAT: Format = Format {
    name: "dbt-json",
    kind: ReportKind::Test,
    about: "run_results.json of dbt",
    written_by: "dbt build, test, run, seed and snapshot",
    told_by: "a JSON object with metadata.dbt_schema_version and results.unique_id",
    has_end: true,
    counting: "Each of results is one test, whether it is a test or was built. success, pass and warn are passed, as dbt \
               counts them, fail and partial success failed, error errored, skipped and no-op skipped. Where nothing was \
               run, as by dbt compile and dbt docs, there is no result.",
    sniff,
    parse,
};

/// Commands that write the file without running a node.
const RUN_NOTHING: [&str; 4] = ["compile", "generate", "show", "list"];

fn sniff(head: &Head<'_>) -> Sniff {
    if head.has_key("metadata.dbt_schema_version") && head.has_key("results.unique_id") {
        return Sniff::Sure("keys metadata.dbt_schema_version and results.unique_id".into());
    }
    Sniff::No
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut report =
        Report { tally: TestTally::new(false), schema: Value::Null, has_results: false, args: Args::default() };
    json::object(input, Object(&mut report))?;
    if !text(&report.schema).is_some_and(|schema| schema.contains("/run-results/")) {
        return Err(lacks(&FORMAT, "the schema run-results"));
    }
    if !report.has_results {
        return Err(lacks(&FORMAT, "results"));
    }
    if let Some(command) = text(&report.args.which).filter(|command| RUN_NOTHING.contains(command)) {
        let why = format!("dbt ran no model and no test: its command was {}", printable(command, 20));
        return Err(
            Error::report(Reject::NoResult, why).help("run dbt build or dbt test; each command replaces the file")
        );
    }
    report.tally.finish(&FORMAT)
}

struct Report {
    tally: TestTally,
    schema: Value,
    has_results: bool,
    args: Args,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    dbt_schema_version: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Args {
    which: Value,
}

impl Keys for Report {
    fn key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "metadata" => self.schema = map.next_value::<Metadata>()?.dbt_schema_version,
            "results" => {
                self.has_results = true;
                map.next_value_seed(items(|node: Node| node.count(&mut self.tally)))?;
            }
            "args" => self.args = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Deserialize)]
struct Node {
    unique_id: String,
    status: String,
    #[serde(default)]
    message: Value,
    #[serde(default)]
    execution_time: Value,
}

impl Node {
    fn count(&self, tally: &mut TestTally) -> Result<()> {
        let outcome = match self.status.as_str() {
            "success" | "pass" | "warn" => Outcome::Passed,
            "fail" | "partial success" => Outcome::Failed,
            "error" | "runtime error" => Outcome::Errored,
            "skipped" | "no-op" => Outcome::Skipped,
            other => return Err(unknown_status(other)),
        };
        let mut case = TestCase::new(outcome);
        case.duration_ms = seconds(&self.execution_time);
        if outcome.is_bad() {
            case.message = text(&self.message).and_then(first_lines);
        }
        tally.case(&self.unique_id, case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::test::tests_support::{counts, details, sniffed};

    fn report(schema: &str, status: &str, which: &str) -> String {
        format!(
            "{{\"metadata\":{{\"dbt_schema_version\":\"https://schemas.getdbt.com/dbt/{schema}\"}},\"results\":[\
             {{\"status\":\"{status}\",\"execution_time\":0.25,\"message\":\"Got 1 result\",\"unique_id\":\"test.shop.a\"}}],\
             \"elapsed_time\":1.5,\"args\":{{\"which\":\"{which}\"}}}}"
        )
    }

    fn read(text: &str) -> Result<Parsed> {
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn each_node_is_one_test() {
        for (status, expected) in [
            ("success", [1, 1, 0, 0, 0]),
            ("pass", [1, 1, 0, 0, 0]),
            ("warn", [1, 1, 0, 0, 0]),
            ("fail", [1, 0, 1, 0, 0]),
            ("partial success", [1, 0, 1, 0, 0]),
            ("error", [1, 0, 0, 1, 0]),
            ("runtime error", [1, 0, 0, 1, 0]),
            ("skipped", [1, 0, 0, 0, 1]),
            ("no-op", [1, 0, 0, 0, 1]),
        ] {
            let text = report("run-results/v6.json", status, "build");
            assert!(matches!(sniffed(&FORMAT, &text), Sniff::Sure(_)), "{text}");
            let parsed = read(&text).unwrap();
            assert_eq!(counts(&parsed), expected, "{status}");
            let case = &details(&parsed).cases.cases["test.shop.a"];
            let message = case.outcome.is_bad().then_some("Got 1 result");
            assert_eq!((case.duration_ms, case.message.as_deref()), (Some(250), message), "{status}");
        }
        assert_eq!(
            read(&report("run-results/v6.json", "great", "build")).unwrap_err().reject(),
            Some(Reject::Malformed)
        );
    }

    #[test]
    fn what_ran_nothing_and_other_artifacts_are_refused() {
        for command in RUN_NOTHING {
            let error = read(&report("run-results/v6.json", "success", command)).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NoResult), "{command}");
        }
        let of_sources = read(&report("sources/v3.json", "pass", "freshness")).unwrap_err();
        assert_eq!(of_sources.reject(), Some(Reject::NotThisFormat));
        let bare = "{\"metadata\":{\"dbt_schema_version\":\"https://schemas.getdbt.com/dbt/run-results/v6.json\"}}";
        assert_eq!(read(bare).unwrap_err().reject(), Some(Reject::NotThisFormat));
    }
}
