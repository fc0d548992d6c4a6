//! `bundler-audit-json`: `bundle-audit check --format json`. Written after its source,
//! <https://github.com/rubysec/bundler-audit/blob/master/lib/bundler/audit/results/unpatched_gem.rb>.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// bundler-audit's JSON.
pub const FORMAT: Format = Format {
    name: "bundler-audit-json",
    kind: ReportKind::Lint,
    about: "advisories of Ruby gems, and sources that are not safe",
    written_by: "bundle-audit check --format json",
    told_by: "a JSON object with created_at and results that have type unpatched_gem or insecure_source",
    has_end: true,
    counting: "Gems by the criticality of their advisory: critical and high are errors, medium warnings, low and none \
               notes, unknown ones errors, as are sources that are not safe.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_result = head.has_key("results.advisory.criticality") || head.has_key("results.source");
    let is_clean = head.has_only(&["version", "created_at", "results"]);
    match is_clean || (head.has_key("created_at") && head.has_key("results.type") && has_result) {
        true => Sniff::Sure("keys created_at and results, as bundler-audit writes them".into()),
        false => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    r#type: Loose,
    gem: Gem,
    advisory: Advisory,
    source: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Gem {
    name: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Advisory {
    id: Loose,
    title: Loose,
    criticality: Option<String>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("bundler-audit", Sort::Linter);
    elements(input, Place::Under("results"), |item: Item| {
        let Item { r#type, gem, advisory, source } = item;
        if !r#type.is_text() {
            return Err(foreign("not a report of bundler-audit: a result has no type"));
        }
        let criticality = advisory.criticality.as_deref().map(|word| if word == "none" { "low" } else { word });
        let level = findings.level(criticality.filter(|word| *word != "unknown"));
        let (path, message) = if source.is_text() { (source, r#type) } else { (gem.name, advisory.title) };
        findings.add(level, Told { rule: advisory.id, path, message, ..Told::default() })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn gems_count_by_the_criticality_of_their_advisory() {
        let gem = |criticality: &str| {
            format!(
                r#"{{"type":"unpatched_gem","gem":{{"name":"rack","version":"1.4.1"}},"advisory":{{"id":"CVE-2013-0184","title":"t","criticality":{criticality}}}}}"#
            )
        };
        let gems = ["\"high\"", "\"medium\"", "\"none\"", "null"].map(gem).join(",");
        let text = format!(
            r#"{{"version":"0.9.1","created_at":"2026-01-05 10:00:00 +0000","results":[{gems},{{"type":"insecure_source","source":"http://rubygems.org/"}}]}}"#
        );
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(3), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("rack"), None, Some("CVE-2013-0184"), "t"));
        let clean = r#"{"version":"0.9.1","created_at":"t","results":[]}"#;
        assert_eq!(crate::ingest::parse(&Input::bytes("x", clean.as_bytes()), None).unwrap().figures.total, Some(0));
        let error = parse(&Input::bytes("x", b"{\"results\":[{}]}")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
    }
}
