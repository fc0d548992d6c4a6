//! `cargo-audit-json`: `cargo audit --json`. Written after its definition, the types of `rustsec::report`
//! (<https://docs.rs/rustsec/latest/rustsec/report/>).

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Told, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::values::Unique;
use crate::ingest::{Format, Level, Parsed, Sort};
use crate::model::figures::ReportKind;

/// cargo-audit's JSON.
pub const FORMAT: Format = Format {
    name: "cargo-audit-json",
    kind: ReportKind::Lint,
    about: "advisories against crates in Cargo.lock",
    written_by: "cargo audit --json",
    told_by: "a JSON object with lockfile, vulnerabilities.found and vulnerabilities.list",
    has_end: true,
    counting: "Vulnerabilities are errors; what is unmaintained, unsound or yanked is a warning.",
    sniff: |head| head.by_keys(&["lockfile", "vulnerabilities.found", "vulnerabilities.list"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    vulnerabilities: Option<Vulnerabilities>,
    warnings: Unique<OfAFile<Entry>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Vulnerabilities {
    list: Option<OfAFile<Entry>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    advisory: Option<Advisory>,
    package: Option<Package>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Advisory {
    id: Loose,
    title: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Package {
    name: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("cargo-audit", Sort::Linter);
    let document = json::object(input, PhantomData::<Document>)?;
    let Some(list) = document.vulnerabilities.and_then(|all| all.list) else {
        return Err(foreign("not a report of cargo-audit: it has no list of vulnerabilities"));
    };
    let mut add = |level, kind: &str, entry: Entry| {
        let path = entry.package.unwrap_or_default().name;
        let Advisory { id: rule, title } = entry.advisory.unwrap_or_default();
        let message = if title.is_text() { title } else { Loose::Text(kind.to_owned()) };
        findings.add(level, Told { rule, path, message, ..Told::default() })
    };
    list.into_iter().try_for_each(|entry| add(Level::Error, "vulnerable", entry))?;
    for (kind, entries) in document.warnings.0 {
        entries.into_iter().try_for_each(|entry| add(Level::Warning, &kind, entry))?;
    }
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn vulnerabilities_are_errors_and_the_rest_warnings() {
        let text = r#"{"database":{"advisory-count":1},"lockfile":{"dependency-count":9},"settings":{"ignore":[]},
            "vulnerabilities":{"found":true,"count":1,"list":[{"advisory":{"id":"RUSTSEC-2020-0071","package":"time","title":"t"},
            "versions":{},"package":{"name":"time","version":"0.1.43"}}]},"warnings":{"unmaintained":[{"kind":"unmaintained",
            "package":{"name":"net2"},"advisory":{"id":"RUSTSEC-2020-0016"}}],"yanked":[{"package":{"name":"a"},"advisory":null}]}}"#;
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(2), Some(0)]);
        assert_eq!(first_finding(&parsed), (Some("time"), None, Some("RUSTSEC-2020-0071"), "t"));
    }

    #[test]
    fn what_is_not_cargo_audit_s_is_rejected() {
        for other in ["{\"lockfile\":{},\"vulnerabilities\":{\"found\":false}}", "{\"a\":[]}"] {
            let error = parse(&Input::bytes("x", other.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{other}");
        }
    }
}
