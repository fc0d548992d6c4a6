//! `gitlab`: alerts with a place in a file, as GitLab's code quality report.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Form, OneIteration, Write, at_place, json::line, placed};
use crate::error::Result;
use crate::model::verdict::Severity;

/// Code quality.
pub(super) const FORM: Form = Form {
    name: "gitlab",
    about: "one iteration's alerts that have a place in a file, as GitLab's code quality report",
    write: Write::Iteration(gitlab),
};

#[derive(Serialize)]
struct Issue<'a> {
    description: String,
    check_name: &'a str,
    fingerprint: String,
    severity: &'static str,
    location: Value,
}

fn gitlab(one: &OneIteration<'_>) -> Result<String> {
    let issues: Vec<Issue<'_>> = placed(one)
        .into_iter()
        .map(|(alert, place)| Issue {
            description: at_place(alert, place),
            check_name: &alert.rule,
            fingerprint: place.fingerprint.to_string(),
            severity: match alert.severity {
                Severity::Low => "info",
                Severity::Medium => "minor",
                Severity::High => "major",
                Severity::Critical => "critical",
            },
            location: json!({"path": place.path, "lines": {"begin": place.line.unwrap_or(1)}}),
        })
        .collect();
    line(&issues)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Sample;
    use super::*;
    use crate::ingest::{self, Input};

    #[test]
    fn alerts_with_a_place_are_issues_and_others_are_not() {
        let mut sample = Sample::new();
        sample.alert("known_rule", Severity::High, Some("src/a.py"));
        sample.alert("no_place", Severity::Critical, None);
        let text = gitlab(&sample.one()).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            value,
            json!([{
                "description": "message of known_rule: what",
                "check_name": "known_rule",
                "fingerprint": "00".repeat(32),
                "severity": "major",
                "location": {"path": "src/a.py", "lines": {"begin": 7}},
            }])
        );
        let parsed = ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.format.name, parsed.figures.total), ("codeclimate-json", Some(1)));
    }

    #[test]
    fn nothing_to_tell_is_an_empty_array() {
        assert_eq!(gitlab(&Sample::new().one()).unwrap(), "[]\n");
    }
}
