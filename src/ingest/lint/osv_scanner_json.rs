//! `osv-scanner-json`: OSV-Scanner's format `json`. Written after its definition, the types of `pkg/models`
//! (<https://google.github.io/osv-scanner/output/#json>).
//!
//! Sources with their packages; the vulnerabilities of each, of which some are the same by another name: groups.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Place, Told, elements, foreign, level_of_score};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// OSV-Scanner's JSON.
pub const FORMAT: Format = Format {
    name: "osv-scanner-json",
    kind: ReportKind::Lint,
    about: "OSV-Scanner's vulnerabilities of packages",
    written_by: "osv-scanner --format json",
    told_by: "a JSON object with results, their source.path and packages",
    has_end: true,
    counting: "Each group of vulnerabilities of a package, as its table does, where there are groups: critical and high are \
               errors, medium warnings, low notes, by the highest CVSS score, or by what the database says. Without either, \
               an error.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_source = head.has_key("results.source.path") && head.has_key("results.packages");
    let is_clean = head.has_key("results") && head.has_key("experimental_config");
    match has_source || is_clean {
        true => Sniff::Sure("keys results, source and packages, as OSV-Scanner writes them".into()),
        false => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Source {
    source: Option<Path>,
    packages: Option<OfAFile<Package>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Path {
    path: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Package {
    package: Name,
    vulnerabilities: Option<Few<Vulnerability>>,
    groups: Option<Few<Group>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Name {
    name: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Vulnerability {
    id: Option<String>,
    summary: Loose,
    database_specific: Option<Database>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Database {
    severity: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Group {
    ids: Few<String>,
    max_severity: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("osv-scanner", Sort::Linter);
    elements(input, Place::Under("results"), |Source { source, packages }: Source| {
        let (Some(Path { path }), Some(packages)) = (source, packages) else {
            return Err(foreign("not a report of OSV-Scanner: a result has no source or no packages"));
        };
        packages.into_iter().try_for_each(|package| add(&mut findings, &path, package))
    })?;
    findings.finish(&FORMAT)
}

fn add(findings: &mut Findings, path: &Loose, package: Package) -> Result<()> {
    let Package { package: Name { name }, vulnerabilities, groups } = package;
    let vulnerabilities = vulnerabilities.unwrap_or_default().0;
    let by_id: BTreeMap<&str, &Vulnerability> =
        vulnerabilities.iter().filter_map(|one| Some((one.id.as_deref()?, one))).collect();
    let mut one = |id: Option<String>, score: &Loose| {
        let known = id.as_deref().and_then(|id| by_id.get(id));
        let said = known.and_then(|known| known.database_specific.as_ref()).map(|database| database.severity.clone());
        let scored = match score {
            Loose::Text(score) => level_of_score(score),
            _ => None,
        };
        let level = scored.unwrap_or_else(|| findings.level(said.and_then(Loose::text).as_deref()));
        let summary = known.map(|known| known.summary.clone()).filter(Loose::is_text);
        let (rule, message) = (id.map_or(Loose::Other, Loose::Text), summary.unwrap_or_else(|| name.clone()));
        findings.add(level, Told { rule, path: path.clone(), message, ..Told::default() })
    };
    match groups.filter(|groups| !groups.0.is_empty()) {
        Some(groups) => groups.into_iter().try_for_each(|group| one(group.ids.into_iter().next(), &group.max_severity)),
        None => vulnerabilities.iter().try_for_each(|vulnerability| one(vulnerability.id.clone(), &Loose::Other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Level;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn groups_count_by_their_score() {
        let text = r#"{"results":[{"source":{"path":"/p/go.mod","type":"lockfile"},"packages":[
            {"package":{"name":"x/text","version":"0.3.0","ecosystem":"Go"},
             "vulnerabilities":[{"id":"GHSA-1","summary":"s","database_specific":{"severity":"LOW"}},{"id":"GO-1"},{"id":"GO-2"},{"id":"GHSA-3","database_specific":{"severity":"MODERATE"}}],
             "groups":[{"ids":["GHSA-1","GO-1"],"max_severity":"7.5"},{"ids":["GO-2"],"max_severity":""},{"ids":["GHSA-3"]}]},
            {"package":{"name":"y"},"vulnerabilities":[{"id":"A","database_specific":{"severity":"LOW"}},{"id":"B"}]}]}]}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(3), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("/p/go.mod"), None, Some("GHSA-1"), "s"));
        assert_eq!([level_of_score("6.9"), level_of_score("11")], [Some(Level::Warning), None]);
        for other in ["{\"results\":[{\"x\":1}]}", "{\"x\":1}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
