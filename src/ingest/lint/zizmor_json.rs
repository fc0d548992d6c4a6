//! `zizmor-json`: zizmor's formats `json` and `json-v1`. <https://docs.zizmor.sh/usage/#output-formats>
//!
//! A list that is empty where nothing was found.

use serde::Deserialize;

use super::findings_json::{Findings, Loose, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::values::Few;
use crate::ingest::{Format, Parsed, Sort};
use crate::model::figures::ReportKind;

/// zizmor's JSON.
pub const FORMAT: Format = Format {
    name: "zizmor-json",
    kind: ReportKind::Lint,
    about: "zizmor's findings in workflows, as a list",
    written_by: "zizmor --format json",
    told_by: "a JSON list of objects with ident, desc, determinations and locations",
    has_end: true,
    counting: "Findings by severity: High is an error, Medium a warning, Low, Informational and Unknown are notes. \
               Ignored ones are suppressed.",
    sniff: |head| head.by_keys(&["ident", "desc", "determinations.severity", "locations"]),
    parse,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    ident: Loose,
    desc: Loose,
    determinations: Option<Determinations>,
    locations: Few<Location, 100_000>,
    ignored: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Determinations {
    severity: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    symbolic: Symbolic,
    concrete: Concrete,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Symbolic {
    kind: Loose,
    key: Key,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Key {
    #[serde(rename = "Local", alias = "Remote")]
    file: File,
}

/// Where it is: of a file here, or of one in a repository.
#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    #[serde(alias = "given_path", alias = "path")]
    verbatim_path: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Concrete {
    location: Span,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Span {
    start_point: Point,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Point {
    row: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("zizmor", Sort::Linter);
    elements(input, Place::Top, |item: Item| {
        let Some(determinations) = item.determinations.filter(|_| item.ident.is_text()) else {
            return Err(foreign("not a report of zizmor: an element has no ident or no determinations"));
        };
        if item.ignored {
            findings.suppressed();
            return Ok(());
        }
        let level = findings.level(determinations.severity.as_deref());
        let is_primary = |location: &Location| location.symbolic.kind == Loose::Text("Primary".into());
        let mut locations = item.locations.0;
        let primary = locations.iter().position(is_primary).unwrap_or(0);
        let location = if primary < locations.len() { locations.swap_remove(primary) } else { Location::default() };
        let line = location.concrete.location.start_point.row.one_based();
        let path = location.symbolic.key.file.verbatim_path;
        findings.add(level, Told { rule: item.ident, path, line, message: item.desc })
    })?;
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::lint::tests_support::first_finding;

    #[test]
    fn severity_is_the_level_and_the_primary_location_the_place() {
        let place = |kind: &str, row: u64| {
            format!(
                r#"{{"symbolic":{{"key":{{"Local":{{"verbatim_path":"w.yml"}}}},"annotation":"a","kind":"{kind}"}},
                "concrete":{{"location":{{"start_point":{{"row":{row},"column":2}}}},"feature":"f"}}}}"#
            )
        };
        let item = |severity: &str, ignored: bool| {
            format!(
                r#"{{"ident":"unpinned-uses","desc":"d","url":"u","determinations":{{"confidence":"High","severity":"{severity}"}},
                "locations":[{},{}],"ignored":{ignored},"fixes":[]}}"#,
                place("Related", 0),
                place("Primary", 6)
            )
        };
        let items = [item("High", false), item("Medium", false), item("Informational", false), item("High", true)];
        let text = format!("[{}]", items.join(","));
        let parsed = crate::ingest::parse(&Input::bytes("x", text.as_bytes()), None).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(1), Some(1), Some(1)]);
        assert_eq!(figures.suppressed, Some(1));
        assert_eq!(first_finding(&parsed), (Some("w.yml"), Some(7), Some("unpinned-uses"), "d"));
        let error = parse(&Input::bytes("x", b"[{\"ident\":\"x\"}]")).unwrap_err();
        assert_eq!(error.reject(), Some(Reject::NotThisFormat));
    }
}
