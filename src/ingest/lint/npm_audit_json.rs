//! `npm-audit-json`: `npm audit --json`. <https://docs.npmjs.com/cli/v11/commands/npm-audit>; written after the sources of
//! npm's `metavuln-calculator` and audit report, and of pnpm's, which is as npm's was before version 7.
//!
//! Since npm 7 the packages that are vulnerable, or depend on such; before that the advisories.

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Told, foreign, members_under};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::values::First;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::{Figures, ReportKind};

/// npm's audit.
pub const FORMAT: Format = Format {
    name: "npm-audit-json",
    kind: ReportKind::Lint,
    about: "vulnerabilities of npm packages",
    written_by: "npm audit --json, pnpm audit --json",
    told_by: "a JSON object with auditReportVersion and vulnerabilities; or with actions or muted, advisories and metadata",
    has_end: true,
    counting: "Vulnerable packages since npm 7, advisories before, by severity: critical and high are errors, moderate \
               warnings, low and info notes.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    // The actions stand first, and may be many.
    let is_older = head.has_key("actions.resolves")
        || (head.has_key("advisories") && (head.has_key("muted") || head.has_key("actions")));
    match (head.has_key("auditReportVersion"), is_older) {
        (true, _) => Sniff::Sure("key auditReportVersion".into()),
        (_, true) => Sniff::Sure("keys actions and advisories, as npm 6 and pnpm write them".into()),
        _ => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Vulnerability {
    severity: Option<String>,
    via: Option<First<Via>>,
    range: Loose,
}

/// An advisory, or the name of the package that has one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Via {
    Package(String),
    Advisory {
        #[serde(default)]
        title: Loose,
    },
}

/// An advisory as npm's registry answers it, whoever asked.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Advisory {
    severity: Option<String>,
    title: Loose,
    module_name: Loose,
    url: Loose,
}

impl Advisory {
    /// Counts it.
    pub(super) fn add_to(self, findings: &mut Findings) -> Result<()> {
        let level = findings.level(self.severity.as_deref());
        let Advisory { title: message, module_name: path, url: rule, .. } = self;
        findings.add(level, Told { rule, path, message, ..Told::default() })
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Document {
    audit_report_version: Option<u64>,
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    vulnerabilities: Totals,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Totals {
    total: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("npm-audit", Sort::Linter);
    let document = json::object(input, PhantomData::<Document>)?;
    if document.audit_report_version.is_none() {
        members_under(input, "advisories", |_, advisory: Advisory| {
            if advisory.severity.is_none() {
                return Err(foreign("not a report of npm audit: an advisory has no severity"));
            }
            advisory.add_to(&mut findings)
        })?;
        return findings.finish(&FORMAT);
    }
    members_under(input, "vulnerabilities", |name, one: Vulnerability| {
        if one.severity.is_none() {
            return Err(foreign("not a report of npm audit: a vulnerability has no severity"));
        }
        let level = findings.level(one.severity.as_deref());
        let message = match one.via.and_then(|via| via.0) {
            Some(Via::Advisory { title }) => title,
            Some(Via::Package(package)) => Loose::Text(format!("depends on a vulnerable version of {package}")),
            None => one.range,
        };
        findings.add(level, Told { path: Loose::Text(name), message, ..Told::default() })
    })?;
    findings.declared = Figures { total: document.metadata.vulnerabilities.total.number(), ..Figures::default() };
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn packages_count_since_npm_7_and_advisories_before() {
        let text = r#"{"auditReportVersion":2,"vulnerabilities":{"minimist":{"name":"minimist","severity":"critical","isDirect":true,
            "via":[{"source":1,"title":"Prototype Pollution","cwe":["CWE-1"],"severity":"critical"}],"effects":["mkdirp"],"range":"<1"},
            "mkdirp":{"severity":"moderate","via":["minimist"]},"x":{"severity":"low","via":[]}},
            "metadata":{"vulnerabilities":{"info":0,"low":1,"moderate":1,"high":0,"critical":1,"total":3}}}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("minimist"), None, None, "Prototype Pollution"));
        assert!(parsed.declared.is_none());
        let old = r#"{"actions":[],"advisories":{"118":{"severity":"high","title":"t","module_name":"m","url":"u"}},"muted":[],
            "metadata":{"vulnerabilities":{"high":4}}}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", old.as_bytes()), None).unwrap();
        assert_eq!((parsed.figures.total, parsed.figures.errors), (Some(1), Some(1)));
    }

    #[test]
    fn what_is_not_npm_audit_s_is_rejected() {
        for other in ["{\"advisories\":{\"x\":{}}}", "{\"auditReportVersion\":2}", "{\"error\":{\"code\":\"ENOLOCK\"}}"]
        {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
