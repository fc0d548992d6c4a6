//! `composer-audit-json`: `composer audit --format=json`. Written after Composer's source,
//! <https://github.com/composer/composer/blob/main/src/Composer/Advisory/Auditor.php>.
//!
//! Packages with the advisories of each; an empty list where there are none.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Told, foreign, members_under};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// Composer's audit.
pub const FORMAT: Format = Format {
    name: "composer-audit-json",
    kind: ReportKind::Lint,
    about: "advisories of PHP packages",
    written_by: "composer audit --format=json",
    told_by: "a JSON object with advisories, of which each has packageName and affectedVersions; or with advisories \
              and abandoned",
    has_end: true,
    counting: "Advisories by severity: critical and high are errors, medium warnings, low notes; without one, as \
               before Composer 2.7, errors. Packages that were abandoned are not counted.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // Keys below a package's name: `advisories.vendor/name.advisoryId`.
    let is_advisory = |key: &String| key.starts_with("advisories.") && key.ends_with(".affectedVersions");
    let is_clean = head.has_only(&["advisories", "abandoned"]) || head.has_key("ignored-advisories");
    match head.keys().iter().any(is_advisory) || (head.has_key("advisories") && is_clean) {
        true => Sniff::Sure("keys advisories and affectedVersions, as Composer writes them".into()),
        false => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Advisory {
    advisory_id: Loose,
    title: Loose,
    severity: Option<String>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("composer-audit", Sort::Linter);
    members_under(input, "advisories", |package, advisories: OfAFile<Advisory>| {
        advisories.into_iter().try_for_each(|advisory| {
            if !advisory.advisory_id.is_text() {
                return Err(foreign("not a report of composer audit: an advisory has no advisoryId"));
            }
            let level = findings.level(advisory.severity.as_deref());
            let Advisory { advisory_id: rule, title: message, .. } = advisory;
            findings.add(level, Told { rule, path: Loose::Text(package.clone()), message, ..Told::default() })
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
    fn advisories_stand_below_their_package() {
        let text = r#"{"advisories":{"guzzlehttp/psr7":[{"advisoryId":"PKSA-1","packageName":"guzzlehttp/psr7","affectedVersions":"<1.8","title":"t","severity":"medium"},
            {"advisoryId":"PKSA-2","packageName":"guzzlehttp/psr7","title":"u","severity":null}]},"abandoned":{"a/b":null}}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(0)]);
        assert_eq!(first_finding(&parsed), (Some("guzzlehttp/psr7"), None, Some("PKSA-1"), "t"));
        let clean = crate::ingest::parse(&Input::bytes("x", b"{\"advisories\":[],\"abandoned\":[]}"), None).unwrap();
        assert_eq!(clean.figures.total, Some(0));
        for other in ["{\"advisories\":{\"a\":[{}]}}", "{}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
