//! `yarn-audit-json`: `yarn audit --json` of Yarn 1, and `yarn npm audit --json` since Yarn 4. Written after their sources,
//! Yarn's JSON reporter (<https://github.com/yarnpkg/yarn/blob/master/src/reporters/json-reporter.js>) and the tree of
//! `plugin-npm-cli`. What Yarn 2 and 3 write is npm's, `npm-audit-json`.
//!
//! An object in each line. Yarn 1 sums up at its end; since version 4 there is no end.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Told, lines};
use super::npm_audit_json::Advisory;
use crate::error::{Error, Reject, Result};
use crate::ingest::input::Input;
use crate::ingest::{CUT_HELP, Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::{Figures, ReportKind};

/// Yarn's audit.
pub const FORMAT: Format = Format {
    name: "yarn-audit-json",
    kind: ReportKind::Lint,
    about: "vulnerabilities of packages as Yarn tells them",
    written_by: "yarn audit --json, yarn npm audit --json",
    told_by: "JSON lines with type auditAdvisory or auditSummary; or with value and children.Severity",
    has_end: false,
    counting: "Advisories, as often as Yarn tells them: once for each way to the package. By severity: critical and \
               high are errors, moderate warnings, low and info notes. A report of Yarn 1 without its summary is cut.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    let is_first = head.lines().any(|line| {
        line.starts_with("{\"type\":\"auditAdvisory\",") || line.starts_with("{\"type\":\"auditSummary\",")
    });
    match is_first || (head.has_key("children.Issue") && head.has_key("children.Severity")) {
        true => Sniff::Sure("lines of Yarn's audit".into()),
        false => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    r#type: Loose,
    data: Option<Data>,
    /// Since version 4, the package.
    value: Loose,
    children: Option<Issue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Data {
    advisory: Option<Advisory>,
    vulnerabilities: Option<Totals>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Totals {
    info: u64,
    low: u64,
    moderate: u64,
    high: u64,
    critical: u64,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Issue {
    issue: Loose,
    #[serde(rename = "URL")]
    url: Loose,
    severity: Option<String>,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("yarn-audit", Sort::Linter);
    let (mut is_first, mut is_whole) = (false, true);
    lines(input, &["{\"type\":\"audit", "{\"value\":"], |line: Line| {
        if let Some(Issue { issue: message, url: rule, severity: Some(severity) }) = line.children {
            let level = findings.level(Some(&severity));
            findings.add(level, Told { rule, path: line.value, message, ..Told::default() })?;
            return Ok(true);
        }
        let Some(kind) = line.r#type.text().filter(|kind| kind.starts_with("audit")) else { return Ok(false) };
        is_first = true;
        let Data { advisory, vulnerabilities } = line.data.unwrap_or_default();
        if let Some(advisory) = advisory.filter(|_| kind == "auditAdvisory") {
            is_whole = false;
            advisory.add_to(&mut findings)?;
        } else if let Some(totals) = vulnerabilities.filter(|_| kind == "auditSummary") {
            is_whole = true;
            let Totals { info, low, moderate, high, critical } = totals;
            let sum =
                [info, low, moderate, high, critical].iter().try_fold(0_u64, |sum, count| sum.checked_add(*count));
            findings.declared = Figures { total: sum, ..Figures::default() };
        }
        Ok(true)
    })?;
    if is_first && !is_whole {
        return Err(Error::report(Reject::Malformed, "report ends before the summary of the audit").help(CUT_HELP));
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::lint::tests_support::first_finding;

    const ADVISORY: &str = r#"{"type":"auditAdvisory","data":{"resolution":{"id":118,"path":"a>minimatch","dev":false},"advisory":{"title":"ReDoS","module_name":"minimatch","severity":"high","url":"https://x/118"}}}"#;
    const SUMMARY: &str = r#"{"type":"auditSummary","data":{"vulnerabilities":{"info":0,"low":0,"moderate":0,"high":2,"critical":0},"dependencies":9}}"#;

    fn read(text: &str) -> Result<Parsed> {
        crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None)
    }

    #[test]
    fn advisories_count_as_often_as_they_are_told() {
        let parsed =
            read(&format!("{{\"type\":\"warning\",\"data\":\"x\"}}\n{ADVISORY}\n{ADVISORY}\n{SUMMARY}\n")).unwrap();
        assert_eq!((parsed.figures.errors, parsed.figures.total), (Some(2), Some(2)));
        assert_eq!(first_finding(&parsed), (Some("minimatch"), None, Some("https://x/118"), "ReDoS"));
        assert!(parsed.warnings.is_empty());
        let clean = SUMMARY.replace("\"high\":2", "\"high\":0");
        assert_eq!(read(&clean).unwrap().figures.total, Some(0));
    }

    #[test]
    fn a_report_without_its_summary_is_cut() {
        for cut in [format!("{ADVISORY}\n{ADVISORY}\n"), format!("{ADVISORY}\n{}", SUMMARY.get(..40).unwrap())] {
            assert_eq!(read(&cut).unwrap_err().reject(), Some(Reject::Malformed), "{cut}");
        }
    }

    #[test]
    fn since_version_4_each_line_is_an_issue() {
        let line = r#"{"value":"minimatch","children":{"ID":1096485,"Issue":"ReDoS","URL":"https://x","Severity":"moderate","Vulnerable Versions":"<3.0.5","Tree Versions":["3.0.4"],"Dependents":["a@workspace:."]}}"#;
        let parsed = read(&format!("{line}\n{line}\n")).unwrap();
        assert_eq!((parsed.figures.warnings, parsed.figures.total), (Some(2), Some(2)));
        assert_eq!(first_finding(&parsed), (Some("minimatch"), None, Some("https://x"), "ReDoS"));
    }
}
