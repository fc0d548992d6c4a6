//! `detect-secrets-json`: what detect-secrets scans, its baseline. <https://github.com/Yelp/detect-secrets#basic-functionality>
//!
//! An object with a list for each file in which something was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Told, foreign, members_under};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// detect-secrets' baseline.
pub const FORMAT: Format = Format {
    name: "detect-secrets-json",
    kind: ReportKind::Lint,
    about: "detect-secrets' secrets by file, its baseline",
    written_by: "detect-secrets scan",
    told_by: "a JSON object with plugins_used and results",
    has_end: true,
    counting: "Each secret is an error; there are no levels. Those that an audit found to be none are suppressed.",
    sniff: |head| head.by_keys(&["plugins_used"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Secret {
    r#type: Loose,
    line_number: Loose,
    is_secret: Option<bool>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("detect-secrets", Sort::Linter);
    members_under(input, "results", |path, secrets: OfAFile<Secret>| {
        secrets.into_iter().try_for_each(|secret| {
            if !secret.r#type.is_text() {
                return Err(foreign("not a baseline of detect-secrets: a secret has no type"));
            }
            if secret.is_secret == Some(false) {
                findings.suppressed();
                return Ok(());
            }
            let Secret { r#type: rule, line_number: line, .. } = secret;
            findings.add(Level::Error, Told { rule, path: Loose::Text(path.clone()), line, ..Told::default() })
        })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn secrets_stand_below_their_file() {
        let text = r#"{"version":"1.5.0","plugins_used":[{"name":"AWSKeyDetector"}],"filters_used":[],"results":{"a.py":[
            {"type":"Secret Keyword","filename":"a.py","hashed_secret":"f3","is_verified":false,"line_number":5},
            {"type":"x","is_secret":false},{"type":"y","is_secret":true}],"b.py":[{"type":"z"}]},"generated_at":"t"}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.suppressed), (Some(3), Some(1)));
        assert_eq!(first_finding(&parsed), (Some("a.py"), Some(5), Some("Secret Keyword"), "Secret Keyword"));
        for other in ["{\"plugins_used\":[]}", "{\"results\":{\"a\":[{}]}}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
