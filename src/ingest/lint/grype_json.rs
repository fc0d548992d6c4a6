//! `grype-json`: Grype's output `json`. Written after its definition, the types of `grype/presenter/models`
//! (<https://github.com/anchore/grype/blob/main/grype/presenter/models/document.go>).

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, There, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::values::{Few, First};
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Grype's JSON.
pub const FORMAT: Format = Format {
    name: "grype-json",
    kind: ReportKind::Lint,
    about: "Grype's vulnerabilities of packages",
    written_by: "grype -o json",
    told_by: "a JSON object with matches and descriptor",
    has_end: true,
    counting: "Matches by severity: Critical and High are errors, Medium warnings, Low, Negligible and Unknown notes. \
               Ignored matches are suppressed.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_match = head.has_key("matches.vulnerability") && head.has_key("matches.vulnerability.severity");
    match has_match || (head.has_key("matches") && head.has_key("descriptor.name")) {
        true => Sniff::Sure("keys matches and vulnerability, as Grype writes them".into()),
        false => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Match {
    vulnerability: Option<Vulnerability>,
    artifact: Option<Artifact>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Vulnerability {
    id: Loose,
    severity: Option<String>,
    description: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Artifact {
    name: Loose,
    locations: Option<First<Location>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    path: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Document {
    ignored_matches: Option<Few<There>>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("grype", Sort::Linter);
    elements(input, Place::Under("matches"), |one: Match| {
        let (Some(vulnerability), Some(artifact)) = (one.vulnerability, one.artifact) else {
            return Err(foreign("not a report of Grype: a match has no vulnerability or no artifact"));
        };
        let Vulnerability { id: rule, severity, description } = vulnerability;
        let level = findings.level(severity.as_deref());
        let path = artifact.locations.and_then(|locations| locations.0).unwrap_or_default().path;
        let message = if description.is_text() { description } else { artifact.name };
        findings.add(level, Told { rule, path, message, ..Told::default() })
    })?;
    let ignored = json::object(input, PhantomData::<Document>)?.ignored_matches;
    ignored.unwrap_or_default().into_iter().for_each(|There| findings.suppressed());
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn matches_count_by_severity() {
        let text = r#"{"matches":[{"vulnerability":{"id":"CVE-1","dataSource":"d","severity":"Critical"},"relatedVulnerabilities":[],
            "matchDetails":[],"artifact":{"name":"zlib","version":"1","locations":[{"path":"/lib/z"}]}},
            {"vulnerability":{"severity":"Medium"},"artifact":{}},{"vulnerability":{"severity":"Negligible"},"artifact":{}}],
            "ignoredMatches":[{}],"source":{},"distro":{},"descriptor":{"name":"grype","version":"0.80"}}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("/lib/z"), None, Some("CVE-1"), "zlib"));
        assert_eq!(figures.suppressed, Some(1));
    }

    #[test]
    fn what_is_not_grype_s_is_rejected() {
        for other in ["{\"matches\":[{\"x\":1}]}", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
