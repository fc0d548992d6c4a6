//! `vale-json`: Vale's output `JSON`. Written after its definition, the fields of `Alert`
//! (<https://github.com/errata-ai/vale/blob/v3/internal/core/alert.go>).
//!
//! An object whose keys are files; those in which nothing was found are not among them.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Told, foreign, members_of_all};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Vale's JSON.
pub const FORMAT: Format = Format {
    name: "vale-json",
    kind: ReportKind::Lint,
    about: "Vale's alerts, by file",
    written_by: "vale --output=JSON",
    told_by: "a JSON object of files, whose lists have Check, Severity, Span and Match",
    has_end: true,
    counting: "Alerts by severity: error, warning; suggestion is a note.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has = |name: &&str| head.keys().iter().any(|key| key.rsplit('.').next() == Some(*name));
    match ["Check", "Severity", "Span", "Match"].iter().all(has) {
        true => Sniff::Sure("keys Check, Severity, Span and Match, as Vale writes them".into()),
        false => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Alert {
    check: Loose,
    message: Loose,
    severity: Option<String>,
    line: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("vale", Sort::Linter);
    members_of_all(input, |path, alerts: OfAFile<Alert>| {
        alerts.into_iter().try_for_each(|alert| {
            if !alert.check.is_text() {
                return Err(foreign("not a report of Vale: an alert has no Check"));
            }
            let level = findings.level(alert.severity.as_deref());
            let Alert { check: rule, message, line, .. } = alert;
            findings.add(level, Told { rule, path: Loose::Text(path.clone()), line, message })
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
    fn alerts_count_by_severity() {
        let text = r#"{"README.md":[{"Action":{"Name":"","Params":null},"Span":[3,9],"Check":"Vale.Spelling","Description":"",
            "Link":"","Message":"m","Severity":"error","Match":"teh","Line":3}],
            "b.md":[{"Check":"V.A","Severity":"warning"},{"Check":"V.B","Severity":"suggestion"}]}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("README.md"), Some(3), Some("Vale.Spelling"), "m"));
    }

    #[test]
    fn what_is_not_vale_s_is_rejected() {
        for other in ["{\"a.md\":[{\"Line\":1}]}", "[{}]"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
