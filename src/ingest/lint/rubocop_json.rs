//! `rubocop-json`: RuboCop's JSON formatter. <https://docs.rubocop.org/rubocop/formatters.html#json-formatter>

use std::marker::PhantomData;

use serde::Deserialize;

use super::findings_json::{Findings, Loose, OfAFile, Place, Told, elements, foreign};
use crate::error::Result;
use crate::ingest::input::Input;
use crate::ingest::json;
use crate::ingest::{Format, Head, Parsed, Sniff, Sort};
use crate::model::figures::{Figures, ReportKind};

/// RuboCop's JSON.
pub const FORMAT: Format = Format {
    name: "rubocop-json",
    kind: ReportKind::Lint,
    about: "RuboCop's offenses by file",
    written_by: "rubocop --format json, standardrb --format json",
    told_by: "a JSON object with metadata.rubocop_version, or with files.offenses.cop_name",
    has_end: true,
    counting: "Offenses by severity, corrected ones too: fatal and error are errors; warning; refactor, convention and info \
               are notes.",
    sniff,
    parse,
};

fn sniff(head: &Head<'_>) -> Sniff {
    match (head.has_key("metadata.rubocop_version"), head.has_key("files.offenses.cop_name")) {
        (true, _) => Sniff::Sure("key metadata.rubocop_version".into()),
        (_, true) => Sniff::Sure("keys files, offenses and cop_name".into()),
        _ => Sniff::No,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    path: Loose,
    offenses: Option<OfAFile<Offense>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Offense {
    severity: Option<String>,
    message: Loose,
    cop_name: Loose,
    location: Option<Location>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    start_line: Loose,
    line: Loose,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    summary: Summary,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Summary {
    offense_count: Loose,
}

fn parse(input: &Input<'_>) -> Result<Parsed> {
    let mut findings = Findings::new("rubocop", Sort::Linter);
    elements(input, Place::Under("files"), |file: File| {
        let (Loose::Text(_), Some(offenses)) = (&file.path, file.offenses) else {
            return Err(foreign("not a report of RuboCop: a file has no path or no offenses"));
        };
        for Offense { severity, message, cop_name: rule, location } in offenses {
            let location = location.unwrap_or_default();
            let line = if location.start_line == Loose::Other { location.line } else { location.start_line };
            let level = findings.level(severity.as_deref());
            findings.add(level, Told { rule, path: file.path.clone(), line, message })?;
        }
        Ok(())
    })?;
    let summary = json::object(input, PhantomData::<Document>)?.summary;
    findings.declared = Figures { total: summary.offense_count.number(), ..Figures::default() };
    findings.finish(&FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Reject;
    use crate::ingest::Details;

    fn read(offenses: &str) -> Result<Parsed> {
        let text = format!(
            "warn\n{{\"files\":[{{\"path\":\"a.rb\",\"offenses\":[{offenses}]}}],\"summary\":{{\"offense_count\":6}}}}"
        );
        parse(&Input::bytes("x", text.as_bytes()))
    }

    #[test]
    fn severities_are_levels() {
        let one = |severity: &str| {
            format!(
                "{{\"severity\":\"{severity}\",\"cop_name\":\"Style/X\",\"message\":\"m\",\"location\":{{\"line\":4}}}}"
            )
        };
        let all = ["fatal", "error", "warning", "refactor", "convention", "info"].map(one).join(",");
        let parsed = read(&all).unwrap();
        let figures = &parsed.figures;
        assert_eq!([figures.errors, figures.warnings, figures.notes], [Some(2), Some(1), Some(3)]);
        assert_eq!(parsed.declared, None);
        let Details::Lint(details) = parsed.details else { panic!("lint") };
        assert_eq!((details.findings[0].rule.as_deref(), details.findings[0].line), (Some("Style/X"), Some(4)));
        assert_eq!(read("").unwrap().declared.unwrap().total, Some(6));
    }

    #[test]
    fn what_is_not_rubocop_s_is_rejected() {
        for text in ["{\"files\":[{\"path\":\"a\"}]}", "{\"file\":[]}"] {
            let error = parse(&Input::bytes("x", text.as_bytes())).unwrap_err();
            assert_eq!(error.reject(), Some(Reject::NotThisFormat), "{text}");
        }
    }
}
