//! `trivy-json`: Trivy's format `json`. Written after its definition, the types of `pkg/types`
//! (<https://github.com/aquasecurity/trivy/blob/main/pkg/types/report.go>).
//!
//! Where nothing was found there are no `Results` at all. Before schema 2 the document is their list.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Place, There, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Trivy's JSON.
pub const FORMAT: Format = Format {
    name: "trivy-json",
    kind: ReportKind::Lint,
    about: "Trivy's vulnerabilities, misconfigurations, secrets and licenses",
    written_by: "trivy fs|image|config|repo --format json",
    told_by: "a JSON object with SchemaVersion, ArtifactName and ArtifactType; or a list of objects with Target and \
              Vulnerabilities or Misconfigurations",
    has_end: true,
    counting: "Each by its severity: CRITICAL and HIGH are errors, MEDIUM warnings, LOW and UNKNOWN notes. Checks that \
               passed are none, those with an exception are suppressed.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_list = head.has_key("Target") && (head.has_key("Vulnerabilities") || head.has_key("Misconfigurations"));
    match is_list || ["SchemaVersion", "ArtifactName", "ArtifactType"].iter().all(|key| head.has_key(key)) {
        true => Sniff::Sure("keys ArtifactName, or Target and Vulnerabilities, as Trivy writes them".into()),
        false => Sniff::No,
    }
}

/// A document, or what was found in one target.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Part {
    schema_version: Option<There>,
    results: Option<Few<Part>>,
    target: Loose,
    vulnerabilities: Option<OfAFile<Found>>,
    misconfigurations: Option<OfAFile<Found>>,
    secrets: Option<OfAFile<Found>>,
    licenses: Option<OfAFile<Found>>,
}

/// Each sort has its own name for what it is.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Found {
    #[serde(alias = "ID", alias = "RuleID", alias = "Name")]
    #[serde(rename = "VulnerabilityID")]
    id: Loose,
    title: Loose,
    pkg_name: Loose,
    severity: Option<String>,
    status: Option<String>,
    start_line: Loose,
    cause_metadata: Option<Cause>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Cause {
    start_line: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("trivy", Sort::Linter);
    elements(input, Place::TopOrAlone, |part: Part| {
        if part.schema_version.is_none() && !part.target.is_text() {
            return Err(foreign("not a report of Trivy: it has no SchemaVersion and no Target"));
        }
        count(part, &mut findings)
    })?;
    findings.finish(&FORMAT)
}

/// As deep as the JSON may be, which is limited where it is read.
fn count(part: Part, findings: &mut Findings) -> Result<()> {
    let Part { results, target, vulnerabilities, misconfigurations, secrets, licenses, .. } = part;
    for found in [vulnerabilities, misconfigurations, secrets, licenses].into_iter().flatten().flatten() {
        match found.status.as_deref() {
            Some("PASS") => continue,
            Some("EXCEPTION") => {
                findings.suppressed();
                continue;
            }
            _ => {}
        }
        let level = findings.level(found.severity.as_deref());
        let line = found.cause_metadata.map_or(found.start_line, |cause| cause.start_line);
        let message = if found.title.is_text() { found.title } else { found.pkg_name };
        findings.add(level, Told { rule: found.id, path: target.clone(), line, message })?;
    }
    results.unwrap_or_default().into_iter().try_for_each(|part| count(part, findings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn each_sort_counts_by_severity() {
        let text = r#"{"SchemaVersion":2,"ArtifactName":".","ArtifactType":"filesystem","Results":[
            {"Target":"Cargo.lock","Class":"lang-pkgs","Type":"cargo","Vulnerabilities":[{"VulnerabilityID":"CVE-1","PkgName":"time",
            "Title":"t","Severity":"HIGH","Status":"fixed"},{"VulnerabilityID":"CVE-2","PkgName":"a","Severity":"UNKNOWN"}]},
            {"Target":"Dockerfile","Class":"config","Misconfigurations":[{"ID":"DS002","Title":"t","Severity":"MEDIUM","Status":"FAIL",
            "CauseMetadata":{"StartLine":3}},{"ID":"DS1","Severity":"LOW","Status":"PASS"},{"ID":"DS3","Severity":"LOW","Status":"EXCEPTION"}]},
            {"Target":"a.env","Class":"secret","Secrets":[{"RuleID":"aws","Severity":"CRITICAL","Title":"s","StartLine":2,"Match":"m"}]}]}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("Cargo.lock"), None, Some("CVE-1"), "t"));
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert_eq!(figures.suppressed, Some(1));
        assert_eq!(details.findings.iter().filter_map(|one| one.line).collect::<Vec<_>>(), [3, 2]);
        let total = |text: &str| crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap().figures.total;
        assert_eq!(
            total(r#"{"SchemaVersion":2,"ArtifactName":".","ArtifactType":"filesystem","Metadata":{}}"#),
            Some(0)
        );
        assert_eq!(
            total(r#"[{"Target":"a","Vulnerabilities":[{"VulnerabilityID":"C","Severity":"LOW"}]},{"Target":"b"}]"#),
            Some(1)
        );
    }

    #[test]
    fn what_is_not_trivy_s_is_rejected() {
        for other in ["[{\"Type\":\"x\"}]", "{\"Results\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
