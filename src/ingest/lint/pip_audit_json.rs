//! `pip-audit-json`: pip-audit's format `json`. <https://github.com/pypa/pip-audit#usage>
//!
//! A list of packages, also those in which nothing was found; before version 2 without an object around it. A package that
//! could not be looked up says why.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Place, Told, elements, foreign};
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::{Format, Head, Level, Parsed, Sniff, Sort};
use crate::model::figures::ReportKind;

/// pip-audit's JSON.
pub const FORMAT: Format = Format {
    name: "pip-audit-json",
    kind: ReportKind::Lint,
    about: "known vulnerabilities of Python packages",
    written_by: "pip-audit -f json",
    told_by: "a JSON object with dependencies.name and dependencies.vulns, or with dependencies and fixes; or a list \
              of objects with name and vulns",
    has_end: true,
    counting: "Each vulnerability of a package is an error; there are no levels. Packages that were passed over are \
               told; if all were, there is no result.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let has_vulns = head.has_key("dependencies.vulns") || (head.has_key("name") && head.has_key("vulns"));
    match has_vulns || (head.has_key("dependencies") && head.has_key("fixes")) {
        true => Sniff::Sure("keys dependencies and vulns, as pip-audit writes them".into()),
        false => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Package {
    name: Loose,
    skip_reason: Option<String>,
    vulns: Option<OfAFile<Vulnerability>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Vulnerability {
    id: Loose,
    description: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("pip-audit", Sort::Linter);
    let (mut skipped, mut audited) = (0_u64, 0_u64);
    elements(input, Place::TopOrUnder("dependencies"), |package: Package| {
        let vulnerabilities = match (package.vulns, package.skip_reason) {
            (Some(vulnerabilities), _) => vulnerabilities,
            (None, Some(_)) => {
                skipped += 1;
                return Ok(());
            }
            _ => return Err(foreign("not a report of pip-audit: a package has no vulns and no skip_reason")),
        };
        audited += 1;
        vulnerabilities.into_iter().try_for_each(|one| {
            let Vulnerability { id: rule, description: message } = one;
            findings.add(Level::Error, Told { rule, path: package.name.clone(), message, ..Told::default() })
        })
    })?;
    if skipped > 0 && audited == 0 {
        return Err(Error::report(Reject::NoResult, format!("pip-audit passed over all {skipped} packages"))
            .help("it tells for each of them why; run it again where it can look them up"));
    }
    if skipped > 0 {
        findings.warnings.push(format!("pip-audit passed over {skipped} packages"));
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn vulnerabilities_are_errors_and_what_was_passed_over_is_told() {
        let text = r#"{"dependencies":[{"name":"jinja2","version":"2.4","vulns":[{"id":"PYSEC-1","fix_versions":["3"],"aliases":[],
            "description":"d"},{"id":"PYSEC-2"}]},{"name":"a","version":"1","vulns":[]},{"name":"b","skip_reason":"r"}],"fixes":[]}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(0), Some(0)]);
        assert_eq!(first_finding(&parsed), (Some("jinja2"), None, Some("PYSEC-1"), "d"));
        assert_eq!(parsed.warnings, ["pip-audit passed over 1 packages"]);
        let old =
            crate::ingest::parse(&Input::bytes("x", br#"[{"name":"a","version":"1","vulns":[{"id":"P"}]}]"#), None);
        assert_eq!(old.unwrap().figures.errors, Some(1));
        let none = br#"{"dependencies":[{"name":"b","skip_reason":"r"}],"fixes":[]}"#;
        assert_eq!(parse(&Input::bytes("x", none)).unwrap_err().reject(), Some(Reject::NoResult));
    }

    #[test]
    fn what_is_not_pip_audit_s_is_rejected() {
        for other in ["{\"dependencies\":[{\"name\":\"x\"}]}", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
