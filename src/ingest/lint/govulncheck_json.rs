//! `govulncheck-json`: `govulncheck -format json`. Written after its definition, the messages of
//! <https://pkg.go.dev/golang.org/x/vuln/internal/govulncheck>
//!
//! Objects one after the other: what was looked at, advisories, and findings, of which each tells how far it could follow an
//! advisory into the project: a module that is required, a package that is imported, a function that is called. There is
//! no end.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Told, foreign, members_of_all};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::First;
use crate::ingest::{Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// govulncheck's JSON.
pub const FORMAT: Format = Format {
    name: "govulncheck-json",
    kind: ReportKind::Lint,
    about: "vulnerabilities that Go code can reach",
    written_by: "govulncheck -format json (-json before version 1.1)",
    told_by: "a JSON object with config.scanner_name and config.protocol_version",
    has_end: false,
    counting: "Each advisory once, as in its SARIF: an error if a function that is vulnerable is called, a warning if \
               its package is imported, a note if its module is required. Where packages were looked at only, an error \
               and a warning; where modules, an error.",
    sniff: |head| head.by_keys(&["config.protocol_version", "config.scanner_name"]),
    parse,
};

/// Most advisories that are told apart.
const MOST_ADVISORIES: usize = 100_000;

/// A configuration or a finding; of other messages nothing is read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    scanner_name: Loose,
    scan_level: Loose,
    osv: Loose,
    trace: Option<First<Frame>>,
}

/// Where the vulnerable code is.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Frame {
    module: Loose,
    package: Loose,
    function: Loose,
}

impl Frame {
    fn level(&self, scan_level: &str) -> Level {
        match (scan_level, self.function.is_text(), self.package.is_text()) {
            ("module", ..) | ("package", _, true) | (_, true, _) => Level::Error,
            ("package", ..) | (_, false, true) => Level::Warning,
            (_, false, false) => Level::Note,
        }
    }
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("govulncheck", Sort::Linter);
    let mut scan_level = None;
    let mut advisories: BTreeMap<String, (Level, Loose)> = BTreeMap::new();
    members_of_all(input, |name, message: Message| {
        if name == "config" && message.scanner_name.is_text() {
            scan_level = Some(message.scan_level.text().unwrap_or_default());
        }
        let Some(osv) = message.osv.text().filter(|_| name == "finding") else { return Ok(()) };
        let frame = message.trace.and_then(|trace| trace.0).unwrap_or_default();
        let level = frame.level(scan_level.as_deref().unwrap_or_default());
        let place = if frame.package.is_text() { frame.package } else { frame.module };
        if advisories.len() >= MOST_ADVISORIES && !advisories.contains_key(&osv) {
            return Err(crate::ingest::overflow());
        }
        let known = advisories.entry(osv).or_insert((Level::Note, Loose::Other));
        if known.0 < level || known.1 == Loose::Other {
            *known = (level, place);
        }
        Ok(())
    })?;
    if scan_level.is_none() {
        return Err(foreign("not a report of govulncheck: no configuration is in it"));
    }
    for (osv, (level, path)) in advisories {
        findings.add(level, Told { rule: Loose::Text(osv), path, ..Told::default() })?;
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    const CONFIG: &str =
        r#"{"config":{"protocol_version":"v1.0.0","scanner_name":"govulncheck","scan_level":"symbol"}}"#;

    fn finding(osv: &str, frame: &str) -> String {
        format!(
            "{{\n  \"finding\": {{\"osv\":\"{osv}\",\"fixed_version\":\"v1\",\"trace\":[{{\"module\":\"m\"{frame}}}]}}\n}}\n"
        )
    }

    #[test]
    fn an_advisory_counts_once_by_how_far_it_reaches() {
        let package = ",\"package\":\"m/p\"";
        let function = ",\"package\":\"m/p\",\"function\":\"F\"";
        let findings = [("1", ""), ("1", package), ("1", function), ("2", package), ("2", ""), ("3", "")];
        let findings: String = findings.iter().map(|(osv, frame)| finding(osv, frame)).collect();
        let osv = "{\"progress\":{\"message\":\"x\"}}\n{\"osv\":{\"id\":\"GO-1\",\"summary\":\"s\"}}\n";
        let text = format!("{CONFIG}\n{osv}{findings}");
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        assert_eq!(first_finding(&parsed), (Some("m/p"), None, Some("1"), "1"));
        let clean = crate::ingest::parse(&Input::bytes("x", CONFIG.as_bytes()), None).unwrap();
        assert_eq!(clean.figures.total, Some(0));
    }

    #[test]
    fn what_is_not_its_or_cut_is_rejected() {
        let cut = format!("{CONFIG}\n{}", finding("1", "").get(..20).unwrap());
        for (text, code) in [(cut.as_str(), Reject::Malformed), ("{\"osv\":{\"id\":\"x\"}}", Reject::NotThisFormat)] {
            assert_eq!(parse(&Input::bytes("x", text.as_bytes())).unwrap_err().reject(), Some(code), "{text}");
        }
    }
}
