//! `sarif`: alerts with a place in a file, as SARIF 2.1.0 for code scanning.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use super::{Form, OneIteration, Place, Write, at_place, json::line, level, placed};
use crate::error::Result;
use crate::model::verdict::Alert;

/// SARIF.
pub(super) const FORM: Form = Form {
    name: "sarif",
    about: "one iteration's alerts that have a place in a file, as SARIF 2.1.0 for code scanning",
    write: Write::Iteration(sarif),
};

/// Of the 25,000 results of a run that code scanning takes, it keeps 5,000.
const RESULTS: usize = 5_000;

/// Characters of one result's text, so that all of them stay far below 10 MB.
const TEXT_CHARS: usize = 1_000;

/// As long as the fingerprints that code scanning makes itself.
const FINGERPRINT_CHARS: usize = 16;

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Value,
    automation_details: Value,
    invocations: [Value; 1],
    column_kind: &'static str,
    results: Vec<Value>,
}

fn sarif(one: &OneIteration<'_>) -> Result<String> {
    let record = one.record;
    let mut all = placed(one);
    let left_out = all.len().saturating_sub(RESULTS);
    all.truncate(RESULTS);
    let names: BTreeSet<&str> = all.iter().map(|(alert, _)| alert.rule.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let rule_index = |alert: &Alert| names.binary_search(&alert.rule.as_str()).unwrap_or(0);
    let results = all.iter().map(|(alert, place)| result(alert, place, rule_index(alert))).collect();
    let notes: Vec<Value> = (left_out > 0)
        .then(|| {
            let text = format!("{left_out} more places are left out: code scanning keeps the {RESULTS} gravest");
            json!({"level": "warning", "message": {"text": text}})
        })
        .into_iter()
        .collect();
    let driver = json!({
        "name": "highwater",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": names.iter().map(|name| rule(one, name)).collect::<Vec<_>>(),
    });
    let run = Run {
        tool: json!({"driver": driver}),
        automation_details: json!({"id": format!("highwater/{}/{}", record.loop_id, record.iteration)}),
        invocations: [json!({"executionSuccessful": true, "toolExecutionNotifications": notes})],
        column_kind: "unicodeCodePoints",
        results,
    };
    line(&Log { schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] })
}

fn rule(one: &OneIteration<'_>, name: &str) -> Value {
    let text = one.rules.iter().find(|rule| rule.name == name);
    // A record of a later version may name a rule that this one does not know.
    let (about, meaning) = text.map_or((name, name), |text| (text.about, text.meaning));
    json!({"id": name, "shortDescription": {"text": about}, "fullDescription": {"text": meaning}})
}

fn result(alert: &Alert, place: &Place, rule_index: usize) -> Value {
    let fingerprint: String = place.fingerprint.to_string().chars().take(FINGERPRINT_CHARS).collect();
    let text: String = at_place(alert, place).chars().take(TEXT_CHARS).collect();
    let location = json!({"physicalLocation": {
        "artifactLocation": {"uri": uri(&place.path)},
        "region": {"startLine": place.line.unwrap_or(1)},
    }});
    json!({
        "ruleId": alert.rule,
        "ruleIndex": rule_index,
        "level": level(alert.severity),
        "message": {"text": text},
        "locations": [location],
        // The only key that code scanning reads.
        "partialFingerprints": {"primaryLocationLineHash": format!("{fingerprint}:1")},
        "properties": {"severity": alert.severity.name()},
    })
}

/// A relative reference: what has a meaning in URIs is written by its bytes, and so is a colon, which would end a scheme.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sample, place};
    use super::*;
    use crate::ingest::{self, Input};
    use crate::model::verdict::Severity;

    fn log(sample: &Sample) -> Value {
        serde_json::from_str(&sarif(&sample.one()).unwrap()).unwrap()
    }

    #[test]
    fn alerts_with_a_place_are_results_with_rule_texts_and_fingerprints() {
        let mut sample = Sample::new();
        sample.alert("known_rule", Severity::Critical, Some("src/a b:c.py"));
        sample.alert("no_place", Severity::Critical, None);
        sample.alert("rule_of_later", Severity::Medium, Some("b.py"));
        sample.places.push(place(0, "src/é.py", None, "again"));
        let run = &log(&sample)["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), 2);
        assert_eq!(
            rules[0],
            json!({"id": "known_rule", "shortDescription": {"text": "in short"}, "fullDescription": {"text": "At length."}})
        );
        assert_eq!(rules[1]["fullDescription"]["text"], "rule_of_later");
        let results = run["results"].as_array().unwrap();
        let field =
            |pointer: &str| results.iter().map(|one| one.pointer(pointer).cloned().unwrap()).collect::<Vec<_>>();
        assert_eq!(field("/ruleIndex"), [0, 0, 1]);
        assert_eq!(field("/level"), ["error", "error", "warning"]);
        let uris = field("/locations/0/physicalLocation/artifactLocation/uri");
        assert_eq!(uris, ["src/a%20b%3Ac.py", "src/%C3%A9.py", "b.py"]);
        assert_eq!(field("/locations/0/physicalLocation/region/startLine"), [7, 1, 7]);
        let prints = field("/partialFingerprints/primaryLocationLineHash");
        assert_eq!(prints[2], "0202020202020202:1");
    }

    #[test]
    fn of_thirty_thousand_places_the_five_thousand_gravest_are_kept_and_the_rest_is_told() {
        let mut sample = Sample::new();
        sample.alert("known_rule", Severity::Low, None);
        sample.alert("known_rule", Severity::High, None);
        sample.places =
            (0..30_000).map(|n| place(usize::from(n >= 29_000), "a.py", Some(n), &"x".repeat(3_000))).collect();
        let text = sarif(&sample.one()).unwrap();
        assert!(text.len() < 10_000_000, "{}", text.len());
        let value: Value = serde_json::from_str(&text).unwrap();
        let results = value["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), RESULTS);
        assert_eq!(results.iter().filter(|result| result["level"] == "error").count(), 1_000);
        let note = &value["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
        assert!(note.as_str().unwrap().starts_with("25000 more places"), "{note}");
        let parsed = ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.format.name, parsed.figures.errors), ("sarif", Some(1_000)));
    }

    #[test]
    fn at_the_limit_nothing_is_left_out() {
        let mut sample = Sample::new();
        sample.alert("known_rule", Severity::Low, None);
        sample.places = (0..RESULTS as u64).map(|n| place(0, "a.py", Some(n), "x")).collect();
        let value = log(&sample);
        assert_eq!(value["runs"][0]["results"].as_array().unwrap().len(), RESULTS);
        assert_eq!(value["runs"][0]["invocations"][0]["toolExecutionNotifications"], json!([]));
        let none = log(&Sample::new());
        assert_eq!(none["runs"][0]["results"], json!([]));
    }
}
